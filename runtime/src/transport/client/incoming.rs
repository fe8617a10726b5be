//! Messages and responses of a server, as transports pass them to the driver.

use crate::transport::queue::Queued;
use mcp_revisions_sansio::client::{Exchange, NeededSignIn};

/// Maximum number of bytes of messages that wait for the connection before the server has to wait.
pub(super) const HEARD_BYTES: usize = 32 << 10;

/// A message or event of the server.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// A message, and what it came in answer to, if the transport can tell.
    Message {
        /// The exchange that it answers.
        exchange: Option<Exchange>,
        /// Its bytes.
        text: Vec<u8>,
    },
    /// The head of an answer over HTTP, and its body, if that is not a stream of events.
    Answered {
        /// The exchange that it answers.
        exchange: Exchange,
        /// Its status.
        status: u16,
        /// Its `Mcp-Session-Id`.
        session: Option<String>,
        /// Its body; `None` if that is a stream, whose messages follow.
        body: Option<Vec<u8>>,
    },
    /// Nothing more comes in answer to this, over HTTP.
    Ended(Exchange),
    /// The request did not reach the server over HTTP, or its answer broke off: nothing comes in answer to this.
    Failed {
        /// The exchange that it was to answer.
        exchange: Exchange,
        /// Why, for people.
        why: String,
    },
    /// The server wants a sign-in: nothing comes in answer to this.
    Unauthorized {
        /// The exchange that it was to answer.
        exchange: Exchange,
        /// The sign-in.
        needed: Box<NeededSignIn>,
    },
    /// The server writes its messages otherwise than one per line, and how; they are read all the same.
    Misframed(String),
    /// The server does not know the session of this id any more, over HTTP.
    SessionLost(String),
    /// Nothing more comes at all.
    Closed,
}

impl Incoming {
    /// Returns the text that the server sent, if it is one.
    pub(super) fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Message { text, .. } => Some(text),
            Self::Answered { body, .. } => body.as_deref().filter(|body| !body.is_empty()),
            _ => None,
        }
    }
}

impl Queued for Incoming {
    fn bytes(&self) -> usize {
        self.text().map_or(0, <[u8]>::len)
    }
}
