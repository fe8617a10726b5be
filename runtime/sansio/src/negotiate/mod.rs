//! The revision that is spoken: a server finds that of each message, a client that of its server.

#[cfg(feature = "client")]
pub(super) mod client;
#[cfg(feature = "client")]
mod facts;
#[cfg(feature = "client")]
pub mod lifecycle;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "client")]
pub(super) mod stage;
#[cfg(feature = "client")]
pub(crate) mod statuses;
