//! A server over HTTP, as it is described: its URL, its authorization, its headers, and how long it is waited for.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::http::{Request, Response, Uri};
use bytes::Bytes;
use http_body_util::Full;
use mcp_revisions_core::RevisionSet;

use super::authorize::{AuthFuture, AuthProvider};
use super::body::{HttpResponseBody, boxed};
use super::tls::Trust;
use super::url::{unix_socket, without_secrets, without_user};
use crate::service::Error;

/// A server in this process.
pub(super) type InProcess =
    dyn Fn(Request<Full<Bytes>>) -> AuthFuture<'static, Response<HttpResponseBody>> + Send + Sync;

/// Maximum time until a server begins an answer.
const ANSWER_TIME: Duration = Duration::from_secs(600);

/// A server over streamable HTTP, or over HTTP+SSE, the transport of 2024-11-05.
///
/// A server that refuses the POST of `initialize` with status 404, 405 or the like is asked by GET whether it speaks HTTP+SSE
/// at this URL, as the specification wants it
/// ([backwards compatibility](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility)).
/// The session there ends with its stream; the next request opens another one.
#[derive(Clone)]
#[must_use]
pub struct Http {
    pub(super) url: Uri,
    pub(super) authorize: Option<Arc<dyn AuthProvider>>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) tries: u32,
    pub(super) pause: Duration,
    pub(super) answer_time: Duration,
    pub(super) keeps_cookies: bool,
    /// The server, if it is a service in this process.
    pub(super) service: Option<Arc<InProcess>>,
    pub(super) trust: Trust,
    /// The socket in the file system that the server listens on.
    pub(super) socket: Option<Arc<Path>>,
    /// The revisions that the card of the server names.
    pub(super) likely: RevisionSet,
}

impl Http {
    /// Creates the transport to the server at this URL. A user in it, as in `https://USER:PASSWORD@HOST/mcp`, is sent as
    /// `Authorization: Basic`.
    ///
    /// A URL `unix:/run/mcp.sock` is for a server on that socket, at the path `/mcp`, and `unix:/run/mcp.sock:/api` for one at
    /// `/api`; its requests are for the host `localhost`, and it has no sign-in.
    ///
    /// With feature `client-tls` it trusts the certificates in the file that `SSL_CERT_FILE` names, besides those of web
    /// browsers, and reaches `https` servers through the proxy that `HTTPS_PROXY` names (`http://HOST:PORT`), unless `NO_PROXY`
    /// or a loopback address excludes them.
    ///
    /// # Errors
    /// Returns an error if the URL is not a valid HTTP URL, or needs TLS and feature `client-tls` is missing.
    pub fn new(url: &str) -> Result<Self, Error> {
        let shown = without_secrets(url);
        let wrong = |why: &str| Error::transport(format!("invalid URL `{shown}`: {why}"));
        if let Some((socket, path)) = unix_socket(url) {
            if !cfg!(unix) {
                return Err(wrong("this system has no Unix sockets"));
            }
            let url = format!("http://localhost{path}").parse::<Uri>();
            return Ok(Self {
                socket: Some(Path::new(socket).into()),
                ..Self::at(url.map_err(|error| wrong(&error.to_string()))?)
            });
        }
        let behind_scheme = url.split_once("://").map(|(_, rest)| rest);
        let host = behind_scheme.and_then(|rest| {
            let authority = rest.split(['/', '?', '#']).next()?;
            authority.rsplit('@').next()
        });
        if host.is_some_and(|host| host.is_empty() || host.starts_with(':')) {
            return Err(wrong("it has no host"));
        }
        let parsed: Uri = url.parse().map_err(|error| match host {
            Some(_) => wrong(&format!("{error}")),
            None => wrong("expected http://, https:// or unix:"),
        })?;
        match parsed.scheme_str() {
            Some("http") => {}
            Some("https") if Trust::HAS_TLS => {}
            Some("https") => return Err(wrong("https needs the feature `client-tls`")),
            _ => return Err(wrong("expected http://, https:// or unix:")),
        }
        let named = host.and_then(|host| host.rsplit_once(':'));
        if named.is_some_and(|(_, port)| !port.is_empty() && !port.ends_with(']'))
            && parsed.port_u16().is_none()
        {
            return Err(wrong("expected a port of at most 65535"));
        }
        let (parsed, user) = without_user(parsed).ok_or_else(|| wrong("it has no host"))?;
        let basic = user.map(|value| ("Authorization".to_owned(), value));
        let trust = match parsed.scheme_str() {
            Some("https") => Trust::from_env()?,
            _ => Trust::default(),
        };
        Ok(Self {
            trust,
            headers: basic.into_iter().collect(),
            ..Self::at(parsed)
        })
    }

    /// Returns a server that is an HTTP service in this process, such as one that another SDK made: it is called with
    /// requests for `http://localhost/mcp`, and no socket is opened.
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
            let mut own = service.clone();
            let answer: AuthFuture<'static, _> = Box::pin(async move {
                let ready = std::future::poll_fn(|context| own.poll_ready(context));
                let Ok(()) = ready.await;
                let Ok(response) = own.call(request).await;
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
            keeps_cookies: true,
            service: None,
            trust: Trust::default(),
            socket: None,
            likely: RevisionSet::none(),
        }
    }

    /// Returns the socket in the file system that the server listens on; `None` for a server at an address.
    #[must_use]
    pub fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    /// Returns the URL of the server, without its user and query, for people.
    #[doc(hidden)]
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.socket {
            Some(socket) => format!("unix:{}:{}", socket.display(), self.url.path()),
            None => without_secrets(&self.url.to_string()),
        }
    }

    /// Returns the URL of requests to the server: of one on a Unix socket, with the host `localhost`.
    #[must_use]
    pub fn url(&self) -> &Uri {
        &self.url
    }

    /// Sets what supplies the `Authorization` header and handles challenges.
    pub fn with_authorization(mut self, authorize: impl AuthProvider) -> Self {
        self.authorize = Some(Arc::new(authorize));
        self
    }

    /// Checks a header for [`with_header`](Self::with_header), so that a program refuses it before its first request. The
    /// error does not have the value, which may be a secret.
    ///
    /// # Errors
    /// Returns an error if the name or the value is not valid, or if the transport sets the header itself.
    pub fn check_header(name: &str, value: &str) -> Result<(), Error> {
        super::header::check_header(name, value).map_err(Error::transport)
    }

    /// Adds a header to each request, besides those of the protocol; see [`check_header`](Self::check_header).
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Keeps no cookies. By default, each connection keeps those of its server, and returns them: balancers find by them where
    /// a session is.
    pub fn without_cookies(mut self) -> Self {
        self.keeps_cookies = false;
        self
    }

    /// Sets how often a request is attempted that does not reach the server, or that the server did not begin: status 429, or
    /// 503 with `Retry-After`; 4 times by default. Requests without an effect, such as lists and reads, are attempted again
    /// after status 502, 503 and 504 as well.
    pub fn with_max_attempts(mut self, tries: u32) -> Self {
        self.tries = tries.max(1);
        self
    }

    /// Sets how long the server may take to begin an answer, and how long to send a body that is not a stream; 10 minutes by
    /// default. What is not answered by then has failed; a stream that has begun may be silent for longer.
    pub fn with_answer_timeout(mut self, time: Duration) -> Self {
        self.answer_time = time;
        self
    }

    /// Sets the delay before the second attempt, 0.5 seconds by default; later delays double, with random jitter.
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}

mcp_wire::debug_struct!([] Http, "Http", self, "url": self.url);
