//! The revision that is spoken (`initialize`, `server/discover`): a server finds that of each message, a client that of its server.

#[cfg(feature = "client")]
pub(super) mod client;
#[cfg(feature = "server")]
pub(super) mod server;
