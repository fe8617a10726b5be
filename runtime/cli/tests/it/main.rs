//! The tests of `mcp-rev`, as one program: each starts the program as a user does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

mod bridge;
mod convert;
mod pages;
mod program;
mod schemas;
mod tap;
mod transcript;
