//! Responses over HTTP: the answer to each POST, with its status, and what a status says by itself.

use std::time::Duration;

use mcp_protocol::Lifecycle;
use mcp_wire::{MessageKind, Peeked};

use super::answer::MOST_SENDS;
use super::{Channel, Client, Pending, Purpose};
use crate::RevisionSet;
use crate::protocol::ask::own_id;
use crate::protocol::negotiate::lifecycle::{Evidence, Finding, judge};
use crate::protocol::unread::why;
use crate::protocol::{Answer, Connection, Exchange, Failure, Ignored};

impl Connection<Client> {
    /// Takes the HTTP answer to a POST: its status, its `Mcp-Session-Id`, and its whole body; `None` if it is a stream of
    /// events, whose messages then go to [`receive`](Self::receive) until it has [`ended`](Self::ended).
    pub fn answered(
        &mut self,
        exchange: Exchange,
        status: u16,
        session: Option<&str>,
        body: Option<&[u8]>,
        now: Duration,
    ) {
        let Some(&id) = self.state.exchanges.get(&exchange) else {
            return;
        };
        let purpose = id
            .and_then(|id| self.state.pending.get(&id))
            .map(|pending| &pending.purpose);
        if matches!(purpose, Some(Purpose::Initialize)) {
            // An id that no header can hold is none: it would end a line of every request.
            let is_visible = |id: &&str| id.bytes().all(|byte| byte.is_ascii_graphic());
            self.state.session_to_be = session.filter(is_visible).map(str::to_owned);
        }
        // Without a body its messages follow one by one.
        let Some(body) = body else { return };
        let success = (200..300).contains(&status);
        if id.is_none() && !success {
            self.ignore(Ignored::Status(status));
        }
        let (messages, ignored) = match self.messages(body) {
            _ if body.is_empty() => (Vec::new(), None),
            Ok(messages) => (messages, None),
            Err(ignored) => (Vec::new(), Some(ignored)),
        };
        // The status says more than a page that goes with it.
        let limit = self.role.options.limits.max_message_bytes;
        let mut broken = ignored
            .as_ref()
            .and_then(|ignored| why(ignored, body, limit));
        for message in messages {
            match message {
                Ok(message) => match message.kind {
                    MessageKind::Response | MessageKind::Error if self.answers(&message, id) => {
                        self.take_http_answer(exchange, status, &message, now);
                    }
                    _ if success => self.take_message(Some(exchange), &message, now),
                    _ => {}
                },
                Err((text, unreadable)) => {
                    broken = why(&Ignored::Unreadable(unreadable), text.as_bytes(), limit);
                }
            }
        }
        if let Some(ignored) = ignored.filter(|_| success && id.is_none()) {
            self.ignore(ignored);
        }
        match broken.filter(|_| success) {
            Some(why) if matches!(self.state.exchanges.get(&exchange), Some(Some(_))) => {
                self.state.exchanges.remove(&exchange);
                if let Some(id) = id {
                    self.end_unanswered(id, Some(status), &Failure::InvalidResult(why), now);
                }
            }
            _ => self.unanswered(exchange, Some(status), &Failure::Http(status), now),
        }
    }

    /// Whether a message is the answer to this request, or an error that does not say to which.
    fn answers(&self, message: &Peeked<'_>, id: Option<i64>) -> bool {
        let Some(id) = id else { return false };
        match message.id {
            Some(found) => found.to_id().as_ref().and_then(own_id) == Some(id),
            None => self.state.pending.contains_key(&id),
        }
    }

    fn take_http_answer(
        &mut self,
        exchange: Exchange,
        status: u16,
        message: &Peeked<'_>,
        now: Duration,
    ) {
        // A request that did not reach the server's handlers may be sent again.
        if !(200..300).contains(&status) && self.stale(exchange, status, Some(message)) {
            return self.send_again(exchange, now);
        }
        self.take_answer(Some(exchange), Some(status), message, now);
    }

    /// Ends an exchange: the response stream of its POST is over, or there was none.
    pub fn ended(&mut self, exchange: Exchange, now: Duration) {
        self.unanswered(exchange, None, &Failure::Closed, now);
    }

    /// Fails an exchange, with the reason: the server cannot be reached, or its answer broke off.
    pub fn failed(&mut self, exchange: Exchange, why: impl Into<String>, now: Duration) {
        self.unanswered(exchange, None, &Failure::Transport(why.into()), now);
    }

    /// Ends the requests of a POST that is over and did not answer them.
    fn unanswered(
        &mut self,
        exchange: Exchange,
        status: Option<u16>,
        failure: &Failure,
        now: Duration,
    ) {
        let Some(Some(id)) = self.state.exchanges.get(&exchange).copied() else {
            self.state.exchanges.remove(&exchange);
            return;
        };
        if let Some(status) = status
            && !(200..300).contains(&status)
            && self.stale(exchange, status, None)
        {
            return self.send_again(exchange, now);
        }
        self.state.exchanges.remove(&exchange);
        self.end_unanswered(id, status, failure, now);
    }

    /// A request has no answer, and will have none.
    pub(in crate::protocol) fn end_unanswered(
        &mut self,
        id: i64,
        status: Option<u16>,
        failure: &Failure,
        now: Duration,
    ) {
        let Some(Pending {
            purpose, revision, ..
        }) = self.state.pending.remove(&id)
        else {
            return;
        };
        match purpose {
            Purpose::Probe => match failure {
                Failure::Closed => self.probed(Evidence::Ended(Channel::Http), now),
                Failure::Transport(_) => self.unsettle(failure),
                _ => self.probed(
                    Evidence::Answer {
                        status,
                        message: None,
                    },
                    now,
                ),
            },
            Purpose::Initialize => self.unsettle(failure),
            Purpose::Adapter => {}
            Purpose::LogLevel => self.end_level_wait(None),
            Purpose::Restore(uri) => self.restored(uri, None, revision),
            Purpose::Listen => self.listened(id, None, now),
            Purpose::Relist => self.tell_refused(),
            Purpose::Task { token, .. } => self.not_looked_at_task(token, failure, now),
            Purpose::Application(request) => {
                self.tell_answer(*request, Answer::Failed(failure.clone()));
            }
        }
    }

    /// Whether this answer says that what was settled does not hold any more: a session that ended, or a verdict that was handed in.
    fn stale(&self, exchange: Exchange, status: u16, message: Option<&Peeked<'_>>) -> bool {
        let id = self.state.exchanges.get(&exchange).copied().flatten();
        let Some(pending) = id.and_then(|id| self.state.pending.get(&id)) else {
            return false;
        };
        let Purpose::Application(request) = &pending.purpose else {
            return false;
        };
        let Some(settled) = self.state.stage.settled() else {
            return false;
        };
        if request.sent >= MOST_SENDS || settled.revision != pending.revision {
            return false;
        }
        match settled.revision.lifecycle() {
            Lifecycle::Handshake => status == 404 && settled.session.is_some(),
            Lifecycle::PerRequest => {
                !settled.confirmed
                    && judge(Evidence::Answer {
                        status: Some(status),
                        message,
                    }) == Finding::Handshake
            }
        }
    }

    /// Starts over, and sends the request of this POST again.
    fn send_again(&mut self, exchange: Exchange, now: Duration) {
        let id = self.state.exchanges.remove(&exchange).flatten();
        let Some(Pending {
            purpose, revision, ..
        }) = id.and_then(|id| self.state.pending.remove(&id))
        else {
            return;
        };
        if let Purpose::Application(request) = purpose {
            self.send_later(*request);
            match revision.lifecycle() {
                Lifecycle::Handshake => {
                    self.lose_session(now);
                    self.initialize(revision, RevisionSet::none());
                }
                Lifecycle::PerRequest => self.start_over(now),
            }
        }
    }
}
