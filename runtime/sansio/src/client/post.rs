//! Responses over HTTP: the answer to each POST, with its status, and what a status says by itself.

use std::time::Duration;

use mcp_revisions_core::Lifecycle;
use mcp_wire::{Peeked, peek};

use super::answer::{Element, MOST_SENDS};
use super::{Client, PendingRequest, RequestPurpose};
use crate::client::mend::MendedText;
use crate::negotiate::client::lifecycle::{Evidence, ProbeOutcome, judge};
use crate::negotiate::client::stage::NegotiationStage;
use crate::negotiate::client::statuses::is_session_lost;
use crate::quote::quotable;
use crate::unread::{unreadable as unreadable_text, why};
use crate::{Answer, Connection, Exchange, Failure, Ignored, NeededSignIn};

/// Number of bytes at the beginning of a body that are quoted.
const BEGINNING: usize = 400;

/// Number of sessions that one request is sent in: the server may have lost one.
const MOST_SESSIONS: u8 = 2;

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
        if matches!(purpose, Some(RequestPurpose::Initialize)) {
            // An id that no header can hold is none: it would end a line of every request.
            let is_visible = |id: &&str| id.bytes().all(|byte| byte.is_ascii_graphic());
            self.state.session_to_be = session.filter(is_visible).map(str::to_owned);
        }
        // Without a body its messages follow one by one.
        let Some(body) = body else {
            if let Some(pending) = id.and_then(|id| self.state.pending.get_mut(&id)) {
                pending.status = Some(status);
            }
            return;
        };
        let success = (200..300).contains(&status);
        if id.is_none() && !success {
            self.ignore(Ignored::Status(status));
        }
        let (mut messages, ignored) = match self.messages(body) {
            _ if body.is_empty() => (Vec::new(), None),
            Ok(messages) => (messages, None),
            Err(ignored) => (Vec::new(), Some(ignored)),
        };
        let limit = self.role.options.limits.max_message_bytes;
        let mut broken = ignored.as_ref().and_then(|ignored| why(ignored, limit));
        if let Some(ignored) = &ignored {
            for mended in self.mended(Some(exchange), body, ignored) {
                broken = self.take_of_body(exchange, status, &mended, now);
            }
        }
        let is_foreign = |message: &Element<'_>| {
            let is_of_other = |message| self.foreign_to(Some(exchange), message).is_some();
            message.as_ref().is_ok_and(is_of_other)
        };
        // The response with the right id counts, wherever it stands.
        messages.sort_by_cached_key(is_foreign);
        for message in messages {
            match message {
                Ok(message) if self.answers(exchange, &message) => {
                    self.take_http_answer(exchange, (status, body), &message, now);
                }
                Ok(message) => {
                    broken = Some(match &message.method {
                        Some(method) => no_response(method),
                        None => "its id is that of another request that waits".to_owned(),
                    });
                    if success || id.is_some() || message.method.is_some() {
                        self.take_message(Some(exchange), &message, now);
                    }
                }
                Err((text, unreadable)) => {
                    let ignored = unreadable_text(text.as_bytes(), unreadable);
                    broken = why(&ignored, limit);
                    for mended in self.mended(Some(exchange), text.as_bytes(), &ignored) {
                        broken = self.take_of_body(exchange, status, &mended, now);
                    }
                }
            }
        }
        if let Some(ignored) = ignored.filter(|_| success && id.is_none() && broken.is_some()) {
            self.ignore(ignored);
        }
        let is_open = matches!(self.state.exchanges.get(&exchange), Some(Some(_)));
        match broken.filter(|_| success) {
            Some(why) if is_open => {
                self.state.exchanges.remove(&exchange);
                if let Some(id) = id {
                    let why = format!("{why} (HTTP status {status})");
                    self.end_unanswered(id, Some(status), &Failure::InvalidResult(why), now);
                }
            }
            _ => {
                // The status says more than a page that goes with it.
                let beginning = body.get(..BEGINNING).unwrap_or(body);
                let beginning = quotable(String::from_utf8_lossy(beginning).trim());
                let failure = Failure::Http(status, beginning);
                self.unanswered(exchange, Some((status, body)), &failure, now);
            }
        }
    }

    /// Returns whether a message is the response to the request of a POST.
    fn answers(&self, exchange: Exchange, message: &Peeked<'_>) -> bool {
        message.method.is_none() && self.request_of(Some(exchange), message).is_some()
    }

    /// Takes a mended message of a body. Returns the reason if it is not the answer.
    fn take_of_body(
        &mut self,
        exchange: Exchange,
        status: u16,
        mended: &MendedText,
        now: Duration,
    ) -> Option<String> {
        let MendedText { text, why, .. } = mended;
        let message = peek(text.as_bytes()).ok()?;
        self.tell_mended(Some(exchange), &message, why);
        match &message.method {
            Some(method) => {
                self.take_message(Some(exchange), &message, now);
                Some(no_response(method))
            }
            None => {
                self.take_http_answer(exchange, (status, text.as_bytes()), &message, now);
                None
            }
        }
    }

    fn take_http_answer(
        &mut self,
        exchange: Exchange,
        (status, body): (u16, &[u8]),
        message: &Peeked<'_>,
        now: Duration,
    ) {
        // A request that did not reach the server's handlers may be sent again.
        if !(200..300).contains(&status) && self.stale(exchange, (status, body), Some(message)) {
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

    /// Fails an exchange whose server wants a sign-in.
    pub fn unauthorized(&mut self, exchange: Exchange, needed: Box<NeededSignIn>, now: Duration) {
        self.unanswered(exchange, None, &Failure::SignIn(needed), now);
    }

    /// Ends the requests of a POST that is over and did not answer them.
    fn unanswered(
        &mut self,
        exchange: Exchange,
        response: Option<(u16, &[u8])>,
        failure: &Failure,
        now: Duration,
    ) {
        let Some(Some(id)) = self.state.exchanges.get(&exchange).copied() else {
            self.state.exchanges.remove(&exchange);
            return;
        };
        if let Some((status, body)) = response
            && !(200..300).contains(&status)
            && self.stale(exchange, (status, body), None)
        {
            return self.send_again(exchange, now);
        }
        if response.is_none() && self.end_by_foreign(exchange, id, now) {
            self.state.exchanges.remove(&exchange);
            return;
        }
        self.state.exchanges.remove(&exchange);
        self.end_unanswered(id, response.map(|(status, _)| status), failure, now);
    }

    /// A request has no answer, and will have none.
    pub(crate) fn end_unanswered(
        &mut self,
        id: i64,
        status: Option<u16>,
        failure: &Failure,
        now: Duration,
    ) {
        let Some(PendingRequest {
            purpose,
            revision,
            status: begun,
            ..
        }) = self.state.pending.remove(&id)
        else {
            return;
        };
        let without_answer = begun.map(|status| Failure::Http(status, String::new()));
        let is_first = matches!(purpose, RequestPurpose::Probe | RequestPurpose::Initialize);
        // A stream without the answer to a first message is an answer that says nothing.
        let (status, failure) = match (&without_answer, failure) {
            (Some(without_answer), Failure::Closed) if is_first => (begun, without_answer),
            _ => (status, failure),
        };
        match purpose {
            // A response that did not arrive tells nothing of the server; one that cannot be read only refuses the message.
            RequestPurpose::Probe | RequestPurpose::Initialize
                if matches!(
                    failure,
                    Failure::Transport(_) | Failure::SignIn(_) | Failure::Closed
                ) =>
            {
                self.unsettle(failure);
            }
            RequestPurpose::Probe => {
                let message = None;
                self.probed(Evidence { status, message }, Some(failure), now);
            }
            RequestPurpose::Initialize => {
                self.handshake_failed(status, &[], failure.clone(), now);
            }
            RequestPurpose::Adapter => {}
            RequestPurpose::LogLevel => self.end_level_wait(None),
            RequestPurpose::Subscription(subscription) => {
                self.end_subscription(subscription, None, revision);
            }
            RequestPurpose::Listen => self.listened(id, None, now),
            RequestPurpose::Relist => self.tell_refused(),
            RequestPurpose::Task { token, look } => {
                self.not_looked_at_task(token, look, failure, now);
            }
            RequestPurpose::Application(request) => {
                self.tell_answer(*request, Answer::Failed(failure.clone()));
            }
        }
    }

    /// Returns whether this response says that what was settled does not hold any more: a session that the server has lost, or
    /// a verdict that was handed in. The request was refused before it ran, and may be sent again.
    fn stale(
        &self,
        exchange: Exchange,
        (status, body): (u16, &[u8]),
        message: Option<&Peeked<'_>>,
    ) -> bool {
        let id = self.state.exchanges.get(&exchange).copied().flatten();
        let Some(pending) = id.and_then(|id| self.state.pending.get(&id)) else {
            return false;
        };
        let RequestPurpose::Application(request) = &pending.purpose else {
            return false;
        };
        let is_handshake = pending.revision.lifecycle() == Lifecycle::Handshake;
        if is_handshake {
            return request.sent < MOST_SESSIONS
                && pending.session > 0
                && is_session_lost(status, body);
        }
        let settled = self.state.stage.settled();
        settled.is_some_and(|settled| {
            let status = Some(status);
            let finding = judge(Evidence { status, message });
            request.sent < MOST_SENDS
                && settled.revision == pending.revision
                && !settled.confirmed
                && finding == ProbeOutcome::Handshake
        })
    }

    /// Starts over, and sends the request of this POST again.
    fn send_again(&mut self, exchange: Exchange, now: Duration) {
        let id = self.state.exchanges.remove(&exchange).flatten();
        let Some(pending) = id.and_then(|id| self.state.pending.remove(&id)) else {
            return;
        };
        let RequestPurpose::Application(request) = pending.purpose else {
            return;
        };
        self.send_later(*request);
        let revision = pending.revision;
        match (&self.state.stage, revision.lifecycle()) {
            (_, Lifecycle::PerRequest) => self.start_over(now),
            // Another request of the lost session was refused first.
            (NegotiationStage::Starting(_), _) => {}
            (NegotiationStage::Settled(settled), _) if settled.number != pending.session => {
                self.send_waiting();
            }
            _ => {
                self.lose_session(now);
                self.begin(revision, now);
            }
        }
    }
}

fn no_response(method: &str) -> String {
    format!("it is `{}` and no response", quotable(method))
}
