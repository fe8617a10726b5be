//! A POST: one message, or a batch, answered at once, by one JSON object, or by a stream of events.

use std::future::poll_fn;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use mcp_revisions_core::Lifecycle;
use mcp_wire::envelope::write;
use mcp_wire::{ErrorObject, Json, MessageKind, Peeked, RawId, RequestId};

use super::answers::{HttpResult, events, json, refusal, refused, status};
use super::body::{HangUp, LastWord, SseEvents};
use super::inner::ServiceShared;
use super::{Body, Options, Principal};
use crate::backplane::EventId;
use crate::serve::{
    ExchangeFacts, OutboxItem, OutboxQueue, Permit, QueueItem, ServerDriver, TextOutcome, outbox,
};
use crate::transport::observe;
use mcp_revisions_core::Negotiation;
use mcp_revisions_core::{Headers, headers};
use mcp_revisions_sansio::server::{Looked, Owner};

impl ServiceShared {
    pub(super) async fn post(
        self: &Arc<Self>,
        mut head: Box<Parts>,
        who: Owner,
        in_stream: Option<Arc<ServerDriver>>,
        (bytes, permit): (Vec<u8>, Permit),
    ) -> HttpResult {
        let scopes = self.options.add_scopes(&mut head);
        let parts = Arc::<Parts>::from(head);
        let pairs = (parts.headers.iter())
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap_or(headers::UNREADABLE)));
        let mut told = Headers::from_pairs(pairs);
        let principal = parts.extensions.get::<Principal>();
        told.principal = principal.map(|principal| principal.0.as_str());
        let looked = match in_stream {
            Some(_) => self.server.look_in_session(&bytes),
            None => self.server.look(Some(&told), &bytes),
        };
        let id = (looked.message()).and_then(|message| message.id.and_then(RawId::to_id));
        let is_batch = looked
            .message()
            .is_some_and(|it| it.kind == MessageKind::Batch);
        let has_session = parts.headers.contains_key(headers::SESSION_ID);
        if !has_session && !looked.message().is_some_and(belongs_to_open_call) {
            self.takes_calls()?;
        }
        if in_stream.is_none()
            && let Some(message) = looked.message()
        {
            let agree = self.params_agree(message, &parts, &who).await;
            agree.map_err(|refused| refusal(id.as_ref(), &refused))?;
        }
        let driver = match in_stream.filter(|_| looked.message().is_some()) {
            Some(driver) => driver,
            None => self.driver(&parts, &told, &looked, (&who, &bytes)).await?,
        };
        driver.opened_by(who.clone(), parts.extensions.get());
        if let Some(message) = looked.message() {
            self.note(&driver, message).await?;
        }
        let facts = ExchangeFacts {
            parts: Some(Arc::clone(&parts)),
            room: Some(self.reservation(permit, who.clone())),
        };
        if let Some(texts) = driver.only_stream() {
            let taken = self.to_only_stream(&driver, &texts, (&told, looked), facts);
            return taken.await;
        }
        let (texts, queue) = outbox(Some(self.unread.of(who)));
        let taken = driver.take(Some(&told), looked, &texts, facts);
        // The senders that are left belong to the calls: without them the queue ends.
        drop(texts);
        let hang_up = |exchange| {
            let driver = Arc::clone(&driver);
            HangUp::new(move || driver.hung_up(exchange))
        };
        let waits = taken.waits.then(|| hang_up(taken.exchange));
        let TextOutcome {
            opens_session,
            exchange,
            listens,
            ..
        } = driver.settled(taken).await;
        waits.into_iter().for_each(HangUp::disarm);
        let session = if opens_session && self.options.sessions {
            Some(self.open(&driver, Some(&bytes)).await?)
        } else {
            None
        };
        // The handler has its own copy of what it needs.
        drop(bytes);
        if listens {
            self.remember_stream(&driver);
        }
        let prime = driver.prime(exchange);
        let hangs_up = driver.is_given_up_by_hanging_up(exchange);
        let guard = hangs_up.then(|| hang_up(exchange));
        let last_word = LastWord::new(Arc::clone(&self.stages), driver);
        let mut response = worked_on((queue, last_word), guard, id, prime, &self.options).await;
        if let Some(Ok(id)) = session.map(|id| HeaderValue::from_str(&id)) {
            response.headers_mut().insert(headers::SESSION_ID, id);
        }
        // The other results of a batch would be lost.
        if let Some(scopes) = scopes.filter(|_| !is_batch) {
            scopes.step_up(&mut response);
        }
        Ok(response)
    }

    /// Returns the driver of a message: that of a session, that of a suspended call, or one of its own.
    async fn driver(
        self: &Arc<Self>,
        parts: &Parts,
        told: &Headers<'_>,
        looked: &Looked<'_>,
        (who, bytes): (&Owner, &[u8]),
    ) -> HttpResult<Arc<ServerDriver>> {
        let message = looked.message();
        let has_session = parts.headers.contains_key(headers::SESSION_ID);
        let needs_session = |negotiation: Negotiation| negotiation.needs_session(has_session);
        if looked.negotiation().is_some_and(needs_session)
            && self.options.sessions
            && self.server.served().has(Lifecycle::Handshake)
        {
            self.pass_on(parts, who, bytes).await?;
            let driver = self.session(&parts.headers, who)?;
            self.takes_requests_of(&driver)?;
            return Ok(driver);
        }
        if let Some(message) = message.filter(|message| message.request_state.is_some())
            && let Some(ticket) = self
                .server
                .ticket(message, told.principal, self.start.elapsed())
        {
            if let Some(driver) = self.driver_of(ticket) {
                return Ok(driver);
            }
            self.pass_ticket(parts, ticket, who, bytes).await?;
        }
        // A per-request message takes nothing else from an earlier one: its driver is its own.
        Ok(self.new_driver())
    }
}

/// Why the answer of a client to a question is refused.
const NO_REQUEST: &str =
    "no request of this server waits for this answer, or the answer is not a message";

/// Returns the message of the error that a text is.
fn reason(text: &str) -> String {
    let answer = Json::from_text(text).ok();
    let error = answer.and_then(|answer| answer.get("error"));
    error
        .and_then(|error| error.read_member("message"))
        .unwrap_or_default()
}

/// Returns whether a message without a session belongs to a call that was open before the service closed, or asks about a task.
fn belongs_to_open_call(message: &Peeked<'_>) -> bool {
    let method = message.method.as_deref();
    message.kind != MessageKind::Request
        || message.request_state.is_some()
        || method.is_some_and(|method| method.starts_with("tasks/"))
}

/// Returns the answer of a call at work: one object if nothing is said before it, else a stream.
async fn worked_on(
    (mut queue, mut last_word): (OutboxQueue, LastWord),
    guard: Option<HangUp>,
    id: Option<RequestId>,
    prime: Option<EventId>,
    options: &Options,
) -> Response<Body> {
    let next = poll_fn(|context| last_word.poll_recv(&mut queue, context));
    match next.await {
        Some(QueueItem::Item(item)) if item.text.last && item.id.is_none() => {
            let OutboxItem { text, unread, .. } = *item;
            if let Some(guard) = guard {
                guard.disarm();
            }
            let code = StatusCode::from_u16(text.status).unwrap_or(StatusCode::OK);
            if !text.body.is_empty() {
                if code == StatusCode::BAD_REQUEST {
                    observe::refused(code.as_u16(), &reason(&text.body));
                }
                json(code, text.body, unread)
            } else if code == StatusCode::BAD_REQUEST {
                refused(code, NO_REQUEST)
            } else {
                status(code)
            }
        }
        Some(first) => {
            let mut stream = SseEvents::of_exchange(queue, prime, options);
            (stream.first, stream.guard) = (Some(first), guard);
            stream.last_word = Some(last_word);
            events(stream)
        }
        // Cancelled meanwhile, or the session is over.
        None => {
            if let Some(guard) = guard {
                guard.disarm();
            }
            let over = ErrorObject::new(
                ErrorObject::INTERNAL_ERROR,
                "the request was cancelled, or its session is over",
            );
            json(StatusCode::OK, write::error(id.as_ref(), &over), None)
        }
    }
}
