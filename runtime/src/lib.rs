//! The Model Context Protocol (MCP) in every revision: typed servers and clients that negotiate the revision per message,
//! the types of each revision, and conversions between them.
//!
//! # A server
//! Registered functions serve clients of every revision; JSON schemas come from their types. Features `router` and
//! `schemars`.
//!
//! ```no_run
//! use mcp_revisions::{Error, RequestContext, Router};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Profile {
//!     name: String,
//! }
//!
//! async fn greet(cx: RequestContext) -> Result<String, Error> {
//!     cx.progress(50, 100).await;
//!     // Elicits the name from the user, in the revision of the client.
//!     let Profile { name } = cx.elicit("Who are you?").await?;
//!     Ok(format!("Hello, {name}."))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let router = Router::new().tool("greet", "Greets the user.", greet);
//!     Ok(router.build("greeter", "1.0.0")?.stdio().await?)
//! }
//! ```
//!
//! # A client
//! Calls are typed, and the server may speak any revision. Feature `client-stdio`, or `client-http` for `url(..)`.
//!
//! ```no_run
//! use mcp_revisions::latest::{self as mcp, CallServer};
//! use mcp_revisions::{Client, Error};
//!
//! # async fn run() -> Result<(), Error> {
//! let client = Client::builder(&mcp_revisions::program!()).command(["some-server", "--stdio"])?;
//! let result = client.call_tool(mcp::CallToolRequestParams::new("greet")).await?;
//! # drop(result);
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//! | feature | what it adds |
//! |---|---|
//! | `server-stdio` | servers on standard input and output |
//! | `server-http` | servers over streamable HTTP, as a tower service |
//! | `server` | what servers over any transport share: `service::Server`, `serve`, `backplane`; implied by the features of servers |
//! | `redis` | sessions shared by several replicas of a server through Redis; implies `server-http` |
//! | `redis-tls` | `redis`, also over TLS (`rediss://`) |
//! | `router` | servers made of functions: tools, resources, prompts, completions; implies `server-stdio` |
//! | `ext-tasks` | tasks, in the core of 2025-11-25 and as an extension: `Router::as_task` of a server, and clients that wait for the result of a task; the types of the extension |
//! | `skills` | a server's skills: `Router::skills`; a client that verifies what it reads of them: `Client::load_skill`; implies `ext-skills` |
//! | `ext-events` | a server's events: `Router::events`, with `client-auth` also to webhooks; a client that follows them: `Client::events`; the types of the extension |
//! | `ext-apps`, `ext-skills`, `ext-tasks-draft` | types of other extensions, and of their drafts; `extensions` brings all |
//! | `macros` | the attribute `#[tool]`: name, description and hints of a tool beside its function, for `Router::add`; implies `router` and `schemars` |
//! | `schemars` | JSON schemas of the arguments and results of these functions, and forms for elicitation |
//! | `client` | clients over any two streams of bytes |
//! | `client-stdio` | clients that start their server |
//! | `client-http`, `client-tls` | clients over streamable HTTP, and over `https` |
//! | `client-auth` | clients that sign in to their server by OAuth |
//! | `tracing` | a layer for `tracing` that sends the events of a call to its client: `service::trace::ToClient` |
//! | `events` | events of `tracing` for operators: refused requests, sessions that move to another replica, a lost backplane |
//! | `metrics` | durations, losses and levels by the crate `metrics`, under OpenTelemetry's names where it has any |
//! | `sansio-server`, `sansio-client` | `sansio`: connections without sockets, in the role of a server or of a client; implied by the features of servers and clients |
//! | `full` | each server, client and transport, with events, tasks, skills, `schemars`, `tracing` and `metrics` |
//! | `v2024-11-05` and later, `draft` | the revisions that peers may speak besides [`latest`]; each implies all between the two. Default: all |
//!
//! Without any of them the crate has types and conversions, and depends on no runtime.
//!
//! # Where to find what
//! - What authors of servers and clients import: here, and the types of the protocol in [`latest`]. The rest of both is in
//!   `service`, with any feature that adds one.
//! - The revisions: [`Revision`]. The types of each are a module of [`core`] named after its date, such as `v2025_11_25`.
//! - Conversions between revisions, and the revision that a message speaks: [`core`].
//! - Connections without sockets and without a clock: `sansio`, with any feature that adds one.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "full"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "each feature uses a part of what they share"
    )
)]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "server")]
pub mod backplane;
#[cfg(any(feature = "client", feature = "server"))]
pub mod layer;
#[cfg(any(feature = "client", feature = "server"))]
pub mod service;
#[cfg(any(feature = "client", feature = "server"))]
mod transport;

#[cfg(feature = "client-auth")]
pub use mcp_revisions_auth as auth;
#[cfg(any(feature = "sansio-client", feature = "sansio-server"))]
pub use mcp_revisions_sansio::{self as sansio, Limits};
#[cfg(feature = "server-http")]
pub use transport::http;
#[cfg(feature = "server-stdio")]
pub use transport::stdio;

pub use mcp_revisions_core as core;
#[doc(inline)]
pub use mcp_revisions_core::{Latest, Lifecycle, Revision, RevisionSet, UnknownFields};
#[cfg(feature = "macros")]
/// Makes a tool of an async function.
///
/// ```
/// use mcp_revisions::{Router, tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     a: f64,
///     b: f64,
/// }
///
/// /// Adds two numbers.
/// #[tool(read_only, open_world = false)]
/// async fn add(Add { a, b }: Add) -> f64 {
///     a + b
/// }
///
/// let router = Router::new().add::<add>();
/// # drop(router);
/// ```
#[doc(inline)]
pub use mcp_revisions_macros::tool;
pub use mcp_wire;
pub use mcp_wire::args;

#[cfg(any(feature = "client", feature = "server"))]
#[doc(inline)]
pub use service::{Error, Failure};
#[cfg(feature = "router")]
#[doc(inline)]
pub use service::{Extension, FromContext, Json, Router, State};
#[cfg(feature = "client")]
#[doc(inline)]
pub use {service::Client, transport::client as client_transport};
#[cfg(feature = "server")]
#[doc(inline)]
pub use {
    service::{McpServer, RequestContext, Server},
    transport::serve::{self, signal::stop_signal},
};

/// The types of the latest release, [`Revision::LATEST`]: those that servers and clients are written in.
pub mod latest {
    #[doc(inline)]
    pub use mcp_revisions_core::latest::*;
}

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
            $crate::args::Version(env!("CARGO_PKG_VERSION")),
        )
    };
}
