//! The Model Context Protocol (MCP) in every revision: types, conversions, and endpoints that settle, message by
//! message, which revision is spoken.
//!
//! - The types of each revision: [`v2024_11_05`] to [`v2026_07_28`], and [`draft`].
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

pub mod client;
pub mod errors;
pub mod headers;
#[cfg(feature = "http")]
pub mod http;
pub mod ladder;
mod limits;
pub mod meta;
mod peek;
pub mod revisions;
#[cfg(any(feature = "http", feature = "stdio"))]
pub mod serve;
mod served;
pub mod server;
#[cfg(feature = "stdio")]
pub mod stdio;

pub use headers::Headers;
pub use limits::Limits;
pub use peek::{Elements, MessageKind, Peeked, PeekedMeta, Raw, RawId, Unreadable, peek};
pub use revisions::{
    Draft, Spoken, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28,
};
pub use served::RevisionSet;
pub use server::Server;

pub use mcp_shims::{
    Adapter, Context, Downgrade, DowngradeExact, Era, Failure, Loss, LossKind, NeedsState, Outcome,
    Part, Policy, Revision, Session, Stop, Subject, TABLES, UnknownRevision, Upgrade, UpgradeExact,
    convert, convert_error,
};

pub use mcp_2024_11_05 as v2024_11_05;
pub use mcp_2025_03_26 as v2025_03_26;
pub use mcp_2025_06_18 as v2025_06_18;
pub use mcp_2025_11_25 as v2025_11_25;
pub use mcp_2026_07_28 as v2026_07_28;
pub use mcp_draft as draft;
pub use mcp_wire;

/// The README, so that what it shows is tested.
#[cfg(all(doctest, feature = "http"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
