//! HTTP+SSE, the transport of 2024-11-05: a session is opened by `GET`, its messages are POSTed to a URI of its own, and
//! everything that the server says goes into its one stream.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use super::answers::{events, refused, status};
use super::body::HangUp;
use super::inner::{Inner, owner};
use super::service::accepts;
use super::{Body, text};
use crate::protocol::server::{Looked, Owner};
use crate::serve::{Facts, Lane, Route, Taken, route};
use crate::{Headers, headers};

/// The parameter of the URI to POST to that names the session.
const SESSION: &str = "sessionId";

impl Inner {
    /// Whether a GET opens a session of this transport: one that names a session wants the stream of that.
    pub(super) fn opens_only_stream(&self, head: &Parts) -> bool {
        self.http_sse(head).is_some()
            && !head.headers.contains_key(headers::SESSION_ID)
            && self.has_session_operations(&head.headers)
    }

    /// The path of this transport, as clients see it, if the request is for that.
    fn http_sse(&self, head: &Parts) -> Option<&str> {
        let path = self.options.http_sse.as_deref()?;
        path.ends_with(head.uri.path()).then_some(path)
    }

    /// Opens a session, and its stream.
    pub(super) async fn open_only_stream(self: &Arc<Self>, head: &Parts) -> Response<Body> {
        if !accepts(&head.headers, "text", "event-stream") {
            let why = "the stream of a session is text/event-stream: accept it";
            return refused(StatusCode::NOT_ACCEPTABLE, why);
        }
        if self.is_closing() {
            let why = "the server is shutting down";
            return refused(StatusCode::SERVICE_UNAVAILABLE, why);
        }
        let who = owner(head);
        let (texts, queue) = route(Some(self.unread_of(who.clone())));
        let lane = self.new_lane();
        lane.owned_by(who.clone());
        lane.opened_over(head);
        lane.send_all_to(texts);
        let id = match self.open(&lane, who, None).await {
            Ok(id) => id,
            Err(response) => return *response,
        };
        let path = self.http_sse(head).unwrap_or_default();
        let endpoint = format!("{path}?{SESSION}={id}");
        let inner = Arc::clone(self);
        let guard = HangUp::new(move || inner.end(&id));
        events(Body::only_stream(queue, &endpoint, guard, &self.options))
    }

    /// Whether a POST is for a URI that names a session; its header is set then, by which handlers know the session.
    pub(super) fn uri_names_session(&self, head: &mut Parts) -> bool {
        let query = head.uri.query().filter(|_| self.http_sse(head).is_some());
        let named = query.into_iter().flat_map(|query| query.split('&'));
        let mut named = named.filter_map(|param| param.strip_prefix(SESSION)?.strip_prefix('='));
        let Some(id) = named.next() else {
            return false;
        };
        // What no header can hold is no id of a session.
        let id = HeaderValue::from_str(id).unwrap_or_else(|_| HeaderValue::from_static(""));
        head.headers.insert(headers::SESSION_ID, id);
        true
    }

    /// The session of a URI that was given out with a stream.
    pub(super) fn session_with_stream(
        &self,
        head: &Parts,
        who: &Owner,
    ) -> Result<Arc<Lane>, Box<Response<Body>>> {
        let lane = self.session(&head.headers, who).ok();
        let gone = "no such session: open one by GET";
        lane.filter(|lane| lane.only_stream().is_some())
            .ok_or_else(|| Box::new(refused(StatusCode::NOT_FOUND, gone)))
    }

    /// Takes a message of a session that has one stream: its answer goes there.
    pub(super) async fn to_only_stream(
        &self,
        lane: &Arc<Lane>,
        texts: &Route,
        (told, looked): (&Headers<'_>, Looked<'_>),
        facts: Facts,
    ) -> Response<Body> {
        // Who does not read the answers is not asked for more questions.
        let turn = tokio::time::timeout(self.options.write_time, texts.turn()).await;
        let _turn = match turn {
            Ok(Some(turn)) => turn,
            Ok(None) => {
                return refused(StatusCode::NOT_FOUND, "the stream of the session has ended");
            }
            Err(_) => {
                let why = "the stream of the session is not read: read it, then try again";
                return refused(StatusCode::SERVICE_UNAVAILABLE, why);
            }
        };
        let parts = facts.parts.clone();
        let Taken { opens_session, .. } = lane.take(Some(told), looked, texts, facts);
        if opens_session
            && let Some(id) = parts
                .and_then(|parts| text(&parts.headers, headers::SESSION_ID).map(Arc::<str>::from))
            && let Some(record) = lane.record()
            && let Err(response) = self.keep(&id, lane, record)
        {
            lane.close();
            return *response;
        }
        status(StatusCode::ACCEPTED)
    }
}
