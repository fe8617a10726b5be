//! The service: which requests are taken, and by which session.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Buf;
use http::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS,
    ALLOW, CONTENT_TYPE, ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::tools::Tools;
use super::{Body, Options};
use crate::serve::{Handler, Lane, Parked, route};
use crate::server::{Server, Sessions};
use crate::{Spoken, headers, settle};

/// A server as a tower service; clones serve the same sessions.
pub struct Service<App: Spoken, H>(Arc<Inner<App, H>>);

pub(super) struct Inner<App: Spoken, H> {
    pub(super) server: Arc<Server<App>>,
    pub(super) handler: Arc<H>,
    pub(super) options: Options,
    pub(super) sessions: Mutex<Sessions<Arc<Lane<App, H>>>>,
    pub(super) start: Instant,
    parked: Arc<Parked<App, H>>,
    /// Those in which clients of the modern era listen.
    listening: Mutex<Vec<Weak<Lane<App, H>>>>,
    /// What is left of the bytes that all bodies together may take up, in units of [`UNIT`].
    room: Arc<Semaphore>,
    /// Whether no new call is taken any more.
    is_closing: AtomicBool,
    pub(super) tools: Tools,
}

/// The header by which a client comes again for the rest of a stream.
const LAST_EVENT_ID: &str = "Last-Event-ID";

/// What a body takes up of the room for all of them.
pub(super) type Room = Vec<OwnedSemaphorePermit>;

/// How many bytes more than have come there is room for at first.
const FIRST: usize = 16 << 10;

/// Bodies are counted in these: a semaphore does not count as far as a budget goes.
const UNIT: usize = 1 << 10;

impl<App: Spoken, H> Clone for Service<App, H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<App: Spoken, H> std::fmt::Debug for Service<App, H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service")
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}

impl<App: Spoken, H: Handler> Service<App, H> {
    /// A service that answers to loopback origins alone.
    #[must_use]
    pub fn new(server: Server<App>, handler: H) -> Self {
        Self::with_options(server, handler, Options::default())
    }

    /// A service.
    #[must_use]
    pub fn with_options(server: Server<App>, handler: H, options: Options) -> Self {
        let sessions = Mutex::new(Sessions::new(
            server.limits().sessions,
            server.limits().sessions_bytes,
        ));
        let (server, handler) = (Arc::new(server), Arc::new(handler));
        Self(Arc::new(Inner {
            server,
            handler,
            room: Arc::new(Semaphore::new(options.body_bytes / UNIT)),
            options,
            sessions,
            start: Instant::now(),
            parked: Arc::default(),
            listening: Mutex::default(),
            is_closing: AtomicBool::new(false),
            tools: Tools::default(),
        }))
    }

    pub(super) fn connections(&self) -> usize {
        self.0.options.connections
    }

    pub(super) fn head_time(&self) -> Duration {
        self.0.options.head_time
    }

    /// Takes no new calls from now on: they are answered with status 503. Streams of subscriptions end, and their clients
    /// are told so.
    pub fn close(&self) {
        self.0.is_closing.store(true, Ordering::Release);
        let listening = std::mem::take(&mut *self.0.listening());
        for lane in listening.iter().filter_map(Weak::upgrade) {
            lane.end_streams();
        }
    }

    /// Ends every session, and with them their streams and whatever is at work in them.
    pub fn end_sessions(&self) {
        let lanes = self.0.sessions().end_all();
        for lane in lanes {
            lane.close();
        }
    }
}

impl<App, H, B> tower_service::Service<Request<B>> for Service<App, H>
where
    App: Spoken,
    H: Handler,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { Ok(inner.handle(request).await) })
    }
}

impl<App: Spoken, H: Handler> Inner<App, H> {
    async fn handle<B>(self: Arc<Self>, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        if self.options.health.as_deref() == Some(head.uri.path()) {
            return self.health(&head.method);
        }
        if let Err(why) = self.options.admits(&head) {
            return refused(StatusCode::FORBIDDEN, why);
        }
        if self.options.cors && head.method == Method::OPTIONS {
            return allowed(&head.headers, status(StatusCode::NO_CONTENT));
        }
        let origin = head.headers.get(ORIGIN).cloned();
        let response = self.admitted(head, body).await;
        match origin.filter(|_| self.options.cors) {
            Some(origin) => exposed(origin, response),
            None => response,
        }
    }

    /// Whether calls are taken, to whoever looks after the process; it says nothing that a page must not know.
    fn health(&self, method: &Method) -> Response<Body> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return status(StatusCode::METHOD_NOT_ALLOWED);
        }
        match self.is_closing.load(Ordering::Acquire) {
            true => refused(
                StatusCode::SERVICE_UNAVAILABLE,
                "the server is shutting down",
            ),
            false => refused(StatusCode::OK, "ok"),
        }
    }

    async fn admitted<B>(&self, head: Parts, body: B) -> Response<Body>
    where
        B: http_body::Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.retire();
        match head.method {
            Method::POST => {}
            Method::GET | Method::DELETE if self.has_session_operations(&head.headers) => {
                return self.session_operation(&head.method, &head.headers);
            }
            _ => return self.wrong_method(),
        }
        if !is_json(&head.headers) {
            return refused(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "a message comes as application/json",
            );
        }
        if !accepts(&head.headers, "application", "json")
            || !accepts(&head.headers, "text", "event-stream")
        {
            return refused(
                StatusCode::NOT_ACCEPTABLE,
                "the answer comes as application/json or text/event-stream: accept both",
            );
        }
        if self.is_closing.load(Ordering::Acquire) {
            return refused(
                StatusCode::SERVICE_UNAVAILABLE,
                "the server is shutting down",
            );
        }
        let limit = self.server.limits().message_bytes;
        match tokio::time::timeout(self.options.body_time, self.read(body, limit)).await {
            Ok(Ok((bytes, room))) => self.post(head, bytes, room).await,
            Ok(Err(Unread::TooLarge)) => {
                let refusal = crate::errors::message_too_large(limit.saturating_add(1), limit);
                super::post::refusal(None, &refusal)
            }
            Ok(Err(Unread::BrokenOff)) => refused(StatusCode::BAD_REQUEST, "the body broke off"),
            Ok(Err(Unread::NoRoom)) => refused(
                StatusCode::SERVICE_UNAVAILABLE,
                "too much is being read and worked on at once: try again",
            ),
            Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
        }
    }

    /// Reads a body, within what a message and what all bodies together may be.
    async fn read<B>(&self, body: B, limit: usize) -> Result<(Vec<u8>, Room), Unread>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        let mut body = std::pin::pin!(body);
        let (mut bytes, mut room) = (Vec::<u8>::new(), Vec::new());
        let mut paid = 0;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                return Err(Unread::BrokenOff);
            };
            let Ok(mut data) = frame.into_data() else {
                continue;
            };
            if bytes.len() + data.remaining() > limit {
                return Err(Unread::TooLarge);
            }
            // Room for no more than comes, as far as that is known: what is paid for is what is taken up.
            if bytes.capacity() - bytes.len() < data.remaining() {
                let rest = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
                let most = bytes.len().max(FIRST);
                bytes.reserve_exact(data.remaining() + rest.min(most));
            }
            let units = bytes.capacity().div_ceil(UNIT);
            if units > paid {
                let more = u32::try_from(units - paid).map_err(|_| Unread::TooLarge)?;
                let permit = Arc::clone(&self.room).try_acquire_many_owned(more);
                room.push(permit.map_err(|_| Unread::NoRoom)?);
                paid = units;
            }
            while data.has_remaining() {
                let chunk = data.chunk();
                bytes.extend_from_slice(chunk);
                let taken = chunk.len();
                data.advance(taken);
            }
        }
        Ok((bytes, room))
    }

    /// Ends sessions on which nothing was said for too long; without one there is nothing to look at.
    fn retire(&self) {
        let now = self.start.elapsed();
        let Some(since) = now.checked_sub(self.options.idle) else {
            return;
        };
        let may_go = |lane: &Arc<Lane<App, H>>| lane.is_idle();
        let gone = self.sessions().retire(since, now, may_go);
        for lane in gone {
            lane.close();
        }
    }

    /// A lane on which nothing has been said.
    pub(super) fn new_lane(&self) -> Arc<Lane<App, H>> {
        Lane::new(
            Arc::clone(&self.server),
            Arc::clone(&self.handler),
            self.start,
            Some(Arc::clone(&self.parked)),
        )
    }

    /// Streams end with the server, so it has to know them; those that are gone are forgotten when there is no room.
    pub(super) fn remember_stream(&self, lane: &Arc<Lane<App, H>>) {
        let mut listening = self.listening();
        if listening.len() == listening.capacity() {
            listening.retain(|lane| lane.strong_count() > 0);
        }
        listening.push(Arc::downgrade(lane));
        drop(listening);
        // It may have been asked for while the server began to stop.
        if self.is_closing.load(Ordering::Acquire) {
            lane.end_streams();
        }
    }

    fn listening(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Lane<App, H>>>> {
        self.listening
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The lane in which a call is parked.
    pub(super) fn parked(&self, ticket: u64) -> Option<Arc<Lane<App, H>>> {
        let parked = self.parked.lock().unwrap_or_else(PoisonError::into_inner);
        parked.get(&ticket).and_then(Weak::upgrade)
    }

    /// Whether GET and DELETE mean anything: not to a server without sessions, and not in a revision without them.
    fn has_session_operations(&self, headers: &HeaderMap) -> bool {
        let named = text(headers, headers::PROTOCOL_VERSION);
        self.options.sessions && settle::takes_session_operations(named, self.server.served())
    }

    fn wrong_method(&self) -> Response<Body> {
        let mut response = refused(StatusCode::METHOD_NOT_ALLOWED, "send messages by POST");
        let allowed = match self.options.sessions
            && settle::takes_session_operations(None, self.server.served())
        {
            true => "GET, POST, DELETE",
            false => "POST",
        };
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static(allowed));
        response
    }

    /// GET opens the stream of a session, DELETE ends the session.
    fn session_operation(&self, method: &Method, headers: &HeaderMap) -> Response<Body> {
        let lane = match self.session(headers) {
            Ok(lane) => lane,
            Err(response) => return *response,
        };
        if method == Method::DELETE {
            let id = text(headers, headers::SESSION_ID).unwrap_or_default();
            self.sessions().end(id);
            lane.close();
            return status(StatusCode::NO_CONTENT);
        }
        if !accepts(headers, "text", "event-stream") {
            return refused(
                StatusCode::NOT_ACCEPTABLE,
                "the stream of a session is text/event-stream",
            );
        }
        let (texts, queue) = route();
        if let Some(behind) = text(headers, LAST_EVENT_ID) {
            let resumed = behind
                .parse()
                .ok()
                .and_then(|behind| lane.resume(behind, texts));
            return match resumed {
                Some(true) => events(Body::exchange(None, queue, None, None, &self.options)),
                Some(false) => events(Body::session(queue, &self.options)),
                None => refused(
                    StatusCode::NOT_FOUND,
                    "what followed this event is not kept here: make the request anew",
                ),
            };
        }
        match lane.at_large(texts) {
            Ok(()) => events(Body::session(queue, &self.options)),
            Err(_) => refused(StatusCode::CONFLICT, "this session has its stream already"),
        }
    }

    /// The session that a request names.
    pub(super) fn session(
        &self,
        headers: &HeaderMap,
    ) -> Result<Arc<Lane<App, H>>, Box<Response<Body>>> {
        let Some(id) = text(headers, headers::SESSION_ID) else {
            let why = "Mcp-Session-Id is missing: open a session with `initialize`";
            return Err(Box::new(refused(StatusCode::BAD_REQUEST, why)));
        };
        let now = self.start.elapsed();
        let lane = self.sessions().use_at(id, now).map(|lane| Arc::clone(lane));
        lane.ok_or_else(|| {
            Box::new(refused(
                StatusCode::NOT_FOUND,
                "no such session: open one with `initialize`",
            ))
        })
    }

    pub(super) fn sessions(&self) -> std::sync::MutexGuard<'_, Sessions<Arc<Lane<App, H>>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The value of a header, if it is one of visible ASCII.
pub(super) fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Why a body was not read.
enum Unread {
    TooLarge,
    BrokenOff,
    NoRoom,
}

/// Whether a media type is accepted; who does not say accepts all.
fn accepts(headers: &HeaderMap, kind: &str, sub: &str) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let texts = values.filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|range| {
        let (range, params) = range.split_once(';').unwrap_or((range, ""));
        let refused = params.split(';').any(|param| {
            let quality = param
                .trim()
                .strip_prefix("q=")
                .and_then(|it| it.parse::<f32>().ok());
            quality.is_some_and(|quality| quality <= 0.0)
        });
        let (one, other) = range.trim().split_once('/').unwrap_or_default();
        let is = |said: &str, wanted: &str| said == "*" || said.eq_ignore_ascii_case(wanted);
        !refused && is(one, kind) && is(other, sub)
    })
}

/// The answer to a page of an allowed origin that asks whether it may send.
fn allowed(asked: &HeaderMap, mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, DELETE"),
    );
    if let Some(wanted) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    match asked.get(ORIGIN) {
        Some(origin) => exposed(origin.clone(), response),
        None => response,
    }
}

/// A response that a page of this origin may read.
fn exposed(origin: HeaderValue, mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(headers::SESSION_ID),
    );
    response
}

fn is_json(headers: &HeaderMap) -> bool {
    let ty = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    ty.split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .eq_ignore_ascii_case("application/json")
}

pub(super) fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A refusal of HTTP, before any message was read.
fn refused(code: StatusCode, why: &str) -> Response<Body> {
    let mut response = Response::new(Body::text(why));
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

/// A stream of events.
pub(super) fn events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(
        http::header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache"),
    );
    // Proxies that would hold events back are asked not to.
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

/// The header by which a server asks that its events are passed on as they come.
const UNBUFFERED: http::HeaderName = http::HeaderName::from_static("x-accel-buffering");
