//! Messages of a peer without an answer: notifications, and its answers to requests of the server.

use std::time::Duration;

use mcp_revisions_core::Revision;
use mcp_wire::{Direction, ErrorObject, Json, MethodKind, RequestId};

use super::Server;
use super::incoming::Unlooked;
use super::reply::MessageReply;
use super::requests::{AskedBy, ServerRequest};
use crate::ask::{outcome, own_id, read_error, spelled_id};
use crate::errors;
use crate::quote::shown;
use crate::translate::{TextDirection, no_params};
use crate::{
    Answered, Connection, CustomNotification, Event, Ignored, MendedMessage, Notification,
};
use mcp_revisions_core::methods;
use mcp_revisions_core::translate::find_method;
use mcp_revisions_core::translate::is_handshake;
use mcp_wire::{Peeked, Raw};

impl Connection<Server> {
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
                return self.told(Event::CustomNotification(CustomNotification {
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
            Ok((params, losses)) => self.told(Event::Notification(Notification {
                method,
                params,
                revision: peer,
                about: None,
                losses,
            })),
            Err(stopped) => self.told(Event::stopped(&stopped, method, peer)),
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
    pub(crate) fn take_unlooked(&mut self, unlooked: Unlooked) {
        let Unlooked {
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
}

/// Returns an id that is a number as the string of it, and the string of a number as the number.
fn other_spelling(id: &RequestId) -> Option<RequestId> {
    match id {
        RequestId::Integer(number) => Some(RequestId::String(number.to_string())),
        RequestId::String(_) => own_id(id).map(RequestId::from),
    }
}

/// Returns the error that the application gets in the place of a response of the client that is malformed.
fn not_valid(why: &str) -> ErrorObject {
    errors::internal(&format!("the client's answer is not valid: {why}")).error
}
