//! Transports: standard streams and HTTP, and the running handlers behind them.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server-http")]
pub mod http;
mod line;
pub(crate) mod observe;
pub(crate) mod panics;
pub(crate) mod queue;
#[cfg(feature = "server")]
pub mod serve;
pub(crate) mod spawn;
#[cfg(feature = "server-stdio")]
pub mod stdio;

/// An error of any kind, of a body or of a service.
type BoxError = Box<dyn std::error::Error + Send + Sync>;
