//! Typed servers and clients: handlers of one revision that serve every peer, and calls of one revision to any server.
//!
//! `Server` (features `server-stdio` and `server-http`) runs an implementation of the `ServerHandlers` of a revision; `Router` (feature
//! `router`) is made of async functions, one for each tool, resource and prompt. `Client` (feature `client`) calls any
//! server.
//! Below both are the endpoints of [`server`](crate::sansio::server) and [`client`](crate::sansio::client), which decide what is sent.

mod capabilities;
#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
mod context;
mod custom;
mod error;
#[cfg(any(feature = "client", feature = "server-http", feature = "server-stdio"))]
mod params;
#[cfg(feature = "router")]
pub mod router;
#[cfg(feature = "schemars")]
mod schema;
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
mod server;
#[cfg(all(feature = "skills", any(feature = "client", feature = "router")))]
mod skills;
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
mod stateless;
#[cfg(all(
    feature = "tracing",
    any(feature = "server-http", feature = "server-stdio")
))]
pub mod trace;

#[cfg(feature = "client")]
pub use client::Client;
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub use context::RequestContext;
pub use error::Error;
#[cfg(all(
    feature = "ext-tasks",
    any(feature = "server-http", feature = "server-stdio")
))]
pub use mcp_revisions_sansio::server::{TaskOptions, TaskSupport};
pub use mcp_revisions_sansio::{LogLevel, Lost};
#[cfg(feature = "router")]
pub use router::{Json, Router, State};
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub use server::{McpServer, ServeError, Server};
