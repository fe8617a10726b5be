//! Texts of a peer: looked at, settled, and handed to whom they concern.

use std::sync::Arc;
use std::time::Duration;

use mcp_registry::{Adapter, Era, Revision};
use mcp_wire::envelope::write;
use mcp_wire::{Direction, ErrorObject, Json, MethodKind, RequestId};

use super::done::{Outgoing, Received};
use super::machines::Told;
use super::needs::needs_state;
use super::state::{Pending, State};
use super::translate::Stopped;
use super::{Server, batch};
use crate::adapters::seal::subject;
use crate::adapters::{NeedsAdapter, Occasion};
use crate::errors::{self, Refusal};
use crate::headers::Headers;
use crate::methods;
use crate::protocol::revisions::{Spoken, is_legacy, known};
use crate::protocol::{Call, Caller, Event, Exchange, Ignored, LogLevel, OtherCall, Output, Token};
use crate::settle::{self, Settled, Settlement, find_method};
use mcp_wire::{MessageKind, Peeked, Raw, Unreadable, peek};

/// What one look at a text has shown: the message, and what it says of its revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Looked<'a>(Result<Seen<'a>, Unlooked>);

#[derive(Debug, Clone, PartialEq)]
struct Seen<'a> {
    message: Peeked<'a>,
    settlement: Result<Settlement, Box<Refusal>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Unlooked {
    TooLarge(usize),
    Unreadable(Unreadable),
}

impl<'a> Looked<'a> {
    /// The message, if the text is one.
    #[must_use]
    pub fn message(&self) -> Option<&Peeked<'a>> {
        self.0.as_ref().ok().map(|seen| &seen.message)
    }

    /// What the message says of its revision by itself, if it is not refused for that.
    #[must_use]
    pub fn settlement(&self) -> Option<Settlement> {
        self.0.as_ref().ok()?.settlement.as_ref().ok().copied()
    }
}

/// What one message came to, before it is known whether it stands alone or in a batch.
#[derive(Default)]
pub(super) struct Handled {
    /// What answers it at once, and the status beside it.
    pub(super) answer: Option<(String, u16)>,
    pub(super) outputs: Vec<Output<Outgoing>>,
    /// Whether a request waits for the application.
    pub(super) waits: bool,
    /// The status of an empty response.
    pub(super) status: u16,
}

impl Handled {
    pub(super) fn refused(id: Option<&RequestId>, refusal: &Refusal) -> Self {
        Self {
            answer: Some((write::error(id, &refusal.error), refusal.status)),
            ..Self::default()
        }
    }

    pub(super) fn answered(id: &RequestId, result: &str) -> Self {
        Self {
            answer: Some((write::response(id, result), 200)),
            ..Self::default()
        }
    }

    pub(super) fn told(event: Event) -> Self {
        Self {
            outputs: vec![Output::Event(event)],
            status: 202,
            ..Self::default()
        }
    }

    pub(super) fn put_aside(ignored: Ignored, status: u16) -> Self {
        Self {
            outputs: vec![Output::Event(Event::Ignored(ignored))],
            status,
            ..Self::default()
        }
    }
}

impl<App: Spoken> Server<App> {
    /// One look at a text, by which a transport can tell whose it is before it hands it in
    /// (`Connection::take`); `headers` are those of its POST, and `None` on stdio.
    #[must_use]
    pub fn look<'a>(&self, headers: Option<&Headers<'_>>, bytes: &'a [u8]) -> Looked<'a> {
        Looked(match bytes.len() > self.limits.message_bytes {
            true => Err(Unlooked::TooLarge(bytes.len())),
            false => (peek(bytes).map_err(Unlooked::Unreadable)).map(|message| Seen {
                settlement: settle::settle(&message, headers, self.served),
                message,
            }),
        })
    }

    /// What a text comes to.
    pub(super) fn receive(
        &self,
        state: &mut State,
        exchange: Exchange,
        looked: Looked<'_>,
        principal: Option<&str>,
        now: Duration,
    ) -> Received {
        let Seen {
            message,
            settlement,
        } = match looked.0 {
            Ok(seen) => seen,
            Err(Unlooked::TooLarge(bytes)) => {
                let refusal = errors::message_too_large(bytes, self.limits.message_bytes);
                return single(exchange, Handled::refused(None, &refusal));
            }
            Err(Unlooked::Unreadable(unreadable)) => {
                return single(exchange, refuse_unreadable(&unreadable));
            }
        };
        let session = state.session_revision();
        match settlement.and_then(|it| it.within(session, self.served)) {
            Ok(Settled::Batch(revision)) => {
                batch::receive(self, state, exchange, &message, revision, principal, now)
            }
            settled => single(
                exchange,
                self.handle(state, exchange, &message, settled, principal, false, now),
            ),
        }
    }

    /// Handles one message whose revision is settled, or refused.
    #[allow(clippy::too_many_arguments, reason = "all of them are what came")]
    pub(super) fn handle(
        &self,
        state: &mut State,
        exchange: Exchange,
        message: &Peeked<'_>,
        settled: Result<Settled, Box<Refusal>>,
        principal: Option<&str>,
        in_batch: bool,
        now: Duration,
    ) -> Handled {
        let too_long = |text: &str| text.len() > self.limits.name_bytes;
        if message.id.is_some_and(|id| too_long(id.text())) {
            return Handled::refused(None, &errors::invalid_request("the id is too long"));
        }
        let id = message.id.and_then(|id| id.to_id());
        let token = message.meta.progress_token;
        if let Some(id) = id
            .as_ref()
            .filter(|_| token.is_some_and(|token| too_long(token.text())))
        {
            return Handled::refused(
                Some(id),
                &errors::invalid_params("the progress token is too long"),
            );
        }
        match (message.kind, id, settled) {
            (MessageKind::Request, None, _) => Handled::refused(
                None,
                &errors::invalid_request("the id is no text: it holds half a surrogate pair"),
            ),
            (MessageKind::Request, Some(id), Err(refusal)) => Handled::refused(Some(&id), &refusal),
            (MessageKind::Request, Some(id), Ok(Settled::Speaks(peer))) => {
                self.request(state, exchange, message, id, peer, principal, in_batch, now)
            }
            (MessageKind::Request, Some(id), Ok(_)) => self.initialize(state, message, &id),
            (MessageKind::Notification, _, Ok(Settled::Speaks(peer))) => {
                self.notification(state, message, peer, now)
            }
            (MessageKind::Notification, _, Err(refusal)) => {
                let method = message.method.as_deref().unwrap_or_default().to_owned();
                Handled::put_aside(
                    Ignored::Invalid(method, refusal.error.message),
                    refusal.status,
                )
            }
            (MessageKind::Response | MessageKind::Error, id, _) => {
                self.peer_answer(state, message, id, now)
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
        state: &mut State,
        exchange: Exchange,
        message: &Peeked<'_>,
        id: RequestId,
        peer: Revision,
        principal: Option<&str>,
        in_batch: bool,
        now: Duration,
    ) -> Handled {
        let name = message.method.as_deref().unwrap_or_default();
        let era = peer.era();
        let row = find_method(peer, name, Direction::ClientToServer, MethodKind::Request);
        let is_other = row.is_none() && self.takes_others && known(name).is_none();
        if row.is_none() && !is_other {
            return Handled::refused(Some(&id), &errors::method_not_found(name, era));
        }
        let method = row.map_or("", |row| row.name);
        if state.token_of(&id).is_some() {
            let refusal =
                errors::invalid_request("the id is that of a request which is not answered yet");
            return Handled::refused(Some(&id), &refusal);
        }
        if let Some(handled) = self.protocol_request(state, message, &id, method, peer) {
            return handled;
        }
        if state.pending() >= self.limits.pending {
            return Handled::refused(Some(&id), &errors::too_many_pending(self.limits.pending));
        }
        let bytes = message.text.len();
        if state.pending_bytes().saturating_add(bytes) > self.limits.pending_bytes {
            let refusal = errors::too_much_pending(self.limits.pending_bytes);
            return Handled::refused(Some(&id), &refusal);
        }
        let session = state.session.as_deref().filter(|_| is_legacy(peer));
        let params = message.params.map(Raw::text);
        let translated = match is_other {
            true => Ok((
                message
                    .params
                    .and_then(json)
                    .unwrap_or_else(super::translate::no_params),
                Vec::new(),
            )),
            false => self.params_in(method, params, peer, session),
        };
        let caller = match session {
            Some(session) => Arc::clone(&session.caller),
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
            caller,
            log_level,
            progress_token: message.meta.progress_token.and_then(json),
            params: None,
            called: None,
            adapter: None,
            principal: principal.map(str::to_owned),
            subject: None,
            rounds: 0,
            is_parked: false,
            early: None,
            is_acknowledged: false,
            is_other,
            bytes,
        };
        let direction = Direction::ClientToServer;
        let asks_back = row.is_some_and(|row| row.input_required)
            || (self.modern
                && is_legacy(peer)
                && find_method(App::REVISION, method, direction, MethodKind::Request)
                    .is_some_and(|row| row.input_required));
        if asks_back && !self.modern {
            pending.subject = message.params.and_then(json).as_ref().map(subject);
        }
        let translated =
            match self.modern && !is_legacy(peer) && self.is_retry(message, principal, now) {
                true => {
                    pending.subject = message.params.and_then(json).as_ref().map(subject);
                    Err(Stopped::NeedsState(needs_state(
                        Adapter::MultiRoundTrip,
                        method,
                    )))
                }
                false => translated,
            };
        match translated {
            Ok((params, losses)) => {
                self.report(method, peer, Some(&pending.id), &losses);
                let plugged = state.machines.iter().map(|machine| machine.adapter());
                let keeps = asks_back
                    || method == methods::SUBSCRIPTIONS_LISTEN
                    || plugged.into_iter().any(|it| it != Adapter::Subscription);
                pending.params = keeps.then(|| params.clone());
                if is_other {
                    return hand_over(state, pending, name, params);
                }
                let token = state.add(pending);
                let call = call_of(state, token, method, params, losses);
                Handled {
                    outputs: call
                        .map(|call| Output::Event(Event::Call(call)))
                        .into_iter()
                        .collect(),
                    waits: true,
                    ..Handled::default()
                }
            }
            Err(Stopped::Swallowed(_)) => {
                Handled::refused(Some(&pending.id), &errors::method_not_found(method, era))
            }
            Err(Stopped::NeedsState(needs)) => {
                let id = pending.id.clone();
                let token = state.add(pending);
                let params = params
                    .and_then(|text| Json::from_text(text).ok())
                    .unwrap_or_else(super::translate::no_params);
                if let Some(pending) = state.get_mut(token) {
                    pending.adapter = Some(needs.adapter);
                }
                let told = Told::of(state, token, Some(params));
                let occasion = told.as_ref().map(|told| Occasion::Request(told.about()));
                if let Some(occasion) = occasion
                    && let Some(output) = self.run_machine(state, needs.adapter, occasion, now)
                {
                    return batch::of_output(output, true);
                }
                state.take(token);
                let needs = NeedsAdapter::new(&needs, method, peer);
                let mut refusal = errors::method_not_found(method, era);
                refusal.error.message = needs.to_string();
                let mut handled = Handled::refused(Some(&id), &refusal);
                (handled.outputs).push(Output::Event(Event::NeedsAdapter(needs)));
                handled
            }
            Err(stopped) => {
                let error = stopped.into_error(ErrorObject::INVALID_PARAMS);
                let status = errors::status(error.code.as_i64().unwrap_or_default(), era);
                Handled::refused(Some(&pending.id), &Refusal { error, status })
            }
        }
    }
}

/// Hands over a request of a method that no revision has.
fn hand_over(state: &mut State, pending: Pending, method: &str, params: Json) -> Handled {
    let (exchange, peer) = (pending.exchange, pending.peer);
    let (caller, progress_token) = (Arc::clone(&pending.caller), pending.progress_token.clone());
    let call = OtherCall {
        id: pending.id.clone(),
        token: state.add(pending),
        exchange,
        method: method.to_owned(),
        params,
        peer,
        caller,
        about: None,
        progress_token,
    };
    Handled {
        outputs: vec![Output::Event(Event::OtherCall(call))],
        waits: true,
        ..Handled::default()
    }
}

/// The call of a request that waits.
pub(super) fn call_of(
    state: &State,
    token: Token,
    method: &'static str,
    params: Json,
    losses: Vec<mcp_registry::Loss>,
) -> Option<Call> {
    let pending = state.get(token)?;
    Some(Call {
        token,
        id: Some(pending.id.clone()),
        exchange: pending.exchange,
        method,
        params,
        peer: pending.peer,
        caller: Arc::clone(&pending.caller),
        about: None,
        log_level: pending.log_level,
        progress_token: pending.progress_token.clone(),
        losses,
    })
}

pub(super) fn json(raw: Raw<'_>) -> Option<Json> {
    Json::from_text(raw.text()).ok()
}

/// What a modern request says of its client.
fn client_of(message: &Peeked<'_>, peer: Revision) -> Caller {
    match peer.era() {
        Era::Handshake => Caller::unknown(peer),
        Era::PerRequest => Caller {
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
        outputs,
        waits,
        status,
    } = handled;
    let reply = match answer {
        Some((body, status)) => Some(Outgoing::last(exchange, status, body)),
        None if waits => None,
        None => {
            let status = if status == 0 { 202 } else { status };
            Some(Outgoing::last(exchange, status, String::new()))
        }
    };
    Received { outputs, reply }
}
