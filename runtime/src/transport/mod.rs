//! What carries messages: standard streams and HTTP, and the running handlers behind them.

#[cfg(feature = "http")]
pub mod http;
pub mod serve;
#[cfg(feature = "stdio")]
pub mod stdio;
