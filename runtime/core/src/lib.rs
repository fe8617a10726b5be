//! The thin core of the Model Context Protocol (MCP) in every revision: which revision a message speaks, and the message
//! in another one.
//!
//! Functions of texts, without input and output: a server, a client or a gateway that has a transport puts them in front
//! of what it has. A request comes in:
//!
//! ```
//! use mcp_revisions_core::{MessageContext, NegotiatedMessage, Revision, RevisionSet, convert_message, negotiate, peek};
//!
//! // This server has always spoken 2025-06-18; its client speaks 2026-07-28.
//! let text = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"_meta":{
//!     "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
//!
//! let served = RevisionSet::all();
//! let session = None;
//! let message = peek(text.as_bytes())?;
//! let negotiated = negotiate(&message, None, served)?.within(session, served)?;
//! assert_eq!(negotiated, NegotiatedMessage::Single(Revision::V2026_07_28));
//!
//! let (request, losses) = convert_message(text, Revision::V2026_07_28, Revision::V2025_06_18, &MessageContext::default())?;
//! # assert!(losses.is_empty(), "{losses:?}");
//! # assert_eq!(request.text(), r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{"a":1},"name":"add"}}"#);
//!
//! // Its result goes back; a response does not say which method it answers, so the context does.
//! let result = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"3"}]}}"#;
//! let context = MessageContext::default().answering("tools/call");
//! let (response, _) = convert_message(result, Revision::V2025_06_18, Revision::V2026_07_28, &context)?;
//! assert!(response.text().contains(r#""resultType":"complete""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | call |
//! |---|---|
//! | look at a message without reading it whole | [`peek()`] |
//! | find out which revision it speaks | [`negotiate()`], then [`Negotiation::within`] its session |
//! | answer `initialize` and `server/discover` | [`negotiate_initialize`], [`Introductions`] |
//! | convert a whole message | [`convert_message`]; [`convert_messages`] also takes a batch |
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
mod envelope;
pub mod errors;
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
pub mod translate;

pub use definition::{convert_bare, is_bare, whole_message};
pub use diagnostic::{Conversion, ConversionError, Diagnostic};
pub use envelope::{ReadMessages, read_messages};
pub use errors::Refusal;
pub use headers::Headers;
pub use introductions::{Introductions, ProfileError};
pub use losses::{LossHook, MessageLosses, PeerRole};
pub use message::{
    ConvertedMessages, MessageContext, check_answered, check_sent, convert_message,
    convert_messages,
};
pub use negotiate::{
    NegotiatedMessage, Negotiation, is_handshake, negotiate, negotiate_element,
    negotiate_initialize, takes_session_operations,
};
pub use profile::Profile;
pub use protocol::Protocol;
pub use revision_set::RevisionSet;
pub use route::Route;
pub use rows::{find_method, has_method, known_method};

pub use mcp_revisions_tables::*;
pub use mcp_wire::{MessageKind, Peeked, Unreadable, peek};
