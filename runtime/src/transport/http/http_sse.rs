//! HTTP+SSE, the transport of 2024-11-05: a session is opened by `GET`, its messages are POSTed to a URI of its own, and
//! everything that the server says goes into its one stream.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, StatusCode};

use super::answers::{HttpResult, events, refusal, refused, status};
use super::body::{HangUp, SseEvents};
use super::inner::{ServiceShared, owner};
use super::service::accepts_events;
use super::text;
use crate::serve::{ExchangeFacts, Outbox, ServerDriver, outbox};
use crate::transport::spawn::spawn;
use mcp_revisions_core::{Headers, headers};
use mcp_revisions_sansio::server::{Looked, Owner};

/// The parameter of the URI to POST to that names the session.
const SESSION: &str = "sessionId";

impl ServiceShared {
    /// Returns whether a GET opens a session of this transport: one that names a session wants the stream of that.
    pub(super) fn opens_only_stream(&self, head: &Parts) -> bool {
        self.http_sse(head).is_some()
            && !head.headers.contains_key(headers::SESSION_ID)
            && matches!(self.has_session_operations(&head.headers), Ok(true))
    }

    /// Returns the path of this transport, as clients see it, if the request is for that.
    fn http_sse(&self, head: &Parts) -> Option<&str> {
        let path = self.options.http_sse.as_deref()?;
        path.ends_with(head.uri.path()).then_some(path)
    }

    /// Opens a session, and its stream.
    pub(super) async fn open_only_stream(self: &Arc<Self>, head: &Parts) -> HttpResult {
        accepts_events(&head.headers)?;
        self.takes_calls()?;
        let who = owner(head);
        let (texts, queue) = outbox(Some(self.unread.of(who.clone())));
        let driver = self.new_driver();
        driver.opened_by(who, head.extensions.get());
        driver.send_all_to(texts);
        let id = self.open(&driver, None).await?;
        // It may have been asked for while the server began to stop.
        if self.is_closing() {
            driver.end_idle_stream();
        }
        let path = self.http_sse(head).unwrap_or_default();
        let endpoint = format!("{path}?{SESSION}={id}");
        let inner = Arc::clone(self);
        let guard = HangUp::new(move || inner.end(&id));
        let mut stream = SseEvents::of_only_stream(queue, &endpoint, &self.options);
        stream.guard = Some(guard);
        Ok(events(stream))
    }

    /// Returns whether a POST is for a URI that names a session; its header is set then, by which handlers know the session.
    pub(super) fn uri_names_session(&self, head: &mut Parts) -> bool {
        let Some(id) = self.session_of_uri(head) else {
            return false;
        };
        // A text that no header can hold is not an id of a session.
        let id = HeaderValue::from_str(id).unwrap_or_else(|_| HeaderValue::from_static(""));
        head.headers.insert(headers::SESSION_ID, id);
        true
    }

    /// Returns the session that a URI names which was given out with a stream.
    pub(super) fn session_of_uri<'h>(&self, head: &'h Parts) -> Option<&'h str> {
        let query = head.uri.query().filter(|_| self.http_sse(head).is_some())?;
        let mut params = query.split('&');
        params.find_map(|param| param.strip_prefix(SESSION)?.strip_prefix('='))
    }

    /// Returns the session of a URI that was given out with a stream.
    pub(super) fn session_with_stream(
        &self,
        head: &Parts,
        who: &Owner,
    ) -> HttpResult<Arc<ServerDriver>> {
        let driver = self.session(&head.headers, who).ok();
        let gone = "no such session: open one by GET";
        driver
            .filter(|driver| driver.only_stream().is_some())
            .ok_or_else(|| refused(StatusCode::NOT_FOUND, gone).into())
    }

    /// Takes a message of a session that has one stream: its answer goes there.
    pub(super) async fn to_only_stream(
        self: &Arc<Self>,
        driver: &Arc<ServerDriver>,
        texts: &Outbox,
        (told, looked): (&Headers<'_>, Looked<'_>),
        facts: ExchangeFacts,
    ) -> HttpResult {
        // A client that does not read the answers is not asked more questions.
        let turn = tokio::time::timeout(self.options.write_time, texts.turn()).await;
        let _turn = turn
            .map_err(|_| {
                let why = "the stream of the session is not read: read it, then try again";
                refused(StatusCode::SERVICE_UNAVAILABLE, why)
            })?
            .ok_or_else(|| refused(StatusCode::NOT_FOUND, "the stream of the session has ended"))?;
        let parts = facts.parts.clone();
        let taken = driver.take(Some(told), looked, texts, facts);
        let id = parts.and_then(|parts| Some(text(&parts.headers, headers::SESSION_ID)?.into()));
        if taken.waits {
            // The answer goes into the stream: the client does not wait for it here.
            let (inner, driver) = (Arc::clone(self), Arc::clone(driver));
            spawn(async move {
                let settled = driver.settled(taken).await;
                let _ = inner.count_session(&driver, id.filter(|_| settled.opens_session));
            });
        } else {
            self.count_session(driver, id.filter(|_| taken.opens_session))?;
        }
        Ok(status(StatusCode::ACCEPTED))
    }

    /// Counts a session with what is known of its client, once it is opened; ends it if there is no room.
    fn count_session(
        &self,
        driver: &Arc<ServerDriver>,
        opened: Option<Arc<str>>,
    ) -> HttpResult<()> {
        let Some(id) = opened else { return Ok(()) };
        let kept = self.keep(&id, driver, driver.record());
        kept.map_err(|full| {
            driver.close();
            refusal(None, &full).into()
        })
    }
}
