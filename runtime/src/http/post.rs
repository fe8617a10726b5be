//! A POST: one message, or a batch, answered at once, by one JSON object, or by a stream of events.

use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use mcp_registry::{Era, Revision};
use tokio::sync::mpsc;

use super::Body;
use super::body::HangUp;
use super::service::{Inner, events, status, text};
use crate::errors::{self, Refusal};
use crate::serve::{Handler, Lane, QUEUE, Taken};
use crate::server::Reply;
use crate::{Headers, MessageKind, Peeked, Raw, Spoken, headers, peek};

impl<App: Spoken, H: Handler> Inner<App, H> {
    pub(super) async fn post(&self, headers: &HeaderMap, bytes: &[u8]) -> Response<Body> {
        let lane = match self.lane(headers, bytes) {
            Ok(lane) => lane,
            Err(response) => return *response,
        };
        let pairs = headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let told = Headers::from_pairs(pairs);
        let (texts, queue) = mpsc::channel(QUEUE);
        let Taken {
            reply,
            tokens,
            hangs_up,
        } = lane.take(Some(&told), bytes, &texts).await;
        // What is left of the senders belongs to the calls: without them the queue ends.
        drop(texts);
        match reply {
            Some(reply) => self.answered(reply, &lane),
            None => {
                let guard = hangs_up.then(|| HangUp::new(move || lane.hung_up(&tokens)));
                worked_on(queue, guard).await
            }
        }
    }

    /// Where a message belongs: to a session, or to nothing but itself.
    fn lane(
        &self,
        headers: &HeaderMap,
        bytes: &[u8],
    ) -> Result<Arc<Lane<App, H>>, Box<Response<Body>>> {
        let message = peek(bytes).ok();
        match message.is_some_and(|message| needs_session(&message, headers)) {
            true if self.options.sessions && self.server.served().has(Era::Handshake) => {
                self.session(headers)
            }
            // Nothing of a modern request is taken from an earlier one: its lane is its own.
            _ => Ok(Lane::new(
                Arc::clone(&self.server),
                Arc::clone(&self.handler),
                self.start,
            )),
        }
    }

    /// A reply that is there at once; the one to `initialize` opens a session.
    fn answered(&self, reply: Reply, lane: &Arc<Lane<App, H>>) -> Response<Body> {
        let session = match reply.opens_session && self.options.sessions {
            true => match self.open(lane) {
                Ok(id) => Some(id),
                Err(response) => return *response,
            },
            false => None,
        };
        let Reply {
            status: code, body, ..
        } = reply;
        let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = match body {
            Some(body) => json(code, body),
            None => status(code),
        };
        if let Some(Ok(id)) = session.map(HeaderValue::try_from) {
            response.headers_mut().insert(headers::SESSION_ID, id);
        }
        response
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
        let mut sessions = self.sessions();
        let limit = self.server.limits().sessions;
        if sessions.len() >= limit {
            for lane in sessions.retire(|lane| !lane.is_idle_since(self.options.idle)) {
                lane.close();
            }
        }
        match sessions.open(id.clone(), Arc::clone(lane)) {
            Ok(()) => Ok(id),
            Err(_) => Err(Box::new(refusal(None, &errors::too_many_sessions(limit)))),
        }
    }
}

/// Whether a message says nothing of its revision by itself.
fn needs_session(message: &Peeked<'_>, headers: &HeaderMap) -> bool {
    let is_modern = |wire: &str| {
        Revision::from_wire(wire).is_some_and(|revision| revision.era() == Era::PerRequest)
    };
    let has_session = headers.contains_key(headers::SESSION_ID);
    match message.kind {
        MessageKind::Request => match message.meta.protocol_version.map(Raw::as_str) {
            // A claim stands for itself; that of a handshake revision inside a session is the session's.
            Some(claim) => {
                has_session
                    && claim.is_some_and(|claim| {
                        Revision::from_wire(&claim).is_some() && !is_modern(&claim)
                    })
            }
            None if message.method.as_deref() == Some("initialize") => false,
            // A modern request that forgot its claim is told so.
            None => has_session || !text(headers, headers::PROTOCOL_VERSION).is_some_and(is_modern),
        },
        MessageKind::Notification | MessageKind::Response | MessageKind::Error => {
            !text(headers, headers::PROTOCOL_VERSION).is_some_and(is_modern)
        }
        MessageKind::Batch => true,
    }
}

/// The answer of a call at work: one object if nothing is said before it, else a stream.
async fn worked_on(
    mut queue: mpsc::Receiver<crate::server::Outgoing>,
    guard: Option<HangUp>,
) -> Response<Body> {
    match queue.recv().await {
        Some(text) if text.last => {
            if let Some(guard) = guard {
                guard.disarm();
            }
            let code = StatusCode::from_u16(text.status).unwrap_or(StatusCode::OK);
            json(code, text.body)
        }
        Some(text) => events(Body::exchange(text, queue, guard)),
        // Cancelled meanwhile: there is nothing to say.
        None => {
            if let Some(guard) = guard {
                guard.disarm();
            }
            status(StatusCode::ACCEPTED)
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
pub(super) fn refusal(id: Option<mcp_wire::RequestId>, refusal: &Refusal) -> Response<Body> {
    let code = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    refusal_of(id, refusal, code)
}

fn refusal_of(
    id: Option<mcp_wire::RequestId>,
    refusal: &Refusal,
    code: StatusCode,
) -> Response<Body> {
    json(
        code,
        mcp_wire::to_string(&mcp_wire::RawError::new(id, refusal.error.clone())),
    )
}

/// 128 random bits as visible ASCII: whoever does not know a session's id cannot guess it.
fn fresh_id() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
