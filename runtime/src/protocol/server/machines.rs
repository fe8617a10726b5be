//! State machines at work: an occasion goes in, their steps are carried out.

use std::time::Duration;

use mcp_registry::{Adapter, Revision};
use mcp_wire::envelope::write;
use mcp_wire::{ErrorObject, Json};

use super::done::{Done, Outgoing};
use super::state::{AskedBy, Own, State};
use super::{Server, batch};
use crate::adapters::{self, Occasion, Step, World};
use crate::methods;
use crate::protocol::revisions::is_legacy;
use crate::protocol::translate::no_params;
use crate::protocol::{Answered, Call, Cancelled, Event, Exchange, Fate, Token};
use crate::{errors, meta};

impl Server {
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
            state.machines.push(adapters::machine(adapter, self.app)?);
        }
        let empty = no_params();
        let world = World {
            now,
            limits: &self.limits,
            capabilities: self.introductions.capabilities(self.app).unwrap_or(&empty),
            translator: self.translator(),
            on_loss: &self.on_loss,
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
                let Some(pending) = state.get_mut(token) else {
                    return;
                };
                pending.adapter = Some(adapter);
                let exchange = pending.exchange;
                let body = write::response(&pending.id, &self.signed(result, pending.peer));
                state.park(token);
                state.end_exchange(exchange);
                // Its client may come again as soon as it has the answer: it has to be found by then.
                output.tell(Event::Parked { token, ticket });
                output.send(Outgoing::last(exchange, 200, body));
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
                output.send_all(self.unask(state, by, None));
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
                let peer = pending.map(|pending| pending.peer);
                let peer = peer.or(state.session_revision()).unwrap_or(self.app);
                let body = write::notification(self.peer_name(method, peer), Some(&params));
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
            let revision = Json::of(self.app.wire());
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
        let sent = batch::deliver(state, &pending, body, status);
        if !state.batches.contains_key(&pending.exchange) {
            state.end_exchange(pending.exchange);
        }
        sent
    }
}
