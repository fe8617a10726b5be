//! What only a client hands out: its posts, what is asked in results, and why there is no answer.

use std::fmt;

use mcp_registry::{Loss, NeedsState, Revision};
use mcp_wire::{Error, ErrorObject, Json};

use crate::protocol::ask::Ask;
use crate::protocol::events::Exchange;

/// A text on its way to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Names it when its answer is handed in.
    pub exchange: Exchange,
    /// The HTTP headers that belong to it; none over stdio.
    pub headers: Vec<(String, String)>,
    /// The text, without line breaks.
    pub text: String,
    /// Whether it ends a handshake: what comes after it is sent once the server has taken it.
    pub ends_handshake: bool,
}

/// Questions of the server that have to be answered before it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequired {
    /// The questions.
    pub questions: Vec<Question>,
    /// Hand it to [`Connection::retry`](super::Connection::retry) with the answers.
    pub retry: Retry,
}

/// A question of the server inside a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Names it in the answers.
    pub key: String,
    /// Such as `elicitation/create`.
    pub method: String,
    /// Its params in the application's revision; an error where that revision cannot ask this.
    pub params: Result<Json, ErrorObject>,
    /// What could not be carried over.
    pub losses: Vec<Loss>,
}

/// The request to send again once the server's questions are answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    pub(super) ask: Ask,
    pub(super) state: Option<Json>,
    pub(super) methods: Vec<(String, String)>,
    pub(super) revision: Revision,
}

impl Retry {
    /// The server's opaque state: the JSON string byte for byte as it came.
    #[must_use]
    pub fn request_state(&self) -> Option<&str> {
        self.state.as_ref().map(Json::text)
    }

    /// The method that will be sent again.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.ask.method
    }
}

/// What the server said of itself, in the application's revision.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerFacts {
    /// The revision that is spoken with it.
    pub revision: Revision,
    /// Its `Implementation`.
    pub info: Option<Json>,
    /// Its `ServerCapabilities`.
    pub capabilities: Option<Json>,
    /// How to use it.
    pub instructions: Option<String>,
    /// The result of `initialize` or `server/discover`, as it came: in the server's own revision.
    pub result: Option<Json>,
}

impl ServerFacts {
    /// A server of which nothing is known but the revision.
    pub(super) fn unknown(revision: Revision) -> Self {
        Self {
            revision,
            info: None,
            capabilities: None,
            instructions: None,
            result: None,
        }
    }
}

/// Why a request has no answer of the server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// The server cannot be told this in its revision; the seam for an adapter.
    NeedsAdapter(NeedsState),
    /// The params, or the answer, cannot be carried over; the error that the specification calls for.
    Rejected(ErrorObject),
    /// The params are not of the application's revision.
    InvalidParams(Error),
    /// The application's revision does not have that method, or no such params.
    UnknownMethod(String),
    /// The answer is not what the method is answered with in the server's revision.
    InvalidResult(String),
    /// Client and server have no revision in common; these are the server's.
    NoCommonRevision(Vec<String>),
    /// The server refused `initialize`.
    HandshakeRefused(ErrorObject),
    /// An HTTP answer without a message that answers.
    Http(u16),
    /// The request did not reach the server, or its answer did not arrive; why, as the transport says.
    Transport(String),
    /// The connection, the server or the stream ended first.
    Closed,
    /// The application cancelled it.
    Cancelled,
    /// The application did not answer in time what the server asked.
    Unanswered,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeedsAdapter(needs) => needs.fmt(f),
            Self::Rejected(error) => write!(
                f,
                "cannot be carried over: {} ({})",
                error.message, error.code
            ),
            Self::InvalidParams(error) => {
                write!(f, "params are not of the application's revision: {error}")
            }
            Self::UnknownMethod(what) => f.write_str(what),
            Self::InvalidResult(what) => write!(f, "the server's answer is not valid: {what}"),
            Self::NoCommonRevision(versions) if versions.is_empty() => {
                f.write_str("no revision in common with the server")
            }
            Self::NoCommonRevision(versions) => {
                write!(
                    f,
                    "no revision in common with the server, which speaks {}",
                    versions.join(", ")
                )
            }
            Self::HandshakeRefused(error) => {
                write!(
                    f,
                    "the server refused `initialize`: {} ({})",
                    error.message, error.code
                )
            }
            Self::Http(status) => write!(f, "HTTP status {status} without an answer"),
            Self::Transport(why) => write!(f, "no answer of the server arrived: {why}"),
            Self::Closed => f.write_str("the connection ended before the answer"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Unanswered => f.write_str("the server's questions were not answered in time"),
        }
    }
}

impl std::error::Error for Failure {}

/// Why a request was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// As many requests wait for an answer as [`Limits::pending`](crate::Limits::pending) allows.
    TooManyPending,
    /// The client is willing to speak no revision at all.
    NoRevisions,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyPending => {
                "too many requests wait for an answer: wait for some, or raise `Limits::pending`"
            }
            Self::NoRevisions => {
                "the client speaks no revision: name some in `Options::with_revisions`"
            }
        })
    }
}

impl std::error::Error for Refused {}
