//! Transports: standard streams and HTTP, and the running handlers behind them.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server-http")]
pub mod http;
#[cfg(any(feature = "client", feature = "server-stdio"))]
mod line;
#[cfg_attr(
    not(all(feature = "client", feature = "redis")),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "each role reports a part of it"
    )
)]
pub(crate) mod observe;
pub(crate) mod panics;
#[cfg_attr(
    not(all(feature = "client", feature = "server-http", feature = "server-stdio")),
    allow(dead_code, reason = "each transport needs a part of it")
)]
pub(crate) mod queue;
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
#[cfg_attr(
    not(feature = "server-http"),
    allow(
        dead_code,
        unused_imports,
        reason = "over standard streams there is one client, and one replica"
    )
)]
pub mod serve;
pub(crate) mod spawn;
#[cfg(feature = "server-stdio")]
mod standard_input;
#[cfg(feature = "server-stdio")]
pub mod stdio;

#[cfg(any(feature = "client", feature = "server-stdio"))]
pub use line::read_line;

/// An error of any kind, of a body or of a service.
#[cfg(any(feature = "client-http", feature = "server-http"))]
type BoxError = Box<dyn std::error::Error + Send + Sync>;
