//! A proxy between MCP clients and servers, each of which speaks its own revision.
//!
//! ```text
//! client -- Service or stdio -- Server -- Proxy -- Link: Client -- Upstream -- server
//! ```
//! [`Bridge`] joins an [`Upstream`] to its clients: [`into_service`](Bridge::into_service) makes a tower service of it for
//! axum, hyper or a listener, [`serve_stdio`](Bridge::serve_stdio) serves one client over two streams, and
//! [`into_proxy`](Bridge::into_proxy) makes a handler for a server of your own. [`Gateway`] joins several servers under one
//! address. With feature `config`, `config::Clients` has the servers of a file, such as `mcp.json`, as one client.
//!
//! The upstream server is asked for the revision of each client first. Messages are then passed through without conversion.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use mcp_bridge::{Bridge, ClientSettings, Upstream};
//! use mcp_revisions::http;
//! use mcp_revisions::service::client::Http;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let upstream = Upstream::url(Http::new("http://127.0.0.1:8001/mcp")?);
//! let clients = ClientSettings::new()
//!     .on_loss(|report| tracing::warn!("{}: {} losses", report.method, report.losses.len()));
//! let service = Bridge::new(upstream).with_clients(clients).into_service();
//! let listener = http::bind(("127.0.0.1", 8000)).await?;
//! service.serve(listener, std::future::pending(), Duration::ZERO).await;
//! # Ok(())
//! # }
//! ```
//!
//! # Who shares a connection
//! A session of 2025-11-25 and before has state on the server, so each gets a connection of its own, and a process of its
//! own if the upstream is a command. Clients of 2026-07-28 that send the same `clientInfo` and capabilities, and come from
//! the same principal or address, share one. [`Bridge::with_client_info`] replaces their names by one, and
//! [`Bridge::with_isolation`] gives each of their HTTP connections its own.

mod bridge;
mod clients;
#[cfg(feature = "config")]
pub mod config;
mod directory;
mod ending;
mod error;
mod gateway;
mod identity;
mod layers;
mod link;
mod lock;
mod losses;
mod measures;
mod offer;
mod patient;
mod proxy;
mod rate;
mod servers;
mod service;
mod settings;
mod sign_in;
mod tools;
mod upstream;

pub use bridge::Bridge;
pub use clients::ClientSettings;
pub use directory::ServerDirectory;
pub use error::Error;
pub use gateway::{Gateway, GatewayBuilder};
pub use lock::LockMode;
pub use mcp_revisions::sansio::{MessageLosses, PeerRole};
pub use proxy::Proxy;
pub use rate::RateLimit;
pub use service::Service;
pub use tools::ToolRules;
pub use upstream::Upstream;
