//! Notifications, of the client and to it.

use std::time::Duration;

use mcp_revisions_core::{
    Adapter, ConversionError, Revision, methods,
    translate::{find_method, is_handshake, other_spelling},
};
use mcp_wire::{
    Direction, ErrorObject, Json, MethodKind, Peeked, Raw, RequestId, envelope::write, meta,
};

use super::Server;
use super::needs::needs_state;
use super::reply::{MessageReply, Outgoing};
use super::requests::PendingCall;
use crate::errors;
use crate::json::{object, with_members};
use crate::quote::shown;
use crate::subscriptions::names_stream;
use crate::tasks::server::{with_task_ids, without_task_ids};
use crate::translate::{TextDirection, no_params};
use crate::{
    Connection, CustomNotification, Event, Fate, Ignored, LogLevel, MendedMessage, Notification,
    SendOutcome, To, Token,
};

impl Connection<Server> {
    /// Sends a notification, in the words of the application's revision.
    ///
    /// Leaves out notifications that the peer did not ask for: logs below its level, or any if a per-request client names no level;
    /// progress of a call without a token; anything but logs before the client is initialized.
    pub fn notify(
        &mut self,
        to: To,
        method: &str,
        params: Option<&Json>,
        _: Duration,
    ) -> SendOutcome {
        // A client may have both: a session, and streams of the other lifecycle beside it.
        let is_both =
            matches!(to, To::Session) && self.state.session.is_some() && !self.role.is_per_request;
        let has_streams = is_both && self.has_streams();
        let said = self.notify_one(to, method, params);
        if has_streams {
            let empty = no_params();
            self.tell_streams(method, params.unwrap_or(&empty));
        }
        said
    }

    pub(crate) fn notify_one(
        &mut self,
        to: To,
        method: &str,
        params: Option<&Json>,
    ) -> SendOutcome {
        let peer = match to {
            To::Request(token) => self.state.get(token).map(|pending| pending.revision),
            To::Session => self.session_revision(),
        };
        if self.role.passes_as_is(method, peer) {
            return self.notify_other(to, method, params);
        }
        let (sender, kind) = (Direction::ServerToClient, MethodKind::Notification);
        if find_method(self.role.app(), method, sender, kind).is_none() {
            let why = "the application's revision has no such notification of a server";
            return refused(errors::internal(why).error);
        }
        let empty = no_params();
        let own = params.unwrap_or(&empty);
        if let To::Request(token) = to
            && self.state.own.contains_key(&token)
        {
            self.own_told(token, method, own);
            return SendOutcome::of(Fate::Adapted);
        }
        let peer = match self.peer_of(to, method, params) {
            Ok(peer) => peer,
            Err(Fate::RequiresState(_)) if self.tell_streams(method, own) => {
                return SendOutcome::of(Fate::Adapted);
            }
            Err(fate) => return SendOutcome::of(fate),
        };
        let about = match to {
            To::Request(token) => self.state.get(token).map(|pending| &pending.id),
            To::Session => None,
        };
        let translator = &self.role.translator;
        let carried = translator.params_told(TextDirection::Out, method, own, peer, about);
        let (text, losses) = match carried {
            Ok((text, losses)) => (text, losses),
            Err(ConversionError::RequiresState(needs))
                if needs.adapter == Adapter::Subscription && self.tell_streams(method, own) =>
            {
                return SendOutcome::of(Fate::Adapted);
            }
            Err(stopped) => {
                let code = ErrorObject::INTERNAL_ERROR;
                return SendOutcome::of(Fate::stopped(stopped, code));
            }
        };
        let mut exchange = None;
        let mut given = params.is_some().then_some(text);
        if let To::Request(token) = to
            && let Some(pending) = self.state.get_mut(token)
        {
            exchange = Some(pending.exchange);
            // The client that retries a call gives it another token, which the handler does not know.
            let token = pending.progress_token.as_ref();
            if method == methods::NOTIFICATIONS_PROGRESS
                && own.get("progressToken").as_ref() != token
            {
                let members = [("progressToken", token.cloned())];
                given = given.map(|params| with_members(&params, &members));
            }
            // Only the runtime knows the id that ties a notification to its stream.
            if pending.method == methods::SUBSCRIPTIONS_LISTEN {
                let params = given.unwrap_or_else(no_params);
                let params = meta::with(&params, meta::SUBSCRIPTION_ID, &Json::of(&pending.id));
                given = Some(match method {
                    methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED => {
                        with_task_ids(&params, &pending.task_ids)
                    }
                    _ => params,
                });
                let peer_name = |method| self.role.translator.peer_name(method, peer);
                let of_tasks = self.role.runs_tasks_for(peer);
                if let Some(first) = acknowledgement(pending, method, of_tasks, peer_name) {
                    self.send(first);
                }
            }
        }
        let method = self.role.translator.peer_name(method, peer);
        let body = write::notification(method, given.as_ref().map(Json::text));
        self.send(Outgoing::on_its_way(exchange, body));
        let fate = Fate::Sent;
        SendOutcome { fate, losses }
    }

    /// Sends a notification that no revision has, as it is: with the call that it is about, or to a session.
    fn notify_other(&mut self, to: To, method: &str, params: Option<&Json>) -> SendOutcome {
        let mut of_stream = None;
        let exchange = match to {
            To::Request(token) => match self.state.get_mut(token) {
                Some(pending) if pending.is_suspended => {
                    return SendOutcome::of(Fate::Dropped("suspended"));
                }
                Some(pending) => {
                    // A notification that names a stream is of the one that this request opens, under the id that the client
                    // gave it.
                    of_stream = params.filter(|params| names_stream(params)).map(|params| {
                        meta::with(params, meta::SUBSCRIPTION_ID, &Json::of(&pending.id))
                    });
                    pending.is_acknowledged |= of_stream.is_some();
                    Some(pending.exchange)
                }
                None => return SendOutcome::of(Fate::Unknown),
            },
            To::Session if self.state.session.is_some() => None,
            To::Session => return SendOutcome::of(Fate::Dropped("no-session")),
        };
        let params = of_stream.as_ref().or(params);
        let body = write::notification(method, params.map(Json::text));
        self.send(Outgoing::on_its_way(exchange, body));
        SendOutcome::of(Fate::Sent)
    }

    /// Returns the revision of the receiver of a notification, if the notification is sent at all.
    fn peer_of(&self, to: To, method: &str, params: Option<&Json>) -> Result<Revision, Fate> {
        let is_log = method == methods::NOTIFICATIONS_MESSAGE;
        match to {
            To::Request(token) => {
                let pending = self.state.get(token).ok_or(Fate::Unknown)?;
                if pending.is_suspended {
                    return Err(Fate::Dropped("suspended"));
                }
                if method == methods::NOTIFICATIONS_PROGRESS && pending.progress_token.is_none() {
                    return Err(Fate::Dropped("progress-token"));
                }
                let unasked = pending.log_level.is_none() && !is_handshake(pending.revision);
                if is_log && (unasked || is_below(pending.log_level, params)) {
                    return Err(Fate::Dropped("log-opt-in"));
                }
                Ok(pending.revision)
            }
            To::Session => match &self.state.session {
                Some(session) if is_log && is_below(session.log_level, params) => {
                    Err(Fate::Dropped("log-level"))
                }
                Some(session) if !is_log && !session.is_initialized => {
                    Err(Fate::Dropped("initialize-first"))
                }
                Some(session) => Ok(session.revision),
                None if is_log => Err(Fate::Dropped("log-opt-in")),
                // A per-request client gets changes only on the stream that it has opened.
                None => Err(Fate::RequiresState(needs_state(
                    Adapter::Subscription,
                    method,
                ))),
            },
        }
    }

    pub(crate) fn notification(
        &mut self,
        message: &Peeked<'_>,
        peer: Revision,
        now: Duration,
    ) -> MessageReply {
        let name = message.method.as_deref().unwrap_or_default();
        match self.role.translator.app_name(name, peer) {
            methods::NOTIFICATIONS_CANCELLED => return self.cancelled(message, now),
            methods::NOTIFICATIONS_INITIALIZED if is_handshake(peer) => {
                // Without sessions over HTTP there is nobody to remember it.
                if let Some(session) = &mut self.state.session {
                    let first = !std::mem::replace(&mut session.is_initialized, true);
                    self.tell(Event::Initialized);
                    if first && self.role.is_per_request && !self.state.is_bare {
                        self.listen_to_lists(peer);
                    }
                }
                return MessageReply::Empty(202);
            }
            _ => {}
        }
        let Some(row) = find_method(
            peer,
            name,
            Direction::ClientToServer,
            MethodKind::Notification,
        ) else {
            if self.role.passes_as_is(name, Some(peer)) {
                return self.tell_accepted(Event::CustomNotification(CustomNotification {
                    method: name.to_owned(),
                    params: message.params.map(Raw::to_json).unwrap_or_else(no_params),
                    revision: peer,
                    about: None,
                    losses: Vec::new(),
                }));
            }
            let why = format!("revision {peer} has no notification of that method");
            return self.put_aside(Ignored::Invalid(name.to_owned(), why), 202);
        };
        let session = self.state.session.as_deref().filter(|_| is_handshake(peer));
        let method = self.role.translator.app_name(row.name, peer);
        let carried = self.role.params_in(method, message.params, peer, session);
        let translator = &self.role.translator;
        let carried = translator.report(method, peer, None, carried);
        match carried {
            Ok((params, losses)) => self.tell_accepted(Event::Notification(Notification {
                method,
                params,
                revision: peer,
                about: None,
                losses,
            })),
            Err(stopped) => self.tell_accepted(Event::stopped(&stopped, method)),
        }
    }

    fn cancelled(&mut self, message: &Peeked<'_>, now: Duration) -> MessageReply {
        let method = methods::NOTIFICATIONS_CANCELLED;
        let id = message.param("requestId");
        let Some(id) = id.and_then(|id| id.read::<RequestId>().ok()) else {
            let why = "at /params/requestId: expected the id of a request, a string or an integer";
            return self.put_aside(Ignored::Invalid(method.to_owned(), why.to_owned()), 202);
        };
        let meant = match self.state.token_of(&id) {
            Some(token) => Some((token, None)),
            None => other_spelling(&id)
                .and_then(|other| Some((self.state.token_of(&other)?, Some(other)))),
        };
        let Some((token, other)) = meant else {
            // It may have crossed the answer on its way.
            return self.put_aside(Ignored::Late(method.to_owned()), 202);
        };
        if let Some(other) = other {
            let (expected, found) = (shown(&other), shown(&id));
            let why = format!("at /params/requestId: expected {expected}, found {found}");
            self.tell(Event::Mended(MendedMessage::new(method, why)));
        }
        let reason = message.param("reason").and_then(|it| it.read().ok());
        let _ = self.give_up(token, reason, now);
        MessageReply::Empty(202)
    }

    /// Sends the peer a notification in its own words, about a request of it.
    pub(crate) fn send_notification(
        &mut self,
        about: Option<Token>,
        method: &'static str,
        params: Json,
    ) {
        let pending = about.and_then(|token| self.state.get(token));
        let params = match pending {
            Some(pending) if pending.method == methods::SUBSCRIPTIONS_LISTEN => {
                meta::with(&params, meta::SUBSCRIPTION_ID, &Json::of(&pending.id))
            }
            _ => params,
        };
        let exchange = pending.map(|pending| pending.exchange);
        let peer = pending
            .map(|pending| pending.revision)
            .or(self.session_revision())
            .unwrap_or(self.role.app());
        let method = self.role.translator.peer_name(method, peer);
        let body = write::notification(method, Some(params.text()));
        self.send(Outgoing::on_its_way(exchange, body));
    }
}

/// Returns the acknowledgement of a stream if the handler sends something else first: the stream is open for all of its filter.
fn acknowledgement(
    pending: &mut PendingCall,
    method: &str,
    of_tasks: bool,
    peer_name: impl Fn(&'static str) -> &'static str,
) -> Option<Outgoing> {
    if std::mem::replace(&mut pending.is_acknowledged, true)
        || method == methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED
    {
        return None;
    }
    let mut wanted = pending.params.as_ref()?.get("notifications")?;
    if of_tasks {
        // Of tasks it tells only if it was acknowledged with them.
        wanted = without_task_ids(&wanted);
    }
    let agreed = object([("notifications", wanted)]);
    let params = meta::with(&agreed, meta::SUBSCRIPTION_ID, &Json::of(&pending.id));
    let method = peer_name(methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED);
    let body = write::notification(method, Some(params.text()));
    Some(Outgoing::on_its_way(Some(pending.exchange), body))
}

pub(crate) fn refused(error: ErrorObject) -> SendOutcome {
    SendOutcome::of(Fate::Refused(Box::new(error)))
}

/// Returns whether a log notification is less severe than what was asked for.
fn is_below(wanted: Option<LogLevel>, params: Option<&Json>) -> bool {
    let Some(wanted) = wanted else { return false };
    let level = params.and_then(|params| LogLevel::from_name(&params.get("level")?.as_str()?));
    level.is_some_and(|level| level < wanted)
}
