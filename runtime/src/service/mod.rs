//! Typed servers and clients: handlers of one revision that serve every peer, and calls of one revision to any server.
//!
//! `Server` (features `stdio` and `http`) runs an implementation of the `ServerHandlers` of a revision; `Router` (feature
//! `router`) is made of async functions, one for each tool, resource and prompt. `Client` (feature `client`) calls any
//! server.
//! Below both are the endpoints of [`server`](crate::server) and [`client`](crate::client), which decide what is sent.

#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "http", feature = "stdio"))]
mod context;
mod custom;
mod error;
mod room;
#[cfg(feature = "router")]
pub mod router;
#[cfg(feature = "schemars")]
mod schema;
#[cfg(any(feature = "http", feature = "stdio"))]
mod server;
#[cfg(any(feature = "http", feature = "stdio"))]
mod starting_over;
#[cfg(all(feature = "tracing", any(feature = "http", feature = "stdio")))]
pub mod trace;

#[cfg(feature = "client")]
pub use client::Client;
#[cfg(any(feature = "http", feature = "stdio"))]
pub use context::Cx;
pub use error::Error;
#[cfg(feature = "router")]
pub use router::{Json, Router};
#[cfg(any(feature = "http", feature = "stdio"))]
pub use server::{Running, ServeError, Server};
#[cfg(any(feature = "http", feature = "stdio"))]
pub use starting_over::Unanswered;
