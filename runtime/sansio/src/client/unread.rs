//! Texts that are not a message: those that are meant as one are taken, and others end the request that they were to answer.

use std::time::Duration;

use mcp_wire::{JsonArray, MessageKind, Peeked, peek};

use super::Client;
use crate::client::mend::{self, ExpectedResponse, MendedText};
use crate::unread::{answered, request_of, why};
use crate::{Connection, Event, Exchange, Failure, Ignored, MendedMessage, Output};
use mcp_revisions_core::translate::known_method;

impl Connection<Client> {
    /// Takes what a text is meant to be. What is not a message is reported, unless it is the answer to a request, which then
    /// ends with the reason.
    #[cold]
    pub(crate) fn take_unreadable(
        &mut self,
        exchange: Option<Exchange>,
        bytes: &[u8],
        ignored: Ignored,
        now: Duration,
    ) {
        let mended = self.mended(exchange, bytes, &ignored);
        for mended in &mended {
            let Ok(message) = peek(mended.text.as_bytes()) else {
                continue;
            };
            self.tell_mended(exchange, &message, &mended.why);
            let answered = (message.method.is_none())
                .then(|| self.request_of(exchange, &message))
                .flatten()
                .map(|(id, _)| id);
            if let Some(id) = answered.filter(|_| exchange.is_some() && !mended.names_request) {
                self.keep_foreign(id, &message);
                continue;
            }
            let pending = answered.and_then(|id| self.state.pending.get(&id));
            let sent_in = pending.map(|pending| pending.exchange);
            self.take_message(exchange, &message, now);
            // A response with a foreign id waits for the end of its stream.
            let waits = answered.is_some_and(|id| self.state.pending.contains_key(&id));
            if waits {
                continue;
            }
            // The transport did not see that this is the answer.
            if let Some(sent_in) = sent_in.filter(|it| self.state.exchanges.remove(it).is_some()) {
                self.put(Output::Close(sent_in));
            }
        }
        if !mended.is_empty() {
            return;
        }
        let Some(why) = why(&ignored, self.role.options.limits.max_message_bytes) else {
            return self.ignore(ignored);
        };
        let mut ended = false;
        for id in meant_for(bytes, &ignored) {
            let Some(pending) = self.state.pending.get(&id) else {
                continue;
            };
            let sent_in = pending.exchange;
            // Over HTTP a POST answers its own request and no other.
            if exchange.is_some_and(|exchange| exchange != sent_in) {
                continue;
            }
            if self.state.exchanges.remove(&sent_in).is_some() {
                self.put(Output::Close(sent_in));
            }
            self.end_unanswered(id, None, &Failure::InvalidResult(why.clone()), now);
            ended = true;
        }
        if !ended {
            if let Some(id) = request_of(bytes) {
                self.refuse_request(id.as_ref(), &why);
            }
            self.ignore(ignored);
        }
    }

    /// Returns the messages that a text is meant to be, of those that this end can take.
    pub(crate) fn mended(
        &self,
        exchange: Option<Exchange>,
        bytes: &[u8],
        ignored: &Ignored,
    ) -> Vec<MendedText> {
        if !matches!(ignored, Ignored::Unreadable(..) | Ignored::Batch(1)) {
            return Vec::new();
        }
        let posted = exchange.and_then(|it| self.state.exchanges.get(&it).copied().flatten());
        let expected = ExpectedResponse {
            id: posted.or_else(|| self.only_request()),
            is_posted: posted.is_some(),
        };
        let mut messages = mend::messages(bytes, expected);
        let mut is_answered = false;
        messages.retain(|mended| {
            let Ok(message) = peek(mended.text.as_bytes()) else {
                return false;
            };
            match message.kind {
                MessageKind::Response | MessageKind::Error => {
                    let is_first = exchange.is_none() || !is_answered;
                    let is_taken = is_first && self.takes_mended(exchange, &message, mended);
                    is_answered |= is_taken;
                    is_taken
                }
                // A line of a log may quote one that follows.
                _ => {
                    let method = message.method.as_deref();
                    mended.is_clean && method.is_some_and(|method| known_method(method).is_some())
                }
            }
        });
        messages
    }

    fn takes_mended(
        &self,
        exchange: Option<Exchange>,
        message: &Peeked<'_>,
        mended: &MendedText,
    ) -> bool {
        let Some((id, _)) = self.request_of(exchange, message) else {
            return false;
        };
        exchange.is_some() || mended.names_request || self.is_only_for(id, message)
    }

    /// Reports the mistakes of a message that is taken.
    pub(crate) fn tell_mended(
        &mut self,
        exchange: Option<Exchange>,
        message: &Peeked<'_>,
        why: &str,
    ) {
        if why.is_empty() {
            return;
        }
        let answered = (message.method.is_none()).then(|| self.request_of(exchange, message));
        let pending = answered
            .flatten()
            .and_then(|(id, _)| self.state.pending.get(&id));
        let method = match (pending, &message.method) {
            (Some(pending), _) => pending.purpose.method(),
            (None, Some(method)) => method,
            (None, None) => "",
        };
        let mended = MendedMessage::new(method, why);
        self.tell(Event::Mended(mended));
    }
}

/// Returns the requests that a text was to answer.
fn meant_for(bytes: &[u8], ignored: &Ignored) -> Vec<i64> {
    let batch = match ignored {
        Ignored::Batch(_) => str::from_utf8(bytes).ok(),
        _ => None,
    };
    match batch.and_then(|text| JsonArray::from_text(text).ok()) {
        Some(array) => (array.iter())
            .filter_map(|element| answered(element.as_bytes()))
            .collect(),
        None => answered(bytes).into_iter().collect(),
    }
}
