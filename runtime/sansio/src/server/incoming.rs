//! Incoming texts: a text after one look at it, and one message with all that is known of how it came.

use std::time::Duration;

use mcp_wire::{Peeked, Unreadable};

use crate::errors::Refusal;
use crate::{Exchange, Ignored, unread};
use mcp_revisions_core::Negotiation;

/// The result of one look at a text: the message, and the revision that it names.
#[derive(Debug, Clone, PartialEq)]
pub struct Looked<'a>(
    pub(crate) Result<(Peeked<'a>, Result<Negotiation, Box<Refusal>>), RefusedText>,
);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RefusedText {
    pub(crate) why: Ignored,
    /// The request of the server that the text was to answer, and why it does not.
    pub(crate) instead: Option<(i64, String)>,
    /// Set if the text is meant as an answer: its client takes an error with its id as the answer to a request of its own.
    pub(crate) is_answer: bool,
}

impl RefusedText {
    pub(crate) fn new(why: Ignored, bytes: &[u8], limit: usize) -> Self {
        let reason = unread::why(&why, limit);
        let instead = unread::answered(bytes).zip(reason);
        let is_json = matches!(why, Ignored::Unreadable(Unreadable::NotAMessage { .. }, _));
        Self {
            is_answer: is_json && unread::is_answer(bytes),
            why,
            instead,
        }
    }
}

impl<'a> Looked<'a> {
    /// Returns the message, if the text is one.
    #[must_use]
    pub fn message(&self) -> Option<&Peeked<'a>> {
        self.0.as_ref().ok().map(|(message, _)| message)
    }

    /// Returns the negotiation of the message by itself, if it is not refused.
    #[must_use]
    pub fn negotiation(&self) -> Option<Negotiation> {
        self.0.as_ref().ok()?.1.as_ref().ok().copied()
    }
}

/// One message, by itself or out of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IncomingMessage<'a> {
    pub(crate) message: &'a Peeked<'a>,
    pub(crate) exchange: Exchange,
    pub(crate) in_batch: bool,
    /// The principal behind it, if the transport knows one.
    pub(crate) principal: Option<&'a str>,
    pub(crate) now: Duration,
}
