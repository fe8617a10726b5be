//! Answers of the application, on their way to the peer; and requests that need none any more.

use std::time::Duration;

use mcp_revisions_core::{
    Adapter, Conversion, ConversionError, RequiresState, Revision, methods,
    translate::{find_method, is_handshake},
};
use mcp_wire::{Direction, ErrorObject, Json, Kind, MethodKind, envelope::write, meta};

use super::reply::Outgoing;
use super::requests::PendingCall;
use super::{Server, batch};
use crate::errors::{self, Refusal};
use crate::events::cancelled;
use crate::input_required;
use crate::input_required::server::allowed;
use crate::input_required::server::suspend::in_place_of;
use crate::json::object;
use crate::translate::TextDirection;
use crate::{Caller, Cancelled, Connection, Event, Exchange, Fate, Output, SendOutcome, Token};

impl Connection<Server> {
    /// Answers a call, in the words of the application's revision.
    ///
    /// The answer goes out in the peer's revision. What that cannot say becomes an error for the peer: a request is
    /// answered exactly once, come what may. A token that is not known any more is not an error, for the call may just
    /// have been cancelled.
    pub fn answer(
        &mut self,
        token: Token,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> SendOutcome {
        if let Some(subscription) = self.state.own.remove(&token) {
            match subscription {
                Some(it) => self.end_subscription_call(*it, result.as_ref()),
                None => self.own_ended(token, result.as_ref(), now),
            }
            return SendOutcome::of(Fate::Adapted);
        }
        if let Some(pending) = self
            .state
            .get_mut(token)
            .filter(|pending| pending.is_suspended)
        {
            pending.early = Some(result);
            return SendOutcome::of(Fate::Adapted);
        }
        let Some(pending) = self.state.get(token) else {
            return SendOutcome::of(Fate::Unknown);
        };
        if pending.is_other {
            let result = match result {
                Ok(result) if pending.is_stream() => Ok(meta::with(
                    &result,
                    meta::SUBSCRIPTION_ID,
                    &Json::of(&pending.id),
                )),
                result => result,
            };
            self.answer_as_is(token, result);
            return SendOutcome::of(Fate::Sent);
        }
        let (method, peer) = (pending.method, pending.revision);
        let result = match result {
            Ok(result) if result.kind() != Kind::Object => {
                Err(errors::internal("the server returned a result that is not an object").error)
            }
            Ok(result) => match undeclared(&result, &pending.caller, peer) {
                Some(error) => Err(error),
                None => self.role.with_signed_state(&self.state, token, result, now),
            },
            error => error,
        };
        match result.map(|result| self.role.with_plain_tools(method, result, peer)) {
            Ok(result) if self.role.app().same_types(peer) => {
                self.deliver(token, Ok((Ok(result), Vec::new())))
            }
            Ok(result) => {
                match self
                    .role
                    .translator
                    .result(TextDirection::Out, method, &result, peer)
                {
                    Err(ConversionError::RequiresState(needs)) => {
                        self.adapt(token, &needs, Ok(result), now)
                    }
                    translated => self.deliver(
                        token,
                        translated.map(|(result, losses)| (Ok(result), losses)),
                    ),
                }
            }
            Err(error) => {
                match self
                    .role
                    .translator
                    .error(TextDirection::Out, method, error.clone(), peer)
                {
                    Err(ConversionError::RequiresState(needs)) => {
                        self.adapt(token, &needs, Err(error), now)
                    }
                    translated => self.deliver(
                        token,
                        translated.map(|(error, losses)| (Err(error), losses)),
                    ),
                }
            }
        }
    }

    /// Gives up a request: the peer cancelled it, closed the stream that its answer would take, or is gone.
    ///
    /// A `notifications/cancelled` of the peer does this by itself.
    pub fn give_up(&mut self, token: Token, reason: Option<String>, _: Duration) -> SendOutcome {
        let Some(pending) = self.state.take(token) else {
            return SendOutcome::of(Fate::Unknown);
        };
        let exchange = pending.exchange;
        if pending.is_adapted {
            self.end_adapted(token);
        }
        let rest = if pending.in_batch {
            batch::complete(&mut self.state, exchange)
        } else {
            None
        };
        let ends_exchange =
            !pending.is_suspended && rest.is_none() && !self.state.batches.contains_key(&exchange);
        if let Some(rest) = rest {
            self.send(rest);
        }
        self.tell(Event::Cancelled(Cancelled { token, reason }));
        if ends_exchange {
            self.put(Output::Close(exchange));
        }
        SendOutcome::of(Fate::Sent)
    }

    /// Answers each request that waits with an error, because nothing works on it any more.
    pub fn end_calls(&mut self, error: &ErrorObject) {
        if self.is_introducing() {
            let refusal: Box<Refusal> = error.clone().into();
            self.introduce(Err(&refusal), Duration::ZERO);
        }
        for token in self.state.waiting() {
            self.end_adapted(token);
            self.answer_as_is(token, Err(error.clone()));
            let reason = None;
            self.tell(Event::Cancelled(Cancelled { token, reason }));
        }
    }

    /// Ends an exchange whose peer is gone: its response has no reader, and what came in it is given up, in the per-request
    /// lifecycle.
    pub fn ended(&mut self, exchange: Exchange, now: Duration) {
        self.forget_waiting(exchange);
        self.state.end_exchange(exchange);
        let given_up: Vec<Token> = self.state.given_up_with(exchange).collect();
        for token in given_up {
            let _ = self.give_up(token, None, now);
        }
    }

    /// Gives up what only the peer could end, because it sends nothing any more.
    pub fn closed(&mut self, now: Duration) {
        for token in self.state.endless() {
            let _ = self.give_up(token, None, now);
        }
        self.state.listening = None;
        self.state.running.clear();
        for (token, _) in std::mem::take(&mut self.state.own).into_entries() {
            let reason = None;
            self.tell(Event::Cancelled(Cancelled { token, reason }));
        }
    }

    fn deliver(
        &mut self,
        token: Token,
        translated: Conversion<Result<Json, ErrorObject>>,
    ) -> SendOutcome {
        let Some(pending) = self.state.get(token) else {
            return SendOutcome::of(Fate::Unknown);
        };
        let (method, peer) = (pending.method, pending.revision);
        let translator = &self.role.translator;
        let translated = translator.report(method, peer, Some(&pending.id), translated);
        let (result, losses, fate) = match translated {
            Ok((result, losses)) => (result, losses, Fate::Sent),
            Err(ConversionError::Dropped(dropped)) => {
                let error = errors::internal("the revision of the client has no such answer").error;
                (Err(error), Vec::new(), Fate::Dropped(dropped.rule))
            }
            // No adapter takes it.
            Err(ConversionError::RequiresState(needs)) => {
                let why = format!("`{method}` {needs}");
                (
                    Err(errors::internal(&why).error),
                    Vec::new(),
                    Fate::RequiresState(needs),
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
        let result = match result {
            // Only the runtime knows the id that ties the end of a stream to its request.
            Ok(result) if method == methods::SUBSCRIPTIONS_LISTEN => Ok(meta::with(
                &result,
                meta::SUBSCRIPTION_ID,
                &Json::of(&pending.id),
            )),
            Ok(result) if method == methods::TOOLS_LIST => {
                Ok(self.role.with_task_support(result, peer))
            }
            result => result,
        };
        let is_stream = pending.method == methods::SUBSCRIPTIONS_LISTEN
            && (pending.is_acknowledged || pending.is_adapted);
        if is_stream {
            let method = self
                .role
                .translator
                .peer_name(methods::NOTIFICATIONS_CANCELLED, peer);
            let taken_down = taken_down(pending, method);
            self.send(taken_down);
        }
        if let Some(mut answer) = self.answer_of(token, result) {
            // The method is there: what its handler does not find is said in the body, and not as if nothing were served
            // here.
            if answer.status == 404 && self.role.offers(method) {
                answer.status = 200;
            }
            self.send(answer);
        }
        SendOutcome { fate, losses }
    }

    /// Answers a request in the words of its peer.
    pub(crate) fn answer_as_is(&mut self, token: Token, result: Result<Json, ErrorObject>) {
        if let Some(answer) = self.answer_of(token, result) {
            self.send(answer);
        }
    }

    /// Answers a call with an error, and the status that goes with it over HTTP.
    pub fn refuse(&mut self, token: Token, refusal: Refusal) {
        if let Some(answer) = self.answer_of(token, Err(refusal.error)) {
            let status = refusal.status;
            self.send(Outgoing { status, ..answer });
        }
    }

    /// Returns the answer to a request in the words of its peer, once there is one to send.
    fn answer_of(&mut self, token: Token, result: Result<Json, ErrorObject>) -> Option<Outgoing> {
        let pending = self.state.take(token)?;
        if pending.is_suspended {
            return None;
        }
        let (body, status) = match result {
            Ok(result) => {
                let result = self.role.signed(result, pending.revision);
                (write::response(&pending.id, &result), 200)
            }
            Err(error) => {
                let code = error.code.as_i64().unwrap_or_default();
                let status = errors::status(code, pending.revision.lifecycle());
                (write::error(Some(&pending.id), &error), status)
            }
        };
        let sent = batch::deliver(&mut self.state, &pending, body, status);
        if !self.state.batches.contains_key(&pending.exchange) {
            self.state.end_exchange(pending.exchange);
        }
        sent
    }

    /// Ends the streams that clients of the per-request lifecycle have opened, because the server stops; each gets a notification.
    pub fn end_streams(&mut self, now: Duration) {
        for token in self.state.open_streams() {
            self.end_adapted(token);
            let result = object([("resultType", Json::of("complete"))]);
            if self.state.get(token).is_some_and(|it| it.is_other) {
                let _ = self.answer(token, Ok(result), now);
            } else {
                let _ = self.deliver(token, Ok((Ok(result), Vec::new())));
            }
            let reason = None;
            self.tell(Event::Cancelled(Cancelled { token, reason }));
        }
    }

    /// Returns an answer that an adapter has to turn into something else.
    fn adapt(
        &mut self,
        token: Token,
        needs: &RequiresState,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> SendOutcome {
        if self.adapt_answer(token, needs, result.as_ref(), now) {
            return SendOutcome::of(Fate::Adapted);
        }
        let translated = match (result, self.state.get(token)) {
            (Err(error), Some(pending)) if !self.state.is_bare => {
                let (error, losses) = in_place_of(error, &pending.caller, needs);
                Ok((Err(error), losses))
            }
            _ => Err(ConversionError::RequiresState(needs.clone())),
        };
        self.deliver(token, translated)
    }

    /// Hands an answer of the application to the adapter of a rule. Returns false if none takes it.
    pub(crate) fn adapt_answer(
        &mut self,
        token: Token,
        needs: &RequiresState,
        result: Result<&Json, &ErrorObject>,
        now: Duration,
    ) -> bool {
        if self.state.is_bare || needs.adapter != Adapter::MultiRoundTrip {
            return false;
        }
        let Some(about) = self.state.about(token, None) else {
            return false;
        };
        match (result, self.role.is_per_request) {
            (Ok(result), true) => {
                self.ask_by_requests(&about, result, now);
                true
            }
            (Err(error), false) => self.elicit(&about, error, now),
            _ => false,
        }
    }

    /// A request that an adapter has taken waits no more.
    pub(crate) fn end_adapted(&mut self, token: Token) {
        self.end_round(token);
        self.end_suspended(token);
        self.end_subscription(token);
        self.close_stream(token);
    }
}

impl Server {
    /// Returns whether a method is one that the application declares to have.
    fn offers(&self, method: &str) -> bool {
        let (sender, kind) = (Direction::ClientToServer, MethodKind::Request);
        let row = find_method(self.app(), method, sender, kind);
        row.and_then(|row| row.capability).is_some_and(|path| {
            let parts: Vec<&str> = path.split('.').collect();
            self.declares(&parts)
        })
    }

    /// Returns the result of a per-request message, with what each of them says of the server.
    pub(crate) fn signed(&self, result: Json, peer: Revision) -> String {
        match self.introductions.as_ref().and_then(|it| it.info(peer)) {
            Some(info) if !is_handshake(peer) => {
                meta::with_default(&result, meta::SERVER_INFO, info).into_text()
            }
            _ => result.into_text(),
        }
    }
}

/// Returns the notification to a client whose stream the server ends, before the result of the stream.
fn taken_down(stream: &PendingCall, method: &str) -> Outgoing {
    let params = cancelled(&stream.id, None);
    let body = write::notification(method, Some(params.text()));
    Outgoing::on_its_way(Some(stream.exchange), body)
}

/// Returns the error in place of a result that asks the client for what it did not declare.
fn undeclared(result: &Json, caller: &Caller, peer: Revision) -> Option<ErrorObject> {
    const ASKS: &str = "input_required";
    if is_handshake(peer)
        || !result.text().contains(ASKS)
        || result.read_member::<String>("resultType")? != ASKS
    {
        return None;
    }
    let (questions, _) = input_required::read(result, usize::MAX).ok()?;
    questions
        .iter()
        .find_map(|asked| allowed(caller, &asked.method, &asked.params).err())
}
