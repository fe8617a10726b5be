//! Typed servers and clients, against peers of every revision.

mod cache;
mod changes;
mod client;
mod client_tasks;
mod events;
mod gateway;
mod layers;
mod listen;
mod lists;
mod options;
mod peer;
mod router;
mod schemas;
pub(crate) mod server;
mod skills;
mod stateless;
mod tasks;
pub(crate) mod trace;
mod webhooks;
