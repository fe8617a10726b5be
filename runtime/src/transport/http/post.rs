//! A POST: one message, or a batch, answered at once, by one JSON object, or by a stream of events.

use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use mcp_registry::Era;
use mcp_wire::envelope::write;
use mcp_wire::{ErrorObject, RawId, RequestId};

use super::body::HangUp;
use super::service::{Inner, Room, events, status};
use super::{Body, Options, Principal};
use crate::errors::{self, Refusal};
use crate::serve::{EventId, Facts, Handler, Item, Lane, Next, Queue, Taken, route};
use crate::server::Looked;
use crate::settle::Settlement;
use crate::{Headers, Spoken, headers};

impl<App: Spoken, H: Handler> Inner<App, H> {
    pub(super) async fn post(&self, head: Parts, bytes: Vec<u8>, room: Room) -> Response<Body> {
        let parts = Arc::new(head);
        let pairs = (parts.headers.iter())
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let mut told = Headers::from_pairs(pairs);
        let principal = parts.extensions.get::<Principal>();
        told.principal = principal.map(|principal| principal.0.as_str());
        let looked = self.server.look(Some(&told), &bytes);
        if let Some(message) = looked.message()
            && let Err(refused) = self.params_agree(message, &parts).await
        {
            return refusal(message.id.and_then(RawId::to_id), &refused);
        }
        let lane = match self.lane(&parts, &told, &looked) {
            Ok(lane) => lane,
            Err(response) => return *response,
        };
        let id = looked
            .message()
            .and_then(|message| message.id.and_then(RawId::to_id));
        let (texts, queue) = route();
        let facts = Facts {
            parts: Some(Arc::clone(&parts)),
            room: Some(Arc::new(room)),
        };
        let Taken {
            opens_session,
            exchange,
            listens,
            hangs_up,
        } = lane.take(Some(&told), looked, &texts, facts);
        // Whoever works on it has its own copy of what it needs.
        drop(bytes);
        // What is left of the senders belongs to the calls: without them the queue ends.
        drop(texts);
        let session = match opens_session && self.options.sessions {
            true => match self.open(&lane) {
                Ok(id) => Some(id),
                Err(response) => return *response,
            },
            false => None,
        };
        if listens {
            self.remember_stream(&lane);
        }
        let prime = lane.prime(exchange);
        let guard = hangs_up.map(|exchange| HangUp::new(move || lane.hung_up(exchange)));
        let mut response = worked_on(queue, guard, id, prime, &self.options).await;
        if let Some(Ok(id)) = session.map(HeaderValue::try_from) {
            response.headers_mut().insert(headers::SESSION_ID, id);
        }
        response
    }

    /// Where a message belongs: to a session, to a call that is parked, or to nothing but itself.
    fn lane(
        &self,
        parts: &Parts,
        told: &Headers<'_>,
        looked: &Looked<'_>,
    ) -> Result<Arc<Lane<App, H>>, Box<Response<Body>>> {
        let message = looked.message();
        let has_session = parts.headers.contains_key(headers::SESSION_ID);
        let needs_session = |settlement: Settlement| settlement.needs_session(has_session);
        if looked.settlement().is_some_and(needs_session)
            && self.options.sessions
            && self.server.served().has(Era::Handshake)
        {
            return self.session(&parts.headers);
        }
        if let Some(message) = message.filter(|message| message.request_state.is_some())
            && let Some(ticket) = self
                .server
                .ticket(message, told.principal, self.start.elapsed())
            && let Some(lane) = self.parked(ticket)
        {
            return Ok(lane);
        }
        // Nothing else of a modern request is taken from an earlier one: its lane is its own.
        Ok(self.new_lane())
    }

    fn open(&self, lane: &Arc<Lane<App, H>>) -> Result<String, Box<Response<Body>>> {
        let Some(id) = fresh_id() else {
            let refusal = errors::internal("no randomness for the id of a session");
            return Err(Box::new(refusal_of(
                None,
                &refusal,
                StatusCode::INTERNAL_SERVER_ERROR,
            )));
        };
        let (now, bytes) = (self.start.elapsed(), lane.session_bytes());
        let may_go = |lane: &Arc<Lane<App, H>>| lane.is_idle();
        let opened = self
            .sessions()
            .open(id.clone(), Arc::clone(lane), bytes, now, SPARED, may_go);
        match opened {
            Ok(gone) => {
                for lane in gone {
                    lane.close();
                }
                if let Some(store) = &self.options.events {
                    lane.keep_events(&id, Arc::clone(store));
                }
                Ok(id)
            }
            Err(full) => Err(Box::new(refusal(
                None,
                &errors::too_many_sessions(full.limit),
            ))),
        }
    }
}

/// For how long a session is safe that was used, however many others are opened.
const SPARED: Duration = Duration::from_secs(60);

/// The answer of a call at work: one object if nothing is said before it, else a stream.
async fn worked_on(
    mut queue: Queue,
    guard: Option<HangUp>,
    id: Option<RequestId>,
    prime: Option<EventId>,
    options: &Options,
) -> Response<Body> {
    match queue.recv().await {
        Some(Next::Item(Item { text, id: None })) if text.last => {
            if let Some(guard) = guard {
                guard.disarm();
            }
            let code = StatusCode::from_u16(text.status).unwrap_or(StatusCode::OK);
            match text.body.is_empty() {
                true => status(code),
                false => json(code, text.body),
            }
        }
        Some(first) => events(Body::exchange(Some(first), queue, guard, prime, options)),
        // Cancelled meanwhile, or the session is over.
        None => {
            if let Some(guard) = guard {
                guard.disarm();
            }
            let over = ErrorObject::new(
                ErrorObject::INTERNAL_ERROR,
                "the request was cancelled, or its session is over",
            );
            json(StatusCode::OK, write::error(id.as_ref(), &over))
        }
    }
}

fn json(code: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::text(body));
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A refusal as a message.
pub(super) fn refusal(id: Option<RequestId>, refusal: &Refusal) -> Response<Body> {
    let code = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    refusal_of(id, refusal, code)
}

fn refusal_of(id: Option<RequestId>, refusal: &Refusal, code: StatusCode) -> Response<Body> {
    json(code, write::error(id.as_ref(), &refusal.error))
}

/// 128 random bits as visible ASCII: whoever does not know a session's id cannot guess it.
fn fresh_id() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
