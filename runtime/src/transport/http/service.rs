//! The HTTP service: it accepts or refuses requests, and performs operations on sessions.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, ALLOW, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use mcp_revisions_core::Lifecycle;

use super::answers::{HttpResult, allowed, events, exposed, plain, refusal, refused, status};
use super::body::SseEvents;
use super::counters::Counters;
use super::inner::{ServiceShared, owner};
use super::intake::{self, Received, UnreadBody};
use super::listener::Drain;
use super::stage::Stage;
use super::{Body, Options, text};
use crate::backplane::{EventId, Unavailable};
use crate::serve::{Handler, Outbox, Permit, ServerDriver, outbox};
use crate::transport::spawn::{Boxed, boxed};
use mcp_revisions_core::headers;
use mcp_revisions_sansio::driver::quotable;
use mcp_revisions_sansio::errors::Refusal;
use mcp_revisions_sansio::server::{Owner, Server};

/// A server as a tower service; clones serve the same sessions.
#[derive(Clone)]
pub struct Service {
    inner: Arc<ServiceShared>,
}

mcp_wire::debug_struct!([] Service, "Service", self, "options": self.inner.options);

impl Service {
    /// Creates a service with default options, which allow only loopback names.
    #[must_use]
    pub fn new(server: Server, handler: impl Handler) -> Self {
        Self::with_options(server, handler, Options::default())
    }

    /// Creates a service.
    #[must_use]
    pub fn with_options(server: Server, handler: impl Handler, options: Options) -> Self {
        Self {
            inner: ServiceShared::new(server, handler, options),
        }
    }

    /// Answers requests for the [readiness](Options::with_readiness) with status 503 from now on, so that a balancer sends
    /// calls elsewhere before [`close`](Self::close) refuses them. Calls are served as before.
    pub fn lame_duck(&self) {
        self.inner.stages.reach(Stage::LameDuck);
    }

    /// Refuses new calls with status 503 from now on. Messages of open calls are served: answers to questions,
    /// cancellations, retries with `requestState`, requests about tasks, and all requests of a session with an open call.
    /// Streams of subscriptions end with a message to their clients, and those of sessions once no call is open.
    pub fn close(&self) {
        self.inner.close();
    }

    /// Waits until no call is open, including suspended calls, tasks, and calls that another replica passed on. Call it after
    /// [`close`](Self::close), with your own timeout.
    /// Cancel safe.
    pub async fn drained(&self) {
        self.inner.drained().await;
    }

    /// Ends every session, with its streams and calls.
    pub fn end_sessions(&self) {
        self.inner.end_sessions();
    }

    /// Returns the counters of the service, for metrics.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.inner.counters()
    }

    /// Ends every stream, every call with an error, and the sessions that no other replica can run: before the process ends.
    pub fn leave(&self) {
        self.inner.leave_sessions();
    }

    /// Responds to a request whose body is of one type: this is compiled here, for all servers.
    #[doc(hidden)]
    #[inline(never)]
    #[must_use]
    pub fn respond(&self, request: Request<Received>) -> Responding {
        let (inner, (head, body)) = (Arc::clone(&self.inner), request.into_parts());
        // Each function on the way has a place for the head, which is large.
        let head = Box::new(head);
        boxed(async move { Ok(inner.handle(head, body).await) })
    }
}

impl Drain for Service {
    fn options(&self) -> &Options {
        &self.inner.options
    }

    fn lame_duck(&self) {
        self.lame_duck();
    }

    fn close(&self) {
        self.close();
    }

    fn drained(&self) -> Boxed<'_, ()> {
        boxed(self.inner.drained())
    }

    fn leave(&self) -> Boxed<'_, ()> {
        self.leave();
        boxed(self.inner.say_last())
    }
}

/// Makes a tower service of a type with `respond(&self, Request<Received>) -> Responding`.
#[doc(hidden)]
#[macro_export]
macro_rules! tower_service {
    ($service:ty) => {
        impl<B> ::tower_service::Service<::http::Request<B>> for $service
        where
            B: ::http_body::Body + Send + 'static,
            B::Data: Send,
            B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        {
            type Response = ::http::Response<$crate::http::Body>;
            type Error = std::convert::Infallible;
            type Future = $crate::http::Responding;

            fn poll_ready(
                &mut self,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), std::convert::Infallible>> {
                std::task::Poll::Ready(Ok(()))
            }

            fn call(&mut self, request: ::http::Request<B>) -> Self::Future {
                self.respond(request.map($crate::http::received))
            }
        }
    };
}

/// The future of the response of a tower service.
#[doc(hidden)]
pub type Responding = Boxed<'static, Result<Response<Body>, Infallible>>;

tower_service!(Service);

impl ServiceShared {
    async fn handle(self: Arc<Self>, mut head: Box<Parts>, body: Received) -> Response<Body> {
        if self.options.health.as_deref() == Some(head.uri.path()) {
            let reporter = self.options.health_report.as_ref();
            // A page of another site may reach this address by its own host name.
            let may_read = self.options.guard.is_none() && self.options.admits(&head).is_ok();
            let report = reporter.filter(|_| may_read).map(|report| report());
            return self.health(&head.method, Ok(report.unwrap_or_default()));
        }
        if self.options.readiness.as_deref() == Some(head.uri.path()) {
            let is_ready = self.is_ready().map(|()| String::new());
            return self.health(&head.method, is_ready);
        }
        if let Some(metrics) = self.options.metrics(&head, || self.counters()) {
            return metrics;
        }
        if let Some(document) = self.options.guard_document(&head) {
            return document;
        }
        if let Some(document) = self.card_document(&head).await {
            return document;
        }
        if let Err(why) = self.options.admits(&head) {
            return refused(StatusCode::FORBIDDEN, &why);
        }
        if !self.options.serves_path(head.uri.path()) {
            return refused(StatusCode::NOT_FOUND, "no such path: check that of the URL");
        }
        if let Err(refused) = self.options.authorize(&mut head).await {
            return *refused;
        }
        let Some(reader) = self.options.reader(&head.headers) else {
            return self.admitted(head, body).await;
        };
        let response = match head.method {
            Method::OPTIONS => allowed(&head.headers),
            _ => self.admitted(head, body).await,
        };
        exposed(reader, response)
    }

    /// Returns an error with the reason while a balancer should send requests elsewhere. Clients without sessions are served without
    /// the backplane.
    fn is_ready(&self) -> Result<(), &'static str> {
        let needs_sessions = || !self.server.served().has(Lifecycle::PerRequest);
        if self.stages.has_reached(Stage::LameDuck) {
            Err("the server is about to shut down")
        } else if !self.replica.is_reachable() && needs_sessions() {
            Err("the backplane cannot be used")
        } else {
            Ok(())
        }
    }

    /// Answers a health check: status 200 with a report if requests are accepted, else 503 with the reason.
    fn health(&self, method: &Method, is_ready: Result<String, &str>) -> Response<Body> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return status(StatusCode::METHOD_NOT_ALLOWED);
        }
        match self.takes_calls() {
            Err(closing) => *closing,
            Ok(()) => match is_ready {
                Ok(report) => plain(StatusCode::OK, &format!("ok{report}")),
                Err(why) => plain(StatusCode::SERVICE_UNAVAILABLE, why),
            },
        }
    }

    pub(super) async fn admitted(
        self: &Arc<Self>,
        head: Box<Parts>,
        body: Received,
    ) -> Response<Body> {
        self.retire_idle();
        let answered = match head.method {
            Method::POST => self.message(head, body).await,
            Method::GET if self.opens_only_stream(&head) => self.open_only_stream(&head).await,
            Method::GET | Method::DELETE => match self.has_session_operations(&head.headers) {
                Ok(true) => self.session_operation(&head).await,
                Ok(false) => Ok(self.wrong_method()),
                Err(refused) => Err(refusal(None, &refused).into()),
            },
            _ => Ok(self.wrong_method()),
        };
        answered.unwrap_or_else(|response| *response)
    }

    async fn message(self: &Arc<Self>, mut head: Box<Parts>, body: Received) -> HttpResult {
        if !is_json(&head.headers) {
            let why = "a message comes as application/json";
            return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, why).into());
        }
        if let Some(coding) = coding(&head.headers) {
            let why = format!(
                "a message comes without a coding, not as `Content-Encoding: {}`: turn off compression of requests",
                quotable(coding)
            );
            return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, &why).into());
        }
        self.fits(&head.headers)?;
        let who = owner(&head);
        let names_session = self.uri_names_session(&mut head);
        // A session that does not run here may do so at another replica.
        if names_session && !self.replica.backplane.is_shared() {
            self.session_with_stream(&head, &who)?;
        }
        // The answer to a message of a session with one stream does not come in the response.
        if !names_session && !accepts_answers(&head.headers) {
            let why = "the answer comes as application/json or text/event-stream: accept both";
            return Err(refused(StatusCode::NOT_ACCEPTABLE, why).into());
        }
        let body = self.body(&head.headers, body, &who).await?;
        self.take_kept(head, who, names_session, body).await
    }

    /// Takes a message whose body was read; some of the messages name their session in the URI.
    pub(super) async fn take_message(
        self: &Arc<Self>,
        head: Box<Parts>,
        who: Owner,
        names_session: bool,
        (bytes, permit): (Vec<u8>, Permit),
    ) -> HttpResult {
        let mut in_stream = None;
        if names_session {
            if self.session_with_stream(&head, &who).is_err() {
                self.pass_on(&head, &who, &bytes).await?;
            }
            let driver = self.session_with_stream(&head, &who)?;
            self.takes_requests_of(&driver)?;
            in_stream = Some(driver);
        }
        self.post(head, who, in_stream, (bytes, permit)).await
    }

    /// Refuses calls once the service is closing.
    pub(super) fn takes_calls(&self) -> HttpResult<()> {
        if self.is_closing() {
            let why = "the server is shutting down";
            Err(refused(StatusCode::SERVICE_UNAVAILABLE, why).into())
        } else {
            Ok(())
        }
    }

    /// Refuses a message that is too long, as far as its head says, before anything of it is read.
    fn fits(&self, headers: &HeaderMap) -> HttpResult<()> {
        let limit = self.server.limits().max_message_bytes;
        let length = text(headers, CONTENT_LENGTH.as_str()).and_then(|it| it.trim().parse().ok());
        match length.filter(|length| *length > limit) {
            None => Ok(()),
            Some(length) => {
                let too_large = mcp_revisions_sansio::errors::message_too_large(length, limit);
                Err(refusal(None, &too_large).into())
            }
        }
    }

    /// Refuses requests of a session without an open call once the service is closing: another replica can serve them.
    pub(super) fn takes_requests_of(&self, driver: &ServerDriver) -> HttpResult<()> {
        if self.is_closing() && !driver.is_at_work() {
            self.takes_calls()
        } else {
            Ok(())
        }
    }

    /// Reads the body of a request, within the share of its sender.
    async fn body(
        &self,
        headers: &HeaderMap,
        body: Received,
        who: &Owner,
    ) -> HttpResult<(Vec<u8>, Permit)> {
        let limit = self.server.limits().max_message_bytes;
        let share = self.requests.of(who.clone());
        let read = intake::read(headers, body, limit, &share);
        let refused = match tokio::time::timeout(self.options.body_time, read).await {
            Ok(Ok(read)) => return Ok(read),
            Ok(Err(UnreadBody::TooLarge)) => {
                let bytes = limit.saturating_add(1);
                refusal(
                    None,
                    &mcp_revisions_sansio::errors::message_too_large(bytes, limit),
                )
            }
            Ok(Err(UnreadBody::BrokenOff)) => {
                refused(StatusCode::BAD_REQUEST, "the body broke off")
            }
            Ok(Err(UnreadBody::NoRoom(full))) => refused(
                StatusCode::SERVICE_UNAVAILABLE,
                &format!(
                    "requests that are not answered yet take up {full} in bytes: try again once one is answered"
                ),
            ),
            Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
        };
        Err(refused.into())
    }

    /// Returns whether GET and DELETE are operations on sessions: they are not for a server or a revision without sessions. Returns
    /// an error if a header names a protocol version that is not served.
    pub(super) fn has_session_operations(&self, headers: &HeaderMap) -> Result<bool, Box<Refusal>> {
        let named = text(headers, headers::PROTOCOL_VERSION);
        if self.options.sessions {
            mcp_revisions_core::translate::takes_session_operations(named, self.server.served())
        } else {
            Ok(false)
        }
    }

    fn wrong_method(&self) -> Response<Body> {
        let mut response = refused(StatusCode::METHOD_NOT_ALLOWED, "send messages by POST");
        let has_sessions = self.has_session_operations(&HeaderMap::new());
        let allowed = if has_sessions.unwrap_or_default() {
            "GET, POST, DELETE"
        } else {
            "POST"
        };
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static(allowed));
        response
    }

    /// Opens the stream of a session (GET), or ends the session (DELETE).
    async fn session_operation(self: &Arc<Self>, head: &Parts) -> HttpResult {
        let (headers, who) = (&head.headers, owner(head));
        let session = text(headers, headers::SESSION_ID).unwrap_or_default();
        // This replica could not end a stream that it passes on.
        if head.method == Method::GET && !self.serves(session) {
            self.takes_calls()?;
        }
        self.pass_on(head, &who, &[]).await?;
        let driver = self.session(headers, &who)?;
        if head.method == Method::DELETE {
            // The backplane first, so that no other replica takes over the session.
            let ended = self.replica.backplane.end(session).await;
            self.end(session);
            ended?;
            return Ok(status(StatusCode::NO_CONTENT));
        }
        accepts_events(headers)?;
        self.takes_requests_of(&driver)?;
        let (texts, queue) = outbox(Some(self.unread.of(who)));
        let ends = match text(headers, headers::LAST_EVENT_ID) {
            Some(behind) => {
                let resumed = self.resume(session, &driver, behind, texts).await?;
                // Status 404 would tell the client that its session has ended.
                let why = "what followed this event is not kept here: make the request again";
                resumed.ok_or_else(|| refused(StatusCode::BAD_REQUEST, why))?
            }
            None => {
                let why = "this session has its stream already";
                let attached = driver.at_large(texts);
                attached.map_err(|_| refused(StatusCode::CONFLICT, why))?;
                false
            }
        };
        // The service may have begun to close meanwhile.
        if self.is_closing() {
            driver.end_idle_stream();
        }
        Ok(events(if ends {
            SseEvents::of_exchange(queue, None, &self.options)
        } else {
            SseEvents::of_session(queue, &self.options)
        }))
    }
}

/// Maximum number of reads of events that may still be on their way to the store.
const READS: u32 = 5;
const READ_AGAIN: Duration = Duration::from_millis(10);

impl ServiceShared {
    /// Sends the events that followed one on its stream. Returns whether the stream ends with its exchange, rather than with the
    /// session; `None` if the events are not stored. The stream of the session continues in any case, and notifies its client that
    /// everything it listens to may have changed.
    async fn resume(
        &self,
        session: &str,
        driver: &ServerDriver,
        behind: &str,
        mut texts: Outbox,
    ) -> Result<Option<bool>, Unavailable> {
        let Ok(behind) = behind.parse::<EventId>() else {
            return Ok(None);
        };
        let reads = if driver.resumes() { READS } else { 0 };
        for read in 0..reads {
            // The last events are on their way to the store.
            if read > 0 {
                tokio::time::sleep(READ_AGAIN * read).await;
            }
            let events = self.replica.backplane.after(session, behind).await?;
            let Some(events) = events else { break };
            match driver.resume(behind, events, texts) {
                Ok(ends) => return Ok(Some(ends)),
                Err(outbox) => texts = outbox,
            }
        }
        if behind.stream != 0 {
            return Ok(None);
        }
        driver.continue_at_large(texts);
        Ok(Some(false))
    }
}

/// Returns whether both kinds of answers to a message are accepted.
fn accepts_answers(headers: &HeaderMap) -> bool {
    accepts(headers, "application", "json") && accepts(headers, "text", "event-stream")
}

/// Refuses a request for a stream that does not accept one.
pub(super) fn accepts_events(headers: &HeaderMap) -> HttpResult<()> {
    if accepts(headers, "text", "event-stream") {
        Ok(())
    } else {
        let why = "the stream of a session is text/event-stream: accept it";
        Err(refused(StatusCode::NOT_ACCEPTABLE, why).into())
    }
}

/// Returns whether a media type is accepted; without an `Accept` header, each is.
fn accepts(headers: &HeaderMap, kind: &str, sub: &str) -> bool {
    let is = |said: &str, wanted: &str| said == "*" || said.eq_ignore_ascii_case(wanted);
    let is_refused = |param: &str| {
        let quality = param.trim().strip_prefix("q=");
        quality.is_some_and(|it| it.parse::<f32>().is_ok_and(|quality| quality <= 0.0))
    };
    let mut says_nothing = true;
    for value in headers.get_all(ACCEPT) {
        says_nothing = false;
        for range in value.to_str().unwrap_or_default().split(',') {
            let (range, params) = range.split_once(';').unwrap_or((range, ""));
            let (one, other) = range.trim().split_once('/').unwrap_or_default();
            if is(one, kind) && is(other, sub) && !params.split(';').any(is_refused) {
                return true;
            }
        }
    }
    says_nothing
}

/// Returns the coding of a body, if it has one.
fn coding(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(CONTENT_ENCODING)?;
    let coding = value.to_str().unwrap_or(headers::UNREADABLE).trim();
    (!coding.eq_ignore_ascii_case("identity") && !coding.is_empty()).then_some(coding)
}

fn is_json(headers: &HeaderMap) -> bool {
    let ty = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    ty.split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .eq_ignore_ascii_case("application/json")
}
