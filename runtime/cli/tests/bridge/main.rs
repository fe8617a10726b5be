//! `mcp-rev bridge`: every revision of a client in front of every revision of a server, and what happens when one goes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails should say where"
)]

mod ends;
mod http;
mod judged;
mod losses;
mod matrix;
mod others;
mod talk;
