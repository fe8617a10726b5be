//! Streamable HTTP, at the client's end: each message a POST, and beside them the stream that a session may have. A server
//! that does not speak it is spoken to over HTTP+SSE.

mod events;
mod exchange;
mod gate;
mod only_stream;
mod request;
mod session;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ::http::{Request, Response, Uri};
use bytes::Bytes;
use http_body_util::Full;
use tokio::task::AbortHandle;

use super::{HEARD_BYTES, Incoming};
use crate::client::{Exchange, Post};
use crate::service::Error;
use crate::transport::queue::{Receiver, Sender, queue};

use gate::Gate;
use only_stream::OnlyStream;
use request::{InProcess, Requests, boxed};
use session::Session;

/// What is going on, until it comes to this.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Supplies the `Authorization` header of requests, and handles `WWW-Authenticate` challenges.
///
/// A `String` is a bearer token that does not change. For OAuth, implement it with a crate made for that: keep the token,
/// and get another in [`challenged`](Self::challenged).
pub trait AuthProvider: Send + Sync + 'static {
    /// Returns the value of `Authorization`, or `None` to send no header.
    fn header(&self) -> Pending<'_, Option<String>>;

    /// Handles a response 401 or 403 with this `WWW-Authenticate`; returns whether to retry the request.
    fn challenged(&self, challenge: &str) -> Pending<'_, bool> {
        let _ = challenge;
        Box::pin(std::future::ready(false))
    }
}

impl AuthProvider for String {
    fn header(&self) -> Pending<'_, Option<String>> {
        Box::pin(std::future::ready(Some(format!("Bearer {self}"))))
    }
}

/// How long a server may take to begin an answer.
const ANSWER_TIME: Duration = Duration::from_secs(600);

/// A server over streamable HTTP, or over HTTP+SSE, the transport of 2024-11-05.
///
/// A server that refuses the POST of `initialize` with status 404, 405 or the like is asked by GET whether it speaks HTTP+SSE
/// at this URL, as the specification wants it
/// ([backwards compatibility](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility)).
/// The session there ends with its stream; the next request opens another one.
#[derive(Clone)]
pub struct Http {
    url: Uri,
    authorize: Option<Arc<dyn AuthProvider>>,
    headers: Vec<(String, String)>,
    tries: u32,
    pause: Duration,
    answer_time: Duration,
    /// The server, if it is a service in this process.
    service: Option<Arc<InProcess>>,
    #[cfg(feature = "client-tls")]
    tls: Option<rustls::ClientConfig>,
}

impl Http {
    /// Creates the transport to the server at this URL.
    ///
    /// # Errors
    /// Returns an error if the URL is not a valid HTTP URL, or needs TLS and feature `client-tls` is missing.
    pub fn new(url: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Transport(format!("`{url}` {why}"));
        let parsed: Uri = url.parse().map_err(|_| wrong("is no URL"))?;
        match parsed.scheme_str() {
            Some("http") => {}
            Some("https") if cfg!(feature = "client-tls") => {}
            Some("https") => return Err(wrong("needs TLS: turn on the feature `tls`")),
            _ => {
                return Err(wrong(
                    "is no URL of HTTP: begin it with http:// or https://",
                ));
            }
        }
        if parsed.host().is_none() {
            return Err(wrong("names no host"));
        }
        Ok(Self::at(parsed))
    }

    /// Returns a server that is an HTTP service in this process, such as one that another SDK made: it is called with
    /// requests for `http://localhost/mcp`, and no socket is opened.
    #[must_use]
    pub fn in_process<S, B>(service: S) -> Self
    where
        S: tower_service::Service<
                Request<Full<Bytes>>,
                Response = Response<B>,
                Error = std::convert::Infallible,
            > + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let called = move |request| {
            let mut service = service.clone();
            let answer: Pending<'static, _> = Box::pin(async move {
                let ready = std::future::poll_fn(|context| service.poll_ready(context));
                let Ok(()) = ready.await;
                let Ok(response) = service.call(request).await;
                response.map(boxed)
            });
            answer
        };
        Self {
            service: Some(Arc::new(called)),
            ..Self::at(Uri::from_static("http://localhost/mcp"))
        }
    }

    fn at(url: Uri) -> Self {
        Self {
            url,
            authorize: None,
            headers: Vec::new(),
            tries: 4,
            pause: Duration::from_millis(500),
            answer_time: ANSWER_TIME,
            service: None,
            #[cfg(feature = "client-tls")]
            tls: None,
        }
    }

    /// Returns the URL of the server.
    #[must_use]
    pub fn url(&self) -> &Uri {
        &self.url
    }

    /// Sets what supplies the `Authorization` header and handles challenges.
    #[must_use]
    pub fn with_authorization(mut self, authorize: impl AuthProvider) -> Self {
        self.authorize = Some(Arc::new(authorize));
        self
    }

    /// Adds a header to each request, besides those of the protocol.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the TLS configuration for `https`, such as other root certificates; by default those of web browsers.
    #[cfg(feature = "client-tls")]
    #[must_use]
    pub fn with_tls(mut self, config: rustls::ClientConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Sets how often a request is attempted that does not reach the server, or gets status 429 or 503; 4 times by default.
    #[must_use]
    pub fn with_max_attempts(mut self, tries: u32) -> Self {
        self.tries = tries.max(1);
        self
    }

    /// Sets how long the server may take to begin an answer, and how long to send a body that is no stream; 10 minutes by
    /// default. What is not answered by then has failed; a stream that has begun may be silent for longer.
    #[must_use]
    pub fn with_answer_time(mut self, time: Duration) -> Self {
        self.answer_time = time;
        self
    }

    /// Sets the delay before the second attempt, 0.5 seconds by default; later delays double, with random jitter.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// A server that is talked to.
pub(crate) struct McpServer {
    requests: Arc<Requests>,
    tell: Sender<Incoming>,
    heard: Receiver<Incoming>,
    open: HashMap<Exchange, AbortHandle>,
    session: Option<Session>,
    /// Of a server that speaks HTTP+SSE.
    only: Arc<OnlyStream>,
    gate: Gate,
}

impl McpServer {
    pub(super) fn new(http: Http, limit: usize) -> Self {
        let (tell, heard) = queue(HEARD_BYTES);
        Self {
            requests: Arc::new(Requests::new(http, limit)),
            tell,
            heard,
            open: HashMap::new(),
            session: None,
            only: Arc::default(),
            gate: Gate::default(),
        }
    }

    pub(super) fn send(&mut self, post: Post) {
        self.open.retain(|_, task| !task.is_finished());
        let gate = self.gate.clone();
        let mut key = None;
        if post.ends_handshake {
            let (shut, held) = Gate::shut();
            (self.gate, key) = (shut, Some(held));
        }
        if !self.only.is_known() {
            self.listen(&post);
        }
        let exchange = post.exchange;
        let (requests, tell) = (Arc::clone(&self.requests), self.tell.clone());
        let only = Arc::clone(&self.only);
        let work = exchange::run(requests, only, post, tell, (gate, key));
        self.open
            .insert(exchange, tokio::spawn(work).abort_handle());
    }

    pub(super) fn close(&mut self, exchange: Exchange) {
        if let Some(task) = self.open.remove(&exchange) {
            task.abort();
        }
    }

    pub(super) async fn next(&mut self) -> Incoming {
        // The queue is never closed: one of its ends is kept here.
        self.heard.recv().await.unwrap_or(Incoming::Closed)
    }

    /// Opens the stream of a session once the session is spoken in, and leaves that of the one before.
    fn listen(&mut self, post: &Post) {
        let id = post
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(crate::headers::SESSION_ID));
        let Some((_, id)) = id else { return };
        if self
            .session
            .as_ref()
            .is_none_or(|session| session.id() != id)
        {
            let requests = Arc::clone(&self.requests);
            // The stream is asked for before anything else is sent in the session.
            let (shut, key) = Gate::shut();
            let gate = std::mem::replace(&mut self.gate, shut);
            self.session = Some(Session::open(
                requests,
                id,
                &post.headers,
                self.tell.clone(),
                (gate, key),
            ));
        }
    }

    pub(super) async fn end(self) {
        for task in self.open.into_values() {
            task.abort();
        }
        if let Some(session) = self.session {
            session.end().await;
        }
    }
}
