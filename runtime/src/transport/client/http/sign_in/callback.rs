//! The listener that a browser comes back to: on loopback, for one sign-in, closed after use.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use ::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, REFERRER_POLICY};
use ::http::{HeaderValue, Method, Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use crate::transport::spawn::spawn;

/// The path of the redirect.
const PATH: &str = "/callback";
/// Number of ports that are tried for a server.
const PORTS: u16 = 8;
/// Maximum number of connections at a time; the oldest makes room for another one.
const CONNECTIONS: usize = 64;
/// Time that a connection has for its request.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Time between two tries where no connection is accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time that the browser waits for the outcome.
const OUTCOME_TIME: Duration = Duration::from_secs(30);

/// A query with which the browser came back, and where the outcome of the sign-in goes.
pub(super) struct BrowserRedirect {
    pub(super) query: String,
    pub(super) outcome: oneshot::Sender<bool>,
}

/// A listener for the browser.
pub(super) struct Callback {
    listener: TcpListener,
    port: u16,
    host: &'static str,
}

impl Callback {
    /// Opens a listener: at one of the known redirect URLs if one is free, at the port that is wanted, or at one of those that
    /// belong to the server.
    pub(super) async fn open(
        server: &str,
        known: &[String],
        port: Option<u16>,
        host: &'static str,
    ) -> Result<Self, String> {
        if let Some(port) = port {
            let bound = TcpListener::bind(("127.0.0.1", port)).await;
            let listener = bound.map_err(|error| {
                format!("port {port} for the browser is not free ({error}): choose another one with --callback-port")
            })?;
            return Self::of(listener, host);
        }
        let ports = known.iter().filter_map(|url| {
            let redirect: ::http::Uri = url.parse().ok()?;
            redirect.port_u16()
        });
        let digest = hmac_sha256::Hash::hash(server.as_bytes());
        let [high, low, ..] = digest;
        let first = u16::from_be_bytes([high, low]) | 0xc000;
        let own = (0..PORTS).map(|step| first.wrapping_add(step) | 0xc000);
        for port in ports.chain(own) {
            if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await {
                return Self::of(listener, host);
            }
        }
        let bound = TcpListener::bind(("127.0.0.1", 0)).await;
        Self::of(
            bound.map_err(|error| format!("cannot listen for the browser: {error}"))?,
            host,
        )
    }

    fn of(listener: TcpListener, host: &'static str) -> Result<Self, String> {
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        Ok(Self {
            listener,
            port: address.port(),
            host,
        })
    }

    /// Returns the URL that the browser comes back to.
    pub(super) fn redirect(&self) -> String {
        format!("http://{}:{}{PATH}", self.host, self.port)
    }

    /// Waits for the browser to come back with this state; other requests are refused, and change nothing.
    pub(super) async fn returned(self, state: String) -> Result<BrowserRedirect, String> {
        let (tell, mut come) = mpsc::channel::<BrowserRedirect>(1);
        let hosts = [
            format!("{}:{}", self.host, self.port),
            format!("127.0.0.1:{}", self.port),
        ];
        let mut open = VecDeque::new();
        loop {
            let stream = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(_) => {
                        // Too many files are open, which may pass.
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                        continue;
                    }
                },
                redirected = come.recv() => {
                    return redirected.ok_or_else(|| "the listener for the browser ended".to_owned());
                }
            };
            let (tell, hosts, state) = (tell.clone(), hosts.clone(), state.clone());
            let service = service_fn(move |request| {
                let (tell, hosts, state) = (tell.clone(), hosts.clone(), state.clone());
                async move { Ok::<_, Infallible>(respond(&request, &hosts, &state, &tell).await) }
            });
            let mut server = http1::Builder::new();
            server
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_TIME);
            server.max_buf_size(16 << 10).keep_alive(false);
            let connection = server.serve_connection(TokioIo::new(stream), service);
            let served = spawn(async move {
                let _ = tokio::time::timeout(REQUEST_TIME + OUTCOME_TIME, connection).await;
            });
            open.push_back(served.abort_handle());
            if open.len() > CONNECTIONS
                && let Some(oldest) = open.pop_front()
            {
                oldest.abort();
            }
        }
    }
}

/// Answers a request. The text has nothing of it.
async fn respond(
    request: &Request<Incoming>,
    hosts: &[String],
    state: &str,
    tell: &mpsc::Sender<BrowserRedirect>,
) -> Response<Full<Bytes>> {
    let host = request.headers().get(HOST).and_then(|it| it.to_str().ok());
    let is_here = host.is_some_and(|host| hosts.iter().any(|one| one.eq_ignore_ascii_case(host)));
    if request.uri().path() != PATH || !is_here {
        return page(StatusCode::NOT_FOUND, "There is nothing here.");
    }
    if request.method() != Method::GET {
        return page(StatusCode::METHOD_NOT_ALLOWED, "Expected GET.");
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    let is_it = |pair: &str| pair.split_once('=') == Some(("state", state));
    if !query.split('&').any(is_it) {
        return page(
            StatusCode::BAD_REQUEST,
            "This is not the sign-in that is waited for.",
        );
    }
    let (outcome, done) = oneshot::channel();
    if tell.try_send(BrowserRedirect { query, outcome }).is_err() {
        return page(StatusCode::BAD_REQUEST, "The sign-in was finished already.");
    }
    match tokio::time::timeout(OUTCOME_TIME, done).await {
        Ok(Ok(true)) => page(
            StatusCode::OK,
            "You are signed in. You can close this page.",
        ),
        _ => page(
            StatusCode::BAD_REQUEST,
            "The sign-in failed. The program that opened this page says why.",
        ),
    }
}

fn page(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, "text/plain; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}
