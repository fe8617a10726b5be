//! The protocol without a socket: bytes, headers and time come in, texts and decisions go out, on either end.

pub mod client;
pub mod errors;
pub mod headers;
pub(crate) mod limits;
#[cfg(feature = "http")]
pub(crate) mod params;
pub(crate) mod revisions;
pub mod server;
pub mod settle;
pub(crate) mod translate;
