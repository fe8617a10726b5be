//! A server over streamable HTTP: a tower service for axum, hyper and others. Feature `server-http`.
//!
//! One path takes every revision. Per-request revisions need no session, and each POST is handled by itself;
//! handshake revisions get an `Mcp-Session-Id`, a stream for GET, and DELETE.
//! The response to a call is one JSON object, or an event stream if its handler sends messages before the result.
//! Clients of HTTP+SSE, the transport of 2024-11-05, are served by [`Options::with_http_sse`].
//!
//! ```no_run
//! use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
//! use mcp_revisions::{Revision, http, serve::Peer, core::v2025_11_25 as mcp};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let profile = Profile::new(&mcp::Implementation::new("empty", mcp_revisions::args::Version("1.0")), &mcp::ServerCapabilities::new());
//! let server = Server::new(Revision::V2025_11_25, profile)?;
//! let service = http::Service::new(server, |call: IncomingRequest, _: Peer| async move {
//!     Err(mcp_revisions::sansio::errors::invalid_params(call.method).error)
//! });
//! // To be reached from other machines, bind another address, and allow the names that the server is reached by.
//! let listener = http::bind(("127.0.0.1", 8080)).await?;
//! http::serve_until(listener, service, mcp_revisions::stop_signal()?, std::time::Duration::from_secs(10)).await;
//! # Ok(())
//! # }
//! ```
//!
//! # Access control
//! A request whose `Origin` or `Host` is not allowed gets status 403: it may come from a web page that uses DNS rebinding.
//! Loopback names are allowed, and those of [`Options::allow_origin`] and [`Options::allow_host`]. Everybody may send requests
//! that pass: set a [`ResourceGuard`] that checks access tokens, or put a layer with authentication before the service.
//!
//! # Limits
//! Requests, suspended requests, unread responses, connections and kept events have a budget each, and each client a share
//! of it. Only requests beyond the share of a client are refused. A client is a [`Principal`], else a [`PeerAddress`].

mod accepted;
mod admission;
mod agreement;
mod answers;
mod body;
mod bound;
mod card;
mod connections;
mod counters;
mod guard;
mod http_sse;
mod inner;
mod intake;
mod listener;
mod metrics;
mod options;
mod post;
mod repeated;
mod replica;
mod service;
mod socket;
mod stage;
mod tools;

use std::net::IpAddr;

use ::http::HeaderMap;

pub use crate::serve::{PeerConnection, Principal};
#[cfg(feature = "client-auth")]
pub use crate::transport::client::http::sign_in::verifier::{Introspection, Jwks};
#[doc(hidden)]
pub use answers::refused;
pub use body::Body;
#[cfg(unix)]
pub use bound::bind_unix;
pub use bound::{Listener, bind};
pub use counters::Counters;
pub use guard::{InvalidResource, ProtectedResource, ResourceGuard, TokenClaims, TokenRefusal};
#[doc(hidden)]
pub use intake::{Received, received};
pub use listener::{Drain, serve, serve_layered, serve_until};
pub use options::Options;
use options::ParamCheck;
#[doc(hidden)]
pub use service::Responding;
pub use service::Service;
#[doc(hidden)]
pub use tools::ListedTool;

/// The address of the client of a request. Insert it into the extensions of the request behind a proxy, or in another server
/// than [`serve`], which inserts it. An address that opens too many sessions loses its own least recently used ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PeerAddress(pub IpAddr);

/// Returns the value of a header, if it is one of visible ASCII.
fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
