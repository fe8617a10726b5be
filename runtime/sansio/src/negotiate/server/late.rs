//! A server that learns its application late: the introduction of the client, and the messages that wait for its answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::{
    Introductions, NegotiatedMessage, Negotiation, Profile, ProfileError, Revision, methods,
    translate::is_handshake,
};
use mcp_wire::{MessageKind, Peeked, RawId, envelope::write, peek};

use crate::errors::{self, Refusal};
use crate::limits::deadline;
use crate::server::Server;
use crate::server::incoming::IncomingMessage;
use crate::server::receive::single;
use crate::server::reply::MessageReply;
use crate::server::request::client_of;
use crate::{Caller, Connection, Event, Exchange, Ignored};

/// The revision of an application, and its profile in each revision. It is cheap to clone.
#[derive(Debug, Clone)]
pub struct AppProfile {
    pub(crate) revision: Revision,
    pub(crate) introductions: Arc<Introductions>,
    /// Set if calls of the application become the tasks of the server's options.
    pub(crate) has_tasks: bool,
}

impl AppProfile {
    /// Creates the profile of an application that speaks `revision`, one of [`Revision::CONVERTED`].
    ///
    /// # Errors
    /// Returns an error if the profile is not valid in that revision.
    pub fn new(revision: Revision, profile: Profile) -> Result<Self, ProfileError> {
        Ok(Self {
            revision,
            introductions: Arc::new(Introductions::new(profile, revision)?),
            has_tasks: false,
        })
    }

    /// Returns the revision of the application.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }
}

/// A text that waits until the application of the connection is known.
#[derive(Debug)]
struct WaitingText {
    exchange: Exchange,
    bytes: Box<[u8]>,
    negotiation: Negotiation,
    principal: Option<Box<str>>,
}

/// The texts that wait for the application of a connection, oldest first.
#[derive(Debug)]
pub(crate) struct WaitingTexts {
    texts: VecDeque<WaitingText>,
    bytes: usize,
    /// The time at which they are refused.
    pub(crate) until: Duration,
}

impl WaitingTexts {
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Connection<Server> {
    /// Answers [`Event::Introduced`] with the application that serves the client, or refuses each of its waiting requests with this
    /// error. After an error the next request of the client introduces it again.
    ///
    /// Does nothing if the application is known.
    pub fn introduce(&mut self, app: Result<&AppProfile, &Refusal>, now: Duration) {
        if self.role.introductions.is_some() {
            return;
        }
        let waiting = self.state.waiting_texts.take();
        match app {
            Ok(app) => self.role = Arc::new(self.role.serving_app(app)),
            Err(_) => self.state.introduced = None,
        }
        for text in waiting.into_iter().flat_map(|it| it.texts) {
            let WaitingText {
                exchange,
                bytes,
                negotiation,
                principal,
            } = text;
            let Ok(message) = peek(&bytes) else { continue };
            let incoming = IncomingMessage {
                message: &message,
                exchange,
                in_batch: false,
                principal: principal.as_deref(),
                now,
            };
            let reply = match app {
                Ok(_) => self.reply_to_message(incoming, negotiation),
                Err(why) => single(exchange, self.unserved(incoming, why)),
            };
            self.put_reply(exchange, reply);
        }
    }

    /// Returns whether messages of the client wait until its application is known.
    #[must_use]
    pub fn is_introducing(&self) -> bool {
        self.state.waiting_texts.is_some()
    }

    /// Queues a message for an application that is not known yet, or refuses it if the queue is full. Returns `None` for a message
    /// that needs no application.
    pub(crate) fn wait_for_app(
        &mut self,
        incoming: IncomingMessage<'_>,
        negotiation: Negotiation,
    ) -> Option<MessageReply> {
        let IncomingMessage {
            message,
            exchange,
            principal,
            now,
            ..
        } = incoming;
        let refused = |refusal: &Refusal| {
            let id = message.id.and_then(RawId::to_id);
            Some(MessageReply::refused(id.as_ref(), refusal))
        };
        let method = message.method.as_deref().unwrap_or_default();
        if !matches!(
            message.kind,
            MessageKind::Request | MessageKind::Notification | MessageKind::Batch
        ) {
            return None;
        }
        let negotiated = negotiation.within(None);
        if message.kind == MessageKind::Request {
            if method == methods::PING && negotiated.is_ok() {
                return None;
            }
            match self.role.id_of(incoming) {
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(refused) => return Some(refused),
            }
        }
        if self.state.waiting_texts.is_none() {
            let caller = match (message.kind, negotiated.ok()?) {
                (_, NegotiatedMessage::Initialize) => {
                    match self.role.client_of_initialize(message) {
                        Ok((caller, _)) => caller,
                        Err(refusal) => return refused(&refusal),
                    }
                }
                (_, NegotiatedMessage::Batch(peer)) if self.asks_the_app(message) => {
                    Caller::unknown(peer)
                }
                (_, NegotiatedMessage::Batch(_)) => return None,
                // There is no request to cancel.
                (MessageKind::Notification, _) if method == methods::NOTIFICATIONS_CANCELLED => {
                    return None;
                }
                // No application gets a notification of a session that is not open.
                (MessageKind::Notification, NegotiatedMessage::Single(peer))
                    if is_handshake(peer) =>
                {
                    let why = "no session is open: send `initialize` first".to_owned();
                    let ignored = Ignored::Invalid(method.to_owned(), why);
                    return Some(self.put_aside(ignored, 202));
                }
                (_, NegotiatedMessage::Single(peer)) => client_of(message, peer),
            };
            if let Err(refusal) = self.role.check_introduction(&caller) {
                return refused(&refusal);
            }
            let caller = Arc::new(caller);
            self.state.introduced = Some(Arc::clone(&caller));
            self.tell(Event::Introduced(caller));
        }
        let limits = &self.role.limits;
        let waiting = self.state.waiting_texts.get_or_insert_with(|| {
            Box::new(WaitingTexts {
                texts: VecDeque::new(),
                bytes: 0,
                until: deadline(now, limits.introduction_timeout),
            })
        });
        let bytes = waiting.bytes.saturating_add(message.text.len());
        let full = if waiting.len() >= limits.max_pending_requests {
            Some(errors::too_many_pending(limits.max_pending_requests))
        } else {
            (bytes > limits.max_pending_bytes)
                .then(|| errors::too_much_pending(limits.max_pending_bytes))
        };
        match full {
            Some(refusal) if message.kind == MessageKind::Notification => {
                let ignored = Ignored::Invalid(method.to_owned(), refusal.error.message);
                return Some(self.put_aside(ignored, refusal.status));
            }
            Some(refusal) => return refused(&refusal),
            None => {}
        }
        waiting.bytes = bytes;
        waiting.texts.push_back(WaitingText {
            exchange,
            bytes: message.text.as_bytes().into(),
            negotiation,
            principal: principal.map(Into::into),
        });
        Some(MessageReply::Later)
    }

    /// Returns whether a batch has a request for the application, and is not too long.
    fn asks_the_app(&self, batch: &Peeked<'_>) -> bool {
        let most = self.role.limits.max_batch_length;
        let is_asked = |text: &str| {
            let one = peek(text.as_bytes()).ok();
            one.is_some_and(|one| {
                one.kind == MessageKind::Request && one.method.as_deref() != Some(methods::PING)
            })
        };
        batch.elements().nth(most).is_none() && batch.elements().any(is_asked)
    }

    /// Returns the refusal of a message that waited for an application.
    fn unserved(&mut self, incoming: IncomingMessage<'_>, why: &Refusal) -> MessageReply {
        let Refusal { error, status } = why;
        let message = incoming.message;
        let error_of = |id: Option<RawId<'_>>| {
            let readable = id.and_then(RawId::to_id);
            readable.map(|id| write::error(Some(&id), error))
        };
        match message.kind {
            MessageKind::Request => match error_of(message.id) {
                Some(body) => MessageReply::Text(body, *status),
                None => MessageReply::Empty(202),
            },
            MessageKind::Batch => {
                let answers: Vec<String> = (message.elements())
                    .filter_map(|text| peek(text.as_bytes()).ok())
                    .filter(|one| one.kind == MessageKind::Request)
                    .filter_map(|one| error_of(one.id))
                    .collect();
                if answers.is_empty() {
                    MessageReply::Empty(202)
                } else {
                    MessageReply::Text(write::batch(&answers), 200)
                }
            }
            _ => {
                let method = message.method.as_deref().unwrap_or_default().to_owned();
                self.put_aside(Ignored::Invalid(method, error.message.clone()), 202)
            }
        }
    }

    /// Refuses the waiting messages once their time is over.
    pub(crate) fn late_introduction(&mut self, now: Duration) {
        let waiting = self.state.waiting_texts.as_ref();
        if waiting.is_some_and(|waiting| waiting.until <= now) {
            let time = self.role.limits.introduction_timeout.as_secs();
            let why = format!("no server was ready for this client within {time} s");
            self.introduce(Err(&errors::internal(&why)), now);
        }
    }

    /// Removes the waiting messages of an exchange whose client has hung up.
    pub(crate) fn forget_waiting(&mut self, exchange: Exchange) {
        let Some(waiting) = &mut self.state.waiting_texts else {
            return;
        };
        waiting.texts.retain(|text| text.exchange != exchange);
        waiting.bytes = waiting.texts.iter().map(|text| text.bytes.len()).sum();
        if waiting.texts.is_empty() {
            self.state.waiting_texts = None;
            self.state.introduced = None;
        }
    }
}
