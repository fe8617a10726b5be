//! Texts for the client, and how a message of it is answered.

use mcp_wire::{RequestId, envelope::write};

use crate::Exchange;
use crate::errors::Refusal;

/// A text for the client.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The exchange whose response has this text; `None` if no exchange has it.
    pub exchange: Option<Exchange>,
    /// Set if the exchange ends with this. Else it is a notification or a request on its way.
    pub last: bool,
    /// The status, over HTTP, if this is the whole response.
    pub status: u16,
    /// The text.
    pub body: String,
}

impl Outgoing {
    /// Creates a text that does not end its exchange, if it has one.
    pub(crate) fn on_its_way(exchange: Option<Exchange>, body: String) -> Self {
        Self {
            exchange,
            last: false,
            status: 200,
            body,
        }
    }

    /// Creates the text that ends an exchange.
    pub(crate) fn last(exchange: Exchange, status: u16, body: String) -> Self {
        Self {
            exchange: Some(exchange),
            last: true,
            status,
            body,
        }
    }
}

/// The result that says nothing.
pub(crate) const EMPTY_RESULT: &str = "{}";

/// The answer to a message of the peer, before it is known if it stands alone or in a batch.
pub(crate) enum MessageReply {
    /// At once: by this text, beside this status.
    Text(String, u16),
    /// Once the application has answered.
    Later,
    /// Not at all: the status of an empty response.
    Empty(u16),
}

impl MessageReply {
    pub(crate) fn refused(id: Option<&RequestId>, refusal: &Refusal) -> Self {
        Self::Text(write::error(id, &refusal.error), refusal.status)
    }

    pub(crate) fn answered(id: &RequestId, result: &str) -> Self {
        Self::Text(write::response(id, result), 200)
    }
}
