//! Batches, of a revision that has them: their messages handled one by one, their answers put into one array.

use std::time::Duration;

use super::Server;
use super::call::{Event, Exchange, Outgoing, Output, Received, Reply};
use super::channel::{Batch, Channel, Pending};
use super::receive::Handled;
use crate::errors::{self, Refusal};
use crate::protocol::revisions::Spoken;
use crate::settle;
use mcp_registry::Revision;
use mcp_wire::envelope::write;
use mcp_wire::{Peeked, Unreadable, peek};

/// Takes a batch of messages of a revision.
pub(super) fn receive<App: Spoken>(
    server: &Server<App>,
    channel: &mut Channel,
    exchange: Exchange,
    message: &Peeked<'_>,
    revision: Revision,
    principal: Option<&str>,
    now: Duration,
) -> Received {
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
    channel.batches.insert(
        exchange,
        Batch {
            waiting: 1,
            answers: Vec::new(),
        },
    );
    let mut events = Vec::new();
    let mut asks = false;
    for text in message.elements() {
        let handled = match peek(text.as_bytes()) {
            Ok(message) => {
                let settled = settle::settle_element(&message, revision);
                server.handle(channel, exchange, &message, settled, principal, true, now)
            }
            Err(unreadable) => {
                let refusal = errors::invalid_request(&unreadable.to_string());
                let id = match &unreadable {
                    Unreadable::NotAMessage { id, .. } => id.as_deref(),
                    Unreadable::NotJson(_) => None,
                };
                Handled {
                    answer: Some((write::error(id, &refusal.error), 200)),
                    ..Handled::default()
                }
            }
        };
        asks |= handled.waits || handled.answer.is_some();
        events.extend(handled.events);
        if let (Some((answer, _)), Some(batch)) =
            (handled.answer, channel.batches.get_mut(&exchange))
        {
            batch.answers.push(answer);
        }
    }
    if let Some(batch) = channel.batches.get_mut(&exchange) {
        batch.waiting -= 1;
    }
    let reply = match closed(channel, exchange) {
        Some(body) => Some(Reply {
            status: 200,
            body: Some(body),
            opens_session: false,
        }),
        None if channel.batches.contains_key(&exchange) => None,
        None if asks => Some(Reply {
            status: 200,
            body: None,
            opens_session: false,
        }),
        None => Some(Reply {
            status: 202,
            body: None,
            opens_session: false,
        }),
    };
    Received {
        exchange,
        reply,
        events,
    }
}

fn refused(exchange: Exchange, refusal: &Refusal) -> Received {
    let body = Some(write::error(None, &refusal.error));
    let reply = Some(Reply {
        status: refusal.status,
        body,
        opens_session: false,
    });
    Received {
        exchange,
        reply,
        events: Vec::new(),
    }
}

/// The text of a batch of which nothing waits any more; it is taken off the channel.
///
/// `None` also where no message of it is answered: then nothing is sent.
fn closed(channel: &mut Channel, exchange: Exchange) -> Option<String> {
    if channel.batches.get(&exchange)?.waiting > 0 {
        return None;
    }
    let answers = channel.batches.remove(&exchange)?.answers;
    (!answers.is_empty()).then(|| write::batch(&answers))
}

/// Sends the answer of a request that was taken off the channel: by itself, or once its batch is complete.
pub(super) fn deliver(
    channel: &mut Channel,
    pending: &Pending,
    body: String,
    status: u16,
) -> Option<Outgoing> {
    let exchange = pending.exchange;
    if !pending.in_batch {
        return Some(Outgoing {
            exchange: Some(exchange),
            last: true,
            status,
            body,
        });
    }
    channel.batches.get_mut(&exchange)?.answers.push(body);
    complete(channel, exchange)
}

/// The rest of a batch of which the last request that waited is gone.
pub(super) fn complete(channel: &mut Channel, exchange: Exchange) -> Option<Outgoing> {
    let body = closed(channel, exchange)?;
    Some(Outgoing {
        exchange: Some(exchange),
        last: true,
        status: 200,
        body,
    })
}

/// What an adapter did while a message was handled, as part of that.
pub(super) fn of_output(output: Output, waits: bool) -> Handled {
    let mut events: Vec<Event> = output.events;
    events.extend(output.send.into_iter().map(Event::Send));
    Handled {
        events,
        waits,
        ..Handled::default()
    }
}
