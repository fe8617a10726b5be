//! Which revision is spoken: a server finds that of each message, a client that of its server.

#[cfg(feature = "sansio-client")]
pub(super) mod client;
#[cfg(feature = "sansio-server")]
mod ladder;
#[cfg(feature = "sansio-client")]
pub mod lifecycle;
#[cfg(feature = "sansio-server")]
mod server;
#[cfg(feature = "sansio-client")]
pub(crate) mod statuses;

pub use crate::protocol::revisions::find_method;
#[cfg(feature = "sansio-server")]
pub(super) use ladder::is_handshake;
#[cfg(feature = "sansio-server")]
pub use ladder::{Settled, Settlement, settle, settle_element, takes_session_operations};
