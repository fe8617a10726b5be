//! Requests of a client: answered where they are the protocol's (`ping`, `server/discover`, `logging/setLevel`), else converted
//! and handed to the application, or to the adapter that they need.

use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::{
    Adapter, Conversion, ConversionError, Failure, Lifecycle, Loss, Part, RequiresState, Revision,
    Subject, methods,
    translate::{find_method, is_handshake},
};
use mcp_wire::{Direction, ErrorObject, Json, Map, MethodInfo, MethodKind, Peeked, Raw, RequestId};

use super::Server;
use super::incoming::IncomingMessage;
use super::needs::needs_state;
use super::reply::{EMPTY_RESULT, MessageReply};
use super::requests::{OpenSession, PendingCall};
use crate::errors::{self, Refusal};
use crate::input_required::server::seal::{IssuedState, StateFault};
use crate::translate::no_params;
use crate::{Caller, Connection, Event, LogLevel, Token};

/// The method that a request asks for.
#[derive(Clone, Copy)]
enum WantedMethod {
    /// One that the peer's revision has, and what the application's revision calls it.
    Known(&'static MethodInfo, &'static str),
    /// One that no revision has, at a server that takes those.
    Other,
}

impl WantedMethod {
    fn name(self) -> &'static str {
        match self {
            Self::Known(_, name) => name,
            Self::Other => "",
        }
    }
}

impl Connection<Server> {
    pub(crate) fn request(
        &mut self,
        incoming: IncomingMessage<'_>,
        id: RequestId,
        peer: Revision,
    ) -> MessageReply {
        let message = incoming.message;
        let wanted = match self.requested_method(message, &id, peer) {
            Ok(wanted) => wanted,
            Err(refusal) => return MessageReply::refused(Some(&id), &refusal),
        };
        if let Some(handled) = self.protocol_request(message, &id, wanted.name(), peer) {
            return handled;
        }
        let session = self.state.session.as_deref().filter(|_| is_handshake(peer));
        let mut pending = pending_of(incoming, id, wanted, peer, session);
        if let Err(refusal) = self.role.check_introduction(&pending.caller) {
            return MessageReply::refused(Some(&pending.id), &refusal);
        }
        match self.task_wanted(message, wanted.name(), peer, &pending.caller) {
            Ok(task) => pending.task = task,
            Err(refusal) => return MessageReply::refused(Some(&pending.id), &refusal),
        }
        match self.tasks_followed(message, wanted.name(), peer, &pending.caller) {
            Ok(ids) => pending.task_ids = ids,
            Err(refusal) => return MessageReply::refused(Some(&pending.id), &refusal),
        }
        let asks_back = self.asks_back(wanted, peer);
        let issued = match self.handed_back(incoming, wanted) {
            Some(Err(broken)) => {
                return MessageReply::refused(Some(&pending.id), &broken.refusal());
            }
            Some(Ok(issued)) => Some(issued),
            None => None,
        };
        // One that was suspended takes the place that it has.
        if !matches!(issued, Some(IssuedState::Suspended(_)))
            && let Err(refusal) = self.check_room(message)
        {
            return MessageReply::refused(Some(&pending.id), &refusal);
        }
        let (now, time) = (incoming.now, self.role.limits.client_response_timeout);
        let spent = issued.map(|issued| self.role.seal.spend(issued, now, time));
        let issued = match spent.transpose() {
            Ok(issued) => issued,
            Err(broken) => return MessageReply::refused(Some(&pending.id), &broken.refusal()),
        };
        let is_retry = issued.is_some();
        if is_retry || (asks_back && !self.role.is_per_request) {
            pending.subject = message.params.map(Raw::to_json);
        }
        let translation = match (wanted, issued) {
            (WantedMethod::Known(_, name), Some(IssuedState::Own(own, _)))
                if self.role.is_per_request =>
            {
                self.role
                    .params_in(name, message.params, peer, session)
                    .and_then(|(params, losses)| Ok((with_own_state(name, &params, &own)?, losses)))
            }
            (_, Some(_)) => {
                let adapter = Adapter::MultiRoundTrip;
                Err(ConversionError::RequiresState(needs_state(
                    adapter,
                    wanted.name(),
                )))
            }
            (WantedMethod::Known(_, name), None) => {
                self.role.params_in(name, message.params, peer, session)
            }
            (WantedMethod::Other, None) => {
                let params = message.params.map(Raw::to_json).unwrap_or_else(no_params);
                Ok((params, Vec::new()))
            }
        };
        // A client that asks for a task gets one: nothing of that is lost.
        let carried = translation.map(|(params, mut losses)| {
            losses.retain(|loss| pending.task.is_none() || !loss.is_at(&["task"]));
            (params, losses)
        });
        let translator = &self.role.translator;
        let carried = translator.report(wanted.name(), peer, Some(&pending.id), carried);
        if let Ok((params, _)) = &carried {
            let keeps = asks_back || wanted.name() == methods::SUBSCRIPTIONS_LISTEN;
            pending.params = keeps.then(|| params.clone());
        }
        self.hand_over(incoming, pending, carried)
    }

    /// Returns the state of a request's `requestState`, if the request may be answered by `input_required`;
    /// without adapters it is the application's business.
    fn handed_back(
        &self,
        incoming: IncomingMessage<'_>,
        wanted: WantedMethod,
    ) -> Option<Result<IssuedState, StateFault>> {
        match wanted {
            WantedMethod::Known(row, _) if row.input_required && !self.state.is_bare => self
                .role
                .issued(incoming.message, incoming.principal, incoming.now),
            _ => None,
        }
    }

    /// Returns the method of a request, if the id may be used.
    fn requested_method(
        &self,
        message: &Peeked<'_>,
        id: &RequestId,
        peer: Revision,
    ) -> Result<WantedMethod, Box<Refusal>> {
        let name = message.method.as_deref().unwrap_or_default();
        let row = find_method(peer, name, Direction::ClientToServer, MethodKind::Request);
        let wanted = match row {
            _ if self.task_request(message, peer).transpose()?.is_some() => WantedMethod::Other,
            Some(row) => WantedMethod::Known(row, self.role.translator.app_name(row.name, peer)),
            None if self.role.passes_as_is(name, Some(peer)) => WantedMethod::Other,
            None => return Err(errors::method_not_found(name, peer.lifecycle())),
        };
        match self.state.token_of(id) {
            Some(_) => Err(errors::invalid_request(
                "the id is that of a request which is not answered yet",
            )),
            None => Ok(wanted),
        }
    }

    /// Checks that one request more may wait for its answer.
    fn check_room(&self, message: &Peeked<'_>) -> Result<(), Box<Refusal>> {
        if self.state.pending.len() >= self.role.limits.max_pending_requests {
            return Err(errors::too_many_pending(
                self.role.limits.max_pending_requests,
            ));
        }
        let bytes = (self.unanswered_bytes()).saturating_add(message.text.len());
        if bytes > self.role.limits.max_pending_bytes {
            Err(errors::too_much_pending(self.role.limits.max_pending_bytes))
        } else {
            Ok(())
        }
    }

    /// Returns whether the application may answer that it requires input.
    fn asks_back(&self, wanted: WantedMethod, peer: Revision) -> bool {
        let WantedMethod::Known(row, name) = wanted else {
            return false;
        };
        let may_ask_back = || (self.role.translator).may_ask_back(self.role.app(), name);
        row.input_required || (self.role.is_per_request && is_handshake(peer) && may_ask_back())
    }

    /// Hands a request to the application in its own words; what cannot be said in them goes to an adapter, or back.
    fn hand_over(
        &mut self,
        incoming: IncomingMessage<'_>,
        pending: Box<PendingCall>,
        carried: Conversion<Json>,
    ) -> MessageReply {
        let (method, peer) = (pending.method, pending.revision);
        match carried {
            Ok((params, _)) if pending.is_other => {
                let name = incoming.message.method.as_deref().unwrap_or_default();
                let token = self.state.add(pending);
                let call = self.state.call(token, name.to_owned(), params, Vec::new());
                call.into_iter()
                    .for_each(|call| self.tell(Event::CustomRequest(call)));
                MessageReply::Later
            }
            Ok((params, losses)) => {
                let token = self.state.add(pending);
                self.call(token, method, params, losses);
                MessageReply::Later
            }
            Err(ConversionError::Dropped(_)) => {
                let name = incoming.message.method.as_deref().unwrap_or_default();
                let refusal = errors::method_not_found(name, peer.lifecycle());
                MessageReply::refused(Some(&pending.id), &refusal)
            }
            Err(ConversionError::RequiresState(needs)) => {
                let (id, params) = (pending.id.clone(), incoming.message.params);
                if self.adapt_request(pending, params.map(Raw::to_json), &needs, incoming.now) {
                    return MessageReply::Later;
                }
                let mut refusal = errors::method_not_found(method, peer.lifecycle());
                refusal.error.message = format!("`{method}` {needs}");
                self.tell(Event::RequiresState(method.to_owned(), needs));
                MessageReply::refused(Some(&id), &refusal)
            }
            Err(stopped) => {
                let error = stopped.into_error(ErrorObject::INVALID_PARAMS);
                let status =
                    errors::status(error.code.as_i64().unwrap_or_default(), peer.lifecycle());
                MessageReply::refused(Some(&pending.id), &Refusal { error, status })
            }
        }
    }

    /// Answers a request of the protocol; `None` if it is one of the application.
    pub(crate) fn protocol_request(
        &mut self,
        message: &Peeked<'_>,
        id: &RequestId,
        method: &str,
        peer: Revision,
    ) -> Option<MessageReply> {
        match method {
            methods::PING => Some(MessageReply::answered(id, EMPTY_RESULT)),
            methods::SERVER_DISCOVER => {
                let introductions = self.role.introductions.as_ref()?;
                let result = introductions.discover_result(peer, self.role.served)?;
                let translator = &self.role.translator;
                translator.tell_losses(method, peer, Some(id), introductions.losses(peer));
                Some(MessageReply::answered(id, result.text()))
            }
            methods::LOGGING_SET_LEVEL => Some(match self.set_level(message, peer) {
                Ok(()) => MessageReply::answered(id, EMPTY_RESULT),
                Err(refusal) => MessageReply::refused(Some(id), &refusal),
            }),
            _ => None,
        }
    }

    fn set_level(&mut self, message: &Peeked<'_>, peer: Revision) -> Result<(), Box<Refusal>> {
        let introductions = self.role.introductions.as_ref();
        if !introductions.is_some_and(|it| it.logs(peer)) {
            return Err(errors::method_not_found(
                methods::LOGGING_SET_LEVEL,
                Lifecycle::Handshake,
            ));
        }
        let level = message
            .param("level")
            .ok_or_else(|| errors::invalid_params("`level` is required"))?
            .as_str()
            .and_then(|name| LogLevel::from_name(&name));
        let level = level
            .ok_or_else(|| errors::invalid_params("`level` is none of the eight of RFC 5424"))?;
        if let Some(session) = &mut self.state.session {
            session.log_level = Some(level);
            self.tell(Event::LogLevel(level));
        }
        Ok(())
    }

    /// Hands a request that waits to the application.
    pub(crate) fn call(
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

    /// Hands a request to the adapter of a rule. Returns false if none takes it.
    pub(crate) fn adapt_request(
        &mut self,
        mut pending: Box<PendingCall>,
        params: Option<Json>,
        needs: &RequiresState,
        now: Duration,
    ) -> bool {
        let is_taken = matches!(
            needs.adapter,
            Adapter::MultiRoundTrip | Adapter::Subscription
        );
        if self.state.is_bare || !is_taken {
            return false;
        }
        pending.is_adapted = true;
        let token = self.state.add(pending);
        let params = Some(params.unwrap_or_else(no_params));
        let Some(about) = self.state.about(token, params) else {
            return false;
        };
        match needs.adapter {
            Adapter::MultiRoundTrip => self.retry(&about, now),
            _ if self.role.is_per_request => self.subscribe(&about, now),
            _ => self.open_stream(&about),
        }
        true
    }
}

/// Returns the params of a request that is made again, with the application's own state as it was before it was signed.
fn with_own_state(method: &str, params: &Json, own: &str) -> Result<Json, ConversionError> {
    let subject = Subject::Method(method, Part::Params, Some(Direction::ClientToServer));
    let invalid = |error| ConversionError::of_subject(subject, Failure::Invalid(error));
    let mut members = params.read::<Map<Json>>().map_err(invalid)?;
    members.insert("requestState", Json::of(own));
    Ok(Json::of(&members))
}

/// Returns the record of a request until it is answered.
fn pending_of(
    incoming: IncomingMessage<'_>,
    id: RequestId,
    wanted: WantedMethod,
    peer: Revision,
    session: Option<&OpenSession>,
) -> Box<PendingCall> {
    let IncomingMessage {
        message,
        exchange,
        in_batch,
        principal,
        now: _,
    } = incoming;
    let (caller, log_level) = match session {
        Some(session) => (Arc::clone(&session.caller), session.log_level),
        None => (Arc::new(client_of(message, peer)), level_of(message)),
    };
    Box::new(PendingCall {
        id,
        method: wanted.name(),
        revision: peer,
        exchange,
        in_batch,
        caller,
        log_level,
        progress_token: message.meta.progress_token.map(Raw::to_json),
        params: None,
        is_adapted: false,
        principal: principal.map(str::to_owned),
        subject: None,
        rounds: 0,
        is_suspended: false,
        early: None,
        is_acknowledged: false,
        is_other: matches!(wanted, WantedMethod::Other),
        task: None,
        task_ids: Vec::new(),
        bytes: message.text.len(),
    })
}

/// Returns the client of a per-request message.
pub(crate) fn client_of(message: &Peeked<'_>, peer: Revision) -> Caller {
    match peer.lifecycle() {
        Lifecycle::Handshake => Caller::unknown(peer),
        Lifecycle::PerRequest => Caller {
            revision: peer,
            info: message.meta.client_info.map(Raw::to_json),
            capabilities: message.meta.client_capabilities.map(Raw::to_json),
        },
    }
}

fn level_of(message: &Peeked<'_>) -> Option<LogLevel> {
    LogLevel::from_name(&message.meta.log_level?.as_str()?)
}
