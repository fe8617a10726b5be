//! The tests of the runtime, as one program; `allocations` is one by itself, since it counts for its whole process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

mod asking;
mod batch;
mod bounds;
mod client;
mod compat;
mod examples;
mod hostile;
mod http;
mod interleaving;
mod ladder;
mod late;
mod matrix;
mod mistakes;
mod others;
mod pairs;
mod programs;
mod seam;
mod server;
mod service;
mod session;
mod sessions;
mod stdio;
mod support;
mod transports;
mod worlds;
