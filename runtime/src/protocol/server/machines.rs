//! State machines at work: an occasion goes in, their steps are carried out.

use std::sync::Arc;
use std::time::Duration;

use mcp_protocol::{Adapter, Loss, Revision};
use mcp_wire::Json;
use mcp_wire::envelope::write;

use super::Server;
use super::reply::Outgoing;
use super::state::{AskedBy, Own};
use crate::meta;
use crate::methods;
use crate::protocol::machine::Machine;
use crate::protocol::occasion::{Occasion, Step, World};
use crate::protocol::revisions::is_legacy;
use crate::protocol::translate::no_params;
use crate::protocol::{Answered, Caller, Cancelled, Connection, Event, IncomingRequest, Token};

impl Connection<Server> {
    /// Returns when [`wake`](Self::wake) has something to do.
    #[must_use]
    pub fn wake_at(&self) -> Option<Duration> {
        let machines = self.state.machines.iter();
        machines.filter_map(Machine::wake_at).min()
    }

    /// Sets the time, and ends what has waited too long.
    pub fn wake(&mut self, now: Duration) {
        let due = |at: Duration| at <= now;
        let adapters: Vec<Adapter> = (self.state.machines.iter())
            .filter(|machine| machine.wake_at().is_some_and(due))
            .map(|machine| machine.adapter())
            .collect();
        for adapter in adapters {
            self.run_machine(adapter, Occasion::Time, now);
        }
    }

    /// Hands an occasion to the machine of an adapter, and does what it says; false if there is none, or it does not take
    /// it.
    pub(in crate::protocol) fn run_machine(
        &mut self,
        adapter: Adapter,
        occasion: Occasion<'_>,
        now: Duration,
    ) -> bool {
        match self.steps_of(adapter, occasion, now) {
            Some(steps) => {
                for step in steps {
                    self.carry_out(adapter, step, now);
                }
                true
            }
            None => false,
        }
    }

    fn steps_of(
        &mut self,
        adapter: Adapter,
        occasion: Occasion<'_>,
        now: Duration,
    ) -> Option<Vec<Step>> {
        let (role, machines) = (&*self.role, &mut self.state.machines);
        if !self.state.is_bare && !machines.iter().any(|machine| machine.adapter() == adapter) {
            machines.push(Machine::of(adapter, role.app())?);
        }
        let empty = no_params();
        let world = World {
            now,
            limits: &role.limits,
            capabilities: role
                .introductions
                .capabilities(role.app())
                .unwrap_or(&empty),
            translator: &role.translator,
            seal: &role.seal,
        };
        let mut machines = machines.iter_mut();
        let machine = machines.find(|machine| machine.adapter() == adapter)?;
        machine.on(occasion, &world)
    }

    fn carry_out(&mut self, adapter: Adapter, step: Step, now: Duration) {
        match step {
            Step::Answer(token, result) => self.answer_as_is(token, result),
            Step::Park {
                token,
                ticket,
                result,
            } => {
                let Some(pending) = self.state.get_mut(token) else {
                    return;
                };
                pending.adapter = Some(adapter);
                let exchange = pending.exchange;
                let body = write::response(&pending.id, &self.role.signed(result, pending.peer));
                self.state.park(token);
                self.state.end_exchange(exchange);
                // Its client may come again as soon as it has the answer: it has to be found by then.
                self.tell(Event::Parked { token, ticket });
                self.send(Outgoing::last(exchange, 200, body));
            }
            Step::Resume { parked, by } => {
                let Some(exchange) = self.state.resume(parked, by) else {
                    return;
                };
                let token = parked;
                self.tell(Event::Resumed { token, exchange });
                let pending = self.state.get_mut(parked);
                if let Some(result) = pending.and_then(|pending| pending.early.take()) {
                    let _ = self.answer(parked, result, now);
                }
            }
            Step::GiveUp(token) => {
                let _ = self.give_up(token, None, now);
            }
            Step::Call {
                token,
                method,
                params,
            } => {
                let Some(pending) = self.state.get_mut(token) else {
                    return;
                };
                pending.called = Some((adapter, method));
                pending.rounds += 1;
                pending.params = Some(params.clone());
                self.call(token, method, params, Vec::new());
            }
            Step::Own {
                key,
                method,
                params,
                peer,
            } => self.own_call(Own { adapter, key }, method, params, peer),
            Step::CancelOwn { key } => {
                let is_it = |own: &Own| own.adapter == adapter && own.key == key;
                if let Some(token) = self.state.own.find(is_it) {
                    self.state.own.remove(&token);
                    let reason = None;
                    self.tell(Event::Cancelled(Cancelled { token, reason }));
                }
            }
            Step::Ask {
                key,
                about,
                method,
                params,
            } => {
                let by = AskedBy::Machine(adapter, key);
                match self.send_request(by, about, method, Some(&params)) {
                    Ok(()) => {
                        if let Some(pending) = about.and_then(|token| self.state.get_mut(token)) {
                            pending.adapter = Some(adapter);
                        }
                    }
                    Err(error) => {
                        let result = Err(&error);
                        self.run_machine(adapter, Occasion::Answered { key, result }, now);
                    }
                }
            }
            Step::Unask { key } => self.unask(AskedBy::Machine(adapter, key), None),
            Step::Notify {
                about,
                method,
                params,
            } => {
                let pending = about.and_then(|token| self.state.get(token));
                let params = match pending {
                    Some(pending) if pending.method == methods::SUBSCRIPTIONS_LISTEN => {
                        meta::with(&params, meta::SUBSCRIPTION_ID, &Json::of(&pending.id))
                    }
                    _ => params,
                };
                let exchange = pending.map(|pending| pending.exchange);
                let peer = pending.map(|pending| pending.peer);
                let peer = peer.or(self.session_revision());
                let method =
                    (self.role.translator).peer_name(method, peer.unwrap_or(self.role.app()));
                let body = write::notification(method, Some(params.text()));
                self.send(Outgoing::on_its_way(exchange, body));
            }
            Step::Listens => self.tell(Event::Listens),
            Step::Deliver { key, result } => self.tell(Event::Answered(Answered {
                token: Token(key),
                answer: result.into(),
                losses: Vec::new(),
            })),
        }
    }

    /// Hands a request that waits to the application.
    pub(in crate::protocol) fn call(
        &mut self,
        token: Token,
        method: &'static str,
        params: Json,
        losses: Vec<Loss>,
    ) {
        if let Some(call) = self.state.call(token, method, params, losses) {
            self.tell(Event::Request(call));
        }
    }

    /// A call of the application on behalf of the session, with what a request of its own lifecycle says.
    fn own_call(&mut self, own: Own, method: &'static str, params: Json, peer: Revision) {
        let session = self.state.session.as_deref().filter(|_| is_legacy(peer));
        let caller = self.opened_by().filter(|caller| caller.revision == peer);
        let caller = caller.unwrap_or_else(|| Arc::new(Caller::unknown(peer)));
        let mut params = params;
        if let (true, Some(session)) = (self.role.modern, session) {
            let revision = Json::of(self.role.app().protocol_version());
            let members = [
                (meta::PROTOCOL_VERSION, Some(&revision)),
                (
                    meta::CLIENT_CAPABILITIES,
                    session.upgraded.client_capabilities.as_ref(),
                ),
                (meta::CLIENT_INFO, session.upgraded.client_info.as_ref()),
            ];
            params = meta::edit(&params, |meta| {
                for (key, value) in members {
                    if let Some(value) = value {
                        meta.insert(key, value.clone());
                    }
                }
            });
        }
        let token = self.state.new_token();
        self.state.own.insert(token, own);
        let call = IncomingRequest::without_message(token, method, params, peer, caller);
        self.tell(Event::Request(call));
    }
}
