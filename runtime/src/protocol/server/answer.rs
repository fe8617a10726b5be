//! Answers of the application, on their way to the peer; and requests that need none any more.

use std::sync::Arc;
use std::time::Duration;

use mcp_registry::NeedsState;
use mcp_wire::envelope::write;
use mcp_wire::{Direction, ErrorObject, Json, Kind, Map, Members, MethodKind, Reader};

use super::done::{Done, Outgoing};
use super::state::{Own, Pending, State};
use super::told::Told;
use super::translate::{Stopped, Translated};
use super::{Server, batch};
use crate::adapters::parking::in_place_of;
use crate::adapters::questions::allowed;
use crate::adapters::{Occasion, declares};
use crate::methods;
use crate::protocol::revisions::is_legacy;
use crate::protocol::rows::find_method;
use crate::protocol::{Caller, Cancelled, Event, Exchange, Fate, NeedsAdapter, Output, Token};
use crate::{errors, meta};

impl Server {
    /// Answers a request; see [`Connection::answer`](crate::protocol::Connection::answer).
    pub(super) fn answer(
        &self,
        state: &mut State,
        token: Token,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Done {
        if let Some(own) = state.own.remove(&token) {
            let occasion = Occasion::OwnResult {
                key: own.key,
                result: result.as_ref(),
            };
            let output = self.run_machine(state, own.adapter, occasion, now);
            return output.unwrap_or_else(|| Done::of(Fate::Adapted));
        }
        if let Some(pending) = state.get_mut(token).filter(|pending| pending.is_parked) {
            pending.early = Some(result);
            return Done::of(Fate::Adapted);
        }
        let Some(pending) = state.get(token) else {
            return Done::of(Fate::Unknown);
        };
        if pending.is_other {
            let mut done = Done::of(Fate::Sent);
            done.send_all(self.answer_as_is(state, token, result));
            return done;
        }
        let (method, peer) = (pending.method, pending.peer);
        let caller = Arc::clone(&pending.caller);
        if let Some((adapter, called)) = pending.called
            && called != method
            && let Some(told) = Told::of(state, token, None)
        {
            let occasion = Occasion::Result {
                about: crate::adapters::About {
                    method: called,
                    ..told.about()
                },
                result: result.as_ref(),
            };
            if let Some(output) = self.run_machine(state, adapter, occasion, now) {
                return output;
            }
        }
        let result = match result {
            Ok(result) if result.kind() != Kind::Object => {
                Err(errors::internal("the server gave a result that is no object").error)
            }
            Ok(result) => match undeclared(&result, &caller, peer) {
                Some(refusal) => Err(refusal.error),
                None => self.with_signed_state(state, token, result, now),
            },
            error => error,
        };
        match result {
            Ok(result) => match self.result_out(method, result.clone(), peer) {
                Err(Stopped::NeedsState(needs)) => {
                    self.adapt(state, token, &needs, Ok(result), now)
                }
                translated => self.deliver(
                    state,
                    token,
                    translated.map(|(result, losses)| (Ok(result), losses)),
                ),
            },
            Err(error) => match self.error_out(method, error.clone(), peer) {
                Err(Stopped::NeedsState(needs)) => {
                    self.adapt(state, token, &needs, Err(error), now)
                }
                translated => self.deliver(
                    state,
                    token,
                    translated.map(|(error, losses)| (Err(error), losses)),
                ),
            },
        }
    }

    /// Gives up a request: the peer cancelled it, closed the stream that its answer would take, or is gone.
    ///
    /// A `notifications/cancelled` of the peer does this by itself.
    pub(super) fn give_up(
        &self,
        state: &mut State,
        token: Token,
        reason: Option<String>,
        now: Duration,
    ) -> Done {
        let Some(pending) = state.take(token) else {
            return Done::of(Fate::Unknown);
        };
        let exchange = pending.exchange;
        let mut output = Done::of(Fate::Sent);
        if let Some(adapter) = pending
            .adapter
            .or(pending.called.map(|(adapter, _)| adapter))
            && let Some(more) = self.run_machine(state, adapter, Occasion::Cancelled { token }, now)
        {
            output.join(more);
        }
        let rest = if pending.in_batch {
            batch::complete(state, exchange)
        } else {
            None
        };
        let ends_exchange =
            !pending.is_parked && rest.is_none() && !state.batches.contains_key(&exchange);
        output.send_all(rest);
        output.tell(Event::Cancelled(Cancelled { token, reason }));
        if ends_exchange {
            output.outputs.push(Output::Close(exchange));
        }
        output
    }

    /// The peer does not wait any more for the response to a text: what came in it is given up, in the modern era.
    pub(super) fn hang_up(&self, state: &mut State, exchange: Exchange, now: Duration) -> Done {
        let mut output = Done::of(Fate::Sent);
        state.end_exchange(exchange);
        let given_up: Vec<Token> = state.given_up_with(exchange).collect();
        for token in given_up {
            output.join(self.give_up(state, token, None, now));
        }
        output
    }

    /// The peer will not say anything any more: what only it could end is given up.
    pub(super) fn input_ended(&self, state: &mut State, now: Duration) -> Done {
        let mut output = Done::of(Fate::Sent);
        for token in state.endless() {
            output.join(self.give_up(state, token, None, now));
        }
        let over = errors::internal("the client has ended").error;
        for (token, Own { adapter, key }) in std::mem::take(&mut state.own) {
            output.tell(Event::Cancelled(Cancelled {
                token,
                reason: None,
            }));
            let result = Err(&over);
            let occasion = Occasion::OwnResult { key, result };
            if let Some(more) = self.run_machine(state, adapter, occasion, now) {
                output.join(more);
            }
        }
        output
    }

    fn deliver(
        &self,
        state: &mut State,
        token: Token,
        translated: Translated<Result<Json, ErrorObject>>,
    ) -> Done {
        let Some(pending) = state.get(token) else {
            return Done::of(Fate::Unknown);
        };
        let (method, peer) = (pending.method, pending.peer);
        (self.on_loss).tell(method, peer, Some(&pending.id), &translated);
        let (result, losses, fate) = match translated {
            Ok((result, losses)) => (result, losses, Fate::Sent),
            Err(Stopped::Swallowed(rule)) => {
                let error = errors::internal("the revision of the client has no such answer").error;
                (Err(error), Vec::new(), Fate::Swallowed(rule))
            }
            // Handled by the caller.
            Err(Stopped::NeedsState(needs)) => {
                let needs = NeedsAdapter::new(&needs, method, peer);
                (
                    Err(errors::internal(&needs.to_string()).error),
                    Vec::new(),
                    Fate::NeedsAdapter(needs),
                )
            }
            Err(stopped) => {
                let error = stopped.into_error(ErrorObject::INTERNAL_ERROR);
                (
                    Err(error.clone()),
                    Vec::new(),
                    Fate::Refused(Box::new(error)),
                )
            }
        };
        let result =
            match result {
                // Only the runtime knows the id that ties the end of a stream to its request.
                Ok(result) if method == methods::SUBSCRIPTIONS_LISTEN => Json::from_text(
                    &meta::with(result.text(), meta::SUBSCRIPTION_ID, &Json::of(&pending.id)),
                )
                .map_err(|problem| errors::internal(&problem.to_string()).error),
                result => result,
            };
        let mut done = Done::of(fate);
        done.losses = losses;
        let is_stream = pending.method == methods::SUBSCRIPTIONS_LISTEN
            && (pending.is_acknowledged || pending.adapter.is_some());
        if is_stream {
            let method = self.peer_name(methods::NOTIFICATIONS_CANCELLED, peer);
            done.send(taken_down(pending, method));
        }
        let mut answer = self.answer_as_is(state, token, result);
        // The method is there: what its handler does not find is said in the body, and not as if nothing were served here.
        if let Some(answer) = answer.as_mut().filter(|answer| answer.status == 404)
            && self.offers(method)
        {
            answer.status = 200;
        }
        done.send_all(answer);
        done
    }

    /// Whether a method is one that the application declares to have.
    fn offers(&self, method: &str) -> bool {
        let (sender, kind) = (Direction::ClientToServer, MethodKind::Request);
        let row = find_method(self.app, method, sender, kind);
        let capabilities = self.introductions.capabilities(self.app);
        row.and_then(|row| row.capability).is_some_and(|path| {
            let path: Vec<&str> = path.split('.').collect();
            capabilities.is_some_and(|it| declares(it, &path))
        })
    }

    /// Ends the streams that clients of the modern era have opened: each is told so.
    pub(super) fn end_streams(&self, state: &mut State, now: Duration) -> Done {
        let mut output = Done::of(Fate::Sent);
        for token in state.streams() {
            let adapter = state.get(token).and_then(|pending| pending.adapter);
            let occasion = Occasion::Cancelled { token };
            if let Some(adapter) = adapter
                && let Some(more) = self.run_machine(state, adapter, occasion, now)
            {
                output.join(more);
            }
            let mut result: Map<Json> = Map::new();
            result.insert("resultType", Json::of("complete"));
            output.join(self.deliver(state, token, Ok((Ok(Json::of(&result)), Vec::new()))));
            output.tell(Event::Cancelled(Cancelled {
                token,
                reason: None,
            }));
        }
        output
    }

    /// An answer that an adapter has to turn into something else.
    fn adapt(
        &self,
        state: &mut State,
        token: Token,
        needs: &NeedsState,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Done {
        let Some(told) = Told::of(state, token, None) else {
            return Done::of(Fate::Unknown);
        };
        let occasion = Occasion::Result {
            about: told.about(),
            result: result.as_ref(),
        };
        if let Some(output) = self.run_machine(state, needs.adapter, occasion, now) {
            return output;
        }
        let translated = match (result, state.get(token)) {
            (Err(error), Some(pending)) if !state.is_bare => {
                let (error, losses) = in_place_of(error, &pending.caller, needs);
                Ok((Err(error), losses))
            }
            _ => Err(Stopped::NeedsState(needs.clone())),
        };
        self.deliver(state, token, translated)
    }
}

/// What a client is told whose stream the server ends, before the result that goes with it.
fn taken_down(stream: &Pending, method: &str) -> Outgoing {
    let mut params: Map<Json> = Map::new();
    params.insert("requestId", Json::of(&stream.id));
    let params = Json::of(&params);
    Outgoing {
        exchange: Some(stream.exchange),
        last: false,
        status: 200,
        body: write::notification(method, Some(params.text())),
    }
}

/// The refusal of a result that asks the client for what it did not declare.
fn undeclared(
    result: &Json,
    caller: &Caller,
    peer: mcp_registry::Revision,
) -> Option<Box<errors::Refusal>> {
    static RESULT: Members = Members::ignoring("result", &["resultType", "inputRequests"]);
    static REQUEST: Members = Members::ignoring("request", &["method", "params"]);
    if is_legacy(peer) || !result.text().contains("\"input_required\"") {
        return None;
    }
    let mut reader = Reader::new(result.text());
    let mut object = reader.object(&RESULT).ok()?;
    let (mut asks, mut requests) = (false, None);
    while let Some(member) = object.next(&mut reader).ok()? {
        match member {
            0 => asks = reader.text_of_value().ok()? == "\"input_required\"",
            _ => requests = reader.value::<Map<Json>>().ok(),
        }
    }
    let refusal = requests
        .filter(|_| asks)?
        .into_iter()
        .find_map(|(_, request)| {
            let mut reader = Reader::new(request.text());
            let mut object = reader.object(&REQUEST).ok()?;
            let (mut method, mut params) = (None, None);
            while let Some(member) = object.next(&mut reader).ok()? {
                match member {
                    0 => method = reader.text_of_string().ok(),
                    _ => params = reader.value::<Json>().ok(),
                }
            }
            let params = params.unwrap_or_else(crate::protocol::translate::no_params);
            allowed(caller, &method?, &params).err()
        })?;
    Some(Box::new(errors::Refusal {
        error: refusal,
        status: 400,
    }))
}
