//! The Model Context Protocol (MCP) in every revision: typed servers and clients that settle, message by message, which
//! revision is spoken; the types of each revision; and conversions between them.
//!
//! # A server
//! Functions are registered, and serve clients of every revision; schemas come from their types. Features `router` and
//! `schemars`.
//!
//! ```no_run
//! # #[cfg(all(feature = "router", feature = "schemars"))]
//! # mod example {
//! use mcp_revisions::service::{RequestContext, Error, Router};
//! use mcp_revisions::Latest;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Profile {
//!     name: String,
//! }
//!
//! async fn greet(cx: RequestContext<Latest>) -> Result<String, Error> {
//!     cx.progress(50, 100).await;
//!     // Asks the person at the client, whichever revision it speaks.
//!     let Profile { name } = cx.elicit("Who are you?").await?;
//!     Ok(format!("Hello, {name}."))
//! }
//!
//! # #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let router = Router::new().tool("greet", "Greets whoever asks.", greet);
//!     Ok(router.build("greeter", "1.0.0")?.stdio().await?)
//! }
//! # }
//! ```
//!
//! # A client
//! Calls are typed, and the server may speak any revision. Feature `client-stdio`, or `client-http` for `url(..)`.
//!
//! ```no_run
//! # #[cfg(feature = "client-stdio")]
//! # mod example {
//! use mcp_revisions::latest::{self as mcp, CallServer};
//! use mcp_revisions::service::{Client, Error};
//!
//! # async fn run() -> Result<(), Error> {
//! let client = Client::builder(&mcp_revisions::program!()).command(["some-server", "--stdio"])?;
//! let result = client.call_tool(mcp::CallToolRequestParams::new("greet")).await?;
//! # drop(result);
//! # Ok(())
//! # }
//! # }
//! ```
//!
//! # Features
//! | feature | what |
//! |---|---|
//! | `stdio` | servers on standard input and output |
//! | `http` | servers over streamable HTTP, as a tower service |
//! | `redis` | sessions over HTTP that several processes share, in a Redis server |
//! | `router` | servers made of functions: tools, resources, prompts, completions; implies `stdio` |
//! | `schemars` | schemas of what those functions take and give, and forms to ask a person with |
//! | `client` | clients over any two streams of bytes |
//! | `client-stdio` | clients that start their server |
//! | `client-http`, `tls` | clients over streamable HTTP, and over `https` |
//! | `tracing` | a layer for `tracing` that sends the events of a call to its client: `service::trace::ToClient` |
//! | `v2024-11-05` and on | the revisions that are spoken besides [`latest`]: one brings all between the two; all, unless turned off |
//!
//! Without any of them there are types, conversions and the endpoints below, and neither sockets nor tasks.
//!
//! # What is where
//! - Servers and clients that run: `service`, with any feature that runs something.
//! - Which revisions there are: [`Revision`]; the types of each are a module under its name, as `v` and its date, and
//!   those of the latest release that handlers are written in are [`latest`], too.
//! - Conversions between them: [`convert`] for texts, [`convert_value`] for values.
//! - One look at a message: [`peek()`].
//! - The endpoints below the services, which open no socket and look at no clock: [`server`] and [`client`]. Bytes,
//!   headers and time come in, bytes and decisions go out.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "server-http")]
pub mod backplane;
mod protocol;
#[cfg(any(feature = "client", feature = "server-http", feature = "server-stdio"))]
pub mod service;
#[cfg(any(feature = "client", feature = "server-http", feature = "server-stdio"))]
mod transport;

pub use protocol::headers::Headers;
pub use protocol::limits::Limits;
pub use protocol::revisions::RevisionSet;
pub use protocol::server::Server;
pub use protocol::{Connection, Role};
pub use protocol::{client, errors, headers, server, settle};
#[cfg(feature = "client")]
pub use transport::client as carrier;
#[cfg(feature = "server-http")]
pub use transport::http;
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub use transport::serve;
#[cfg(feature = "server-stdio")]
pub use transport::stdio;

pub use mcp_protocol::*;
pub use mcp_wire;
pub use mcp_wire::words;
pub use mcp_wire::{
    BatchElements, MessageKind, Peeked, PeekedMeta, Raw, RawId, Unreadable, meta, peek,
};

/// The `Implementation` of the calling program, in the latest release: its name and version are those of its own
/// package.
///
/// ```
/// let me = mcp_revisions::program!();
/// assert_eq!(me.name, env!("CARGO_PKG_NAME"));
/// ```
#[macro_export]
macro_rules! program {
    () => {
        $crate::latest::Implementation::new(
            env!("CARGO_PKG_NAME"),
            $crate::words::Version(env!("CARGO_PKG_VERSION")),
        )
    };
}
