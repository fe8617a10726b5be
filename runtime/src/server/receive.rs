//! Texts of a peer: looked at, settled, and handed to whom they concern.

use std::sync::Arc;
use std::time::Duration;

use mcp_registry::{Adapter, Era, Revision};
use mcp_wire::{Direction, ErrorObject, Json, MethodKind, RequestId};

use super::adapter::{NeedsAdapter, Occasion};
use super::call::{Call, Client, Event, Exchange, Ignored, LogLevel, Received, Reply, Token};
use super::channel::{Channel, Pending};
use super::translate::Translated;
use super::{Server, batch};
use crate::errors::{self, Refusal};
use crate::headers::Headers;
use crate::ladder::{self, Circumstances, Settled, find_method};
use crate::peek::{MessageKind, Peeked, Raw, Unreadable, peek};
use crate::revisions::{Spoken, is_legacy};

/// What one message came to, before it is known whether it stands alone or in a batch.
#[derive(Default)]
pub(super) struct Handled {
    /// What answers it at once, and the status beside it.
    pub(super) answer: Option<(String, u16)>,
    pub(super) events: Vec<Event>,
    /// Whether a request waits for the application.
    pub(super) waits: bool,
    /// Whether a session was opened.
    pub(super) opens_session: bool,
    /// The status of an empty response.
    pub(super) status: u16,
}

impl Handled {
    pub(super) fn refused(id: Option<&RequestId>, refusal: &Refusal) -> Self {
        Self {
            answer: Some((error_text(id, &refusal.error), refusal.status)),
            ..Self::default()
        }
    }

    pub(super) fn answered(id: &RequestId, result: &str) -> Self {
        Self {
            answer: Some((result_text(id, result), 200)),
            ..Self::default()
        }
    }

    pub(super) fn told(event: Event) -> Self {
        Self {
            events: vec![event],
            status: 202,
            ..Self::default()
        }
    }

    pub(super) fn put_aside(ignored: Ignored, status: u16) -> Self {
        Self {
            events: vec![Event::Ignored(ignored)],
            status,
            ..Self::default()
        }
    }
}

/// The text of an answer.
pub(super) fn result_text(id: &RequestId, result: &str) -> String {
    let mut text = String::with_capacity(result.len() + 64);
    text.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    mcp_wire::write_to(id, &mut text);
    text.push_str(",\"result\":");
    text.push_str(result);
    text.push('}');
    text
}

/// The text of an error; the id of a message that has none is `null`, as JSON-RPC wants it.
pub(super) fn error_text(id: Option<&RequestId>, error: &ErrorObject) -> String {
    let mut text = String::from("{\"jsonrpc\":\"2.0\",\"id\":");
    match id {
        Some(id) => mcp_wire::write_to(id, &mut text),
        None => text.push_str("null"),
    }
    text.push_str(",\"error\":");
    mcp_wire::write_to(error, &mut text);
    text.push('}');
    text
}

impl<App: Spoken> Server<App> {
    /// Takes a text of the peer: a message, or a batch where the revision has them.
    ///
    /// `headers` are those of its POST, and `None` on stdio. `now` counts from whenever the caller likes.
    /// Whatever comes, this neither fails nor panics: what cannot be read is answered with an error.
    pub fn receive(
        &self,
        channel: &mut Channel,
        headers: Option<&Headers<'_>>,
        bytes: &[u8],
        now: Duration,
    ) -> Received {
        let exchange = channel.next_exchange();
        channel.last_heard = now;
        if bytes.len() > self.limits.message_bytes {
            let refusal = errors::message_too_large(bytes.len(), self.limits.message_bytes);
            return single(exchange, Handled::refused(None, &refusal));
        }
        let message = match peek(bytes) {
            Ok(message) => message,
            Err(unreadable) => return single(exchange, refuse_unreadable(&unreadable)),
        };
        let around = Circumstances {
            headers,
            session: channel.session_revision(),
            served: self.served,
        };
        match ladder::settle(&message, &around) {
            Ok(Settled::Batch) => batch::receive(self, channel, exchange, &message, now),
            settled => single(
                exchange,
                self.handle(channel, exchange, &message, settled, false, now),
            ),
        }
    }

    /// Handles one message whose revision is settled, or refused.
    pub(super) fn handle(
        &self,
        channel: &mut Channel,
        exchange: Exchange,
        message: &Peeked<'_>,
        settled: Result<Settled, Box<Refusal>>,
        in_batch: bool,
        now: Duration,
    ) -> Handled {
        let id = message.id.and_then(|id| id.to_id());
        match (message.kind, id, settled) {
            (MessageKind::Request, None, _) => Handled::refused(
                None,
                &errors::invalid_request("the id is no text: it holds half a surrogate pair"),
            ),
            (MessageKind::Request, Some(id), Err(refusal)) => Handled::refused(Some(&id), &refusal),
            (MessageKind::Request, Some(id), Ok(Settled::Speaks(peer))) => {
                self.request(channel, exchange, message, id, peer, in_batch, now)
            }
            (MessageKind::Request, Some(id), Ok(_)) => self.initialize(channel, message, &id),
            (MessageKind::Notification, _, Ok(Settled::Speaks(peer))) => {
                self.notification(channel, message, peer, now)
            }
            (MessageKind::Notification, _, Err(refusal)) => {
                Handled::put_aside(Ignored::Notification(refusal.error.message), refusal.status)
            }
            (MessageKind::Response | MessageKind::Error, id, _) => {
                self.peer_answer(channel, message, id, now)
            }
            (_, id, Err(refusal)) => Handled::refused(id.as_ref(), &refusal),
            (_, id, Ok(_)) => {
                Handled::refused(id.as_ref(), &errors::invalid_request("not a message"))
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "all of them are what came")]
    fn request(
        &self,
        channel: &mut Channel,
        exchange: Exchange,
        message: &Peeked<'_>,
        id: RequestId,
        peer: Revision,
        in_batch: bool,
        now: Duration,
    ) -> Handled {
        let name = message.method.as_deref().unwrap_or_default();
        let era = peer.era();
        let Some(row) = find_method(peer, name, Direction::ClientToServer, MethodKind::Request)
        else {
            return Handled::refused(Some(&id), &errors::method_not_found(name, era));
        };
        let method = row.name;
        if channel.token_of(&id).is_some() {
            let refusal =
                errors::invalid_request("the id is that of a request which is not answered yet");
            return Handled::refused(Some(&id), &refusal);
        }
        if let Some(handled) = self.protocol_request(channel, message, &id, method, peer) {
            return handled;
        }
        if channel.pending() >= self.limits.pending {
            return Handled::refused(Some(&id), &errors::too_many_pending(self.limits.pending));
        }
        let session = channel.session.as_deref().filter(|_| is_legacy(peer));
        let params = message.params.map(Raw::text);
        let translated = self.params_in(method, params, peer, session);
        let client = match session {
            Some(session) => Arc::clone(&session.client),
            None => Arc::new(client_of(message, peer)),
        };
        let log_level = match session {
            Some(session) => session.log_level,
            None => level_of(message),
        };
        let mut pending = Pending {
            id,
            method,
            peer,
            exchange,
            in_batch,
            client,
            log_level,
            progress_token: message.meta.progress_token.and_then(json),
            params: None,
            called: None,
        };
        match translated {
            Translated::Done(params, losses) => {
                self.report(method, peer, &losses);
                let keeps = channel
                    .machines
                    .iter()
                    .any(|machine| machine.adapter() != Adapter::Subscription);
                pending.params = keeps.then(|| params.clone());
                let token = channel.add(pending);
                let call = call_of(channel, token, method, params, losses);
                Handled {
                    events: call.map(Event::Call).into_iter().collect(),
                    waits: true,
                    ..Handled::default()
                }
            }
            Translated::Rejected(error) => {
                let status = errors::status(error.code.as_i64().unwrap_or_default(), era);
                let refusal = Refusal {
                    error: *error,
                    status,
                };
                Handled::refused(Some(&pending.id), &refusal)
            }
            Translated::Swallowed(_) => {
                Handled::refused(Some(&pending.id), &errors::method_not_found(method, era))
            }
            Translated::NeedsState(needs) => {
                let id = pending.id.clone();
                let token = channel.add(pending);
                let params = params
                    .and_then(|text| Json::from_text(text).ok())
                    .unwrap_or_else(super::translate::no_params);
                let occasion = Occasion::Request {
                    token,
                    method,
                    params: &params,
                    peer,
                };
                if let Some(output) = self.run_machine(channel, needs.adapter, occasion, now) {
                    return batch::of_output(output, true);
                }
                channel.take(token);
                let needs = NeedsAdapter::new(&needs, method, peer);
                let mut refusal = errors::method_not_found(method, era);
                refusal.error.message = needs.to_string();
                let mut handled = Handled::refused(Some(&id), &refusal);
                handled.events.push(Event::NeedsAdapter(needs));
                handled
            }
        }
    }
}

/// The call of a request that waits.
pub(super) fn call_of(
    channel: &Channel,
    token: Token,
    method: &'static str,
    params: Json,
    losses: Vec<mcp_registry::Loss>,
) -> Option<Call> {
    let pending = channel.get(token)?;
    Some(Call {
        token,
        exchange: pending.exchange,
        method,
        params,
        peer: pending.peer,
        client: Arc::clone(&pending.client),
        log_level: pending.log_level,
        progress_token: pending.progress_token.clone(),
        losses,
    })
}

pub(super) fn json(raw: Raw<'_>) -> Option<Json> {
    Json::from_text(raw.text()).ok()
}

/// What a modern request says of its client.
fn client_of(message: &Peeked<'_>, peer: Revision) -> Client {
    match peer.era() {
        Era::Handshake => Client::unknown(peer),
        Era::PerRequest => Client {
            revision: peer,
            info: message.meta.client_info.and_then(json),
            capabilities: message.meta.client_capabilities.and_then(json),
        },
    }
}

fn level_of(message: &Peeked<'_>) -> Option<LogLevel> {
    LogLevel::from_name(&message.meta.log_level?.as_str()?)
}

fn refuse_unreadable(unreadable: &Unreadable) -> Handled {
    match unreadable {
        Unreadable::NotJson(_) => {
            Handled::refused(None, &errors::parse_error(&unreadable.to_string()))
        }
        Unreadable::NotAMessage { id, .. } => Handled::refused(
            id.as_deref(),
            &errors::invalid_request(&unreadable.to_string()),
        ),
    }
}

/// What a message that came alone came to.
fn single(exchange: Exchange, handled: Handled) -> Received {
    let Handled {
        answer,
        events,
        waits,
        opens_session,
        status,
    } = handled;
    let reply = match answer {
        Some((body, status)) => Some(Reply {
            status,
            body: Some(body),
            opens_session,
        }),
        None if waits => None,
        None => Some(Reply {
            status: if status == 0 { 202 } else { status },
            body: None,
            opens_session,
        }),
    };
    Received {
        exchange,
        reply,
        events,
    }
}
