//! Batches, of a revision that has them: their messages handled one by one, their answers put into one array.

use mcp_registry::Revision;

use super::Server;
use super::done::{Handled, Outgoing, Received};
use super::incoming::{Incoming, Unlooked};
use super::state::{Batch, Pending, State};
use crate::errors::{self, Refusal};
use crate::protocol::{Exchange, Ignored};
use crate::settle;
use mcp_wire::envelope::write;
use mcp_wire::{Unreadable, peek};

/// Takes a batch of messages of a revision.
pub(super) fn receive(
    server: &Server,
    state: &mut State,
    batch: Incoming<'_>,
    revision: Revision,
) -> Received {
    let Incoming {
        message, exchange, ..
    } = batch;
    let limit = server.limits().batch_length;
    let length = message.elements().take(limit.saturating_add(1)).count();
    if length == 0 {
        return refused(
            exchange,
            &errors::invalid_request("a batch without a message"),
        );
    }
    if length > limit {
        return refused(exchange, &errors::batch_too_long(limit));
    }
    // One more than there are, until all of them are handled.
    state.batches.insert(
        exchange,
        Batch {
            waiting: 1,
            answers: Vec::new(),
        },
    );
    let mut outputs = Vec::new();
    let mut asks = false;
    for text in message.elements() {
        let handled = match peek(text.as_bytes()) {
            Ok(message) => {
                let settled = settle::settle_element(&message, revision);
                let one = Incoming {
                    message: &message,
                    in_batch: true,
                    ..batch
                };
                server.handle(state, one, settled)
            }
            Err(unreadable) => {
                let refusal = errors::invalid_request(&unreadable.to_string());
                let id = match &unreadable {
                    Unreadable::NotAMessage { id, .. } => id.as_deref(),
                    Unreadable::NotJson(_) => None,
                };
                let refused = (write::error(id, &refusal.error), 200);
                let why = Ignored::Unreadable(unreadable);
                let limit = server.limits().message_bytes;
                let unlooked = Unlooked::new(why, text.as_bytes(), limit);
                let answered = server.unanswered(state, unlooked.instead, batch.now);
                Handled {
                    answer: Some(refused),
                    outputs: answered.map(|it| it.outputs).unwrap_or_default(),
                    ..Handled::default()
                }
            }
        };
        asks |= handled.waits || handled.answer.is_some();
        outputs.extend(handled.outputs);
        if let (Some((answer, _)), Some(batch)) = (handled.answer, state.batches.get_mut(&exchange))
        {
            batch.answers.push(answer);
        }
    }
    if let Some(batch) = state.batches.get_mut(&exchange) {
        batch.waiting -= 1;
    }
    let reply = match closed(state, exchange) {
        Some(body) => Some(Outgoing::last(exchange, 200, body)),
        None if state.batches.contains_key(&exchange) => None,
        None if asks => Some(Outgoing::last(exchange, 200, String::new())),
        None => Some(Outgoing::last(exchange, 202, String::new())),
    };
    Received { reply, outputs }
}

fn refused(exchange: Exchange, refusal: &Refusal) -> Received {
    let body = write::error(None, &refusal.error);
    Received {
        reply: Some(Outgoing::last(exchange, refusal.status, body)),
        outputs: Vec::new(),
    }
}

/// The text of a batch of which nothing waits any more; it is taken off the channel.
///
/// `None` also where no message of it is answered: then nothing is sent.
fn closed(state: &mut State, exchange: Exchange) -> Option<String> {
    if state.batches.get(&exchange)?.waiting > 0 {
        return None;
    }
    let answers = state.batches.remove(&exchange)?.answers;
    (!answers.is_empty()).then(|| write::batch(&answers))
}

/// Sends the answer of a request that was taken off the channel: by itself, or once its batch is complete.
pub(super) fn deliver(
    state: &mut State,
    pending: &Pending,
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

/// The rest of a batch of which the last request that waited is gone.
pub(super) fn complete(state: &mut State, exchange: Exchange) -> Option<Outgoing> {
    let body = closed(state, exchange)?;
    Some(Outgoing::last(exchange, 200, body))
}
