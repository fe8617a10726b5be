//! The service: which requests are taken, and by which session.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use http::header::{ALLOW, CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use mcp_registry::{Era, Revision};
use tokio::sync::mpsc;

use super::{Body, Options};
use crate::serve::{Handler, Lane, QUEUE};
use crate::server::{Server, Sessions};
use crate::{Spoken, headers, ladder};

/// A server as a tower service; clones serve the same sessions.
pub struct Service<App, H>(Arc<Inner<App, H>>);

pub(super) struct Inner<App, H> {
    pub(super) server: Arc<Server<App>>,
    pub(super) handler: Arc<H>,
    pub(super) options: Options,
    pub(super) sessions: Mutex<Sessions<Arc<Lane<App, H>>>>,
    pub(super) start: Instant,
}

impl<App, H> Clone for Service<App, H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<App, H> std::fmt::Debug for Service<App, H> {
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
        let sessions = Mutex::new(Sessions::new(server.limits().sessions));
        let (server, handler) = (Arc::new(server), Arc::new(handler));
        Self(Arc::new(Inner {
            server,
            handler,
            options,
            sessions,
            start: Instant::now(),
        }))
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
        if let Some(origin) = head.headers.get(ORIGIN)
            && !origin
                .to_str()
                .is_ok_and(|origin| self.options.allows(origin))
        {
            return refused(StatusCode::FORBIDDEN, "this origin is not allowed");
        }
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
        let limit = self.server.limits().message_bytes;
        match Limited::new(body, limit).collect().await {
            Ok(body) => self.post(&head.headers, &body.to_bytes()).await,
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                let refusal = crate::errors::message_too_large(limit.saturating_add(1), limit);
                super::post::refusal(None, &refusal)
            }
            Err(_) => refused(StatusCode::BAD_REQUEST, "the body broke off"),
        }
    }

    /// Whether GET and DELETE mean anything: not to a server without sessions, and not in a revision without them.
    fn has_session_operations(&self, headers: &HeaderMap) -> bool {
        let named = text(headers, headers::PROTOCOL_VERSION).and_then(Revision::from_wire);
        let is_modern = named.is_some_and(|revision| revision.era() == Era::PerRequest);
        self.options.sessions
            && !is_modern
            && ladder::takes_session_operations(self.server.served())
    }

    fn wrong_method(&self) -> Response<Body> {
        let mut response = refused(StatusCode::METHOD_NOT_ALLOWED, "send messages by POST");
        let allowed =
            match self.options.sessions && ladder::takes_session_operations(self.server.served()) {
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
        let (texts, queue) = mpsc::channel(QUEUE);
        match lane.at_large(texts) {
            Ok(()) => events(Body::session(queue)),
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
        let lane = self.sessions().get(id).cloned();
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
    response
}
