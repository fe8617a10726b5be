//! Typed servers and clients: handlers of one revision that serve every peer, and calls of one revision to any server.
//!
//! `Server` (features `server-stdio` and `server-http`) runs an implementation of the `ServerHandlers` of a revision; `Router` (feature
//! `router`) is made of async functions, one for each tool, resource and prompt. `Client` (feature `client`) calls any
//! server.
//! Below both are the endpoints of [`server`](crate::sansio::server) and [`client`](crate::sansio::client), which decide what is sent.

mod capabilities;
#[cfg(feature = "client")]
pub mod client;
mod custom;
mod error;
mod params;
#[cfg(feature = "router")]
pub mod router;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "skills")]
mod skills;

#[doc(hidden)]
pub use crate::transport::{
    panics::lock,
    spawn::{Boxed, boxed, until},
};
#[cfg(feature = "client")]
pub use client::Client;
pub use error::{Error, TransportError};
pub use mcp_revisions_sansio::{Failure, LogLevel, MessageLosses};
#[cfg(feature = "router")]
pub use router::{Blob, Extension, FromContext, Json, Router, State};
#[cfg(feature = "server")]
pub use server::*;
