//! Messages that a server sends by itself: requests of the handshake lifecycle, and notifications.

use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::{
    ConversionError, Lifecycle, Loss, Revision, methods, translate::known_method,
};
use mcp_wire::{
    ErrorObject, Json, MessageKind, Peeked, Raw, RawId, RequestId, envelope::write,
    service::method_not_found,
};

use super::{Client, PendingRequest, RequestPurpose, ServerCall};
use crate::ask::own_id;
use crate::errors;
use crate::json::object;
use crate::quote::quotable;
use crate::translate::{TextDirection, no_params};
use crate::{
    Answer, Caller, Cancelled, Connection, CustomNotification, Event, Exchange, Fate, Ignored,
    IncomingRequest, MendedMessage, Notification, SendOutcome, Token,
};

impl Connection<Client> {
    /// A request of the server.
    pub(crate) fn take_request(&mut self, message: &Peeked<'_>, exchange: Option<Exchange>) {
        let method = message.method.as_deref().unwrap_or_default();
        // Before the handshake is over a server may ask for a sign of life.
        let revision = self.spoken();
        let Some(id) = message
            .id
            .and_then(RawId::to_id)
            .filter(|_| !self.is_unheeded())
        else {
            return self.ignore(Ignored::Request(method.to_owned()));
        };
        let is_settled = self.state.stage.revision().is_some();
        if is_settled && revision.lifecycle() == Lifecycle::PerRequest {
            // It waits for an answer all the same.
            let error = method_not_found(method);
            self.post_answer(&id, Err(error), revision);
            return self.ignore(Ignored::Request(method.to_owned()));
        }
        let method = self.role.translator.app_name(method, revision);
        if method == methods::PING {
            return self.post_answer(&id, Ok(no_params()), revision);
        }
        let waits = |called: &ServerCall| matches!(called, ServerCall::Request { id: one, .. } | ServerCall::Other { id: one } if *one == id);
        if self.state.calls.len() >= self.role.options.limits.max_pending_requests
            || self.state.calls.values().any(waits)
        {
            let error = ErrorObject::new(
                ErrorObject::INVALID_REQUEST,
                "that id waits for its answer, or too many do",
            );
            self.post_answer(&id, Err(error), revision);
            return self.ignore(Ignored::Request(method.to_owned()));
        }
        let params = message.params.map(Raw::to_json).unwrap_or_else(no_params);
        let about = self.about(method, Some(&params), exchange);
        let token = self.new_token();
        let caller = self.caller(revision);
        if self.is_other(method, revision) {
            self.state.calls.insert(token, ServerCall::Other { id });
            let call = IncomingRequest::without_message(
                token,
                method.to_owned(),
                params,
                revision,
                caller,
            );
            return self.tell(Event::CustomRequest(call.of(message, exchange, about)));
        }
        let translator = &self.role.translator;
        let carried =
            translator.params_told(TextDirection::In, method, &params, revision, Some(&id));
        match carried.and_then(|carried| Ok((named(method)?, carried))) {
            Ok((method, (params, losses))) => {
                (self.state.calls).insert(token, ServerCall::Request { id, method });
                let call = IncomingRequest {
                    losses,
                    ..IncomingRequest::without_message(token, method, params, revision, caller)
                };
                self.tell(Event::Request(call.of(message, exchange, about)));
            }
            Err(stopped) => {
                self.tell(Event::stopped(&stopped, method));
                let error = stopped.into_error(ErrorObject::INVALID_PARAMS);
                self.post_answer(&id, Err(error), revision);
            }
        }
    }

    /// Returns whether too many answers and notifications are not taken yet: over HTTP each is a POST that the server has to
    /// end.
    pub(crate) fn is_unheeded(&self) -> bool {
        let (open, most) = (
            &self.state.exchanges,
            self.role.options.limits.max_pending_requests,
        );
        open.len() >= most && open.values().filter(|of| of.is_none()).count() >= most
    }

    /// Returns the revision that is spoken, or would be with a handshake.
    fn spoken(&self) -> Revision {
        (self.state.stage.revision())
            .or_else(|| self.role.options.revisions.latest(Lifecycle::Handshake))
            .unwrap_or(self.role.app())
    }

    /// Returns the identity of the server, in its own words.
    pub(crate) fn caller(&self, revision: Revision) -> Arc<Caller> {
        Arc::new(Caller {
            capabilities: self.state.changes.capabilities.clone(),
            ..Caller::unknown(revision)
        })
    }

    /// Asks the application a question that came in a result, in the course of one of its own requests.
    pub(crate) fn ask_in_course(
        &mut self,
        about: Token,
        called: ServerCall,
        method: &'static str,
        params: Json,
        losses: Vec<Loss>,
        peer: Revision,
    ) {
        (self.role.translator).tell_losses(method, peer, None, &losses);
        let (token, caller) = (self.new_token(), self.caller(peer));
        self.state.calls.insert(token, called);
        self.tell(Event::Request(IncomingRequest {
            about: Some(about),
            losses,
            ..IncomingRequest::without_message(token, method, params, peer, caller)
        }));
    }

    /// Answers a call of the server, in the words of the application's revision.
    ///
    /// A token that is not known any more is not an error, for the call may just have been cancelled.
    pub fn answer(
        &mut self,
        call: Token,
        answer: Result<Json, ErrorObject>,
        now: Duration,
    ) -> SendOutcome {
        let (id, method) = match self.state.calls.remove(&call) {
            Some(ServerCall::Request { id, method }) => (id, method),
            Some(ServerCall::Question { round, key }) => {
                return SendOutcome::of(self.answer_question(round, key, answer, now));
            }
            Some(ServerCall::TaskQuestion { task, key, method }) => {
                return SendOutcome::of(self.answer_task(task, (key, method), answer));
            }
            Some(ServerCall::Other { id }) => {
                self.post_answer(&id, answer, self.spoken());
                return SendOutcome::of(Fate::Sent);
            }
            None => return SendOutcome::of(Fate::Unknown),
        };
        // The server may have asked before the handshake is over.
        let revision = self.spoken();
        let translator = &self.role.translator;
        let mut said = SendOutcome::of(Fate::Sent);
        let answer = match answer {
            Ok(result) => {
                match translator.result_told(
                    TextDirection::Out,
                    method,
                    &result,
                    revision,
                    Some(&id),
                ) {
                    Ok((result, losses)) => {
                        said.losses = losses;
                        Ok(result)
                    }
                    Err(stopped) => {
                        let error = stopped.into_error(ErrorObject::INTERNAL_ERROR);
                        said.fate = Fate::Refused(Box::new(error.clone()));
                        Err(error)
                    }
                }
            }
            Err(error) => Err(translator.error_out(method, error, revision)),
        };
        self.post_answer(&id, answer, revision);
        said
    }

    /// Answers a request of the server that is not valid: one whose id cannot be read has none to be answered by.
    pub(crate) fn refuse_request(&mut self, id: Option<&RequestId>, why: &str) {
        if !self.is_unheeded() {
            let error = errors::invalid_request(why).error;
            self.post_response(write::error(id, &error), self.spoken());
        }
    }

    fn post_answer(
        &mut self,
        id: &RequestId,
        answer: Result<Json, ErrorObject>,
        revision: Revision,
    ) {
        let text = match answer {
            Ok(result) => write::response(id, result.text()),
            Err(error) => write::error(Some(id), &error),
        };
        self.post_response(text, revision);
    }

    fn post_response(&mut self, text: String, revision: Revision) {
        let headers = self.headers(revision, true, None, None, Vec::new());
        self.post(text, headers, MessageKind::Response, None, false);
    }

    /// A notification of the server.
    pub(crate) fn take_notification(
        &mut self,
        message: &Peeked<'_>,
        exchange: Option<Exchange>,
        now: Duration,
    ) {
        let revision = self.spoken();
        let method = message.method.as_deref().unwrap_or_default();
        let method = self.role.translator.app_name(method, revision);
        let params = message.params.map(Raw::to_json);
        let listening = subscription(params.as_ref());
        if self.is_acknowledgement(method, listening, params.as_ref(), revision) {
            return;
        }
        let mut about = self.about(method, params.as_ref(), exchange);
        if method == methods::NOTIFICATIONS_PROGRESS && about.is_none() {
            about = self.by_other_spelling(params.as_ref());
        }
        if method == methods::NOTIFICATIONS_CANCELLED {
            if revision.lifecycle() == Lifecycle::PerRequest {
                return self.stream_taken_down(params.as_ref(), now);
            }
            self.forget_request(params.as_ref());
            if self.role.app().lifecycle() == Lifecycle::PerRequest {
                // Its questions have no ids of their own there.
                return;
            }
        }
        let object = params.unwrap_or_else(no_params);
        let is_of_call = self.told_of_task(method, &object, now);
        if self.is_other(method, revision) {
            return self.tell(Event::CustomNotification(CustomNotification {
                method: method.to_owned(),
                params: object,
                revision,
                about,
                losses: Vec::new(),
            }));
        }
        if is_of_call {
            return;
        }
        let translator = &self.role.translator;
        let carried = translator.params_told(TextDirection::In, method, &object, revision, None);
        match carried.and_then(|carried| Ok((named(method)?, carried))) {
            Ok((method, (params, losses))) => {
                self.tell_notice(Notification {
                    method,
                    params,
                    revision,
                    about,
                    losses,
                });
            }
            Err(stopped) => self.tell(Event::stopped(&stopped, method)),
        }
    }

    /// The server ends a stream of changes; a result may follow, or not.
    fn stream_taken_down(&mut self, params: Option<&Json>, now: Duration) {
        let id = requested(params).and_then(|id| own_id(&id));
        let is_stream = |purpose: &RequestPurpose| match purpose {
            RequestPurpose::Listen => true,
            RequestPurpose::Application(request) => {
                request.ask.method == methods::SUBSCRIPTIONS_LISTEN
            }
            _ => false,
        };
        let pending = id.and_then(|id| self.state.pending.get(&id));
        let (Some(id), true) = (id, pending.is_some_and(|it| is_stream(&it.purpose))) else {
            let method = methods::NOTIFICATIONS_CANCELLED.to_owned();
            if id.is_some_and(|id| (1..=self.state.next_id).contains(&id)) {
                return self.ignore(Ignored::Late(method));
            }
            let why = "it names no stream of this client".to_owned();
            return self.ignore(Ignored::Invalid(method, why));
        };
        let Some(PendingRequest {
            purpose, exchange, ..
        }) = self.state.pending.remove(&id)
        else {
            return;
        };
        if let Some(posted) = self.state.exchanges.get_mut(&exchange) {
            *posted = None;
        }
        match purpose {
            RequestPurpose::Application(request) => {
                let result = object([("resultType", Json::of("complete"))]);
                let key = mcp_wire::meta::SUBSCRIPTION_ID;
                let result = mcp_wire::meta::with(&result, key, &Json::from(id));
                self.tell_answer(*request, Answer::Result(result));
            }
            _ => self.listened(id, None, now),
        }
    }

    /// The server gives up one of its requests: it wants no answer any more.
    fn forget_request(&mut self, params: Option<&Json>) {
        let id = requested(params);
        let is_it = |called: &ServerCall| matches!(called, ServerCall::Request { id: one, .. } | ServerCall::Other { id: one } if Some(one) == id.as_ref());
        let Some(token) = self.state.calls.find(is_it) else {
            return;
        };
        let reason = params.and_then(|params| params.read_member("reason"));
        self.call_off(token, reason);
    }

    /// A call of the application need not be answered any more.
    pub(crate) fn call_off(&mut self, token: Token, reason: Option<String>) {
        if self.state.calls.remove(&token).is_some() {
            self.tell(Event::Cancelled(Cancelled { token, reason }));
        }
    }

    /// Calls off the calls of the application that are looked for.
    pub(crate) fn call_off_all(&mut self, is_it: impl FnMut(&ServerCall) -> bool) {
        for call in self.state.calls.find_all(is_it) {
            self.call_off(call, None);
        }
    }

    /// Returns the request whose progress goes by this token.
    fn by_progress_token(&self, wanted: &Json) -> Option<Token> {
        let mut pending = self.state.pending.values();
        let found = pending.find_map(|pending| match &pending.purpose {
            RequestPurpose::Application(request)
                if request.progress_token.as_ref() == Some(wanted) =>
            {
                Some(request.token)
            }
            _ => None,
        });
        found.or_else(|| self.state.polls.by_progress_token(wanted))
    }

    /// Returns the request whose progress token is the same number in another spelling, and reports that.
    fn by_other_spelling(&mut self, params: Option<&Json>) -> Option<Token> {
        let wanted = params?.get("progressToken")?;
        let candidates = [
            numbered(&wanted).map(Json::from),
            Some(Json::of(wanted.text())),
        ];
        let mut spelled = candidates.iter().flatten();
        let (token, sent) =
            spelled.find_map(|other| Some((self.by_progress_token(other)?, other.text())))?;
        let (sent, found) = (quotable(sent), quotable(wanted.text()));
        let why = format!("at /params/progressToken: expected {sent}, found {found}");
        let method = methods::NOTIFICATIONS_PROGRESS;
        self.tell(Event::Mended(MendedMessage::new(method, why)));
        Some(token)
    }

    /// Returns the request that a message of the server belongs to.
    fn about(
        &self,
        method: &str,
        params: Option<&Json>,
        exchange: Option<Exchange>,
    ) -> Option<Token> {
        let token_of = |purpose: &RequestPurpose| match purpose {
            RequestPurpose::Application(request) => Some(request.token),
            RequestPurpose::Task { token, .. } => Some(*token),
            _ => None,
        };
        if method == methods::NOTIFICATIONS_PROGRESS {
            return self.by_progress_token(&params?.get("progressToken")?);
        }
        if let Some(call) = self.state.polls.by_related_task(params) {
            return Some(call);
        }
        if let Some(id) = subscription(params) {
            let pending = self.state.pending.get(&id);
            return pending.and_then(|pending| token_of(&pending.purpose));
        }
        let id = self.state.exchanges.get(&exchange?).copied().flatten()?;
        let pending = self.state.pending.get(&id);
        pending.and_then(|pending| token_of(&pending.purpose))
    }
}

/// Returns the request that is cancelled.
fn requested(params: Option<&Json>) -> Option<RequestId> {
    params?.read_member("requestId")
}

/// Returns the listen request that a notification of a subscription names.
fn subscription(params: Option<&Json>) -> Option<i64> {
    let meta = params?.get("_meta")?;
    own_id(&meta.read_member(mcp_wire::meta::SUBSCRIPTION_ID)?)
}

/// Returns the name of a method, as the tables have it.
pub(crate) fn named(method: &str) -> Result<&'static str, ConversionError> {
    known_method(method)
        .ok_or_else(|| ConversionError::Unknown(format!("no revision has `{method}`")))
}

impl<Method> IncomingRequest<Method> {
    /// Returns it with what its message says of it, and with the request that it belongs to.
    fn of(self, message: &Peeked<'_>, exchange: Option<Exchange>, about: Option<Token>) -> Self {
        Self {
            id: message.id.and_then(RawId::to_id),
            exchange: exchange.unwrap_or(Exchange::NONE),
            progress_token: message.meta.progress_token.map(Raw::to_json),
            about,
            ..self
        }
    }
}

/// Returns the number of a progress token, be it spelled as a string.
pub(crate) fn numbered(token: &Json) -> Option<i64> {
    token.read().ok().as_ref().and_then(own_id)
}
