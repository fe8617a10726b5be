//! Which revision is spoken: a server finds that of each message, a client that of its server.

#[cfg(feature = "sansio-client")]
pub(super) mod client;
#[cfg(feature = "sansio-client")]
pub mod lifecycle;
#[cfg(feature = "sansio-server")]
mod server;
#[cfg(feature = "sansio-client")]
pub(crate) mod statuses;
