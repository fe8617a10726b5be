//! The Model Context Protocol (MCP) in every revision: types, conversions, and endpoints that settle, message by
//! message, which revision is spoken.
//!
//! - Which revisions there are: [`Revision`]; the types of each are a module under its name, as `v` and its date.
//! - Conversions between them: [`convert`], [`Upgrade`], [`Downgrade`].
//! - One look at a message: [`peek()`].
//! - A server whose handlers speak one revision and whose clients may speak any: [`server`].
//! - A client that does not care which revision its server speaks: [`client`].
//!
//! Nothing in these opens a socket or looks at a clock: bytes, headers and time come in, bytes and decisions go out.
//! What does is thin, and behind features: `stdio` for a server on standard input and output, `http` for one over
//! streamable HTTP.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod adapters;
mod protocol;
#[cfg(any(feature = "client", feature = "http", feature = "stdio"))]
pub mod service;
#[cfg(any(feature = "client", feature = "http", feature = "stdio"))]
mod transport;

pub use protocol::headers::Headers;
pub use protocol::limits::Limits;
pub use protocol::revisions::RevisionSet;
pub use protocol::server::Server;
pub use protocol::{Connection, Side};
pub use protocol::{client, errors, headers, server, settle};
#[cfg(feature = "http")]
pub use transport::http;
#[cfg(any(feature = "http", feature = "stdio"))]
pub use transport::serve;
#[cfg(feature = "stdio")]
pub use transport::stdio;

pub use mcp_registry::*;
pub use mcp_wire;
pub use mcp_wire::{
    BatchElements, MessageKind, Peeked, PeekedMeta, Raw, RawId, Unreadable, meta, peek,
};

/// The README, so that what it shows is tested.
#[cfg(all(doctest, feature = "http"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
