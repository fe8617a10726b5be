//! The tests of `cargo xtask`, as one program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

mod diff;
mod generate;
mod shims;
mod spec;
