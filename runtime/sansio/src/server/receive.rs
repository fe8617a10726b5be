//! Texts of a peer: looked at, negotiated, and handed to whom they concern.

use std::time::Duration;

use mcp_revisions_core::{
    Headers, Lifecycle, NegotiatedMessage, Negotiation, Revision, RevisionSet, negotiate,
};
use mcp_wire::{MessageKind, RequestId, Unreadable};

use super::Server;
use super::incoming::{IncomingMessage, Looked, RefusedText};
use super::reply::{MessageReply, Outgoing};
use crate::errors::{self, Refusal};
use crate::unread;
use crate::{Connection, Event, Exchange, Ignored, Output};

impl Server {
    /// Looks at a text once, so that a transport knows whose it is before it hands it in
    /// (`Connection::take`); `headers` are those of its POST, and `None` on stdio.
    #[must_use]
    pub fn look<'a>(&self, headers: Option<&Headers<'_>>, bytes: &'a [u8]) -> Looked<'a> {
        self.look_as(self.served, headers, bytes)
    }

    /// Looks as [`look`](Self::look) does, at a text of a transport that has only sessions: claims in `_meta` are refused
    /// as a server of the handshake lifecycle refuses them.
    #[must_use]
    pub fn look_in_session<'a>(&self, bytes: &'a [u8]) -> Looked<'a> {
        let of_sessions = |revision: &Revision| revision.lifecycle() == Lifecycle::Handshake;
        self.look_as(
            self.served.iter().filter(of_sessions).collect(),
            None,
            bytes,
        )
    }

    fn look_as<'a>(
        &self,
        served: RevisionSet,
        headers: Option<&Headers<'_>>,
        bytes: &'a [u8],
    ) -> Looked<'a> {
        let limit = self.limits.max_message_bytes;
        let message = if bytes.len() > limit {
            Err(Ignored::TooLong(bytes.len()))
        } else {
            unread::look(bytes)
        };
        Looked(match message {
            Ok(message) => {
                let negotiation = negotiate(&message, headers, served);
                Ok((message, negotiation))
            }
            Err(why) => Err(RefusedText::new(why, bytes, limit)),
        })
    }

    /// Refuses a text that is not a message.
    fn refuse_unlooked(&self, unlooked: &RefusedText) -> MessageReply {
        let invalid = |why: &dyn std::fmt::Display| errors::invalid_request(&why.to_string());
        match &unlooked.why {
            _ if unlooked.is_answer => MessageReply::Empty(400),
            Ignored::TooLong(bytes) => {
                let refusal = errors::message_too_large(*bytes, self.limits.max_message_bytes);
                MessageReply::refused(None, &refusal)
            }
            Ignored::Unreadable(it @ Unreadable::NotAMessage { id, .. }, _) => {
                MessageReply::refused(id.as_deref(), &invalid(it))
            }
            Ignored::Unreadable(it, _) => {
                MessageReply::refused(None, &errors::parse_error(&it.to_string()))
            }
            _ => MessageReply::refused(None, &errors::invalid_request("not a message")),
        }
    }

    /// Returns the id of a message; refused is one that is too long to be kept, and a progress token that is.
    pub(crate) fn id_of(
        &self,
        incoming: IncomingMessage<'_>,
    ) -> Result<Option<RequestId>, MessageReply> {
        let message = incoming.message;
        let too_long = |text: &str| text.len() > self.limits.max_identifier_bytes;
        if message.id.is_some_and(|id| too_long(id.text())) {
            let refusal = errors::invalid_request("the id is too long");
            return Err(MessageReply::refused(None, &refusal));
        }
        let id = message.id.and_then(|id| id.to_id());
        let token = message.meta.progress_token;
        if id.is_some() && token.is_some_and(|token| too_long(token.text())) {
            let refusal = errors::invalid_params("the progress token is too long");
            return Err(MessageReply::refused(id.as_ref(), &refusal));
        }
        Ok(id)
    }
}

impl Connection<Server> {
    /// Receives as [`receive`](Self::receive) does, a text that [`Server::look`] has looked at with the same headers.
    pub fn take(
        &mut self,
        headers: Option<&Headers<'_>>,
        looked: Looked<'_>,
        now: Duration,
    ) -> Exchange {
        let exchange = self.state.next_exchange();
        let principal = headers.and_then(|headers| headers.principal);
        let reply = self.reply_to(exchange, looked, principal, now);
        self.put_reply(exchange, reply);
        exchange
    }

    /// Sends what answers a text at once.
    #[inline]
    pub(crate) fn put_reply(&mut self, exchange: Exchange, reply: Option<Outgoing>) {
        match reply {
            Some(reply) if reply.body.is_empty() => self.put(Output::Empty(exchange, reply.status)),
            Some(reply) => self.send(reply),
            None => {}
        }
    }

    /// Returns the immediate reply to a text; `None` while requests in it wait for the application.
    fn reply_to(
        &mut self,
        exchange: Exchange,
        looked: Looked<'_>,
        principal: Option<&str>,
        now: Duration,
    ) -> Option<Outgoing> {
        let (message, negotiation) = match looked.0 {
            Ok(seen) => seen,
            Err(unlooked) => {
                let refused = self.role.refuse_unlooked(&unlooked);
                self.take_unlooked(unlooked);
                return single(exchange, refused);
            }
        };
        let incoming = IncomingMessage {
            message: &message,
            exchange,
            in_batch: false,
            principal,
            now,
        };
        let negotiation = match negotiation {
            Ok(negotiation) => negotiation,
            Err(refusal) => return single(exchange, self.handle(incoming, Err(refusal))),
        };
        if self.role.introductions.is_none()
            && let Some(reply) = self.wait_for_app(incoming, negotiation)
        {
            return single(exchange, reply);
        }
        self.reply_to_message(incoming, negotiation)
    }

    /// Returns the immediate reply to a message that names its revision, or leaves that to its session.
    #[inline]
    pub(crate) fn reply_to_message(
        &mut self,
        incoming: IncomingMessage<'_>,
        negotiation: Negotiation,
    ) -> Option<Outgoing> {
        let session = self.session_revision();
        match negotiation.within(session) {
            Ok(NegotiatedMessage::Batch(revision)) => self.batch(incoming, revision),
            negotiated => {
                let reply = self.handle(incoming, negotiated);
                single(incoming.exchange, reply)
            }
        }
    }

    /// Handles one message whose revision is negotiated, or refused.
    pub(crate) fn handle(
        &mut self,
        incoming: IncomingMessage<'_>,
        negotiated: Result<NegotiatedMessage, Box<Refusal>>,
    ) -> MessageReply {
        let IncomingMessage { message, now, .. } = incoming;
        let id = match self.role.id_of(incoming) {
            Ok(id) => id,
            Err(refused) => return refused,
        };
        match (message.kind, id, negotiated) {
            (MessageKind::Request, None, _) => MessageReply::refused(
                None,
                &errors::invalid_request(
                    "the id is not valid text: it has half of a surrogate pair",
                ),
            ),
            (MessageKind::Request, Some(id), Err(refusal)) => {
                MessageReply::refused(Some(&id), &refusal)
            }
            (MessageKind::Request, Some(id), Ok(NegotiatedMessage::Single(peer))) => {
                self.request(incoming, id, peer)
            }
            (MessageKind::Request, Some(id), Ok(_)) => self.initialize(message, &id),
            (MessageKind::Notification, _, Ok(NegotiatedMessage::Single(peer))) => {
                self.notification(message, peer, now)
            }
            (MessageKind::Notification, _, Err(refusal)) => {
                let method = message.method.as_deref().unwrap_or_default().to_owned();
                self.put_aside(
                    Ignored::Invalid(method, refusal.error.message),
                    refusal.status,
                )
            }
            (MessageKind::Response | MessageKind::Error, id, _) => self.peer_answer(message, id),
            (_, id, Err(refusal)) => MessageReply::refused(id.as_ref(), &refusal),
            (_, id, Ok(_)) => {
                MessageReply::refused(id.as_ref(), &errors::invalid_request("not a message"))
            }
        }
    }

    /// Leaves a message out, and says so.
    pub(crate) fn put_aside(&mut self, ignored: Ignored, status: u16) -> MessageReply {
        self.tell(Event::Ignored(ignored));
        MessageReply::Empty(status)
    }

    /// Tells the application of a message that is not answered.
    pub(crate) fn tell_accepted(&mut self, event: Event) -> MessageReply {
        self.tell(event);
        MessageReply::Empty(202)
    }
}

/// Returns the text that ends the exchange of a message that came alone; none while the application has to answer.
pub(crate) fn single(exchange: Exchange, reply: MessageReply) -> Option<Outgoing> {
    match reply {
        MessageReply::Text(body, status) => Some(Outgoing::last(exchange, status, body)),
        MessageReply::Later => None,
        MessageReply::Empty(status) => Some(Outgoing::last(exchange, status, String::new())),
    }
}
