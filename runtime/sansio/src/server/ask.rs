//! Requests of the server to its client: sent, taken back, and answered by a response of the client.

use std::time::Duration;

use mcp_revisions_core::{
    Adapter, Lifecycle, Revision, methods,
    translate::{find_method, is_handshake, known_method},
};
use mcp_wire::{Direction, ErrorObject, Json, MethodKind, Peeked, RequestId, envelope::write};

use super::Server;
use super::incoming::RefusedText;
use super::needs::needs_state;
use super::notify::refused;
use super::reply::{MessageReply, Outgoing};
use super::requests::{AskedBy, ServerRequest};
use crate::ask::{outcome, own_id, read_error, spelled_id};
use crate::errors;
use crate::events::cancelled;
use crate::input_required::server::allowed;
use crate::limits::deadline;
use crate::translate::{TextDirection, no_params};
use crate::{
    Answered, Caller, Connection, Event, Fate, Ignored, MendedMessage, OutgoingRequest,
    SendOutcome, Token,
};

/// Returns the error of a request in the course of a call that has been answered or given up.
fn over() -> ErrorObject {
    let why = "the call is over: send requests to its client before its handler returns";
    errors::internal(why).error
}

impl Connection<Server> {
    /// Sends the peer a request, in the words of the application's revision; exactly one [`Event::Answered`] follows, unless
    /// it is cancelled.
    ///
    /// A client of the per-request lifecycle takes none: an adapter asks it in results.
    ///
    /// # Errors
    /// Why it was not sent.
    pub fn ask(&mut self, ask: OutgoingRequest, now: Duration) -> Result<Token, Fate> {
        let token = self.state.new_token();
        match self.ask_as(token, &ask, now).fate {
            Fate::Sent | Fate::Adapted => Ok(token),
            fate => Err(fate),
        }
    }

    /// Sends the peer a request, whose answer comes back with this token.
    fn ask_as(&mut self, key: Token, ask: &OutgoingRequest, now: Duration) -> SendOutcome {
        let OutgoingRequest {
            method,
            params,
            about,
            ..
        } = ask;
        let (about, params) = (*about, params.as_ref());
        let peer = about.and_then(|token| Some(self.state.get(token)?.revision));
        let peer = peer.or(self.session_revision());
        if self.role.passes_as_is(method, peer) {
            return self.ask_other(key, about, (method, params), now);
        }
        let row = |kind| find_method(self.role.app(), method, Direction::ServerToClient, kind);
        let Some(row) = row(MethodKind::Request).or_else(|| row(MethodKind::Input)) else {
            return refused(errors::method_not_found(method, self.role.app().lifecycle()).error);
        };
        let call = about.filter(|token| !self.state.own.contains_key(token));
        if let Some(pending) = call.and_then(|token| self.state.get_mut(token))
            && pending.subject.is_none()
            && !is_handshake(pending.revision)
        {
            pending.subject = pending.params.clone();
        }
        let told = match call.map(|token| self.state.about(token, None)) {
            Some(None) => return refused(over()),
            told => told.flatten(),
        };
        let about_peer = told.as_ref().map(|told| told.revision);
        let peer = about_peer.or(self.session_revision());
        let empty = no_params();
        let given = params.unwrap_or(&empty);
        let Some(peer) = peer.filter(|&peer| is_handshake(peer)) else {
            return SendOutcome::of(match told.filter(|_| !self.state.is_bare) {
                Some(told) => {
                    self.suspend(key, &told, (row.name, given), now);
                    Fate::Adapted
                }
                None => Fate::RequiresState(needs_state(Adapter::MultiRoundTrip, method)),
            });
        };
        let caller = self.state.session.as_ref().map(|session| &session.caller);
        let unknown = Caller::unknown(peer);
        if let Err(error) = allowed(caller.map_or(&unknown, |caller| caller), method, given) {
            return refused(error);
        }
        let carried = self
            .role
            .translator
            .params(TextDirection::Out, row.name, given, peer);
        let translator = &self.role.translator;
        let carried = translator.checked(row.name, carried);
        // Only what is sent gets an id.
        let id = (carried.is_ok()).then(|| RequestId::from(self.state.last_ask.wrapping_add(1)));
        translator.tell(row.name, peer, id.as_ref(), &carried);
        match carried {
            Ok((text, losses)) => {
                let by = AskedBy::Application(key);
                match self.send_request(by, call, (row.name, Some(&text)), now) {
                    Ok(()) => SendOutcome {
                        fate: Fate::Sent,
                        losses,
                    },
                    Err(error) => refused(error),
                }
            }
            Err(stopped) => SendOutcome::of(Fate::stopped(stopped, ErrorObject::INVALID_PARAMS)),
        }
    }

    /// Sends the peer a request that no revision has, as it is; no client of the per-request lifecycle takes one.
    fn ask_other(
        &mut self,
        key: Token,
        about: Option<Token>,
        (method, params): (&str, Option<&Json>),
        now: Duration,
    ) -> SendOutcome {
        let about_peer = match about.map(|token| self.state.get(token)) {
            Some(None) => return refused(over()),
            Some(Some(pending)) => Some(pending.revision),
            None => None,
        };
        let peer = about_peer.or(self.session_revision());
        let lifecycle = peer.map_or(Lifecycle::PerRequest, Revision::lifecycle);
        if lifecycle == Lifecycle::PerRequest {
            return refused(errors::method_not_found(method, lifecycle).error);
        }
        match self.send_request(AskedBy::Application(key), about, (method, params), now) {
            Ok(()) => SendOutcome::of(Fate::Sent),
            Err(error) => refused(error),
        }
    }

    /// Sends the peer a request in the words of its revision. Returns an error if too many requests wait for a response already, or
    /// if no peer is known.
    pub(crate) fn send_request(
        &mut self,
        by: AskedBy,
        about: Option<Token>,
        (method, params): (&str, Option<&Json>),
        now: Duration,
    ) -> Result<(), ErrorObject> {
        let most = self.role.limits.max_pending_requests;
        let pending = about.and_then(|token| self.state.get(token));
        let exchange = pending.map(|pending| pending.exchange);
        let peer = pending
            .map(|pending| pending.revision)
            .or(self.session_revision());
        let Some(peer) = peer.filter(|_| self.state.asked.len() < most) else {
            return Err(errors::too_many_pending(most).error);
        };
        let id = self.state.next_ask();
        let asked = ServerRequest {
            method: known_method(method),
            by,
            revision: peer,
            exchange,
            until: deadline(now, self.role.limits.client_response_timeout),
        };
        self.state.asked.insert(id, asked);
        let method = self.role.translator.peer_name(method, peer);
        let body = write::request(&RequestId::from(id), method, params.map(Json::text));
        self.send(Outgoing::on_its_way(exchange, body));
        Ok(())
    }

    /// Cancels a request of the application: its response is not waited for any more, and the peer is notified.
    pub fn cancel(&mut self, ask: Token, reason: Option<&str>, _: Duration) {
        let by = AskedBy::Application(ask);
        if let Some(id) = self.state.asked.find(|asked| asked.by == by) {
            self.unask(id, reason);
        }
        self.forget_question(ask);
    }

    /// Ends the requests that the client has not answered in time, with what waits for them.
    pub(crate) fn late_asked(&mut self, now: Duration) {
        let late = |(id, asked): (&i64, &ServerRequest)| (asked.until <= now).then_some(*id);
        let late: Vec<i64> = self.state.asked.iter().filter_map(late).collect();
        for id in late {
            let error = errors::internal("the client did not answer in time").error;
            match self.unask(id, None) {
                Some(AskedBy::Application(ask)) => self.deliver_to_application(ask, Err(error)),
                Some(AskedBy::Result { call, .. }) => self.fail_round(call, error),
                None => {}
            }
        }
    }

    /// Takes back a request of the server, and tells the peer. Returns its origin.
    pub(crate) fn unask(&mut self, id: i64, reason: Option<&str>) -> Option<AskedBy> {
        let asked = self.state.asked.remove(&id)?;
        self.state.withdrawn.insert(id);
        let why = reason.unwrap_or("the answer is not waited for any more");
        let params = cancelled(&RequestId::from(id), Some(why));
        let method =
            (self.role.translator).peer_name(methods::NOTIFICATIONS_CANCELLED, asked.revision);
        let body = write::notification(method, Some(params.text()));
        self.send(Outgoing::on_its_way(asked.exchange, body));
        Some(asked.by)
    }

    pub(crate) fn peer_answer(
        &mut self,
        message: &Peeked<'_>,
        id: Option<RequestId>,
    ) -> MessageReply {
        let named = id.as_ref().and_then(spelled_id);
        let found = named.and_then(|(id, why)| Some((self.state.asked.remove(&id)?, why)));
        let Some((asked, misspelled)) = found else {
            let number = id.as_ref().and_then(own_id);
            let is_late = number.is_some_and(|number| self.state.withdrawn.remove(&number));
            let ignored = match message.error {
                Some(error) if id.is_none() => Ignored::Error(read_error(error).0),
                _ if is_late => Ignored::Late("a response".to_owned()),
                _ => Ignored::AnswerToNothing(id),
            };
            // An answer may cross the end of its request; another replica that ran the session counted from elsewhere.
            let begins = self.state.first_ask >> 32;
            let is_of_other = number.is_some_and(|number| number >> 32 != begins);
            let status = if is_of_other { 400 } else { 202 };
            return self.put_aside(ignored, status);
        };
        let malformed = message.error.and_then(|error| read_error(error).1);
        for why in misspelled.into_iter().chain(malformed) {
            self.tell(Event::Mended(MendedMessage::new(
                asked.method.unwrap_or_default(),
                why,
            )));
        }
        self.answered(asked, id.as_ref(), outcome(message));
        MessageReply::Empty(202)
    }

    /// Takes a text that cannot be read as a message. Ends the request of the server that the text was to answer, with an error
    /// that says why.
    pub(crate) fn take_unlooked(&mut self, unlooked: RefusedText) {
        let RefusedText {
            why,
            instead,
            is_answer,
        } = unlooked;
        let ended = instead.and_then(|(id, why)| Some((self.state.asked.remove(&id)?, id, why)));
        match ended {
            Some((asked, id, why)) => {
                self.answered(asked, Some(&RequestId::from(id)), Err(not_valid(&why)));
            }
            // It is not answered: nothing else says that it was left out.
            None if is_answer => self.tell(Event::Ignored(why)),
            None => {}
        }
    }

    fn answered(
        &mut self,
        asked: ServerRequest,
        id: Option<&RequestId>,
        result: Result<Json, ErrorObject>,
    ) {
        let token = match asked.by {
            AskedBy::Result { call, name } => {
                let question = (name, asked.method.unwrap_or_default());
                return self.answer_in_round(call, question, asked.revision, result);
            }
            AskedBy::Application(token) => token,
        };
        let (answer, losses) = match (asked.method, result) {
            (Some(method), Ok(result)) => {
                let translator = &self.role.translator;
                let carried =
                    translator.result_told(TextDirection::In, method, &result, asked.revision, id);
                match carried {
                    Ok((result, losses)) => (Ok(result), losses),
                    Err(stopped) => (
                        Err(stopped.into_error(ErrorObject::INTERNAL_ERROR)),
                        Vec::new(),
                    ),
                }
            }
            (_, result) => (result, Vec::new()),
        };
        self.tell(Event::Answered(Answered {
            token,
            answer: answer.into(),
            losses,
        }));
    }

    /// Gives the application the answer to its request, in its revision.
    pub(crate) fn deliver_to_application(
        &mut self,
        token: Token,
        result: Result<Json, ErrorObject>,
    ) {
        self.tell(Event::Answered(Answered {
            token,
            answer: result.into(),
            losses: Vec::new(),
        }));
    }
}

/// Returns the error that the application gets in the place of a response of the client that is malformed.
fn not_valid(why: &str) -> ErrorObject {
    errors::internal(&format!("the client's answer is not valid: {why}")).error
}
