//! Requests of a peer: taken, carried over, and handed to the application, or to the adapter whose business they are.

use std::sync::Arc;

use mcp_revisions_core::{Adapter, Lifecycle, Revision};
use mcp_wire::{Direction, ErrorObject, Json, Map, MethodInfo, MethodKind, Peeked, Raw, RequestId};

use super::Server;
use super::incoming::IncomingMessage;
use super::needs::needs_state;
use super::reply::MessageReply;
use super::requests::{Opened, PendingCall};
use crate::errors::{self, Refusal};
use crate::input_required::server::seal::{Broken, Issued};
use crate::translate::no_params;
use crate::{Caller, Connection, Event, LogLevel, NeedsAdapter};
use mcp_revisions_core::methods;
use mcp_revisions_core::translate::find_method;
use mcp_revisions_core::translate::is_handshake;
use mcp_revisions_core::{Conversion, ConversionError, Failure, Part, Subject};

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
        let wanted = match self.wanted(message, &id, peer) {
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
        if !matches!(issued, Some(Issued::Suspended(_)))
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
            (WantedMethod::Known(_, name), Some(Issued::Own(own, _)))
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

    /// Returns what the `requestState` of a request stands for, where its answer may be that its client is asked for more;
    /// without adapters it is the application's business.
    fn handed_back(
        &self,
        incoming: IncomingMessage<'_>,
        wanted: WantedMethod,
    ) -> Option<Result<Issued, Broken>> {
        match wanted {
            WantedMethod::Known(row, _) if row.input_required && !self.state.is_bare => self
                .role
                .issued(incoming.message, incoming.principal, incoming.now),
            _ => None,
        }
    }

    /// Returns what a request asks for, if it may be asked for by this id.
    fn wanted(
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
                let needs = NeedsAdapter::new(&needs, method, peer);
                let mut refusal = errors::method_not_found(method, peer.lifecycle());
                refusal.error.message = needs.to_string();
                self.tell(Event::NeedsAdapter(needs));
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
}

/// Returns the params of a request that is made again, with the application's own state as it was before it was signed.
fn with_own_state(method: &str, params: &Json, own: &str) -> Result<Json, ConversionError> {
    let subject = Subject::Method(method, Part::Params, Some(Direction::ClientToServer));
    let invalid = |error| ConversionError::of_subject(subject, Failure::Invalid(error));
    let mut members = params.read::<Map<Json>>().map_err(invalid)?;
    members.insert("requestState", Json::of(own));
    Ok(Json::of(&members))
}

/// Returns what is kept of a request until it is answered.
fn pending_of(
    incoming: IncomingMessage<'_>,
    id: RequestId,
    wanted: WantedMethod,
    peer: Revision,
    session: Option<&Opened>,
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

/// Returns what a per-request message says of its client.
pub(super) fn client_of(message: &Peeked<'_>, peer: Revision) -> Caller {
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
