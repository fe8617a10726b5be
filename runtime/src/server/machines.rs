//! Plugged-in state machines at work: an occasion goes in, their steps are carried out.

use std::time::Duration;

use mcp_registry::Adapter;
use mcp_wire::{ErrorObject, Json, RequestId};

use super::adapter::{Occasion, Step};
use super::call::{Event, Fate, Outgoing, Output, PeerAnswer};
use super::channel::{Asked, AskedBy, Channel};
use super::receive::{call_of, error_text, result_text};
use super::{Server, Token, batch};
use crate::errors;
use crate::revisions::Spoken;

impl<App: Spoken> Server<App> {
    /// Wakes the adapters whose time has come; see [`Channel::wake_at`].
    pub fn tick(&self, channel: &mut Channel, now: Duration) -> Output {
        let mut output = Output::of(Fate::Sent);
        let due = |at: Duration| at <= now;
        let adapters: Vec<Adapter> = (channel.machines.iter())
            .filter(|machine| machine.wake_at().is_some_and(due))
            .map(|machine| machine.adapter())
            .collect();
        for adapter in adapters {
            if let Some(more) = self.run_machine(channel, adapter, Occasion::Time, now) {
                output.send.extend(more.send);
                output.events.extend(more.events);
            }
        }
        output
    }

    /// Hands an occasion to the machine of an adapter; `None` if there is none, or it does not take it.
    pub(super) fn run_machine(
        &self,
        channel: &mut Channel,
        adapter: Adapter,
        occasion: Occasion<'_>,
        now: Duration,
    ) -> Option<Output> {
        let machine = channel
            .machines
            .iter_mut()
            .find(|machine| machine.adapter() == adapter)?;
        let steps = machine.on(occasion, now)?;
        let mut output = Output::of(Fate::Adapted);
        for step in steps {
            self.carry_out(channel, adapter, step, &mut output);
        }
        Some(output)
    }

    fn carry_out(&self, channel: &mut Channel, adapter: Adapter, step: Step, output: &mut Output) {
        match step {
            Step::Answer(token, result) => output
                .send
                .extend(self.answer_as_is(channel, token, result)),
            Step::Call {
                token,
                method,
                params,
            } => {
                let Some(pending) = channel.get_mut(token) else {
                    return;
                };
                pending.called = Some((adapter, method));
                pending.params = Some(params.clone());
                let call = call_of(channel, token, method, params, Vec::new());
                output.events.extend(call.map(Event::Call));
            }
            Step::Ask {
                key,
                about,
                method,
                params,
            } => {
                let by = AskedBy::Machine(adapter, key);
                output
                    .send
                    .extend(self.send_request(channel, by, about, method, &params));
            }
            Step::Notify {
                about,
                method,
                params,
            } => {
                let exchange = about
                    .and_then(|token| channel.get(token))
                    .map(|pending| pending.exchange);
                let body = notification_text(method, Some(&params));
                output.send.push(Outgoing {
                    exchange,
                    last: false,
                    status: 200,
                    body,
                });
            }
            Step::Deliver { key, result } => {
                output.events.push(Event::Answered(PeerAnswer {
                    key,
                    result,
                    losses: Vec::new(),
                }));
            }
        }
    }

    /// Answers a request in the words of its peer.
    pub(super) fn answer_as_is(
        &self,
        channel: &mut Channel,
        token: Token,
        result: Result<Json, ErrorObject>,
    ) -> Option<Outgoing> {
        let pending = channel.take(token)?;
        let era = pending.peer.era();
        let (body, status) = match result {
            Ok(result) => (
                result_text(&pending.id, &self.signed(result, pending.peer)),
                200,
            ),
            Err(error) => {
                let status = errors::status(error.code.as_i64().unwrap_or_default(), era);
                (error_text(Some(&pending.id), &error), status)
            }
        };
        batch::deliver(channel, &pending, body, status)
    }

    /// Sends the peer a request in its own words; `None` if too many wait for their answer.
    pub(super) fn send_request(
        &self,
        channel: &mut Channel,
        by: AskedBy,
        about: Option<Token>,
        method: &'static str,
        params: &Json,
    ) -> Option<Outgoing> {
        if channel.asked.len() >= self.limits.pending {
            return None;
        }
        let about = about.and_then(|token| channel.get(token));
        let exchange = about.map(|pending| pending.exchange);
        let peer = about
            .map(|pending| pending.peer)
            .or(channel.session_revision())?;
        let id = channel.next_ask();
        channel.asked.insert(id, Asked { method, by, peer });
        let mut body = String::from("{\"jsonrpc\":\"2.0\",\"id\":");
        mcp_wire::write_to(&RequestId::from(id), &mut body);
        body.push_str(",\"method\":");
        mcp_wire::write_to(method, &mut body);
        body.push_str(",\"params\":");
        body.push_str(params.text());
        body.push('}');
        Some(Outgoing {
            exchange,
            last: false,
            status: 200,
            body,
        })
    }
}

/// The text of a notification.
pub(super) fn notification_text(method: &str, params: Option<&Json>) -> String {
    let mut body = String::from("{\"jsonrpc\":\"2.0\",\"method\":");
    mcp_wire::write_to(method, &mut body);
    if let Some(params) = params {
        body.push_str(",\"params\":");
        body.push_str(params.text());
    }
    body.push('}');
    body
}
