//! The thin core of the Model Context Protocol (MCP) in every revision: which revision a message speaks, and the message
//! in another one.
//!
//! Functions of texts, without input and output: a server or a gateway that has a transport puts them in front of what it
//! has. [`Front`] does that for one client and a server of one revision:
//!
//! ```
//! use mcp_revisions_core::{Front, FrontOutput, Json, Profile, Revision};
//!
//! // This server has always spoken 2025-06-18; its client speaks 2026-07-28.
//! let profile = Profile::new(&Json::from_text(r#"{"name":"adder","version":"1"}"#)?, &Json::from_text("{}")?);
//! let mut front = Front::new(Revision::V2025_06_18, profile)?;
//! let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"_meta":{
//!     "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
//! let to_server = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{"a":1},"name":"add"}}"#;
//! assert_eq!(front.from_client(call), [FrontOutput::Forward(to_server.to_owned())]);
//!
//! let result = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"3"}]}}"#;
//! let [FrontOutput::Forward(to_client)] = &*front.from_server(result) else { panic!("a response goes on") };
//! assert!(to_client.contains(r#""resultType":"complete""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | call |
//! |---|---|
//! | put it in front of a server | [`Front`] |
//! | look at a message without reading it whole | [`peek()`] |
//! | find out which revision it speaks | [`negotiate()`], then [`Negotiation::within`] its session |
//! | answer `initialize` and `server/discover` | [`negotiate_initialize`], [`Introductions`] |
//! | convert a whole message | [`convert_message`] |
//! | convert a part of one, or an error | [`Route::convert`], [`Route::convert_error`] |
//! | refuse a message | [`errors`], each with code, data and HTTP status |
//! | read and write headers | [`headers`] |
//!
//! A [`Conversion`] has the message with each [`Loss`], or says why there is none: a message that only a connection can
//! translate is [`ConversionError::RequiresState`]. `mcp-revisions` has connections, transports and typed servers on top of this.
//!
//! The feature of a revision, such as `v2025-06-18`, brings that revision and the later ones; by default all are there.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod definition;
mod diagnostic;
pub mod discovery;
mod envelope;
pub mod errors;
mod front;
pub mod headers;
mod introductions;
mod losses;
mod message;
mod negotiate;
mod profile;
mod protocol;
mod revision_set;
mod route;
mod rows;
#[doc(hidden)]
pub mod translate;

pub use diagnostic::{Conversion, ConversionError, Diagnostic};
pub use errors::Refusal;
pub use front::{Front, FrontOutput};
pub use headers::Headers;
pub use introductions::{Introductions, ProfileError};
pub use losses::{LossHook, MessageLosses, PeerRole};
pub use message::{MessageContext, convert_message};
pub use negotiate::{
    NegotiatedMessage, Negotiation, negotiate, negotiate_element, negotiate_initialize,
};
pub use profile::Profile;
pub use protocol::Protocol;
pub use revision_set::RevisionSet;
pub use route::Route;

pub use mcp_revisions_tables::types::*;
pub use mcp_revisions_tables::values::convert_value;
pub use mcp_revisions_tables::{
    Adapter, Change, Context, Dropped, Extension, Failure, Lifecycle, Loss, Outcome, Part,
    ProtocolHeader, ProtocolRule, Rejected, RequiresState, Revision, Rule, Session, Severity,
    Status, Subject, UnknownFields, UnknownRevision, Versioned, extensions, methods,
};
#[doc(hidden)]
pub use mcp_revisions_tables::{Tables, values};
pub use mcp_wire::{ErrorObject, Json, MessageKind, Peeked, Unreadable, peek};

/// Files of messages and definitions for the program `mcp-rev`: no part of what a server or a gateway needs.
#[doc(hidden)]
pub mod program {
    pub use crate::definition::convert_bare;
    pub use crate::envelope::{ReadMessages, read_messages};
    pub use crate::message::{check_answered, check_sent};
}
