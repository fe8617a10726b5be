//! Batches, of a revision that has them: their messages handled one by one, their answers put into one array.

use mcp_revisions_core::{Revision, negotiate_element};

use super::Server;
use super::incoming::{IncomingMessage, RefusedText};
use super::reply::{MessageReply, Outgoing};
use super::requests::{Batch, PendingCall};
use super::state::ServerState;
use crate::errors::{self, Refusal};
use crate::unread;
use crate::{Connection, Exchange};
use mcp_wire::{Unreadable, envelope::write, peek};

impl Connection<Server> {
    /// Takes a batch of messages of a revision: the text that answers it at once, if no request in it waits.
    pub(crate) fn batch(
        &mut self,
        batch: IncomingMessage<'_>,
        revision: Revision,
    ) -> Option<Outgoing> {
        let IncomingMessage {
            message, exchange, ..
        } = batch;
        let limit = self.role.limits.max_batch_length;
        let length = message.elements().take(limit.saturating_add(1)).count();
        if length == 0 {
            let refusal = errors::invalid_request("a batch without a message");
            return Some(refused(exchange, &refusal));
        }
        if length > limit {
            return Some(refused(exchange, &errors::batch_too_long(limit)));
        }
        // One more than there are, until all of them are handled.
        let open = Batch {
            waiting: 1,
            answers: Vec::new(),
        };
        self.state.batches.insert(exchange, open);
        for text in message.elements() {
            let reply = match peek(text.as_bytes()) {
                Ok(message) => {
                    let negotiated = negotiate_element(&message, revision);
                    let one = IncomingMessage {
                        message: &message,
                        in_batch: true,
                        ..batch
                    };
                    self.handle(one, negotiated)
                }
                Err(unreadable) => self.unreadable_element(text, unreadable),
            };
            if let (MessageReply::Text(answer, _), Some(batch)) =
                (reply, self.state.batches.get_mut(&exchange))
            {
                batch.answers.push(answer);
            }
        }
        if let Some(batch) = self.state.batches.get_mut(&exchange) {
            batch.waiting -= 1;
        }
        match closed(&mut self.state, exchange) {
            Some(body) => Some(Outgoing::last(exchange, 200, body)),
            None if self.state.batches.contains_key(&exchange) => None,
            // Nothing in it is answered: it asked for nothing, or what it asked for was cancelled in it.
            None => Some(Outgoing::last(exchange, 202, String::new())),
        }
    }

    /// Refuses a text of a batch that is not a message.
    fn unreadable_element(&mut self, text: &str, unreadable: Unreadable) -> MessageReply {
        let refusal = errors::invalid_request(&unreadable.to_string());
        let id = match &unreadable {
            Unreadable::NotAMessage { id, .. } => id.as_deref(),
            Unreadable::NotJson(_) => None,
        };
        let refused = write::error(id, &refusal.error);
        let (why, limit) = (
            unread::unreadable(text.as_bytes(), unreadable),
            self.role.limits.max_message_bytes,
        );
        let unlooked = RefusedText::new(why, text.as_bytes(), limit);
        let is_answer = unlooked.is_answer;
        self.take_unlooked(unlooked);
        if is_answer {
            MessageReply::Empty(400)
        } else {
            MessageReply::Text(refused, 200)
        }
    }
}

fn refused(exchange: Exchange, refusal: &Refusal) -> Outgoing {
    let body = write::error(None, &refusal.error);
    Outgoing::last(exchange, refusal.status, body)
}

/// Returns the text of a batch of which nothing waits any more; it is taken out of the state.
///
/// `None` also where no message of it is answered: then nothing is sent.
fn closed(state: &mut ServerState, exchange: Exchange) -> Option<String> {
    if state.batches.get(&exchange)?.waiting > 0 {
        return None;
    }
    let answers = state.batches.remove(&exchange)?.answers;
    (!answers.is_empty()).then(|| write::batch(&answers))
}

/// Sends the answer of a request that waits no more: by itself, or once its batch is complete.
pub(crate) fn deliver(
    state: &mut ServerState,
    pending: &PendingCall,
    body: String,
    status: u16,
) -> Option<Outgoing> {
    let exchange = pending.exchange;
    if !pending.in_batch {
        return Some(Outgoing::last(exchange, status, body));
    }
    state.batches.get_mut(&exchange)?.answers.push(body);
    complete(state, exchange)
}

/// Returns the rest of a batch of which the last request that waited is gone.
pub(crate) fn complete(state: &mut ServerState, exchange: Exchange) -> Option<Outgoing> {
    let body = closed(state, exchange)?;
    Some(Outgoing::last(exchange, 200, body))
}
