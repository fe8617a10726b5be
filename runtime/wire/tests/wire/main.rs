//! What mcp-wire promises, one module for each promise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails should panic"
)]

mod bridge;
mod corpus;
mod decide;
mod envelope;
mod errors;
mod grammar;
mod json;
mod map;
mod members;
mod numbers;
mod strings;
