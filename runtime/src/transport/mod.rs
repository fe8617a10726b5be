//! What carries messages: standard streams and HTTP, and the running handlers behind them.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "http")]
pub mod http;
#[cfg(any(feature = "client", feature = "stdio"))]
mod line;
pub(crate) mod panics;
#[cfg(any(feature = "http", feature = "stdio"))]
pub mod serve;
#[cfg(feature = "stdio")]
pub mod stdio;
