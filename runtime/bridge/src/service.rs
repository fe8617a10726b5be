//! The bridge as a tower service, which starts the upstream server for the first client that names itself.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use mcp_protocol::Revision;
use mcp_revisions::http::{self as transport, Body, Received, Wanted, received};
use mcp_revisions::sansio::client::Profile;
use mcp_revisions::sansio::server::{Caller, IncomingRequest, Server};
use mcp_revisions::serve::Peer;
use mcp_revisions::{Boxed, Limits, RevisionSet, boxed, until};
use mcp_wire::Json;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::AbortHandle;
use tracing::warn;

use crate::greeting::refusal;
use crate::identity::{anyone, first_said};
use crate::link::Link;
use crate::servers::Servers;
use crate::settings::Settings;
use crate::spare::Spare;
use crate::{Error, Proxy};

/// How often the service looks for sessions that are idle.
const LOOK: Duration = Duration::from_secs(1);

/// How many first messages are read at a time, each of which may be as long as a message may be.
const READS: usize = 16;

/// How long a first message waits until it is read.
const TURN_TIME: Duration = Duration::from_secs(10);

/// How long a first message may take to arrive.
const READ_TIME: Duration = Duration::from_secs(10);

/// A bridge as a tower service; clones share its connections.
///
/// It answers on every path, unless [`with_path`](mcp_revisions::http::Options::with_path) names one. Who may use it is decided by the options of
/// [`with_http_options`](crate::Bridge::with_http_options), and by the layers in front of it: put a
/// [`Principal`](mcp_revisions::http::Principal) or a [`PeerAddress`](mcp_revisions::http::PeerAddress) into the extensions
/// of requests, so that each client has a share of the limits.
#[derive(Clone)]
pub struct Service(Arc<Shared>);

struct Shared {
    settings: Arc<Settings>,
    /// Answers requests that need no server, until there is one.
    unstarted: transport::Service,
    started: OnceCell<Started>,
    reads: Semaphore,
    is_closed: AtomicBool,
}

/// What there is once a client has named itself.
struct Started {
    service: transport::Service,
    servers: Servers,
    spare: Arc<Spare>,
    looks: AbortHandle,
}

impl Drop for Started {
    fn drop(&mut self) {
        self.looks.abort();
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service")
            .field("upstream", &self.0.settings.upstream)
            .finish_non_exhaustive()
    }
}

impl Service {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        let options = settings.http.clone();
        let served = settings.client_revisions;
        Self(Arc::new(Shared {
            settings,
            unstarted: unstarted(served, options),
            started: OnceCell::new(),
            reads: Semaphore::new(READS),
            is_closed: AtomicBool::new(false),
        }))
    }

    /// Serves HTTP/1.1 on a listener until `stop` is ready; then calls get status 503, what is open has `grace` to finish, and
    /// the connections to the upstream server are closed.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
        grace: Duration,
    ) {
        until(stop, |stopped| self.serve_until(listener, stopped, grace)).await;
    }

    #[inline(never)]
    fn serve_until(
        self,
        listener: TcpListener,
        stopped: Boxed<'static, ()>,
        grace: Duration,
    ) -> Boxed<'static, ()> {
        boxed(async move {
            let stop = async {
                stopped.await;
                self.close();
            };
            let options = &self.0.settings.http;
            transport::serve_service(listener, options, self.clone(), stop, grace).await;
            self.shutdown().await;
        })
    }

    /// Accepts no calls from now on: they are answered with status 503, and streams of subscriptions end.
    pub fn close(&self) {
        self.0.is_closed.store(true, Ordering::Release);
        self.0.unstarted.close();
        if let Some(started) = self.0.started.get() {
            started.service.close();
        }
    }

    /// Ends every session and every connection to the upstream server, and waits until they have ended.
    pub async fn shutdown(&self) {
        self.close();
        if let Some(started) = self.0.started.get() {
            started.service.end_sessions();
            started.servers.clone().close().await;
            started.spare.end().await;
        }
    }
}

/// A service that refuses what needs a server, as the one will that comes after it.
fn unstarted(served: RevisionSet, options: transport::Options) -> transport::Service {
    let refused = |_: IncomingRequest, _: Peer| async {
        let why = "the server has not been started: send `initialize`, or a request that names its client";
        Err(mcp_revisions::errors::internal(why).error)
    };
    transport::Service::with_options(nameless(served), refused, options)
}

/// The server that a client meets until the upstream server has started: it offers nothing, and has a name of ours.
pub(crate) fn nameless(served: RevisionSet) -> Server {
    let info = Json::from(json!({ "name": "unstarted", "version": "0" }));
    let profile = Profile::new(&info, &Json::from(json!({})));
    #[expect(
        clippy::expect_used,
        reason = "the texts are ours, and are of the latest revision"
    )]
    let server = Server::new(Revision::LATEST, profile).expect("a profile of ours");
    server.serving(served)
}

impl Shared {
    /// Responds to a request whose body is of one type: this is compiled here, for all programs.
    #[inline(never)]
    fn respond(
        self: Arc<Self>,
        request: Request<Received>,
    ) -> Boxed<'static, Result<Response<Body>, Infallible>> {
        boxed(async move { Ok(self.handle(request).await) })
    }

    async fn handle(&self, request: Request<Received>) -> Response<Body> {
        if let Some(started) = self.started.get() {
            return answered(&started.service, request).await;
        }
        if self.is_closed.load(Ordering::Acquire) {
            return answered(&self.unstarted, request).await;
        }
        let (head, body) = request.into_parts();
        match self.settings.http.wanted(&head) {
            Wanted::Message if !is_too_long(&head) => self.first(head, body).await,
            // A client over HTTP+SSE names itself in the session that it opens.
            Wanted::Session => match self.start(anyone()).await {
                Ok(started) => answered(&started.service, Request::from_parts(head, body)).await,
                Err(error) => failed(None, &error),
            },
            _ => answered(&self.unstarted, Request::from_parts(head, body)).await,
        }
    }

    /// Answers what may be the first message of a client.
    async fn first(&self, head: Parts, body: Received) -> Response<Body> {
        let status = |status, why: &str| plain(status, why.to_owned());
        // A request that waits has not been read: it takes up no more than its connection does.
        let turn = tokio::time::timeout(TURN_TIME, self.reads.acquire()).await;
        let Ok(turn) = turn else {
            let why = "the server is not started yet, and many clients wait for it: try again";
            let mut busy = status(StatusCode::SERVICE_UNAVAILABLE, why);
            let seconds = http::HeaderValue::from_static("1");
            busy.headers_mut()
                .insert(http::header::RETRY_AFTER, seconds);
            return busy;
        };
        let body = Limited::new(body, Limits::default().max_message_bytes);
        let bytes: Bytes = match tokio::time::timeout(READ_TIME, body.collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(_)) => {
                let why = "the body is too long, or broke off";
                return status(StatusCode::BAD_REQUEST, why);
            }
            Err(_) => return status(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
        };
        let caller = first_said(&bytes, self.settings.client_revisions);
        let body = received(Full::new(bytes.clone()));
        let Some(caller) = caller else {
            return answered(&self.unstarted, Request::from_parts(head, body)).await;
        };
        let started = self.start(caller).await;
        drop(turn);
        match started {
            Ok(started) => answered(&started.service, Request::from_parts(head, body)).await,
            Err(error) => failed(refusal(&bytes, &error.to_string()), &error),
        }
    }

    /// Starts the server on behalf of a client, unless it was started before.
    async fn start(&self, caller: Caller) -> Result<&Started, Error> {
        let started = self.started.get_or_try_init(|| async {
            if self.is_closed.load(Ordering::Acquire) {
                return Err(Error::Closed);
            }
            let caller = Arc::new(caller);
            let (link, facts) = Link::negotiate(&self.settings, &caller).await?;
            let app = facts.revision;
            let server = self.settings.server(&facts)?;
            let spare = Arc::new(Spare::new(link, caller));
            let start = Spare::start(&self.settings, app, Arc::clone(&spare));
            let servers = Servers::each(start, &self.settings);
            let proxy = Proxy::new(servers.clone(), Arc::clone(&self.settings), app);
            let options = self.settings.http.clone();
            let service = transport::Service::with_options(server, proxy, options);
            let idle = service.clone();
            let looks = tokio::spawn(async move {
                loop {
                    tokio::time::sleep(LOOK).await;
                    idle.end_idle_sessions();
                }
            });
            Ok(Started {
                service,
                servers,
                spare,
                looks: looks.abort_handle(),
            })
        });
        let started = started.await.inspect_err(|error| warn!("{error}"))?;
        if self.is_closed.load(Ordering::Acquire) {
            started.service.close();
        }
        Ok(started)
    }
}

fn answered(
    service: &transport::Service,
    request: Request<Received>,
) -> impl Future<Output = Response<Body>> + Send + use<> {
    let answered = tower_service::Service::call(&mut service.clone(), request);
    async move {
        let Ok(response) = answered.await;
        response
    }
}

/// The response to a first message whose server cannot be started.
fn failed(answer: Option<String>, error: &Error) -> Response<Body> {
    match answer {
        Some(answer) => {
            let mut response = plain(StatusCode::OK, answer);
            let json = http::HeaderValue::from_static("application/json");
            response
                .headers_mut()
                .insert(http::header::CONTENT_TYPE, json);
            response
        }
        None => plain(StatusCode::BAD_GATEWAY, error.to_string()),
    }
}

fn plain(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
}

impl<B> tower_service::Service<Request<B>> for Service
where
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
        Arc::clone(&self.0).respond(request.map(received))
    }
}

/// Whether the head of a message says that it is longer than may be: that is refused before it is read.
fn is_too_long(head: &Parts) -> bool {
    let length = head.headers.get(http::header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    length.is_some_and(|length| length > Limits::default().max_message_bytes)
}
