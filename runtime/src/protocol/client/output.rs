//! What only a client hands out: its posts, and why it did not take a request.

use std::fmt;

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
    /// Whether it ends a handshake: later messages are sent once the server has taken it.
    pub ends_handshake: bool,
}

/// Why a request was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// As many requests wait for an answer as [`Limits::max_pending_requests`](crate::Limits::max_pending_requests) allows.
    TooManyPending,
    /// The client is willing to speak no revision at all.
    NoRevisions,
    /// The server reads nothing of what it is sent.
    NotRead,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyPending => {
                "too many requests wait for an answer: wait for some, or raise `Limits::max_pending_requests`"
            }
            Self::NoRevisions => {
                "the client speaks no revision: name some in `Options::with_revisions`"
            }
            Self::NotRead => "the server takes nothing of what it is sent",
        })
    }
}

impl std::error::Error for Refused {}
