//! Typed servers and clients, against peers of every revision.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that panics has failed, which is what it is for"
)]

mod changes;
mod client;
mod gateway;
mod peer;
mod router;
mod schemas;
mod server;
mod starting_over;
mod trace;
