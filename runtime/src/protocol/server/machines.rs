//! State machines at work: an occasion goes in, their steps are carried out.

use std::sync::Arc;
use std::time::Duration;

use mcp_registry::{Adapter, Revision};
use mcp_wire::envelope::write;
use mcp_wire::{ErrorObject, Json, Map, Peeked, Raw, RequestId};

use super::done::{Done, Outgoing};
use super::state::{Asked, AskedBy, Own, State};
use super::{Server, batch};
use crate::adapters::seal::{Bound, Broken, subject};
use crate::adapters::{self, About, Occasion, Step, World};
use crate::methods;
use crate::protocol::revisions::{Spoken, is_legacy, known};
use crate::protocol::translate::no_params;
use crate::protocol::{Answered, Call, Caller, Cancelled, Event, Exchange, Fate, Token};
use crate::{errors, meta};

/// What a machine is told of a request, taken out of the channel that the machine is in.
pub(super) struct Told {
    token: Token,
    method: &'static str,
    params: Json,
    peer: Revision,
    caller: Arc<Caller>,
    principal: Option<String>,
    subject: Option<String>,
    rounds: u32,
}

impl Told {
    /// What is known of a request; `params` are those that the application was called with, if none are given.
    pub(super) fn of(state: &State, token: Token, params: Option<Json>) -> Option<Self> {
        let pending = state.get(token)?;
        let params = params.or_else(|| pending.params.clone());
        Some(Self {
            token,
            method: pending.method,
            params: params.unwrap_or_else(no_params),
            peer: pending.peer,
            caller: Arc::clone(&pending.caller),
            principal: pending.principal.clone(),
            subject: pending.subject.clone(),
            rounds: pending.rounds,
        })
    }

    pub(super) fn about(&self) -> About<'_> {
        About {
            token: self.token,
            method: self.method,
            params: &self.params,
            peer: self.peer,
            caller: &self.caller,
            principal: self.principal.as_deref(),
            subject: self.subject.as_deref(),
            rounds: self.rounds,
        }
    }
}

impl<App: Spoken> Server<App> {
    /// Wakes the adapters whose time has come.
    pub(super) fn tick(&self, state: &mut State, now: Duration) -> Done {
        let mut output = Done::of(Fate::Sent);
        let due = |at: Duration| at <= now;
        let adapters: Vec<Adapter> = (state.machines.iter())
            .filter(|machine| machine.wake_at().is_some_and(due))
            .map(|machine| machine.adapter())
            .collect();
        for adapter in adapters {
            if let Some(more) = self.run_machine(state, adapter, Occasion::Time, now) {
                output.join(more);
            }
        }
        output
    }

    /// The ticket of a request that is made again, if it is one that this server sealed for it: over HTTP it belongs
    /// to the channel in which [`Event::Parked`] named that ticket.
    #[must_use]
    pub fn ticket(
        &self,
        message: &Peeked<'_>,
        principal: Option<&str>,
        now: Duration,
    ) -> Option<u64> {
        let state = message.request_state.and_then(Raw::as_str)?;
        let params = message.params?.to_json();
        let subject = subject(&params);
        let method = message.method.as_deref()?;
        let bound = Bound {
            method,
            subject: &subject,
            principal,
        };
        self.seal.open(&state, now, bound).ok()
    }

    /// Whether a request of a modern application's own era is made again for what this server has sealed: in time or not.
    pub(super) fn is_retry(
        &self,
        message: &Peeked<'_>,
        principal: Option<&str>,
        now: Duration,
    ) -> bool {
        let Some(state) = message.request_state.and_then(Raw::as_str) else {
            return false;
        };
        let params = message.params.map(Raw::to_json);
        let subject = params.as_ref().map(subject).unwrap_or_default();
        let bound = Bound {
            method: message.method.as_deref().unwrap_or_default(),
            subject: &subject,
            principal,
        };
        self.seal.open(&state, now, bound) != Err(Broken::Forged)
    }

    /// Hands an occasion to the machine of an adapter; `None` if there is none, or it does not take it.
    pub(super) fn run_machine(
        &self,
        state: &mut State,
        adapter: Adapter,
        occasion: Occasion<'_>,
        now: Duration,
    ) -> Option<Done> {
        let is_it = |machine: &dyn adapters::StateMachine| machine.adapter() == adapter;
        if !state.is_bare && !state.machines.iter().any(|machine| is_it(machine.as_ref())) {
            state
                .machines
                .push(adapters::machine(adapter, App::REVISION)?);
        }
        let empty = no_params();
        let world = World {
            now,
            limits: &self.limits,
            capabilities: self
                .introductions
                .capabilities(App::REVISION)
                .unwrap_or(&empty),
            translator: self.translator(),
            seal: &self.seal,
        };
        let machine = state
            .machines
            .iter_mut()
            .find(|machine| is_it(machine.as_ref()))?;
        let steps = machine.on(occasion, &world)?;
        let mut output = Done::of(Fate::Adapted);
        for step in steps {
            self.carry_out(state, adapter, step, now, &mut output);
        }
        Some(output)
    }

    fn carry_out(
        &self,
        state: &mut State,
        adapter: Adapter,
        step: Step,
        now: Duration,
        output: &mut Done,
    ) {
        match step {
            Step::Answer(token, result) => {
                output.send_all(self.answer_as_is(state, token, result));
            }
            Step::Park {
                token,
                ticket,
                result,
            } => {
                let Some(pending) = state.get(token) else {
                    return;
                };
                let body = write::response(&pending.id, &self.signed(result, pending.peer));
                let exchange = Some(pending.exchange);
                output.send(Outgoing {
                    exchange,
                    last: true,
                    status: 200,
                    body,
                });
                if let Some(pending) = state.get_mut(token) {
                    pending.adapter = Some(adapter);
                }
                state.park(token);
                output.tell(Event::Parked { token, ticket });
            }
            Step::Resume { parked, by } => {
                let Some(exchange) = state.resume(parked, by) else {
                    return;
                };
                output.tell(Event::Resumed {
                    token: parked,
                    exchange,
                });
                let early = state
                    .get_mut(parked)
                    .and_then(|pending| pending.early.take());
                if let Some(result) = early {
                    output.join(self.answer(state, parked, result, now));
                }
            }
            Step::GiveUp(token) => {
                output.join(self.give_up(state, token, None, now));
            }
            Step::Call {
                token,
                method,
                params,
            } => {
                let Some(pending) = state.get_mut(token) else {
                    return;
                };
                pending.called = Some((adapter, method));
                pending.rounds += 1;
                pending.params = Some(params.clone());
                let call = state.call(token, method, params, Vec::new());
                output.tell_all(call.map(Event::Call));
            }
            Step::Own {
                key,
                method,
                params,
                peer,
            } => {
                output.tell(self.own_call(state, Own { adapter, key }, method, params, peer));
            }
            Step::CancelOwn { key } => {
                let is_it = |own: &Own| own.adapter == adapter && own.key == key;
                let token = state
                    .own
                    .iter()
                    .find(|(_, own)| is_it(own))
                    .map(|(token, _)| *token);
                if let Some(token) = token {
                    state.own.remove(&token);
                    output.tell(Event::Cancelled(Cancelled {
                        token,
                        reason: None,
                    }));
                }
            }
            Step::Ask {
                key,
                about,
                method,
                params,
            } => {
                let by = AskedBy::Machine(adapter, key);
                match self.send_request(state, by, about, method, Some(&params)) {
                    Some(send) => {
                        if let Some(pending) = about.and_then(|token| state.get_mut(token)) {
                            pending.adapter = Some(adapter);
                        }
                        output.send(send);
                    }
                    None => {
                        let error = errors::too_many_pending(self.limits.pending).error;
                        let occasion = Occasion::Answered {
                            key,
                            result: Err(&error),
                        };
                        if let Some(more) = self.run_machine(state, adapter, occasion, now) {
                            output.join(more);
                        }
                    }
                }
            }
            Step::Unask { key } => {
                let by = AskedBy::Machine(adapter, key);
                output.send_all(unask(state, by, None));
            }
            Step::Notify {
                about,
                method,
                params,
            } => {
                let pending = about.and_then(|token| state.get(token));
                let params = match pending {
                    Some(pending) if pending.method == methods::SUBSCRIPTIONS_LISTEN => {
                        meta::with(params.text(), meta::SUBSCRIPTION_ID, &Json::of(&pending.id))
                    }
                    _ => params.into_text(),
                };
                let exchange = pending.map(|pending| pending.exchange);
                let body = write::notification(method, Some(&params));
                output.send(Outgoing {
                    exchange,
                    last: false,
                    status: 200,
                    body,
                });
            }
            Step::Listens => output.tell(Event::Listens),
            Step::Deliver { key, result } => {
                output.tell(Event::Answered(Answered {
                    token: Token(key),
                    answer: result.into(),
                    losses: Vec::new(),
                }));
            }
        }
    }

    /// A call of the application on behalf of the session, with what a request of its own era says.
    fn own_call(
        &self,
        state: &mut State,
        own: Own,
        method: &'static str,
        params: Json,
        peer: Revision,
    ) -> Event {
        let session = state.session.as_deref().filter(|_| is_legacy(peer));
        let caller = state.caller(peer);
        let mut text = params.into_text();
        if let (true, Some(session)) = (self.modern, session) {
            let revision = Json::of(App::REVISION.wire());
            let members = [
                (meta::PROTOCOL_VERSION, Some(&revision)),
                (
                    meta::CLIENT_CAPABILITIES,
                    session.upgraded.client_capabilities.as_ref(),
                ),
                (meta::CLIENT_INFO, session.client_info.as_ref()),
            ];
            for (key, value) in members {
                if let Some(value) = value {
                    text = meta::with(&text, key, value);
                }
            }
        }
        let token = state.new_token();
        state.own.insert(token, own);
        Event::Call(Call {
            token,
            id: None,
            exchange: Exchange::NONE,
            method,
            params: Json::from_text(&text).unwrap_or_else(|_| no_params()),
            peer,
            caller,
            about: None,
            log_level: None,
            progress_token: None,
            losses: Vec::new(),
        })
    }

    /// Answers a request in the words of its peer.
    pub(super) fn answer_as_is(
        &self,
        state: &mut State,
        token: Token,
        result: Result<Json, ErrorObject>,
    ) -> Option<Outgoing> {
        let pending = state.take(token)?;
        if pending.is_parked {
            return None;
        }
        let era = pending.peer.era();
        let (body, status) = match result {
            Ok(result) => (
                write::response(&pending.id, &self.signed(result, pending.peer)),
                200,
            ),
            Err(error) => {
                let status = errors::status(error.code.as_i64().unwrap_or_default(), era);
                (write::error(Some(&pending.id), &error), status)
            }
        };
        batch::deliver(state, &pending, body, status)
    }

    /// Sends the peer a request in its own words; `None` if too many wait for their answer.
    pub(super) fn send_request(
        &self,
        state: &mut State,
        by: AskedBy,
        about: Option<Token>,
        method: &str,
        params: Option<&Json>,
    ) -> Option<Outgoing> {
        if state.asked.len() >= self.limits.pending {
            return None;
        }
        let about = about.and_then(|token| state.get(token));
        let exchange = about.map(|pending| pending.exchange);
        let peer = about
            .map(|pending| pending.peer)
            .or(state.session_revision())?;
        let id = state.next_ask();
        state.asked.insert(
            id,
            Asked {
                method: known(method),
                by,
                peer,
                exchange,
            },
        );
        let body = write::request(&RequestId::from(id), method, params.map(Json::text));
        Some(Outgoing {
            exchange,
            last: false,
            status: 200,
            body,
        })
    }

    /// The application does not wait any more for the answer to its request of this key: the peer is told so.
    pub(super) fn forget(
        &self,
        state: &mut State,
        key: u64,
        reason: Option<&str>,
        now: Duration,
    ) -> Done {
        let mut output = Done::of(Fate::Sent);
        output.send_all(unask(state, AskedBy::Application(key), reason));
        let adapter = Adapter::MultiRoundTrip;
        if state
            .machines
            .iter()
            .any(|machine| machine.adapter() == adapter)
            && let Some(more) = self.run_machine(state, adapter, Occasion::Forgotten { key }, now)
        {
            output.join(more);
        }
        output
    }
}

/// Takes back a request of the server, and tells the peer.
fn unask(state: &mut State, by: AskedBy, reason: Option<&str>) -> Option<Outgoing> {
    let id = state
        .asked
        .iter()
        .find(|(_, asked)| asked.by == by)
        .map(|(id, _)| *id)?;
    let asked = state.asked.remove(&id)?;
    let mut params: Map<Json> = Map::new();
    params.insert("requestId", Json::from(id));
    let reason = reason.unwrap_or("the answer is not waited for any more");
    params.insert("reason", Json::of(reason));
    let body = write::notification(
        methods::NOTIFICATIONS_CANCELLED,
        Some(Json::of(&params).text()),
    );
    Some(Outgoing {
        exchange: asked.exchange,
        last: false,
        status: 200,
        body,
    })
}
