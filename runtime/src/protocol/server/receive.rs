//! Texts of a peer: looked at, settled, and handed to whom they concern.

use std::time::Duration;

use mcp_registry::{Era, Revision};
use mcp_wire::{MessageKind, RequestId, Unreadable, peek};

use super::done::{Handled, Outgoing, Received};
use super::incoming::{Incoming, Looked, Seen, Unlooked};
use super::state::State;
use super::{Server, batch};
use crate::errors::{self, Refusal};
use crate::headers::Headers;
use crate::protocol::revisions::RevisionSet;
use crate::protocol::{Exchange, Ignored};
use crate::settle::{self, Settled};

impl Server {
    /// One look at a text, by which a transport can tell whose it is before it hands it in
    /// (`Connection::take`); `headers` are those of its POST, and `None` on stdio.
    #[must_use]
    pub fn look<'a>(&self, headers: Option<&Headers<'_>>, bytes: &'a [u8]) -> Looked<'a> {
        self.look_as(self.served, headers, bytes)
    }

    /// As [`look`](Self::look), of a text that a transport has brought which has only sessions: claims in `_meta` are refused
    /// as a server of the handshake era refuses them.
    #[must_use]
    pub fn look_in_session<'a>(&self, bytes: &'a [u8]) -> Looked<'a> {
        let of_sessions = |revision: &Revision| revision.era() == Era::Handshake;
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
        let limit = self.limits.message_bytes;
        let message = match bytes.len() > limit {
            true => Err(Ignored::TooLong(bytes.len())),
            false => peek(bytes).map_err(Ignored::Unreadable),
        };
        Looked(match message {
            Ok(message) => Ok(Seen {
                settlement: settle::settle(&message, headers, served),
                message,
            }),
            Err(why) => Err(Unlooked::new(why, bytes, limit)),
        })
    }

    /// What a text comes to.
    pub(super) fn receive(
        &self,
        state: &mut State,
        exchange: Exchange,
        looked: Looked<'_>,
        principal: Option<&str>,
        now: Duration,
    ) -> Received {
        let Seen {
            message,
            settlement,
        } = match looked.0 {
            Ok(seen) => seen,
            Err(unlooked) => {
                let mut handled = self.refuse_unlooked(&unlooked.why);
                if let Some(answered) = self.unanswered(state, unlooked.instead, now) {
                    handled.outputs.extend(answered.outputs);
                }
                return single(exchange, handled);
            }
        };
        let incoming = Incoming {
            message: &message,
            exchange,
            in_batch: false,
            principal,
            now,
        };
        let session = state.session_revision();
        match settlement.and_then(|it| it.within(session, self.served)) {
            Ok(Settled::Batch(revision)) => batch::receive(self, state, incoming, revision),
            settled => single(exchange, self.handle(state, incoming, settled)),
        }
    }

    /// Handles one message whose revision is settled, or refused.
    pub(super) fn handle(
        &self,
        state: &mut State,
        incoming: Incoming<'_>,
        settled: Result<Settled, Box<Refusal>>,
    ) -> Handled {
        let Incoming { message, now, .. } = incoming;
        let id = match self.id_of(incoming) {
            Ok(id) => id,
            Err(handled) => return *handled,
        };
        match (message.kind, id, settled) {
            (MessageKind::Request, None, _) => Handled::refused(
                None,
                &errors::invalid_request("the id is no text: it holds half a surrogate pair"),
            ),
            (MessageKind::Request, Some(id), Err(refusal)) => Handled::refused(Some(&id), &refusal),
            (MessageKind::Request, Some(id), Ok(Settled::Speaks(peer))) => {
                self.request(state, incoming, id, peer)
            }
            (MessageKind::Request, Some(id), Ok(_)) => self.initialize(state, message, &id),
            (MessageKind::Notification, _, Ok(Settled::Speaks(peer))) => {
                self.notification(state, message, peer, now)
            }
            (MessageKind::Notification, _, Err(refusal)) => {
                let method = message.method.as_deref().unwrap_or_default().to_owned();
                Handled::put_aside(
                    Ignored::Invalid(method, refusal.error.message),
                    refusal.status,
                )
            }
            (MessageKind::Response | MessageKind::Error, id, _) => {
                self.peer_answer(state, message, id, now)
            }
            (_, id, Err(refusal)) => Handled::refused(id.as_ref(), &refusal),
            (_, id, Ok(_)) => {
                Handled::refused(id.as_ref(), &errors::invalid_request("not a message"))
            }
        }
    }

    /// Refuses a text that is no message.
    fn refuse_unlooked(&self, why: &Ignored) -> Handled {
        let invalid = |why: &dyn std::fmt::Display| errors::invalid_request(&why.to_string());
        match why {
            Ignored::TooLong(bytes) => {
                let refusal = errors::message_too_large(*bytes, self.limits.message_bytes);
                Handled::refused(None, &refusal)
            }
            Ignored::Unreadable(it @ Unreadable::NotAMessage { id, .. }) => {
                Handled::refused(id.as_deref(), &invalid(it))
            }
            Ignored::Unreadable(it) => {
                Handled::refused(None, &errors::parse_error(&it.to_string()))
            }
            _ => Handled::refused(None, &errors::invalid_request("not a message")),
        }
    }

    /// The id of a message; refused is one that is too long to be kept, and a progress token that is.
    fn id_of(&self, incoming: Incoming<'_>) -> Result<Option<RequestId>, Box<Handled>> {
        let message = incoming.message;
        let too_long = |text: &str| text.len() > self.limits.name_bytes;
        if message.id.is_some_and(|id| too_long(id.text())) {
            let refusal = errors::invalid_request("the id is too long");
            return Err(Box::new(Handled::refused(None, &refusal)));
        }
        let id = message.id.and_then(|id| id.to_id());
        let token = message.meta.progress_token;
        if id.is_some() && token.is_some_and(|token| too_long(token.text())) {
            let refusal = errors::invalid_params("the progress token is too long");
            return Err(Box::new(Handled::refused(id.as_ref(), &refusal)));
        }
        Ok(id)
    }
}

/// What a message that came alone came to.
fn single(exchange: Exchange, handled: Handled) -> Received {
    let Handled {
        answer,
        outputs,
        waits,
        status,
    } = handled;
    let reply = match answer {
        Some((body, status)) => Some(Outgoing::last(exchange, status, body)),
        None if waits => None,
        None => {
            let status = if status == 0 { 202 } else { status };
            Some(Outgoing::last(exchange, status, String::new()))
        }
    };
    Received { outputs, reply }
}
