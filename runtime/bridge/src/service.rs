//! The bridge as a tower service, which starts the upstream server for the first client of each revision that names itself.
//!
//! Clients of one revision are served as the server introduces itself in the revision that is spoken for them, and clients of
//! another one may be served in another revision. So there is a service for each revision of clients. All of them share the
//! places of servers, and their limits.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use mcp_revisions::headers;
use mcp_revisions::http::{self as transport, Body, Drain, Received, Wanted, received};
use mcp_revisions::sansio::server::{Caller, IncomingRequest};
use mcp_revisions::serve::Peer;
use mcp_revisions::{Boxed, Limits, RevisionSet, boxed, until};
use mcp_revisions_core::{Lifecycle, Revision};
use tokio::net::TcpListener;
use tokio::sync::OnceCell;
use tokio::task::{AbortHandle, JoinSet};
use tracing::warn;

use crate::ending::LAST_ANSWERS;
use crate::greeting::{nameless, refusal};
use crate::identity::{anyone_of, first_said};
use crate::link::ServerLink;
use crate::measures;
use crate::room::SharedRoom;
use crate::servers::Servers;
use crate::settings::BridgeSettings;
use crate::spare::Spare;
use crate::{Error, Proxy};

/// Time between two searches for idle sessions.
const LOOK: Duration = Duration::from_secs(1);

/// Maximum number of first messages read at a time, each of which may be as long as a message may be. One owner has a quarter.
const READS: usize = 16;

/// Minimum number of bytes that a waiting first message counts for.
const LEAST: usize = 4 << 10;

/// Maximum time that a first message waits until it is read.
const TURN_TIME: Duration = Duration::from_secs(10);

/// Maximum time for a first message to arrive.
const READ_TIME: Duration = Duration::from_secs(10);

/// A bridge as a tower service; clones share its connections.
///
/// It answers on every path, unless [`with_path`](mcp_revisions::http::Options::with_path) names one. Who may use it is decided by the options of
/// [`with_http_options`](crate::Bridge::with_http_options), and by the layers in front of it: put a
/// [`Principal`](mcp_revisions::http::Principal) or a [`PeerAddress`](mcp_revisions::http::PeerAddress) into the extensions
/// of requests, so that each client has a share of the limits.
#[derive(Clone)]
pub struct Service(Arc<SharedBridge>);

struct SharedBridge {
    settings: Arc<BridgeSettings>,
    /// Answers requests that need no server, until there is one.
    unstarted: transport::Service,
    /// The service for clients of each revision, once the first of them has named itself.
    faces: HashMap<Revision, OnceCell<Started>>,
    /// The servers of all clients, once there is one.
    servers: OnceLock<Servers>,
    reads: SharedRoom,
    /// The bytes that first messages may take up while they wait for a start.
    waits: SharedRoom,
    is_lame_duck: AtomicBool,
    is_closed: AtomicBool,
}

/// The service for clients of a revision, once one of them has named itself.
struct Started {
    service: transport::Service,
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
    pub(crate) fn new(settings: Arc<BridgeSettings>) -> Self {
        let options = settings.http.clone();
        let served = settings.client_revisions;
        let faces = served.iter().map(|revision| (revision, OnceCell::new()));
        Self(Arc::new(SharedBridge {
            settings,
            unstarted: unstarted(served, options),
            faces: faces.collect(),
            servers: OnceLock::new(),
            reads: SharedRoom::new(READS),
            waits: SharedRoom::new(READS * Limits::default().max_message_bytes),
            is_lame_duck: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
        }))
    }

    /// Serves HTTP/1.1 on a listener until `stop` is ready. Then the service is a lame duck for the time of its
    /// [options](mcp_revisions::http::Options::with_lame_duck). After that new calls get status 503, what is open has `grace` to
    /// finish, and gets an error after that. Then the connections to the upstream server are closed.
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
            let mut ending = JoinSet::new();
            let stop = async {
                stopped.await;
                let time = self.0.settings.http.lame_duck().saturating_add(grace);
                let service = self.clone();
                ending.spawn(async move { service.give_up_after(time).await });
            };
            let linger = grace.saturating_add(LAST_ANSWERS);
            transport::serve_layered(listener, self.clone(), &self, stop, linger).await;
            drop(ending);
            self.shutdown().await;
        })
    }

    /// Says no to requests for the [readiness](mcp_revisions::http::Options::with_readiness) from now on; calls are served as
    /// before.
    pub fn lame_duck(&self) {
        self.0.is_lame_duck.store(true, Ordering::Release);
        self.0.unstarted.lame_duck();
        for started in self.0.started() {
            started.service.lame_duck();
        }
    }

    /// Accepts no new calls from now on: they are answered with status 503, and streams of subscriptions end. What belongs to
    /// open calls is served.
    pub fn close(&self) {
        self.0.is_closed.store(true, Ordering::Release);
        self.0.unstarted.close();
        for started in self.0.started() {
            started.service.close();
        }
    }

    /// Ends every session and every connection to the upstream server, and waits until they have ended.
    pub async fn shutdown(&self) {
        self.close();
        for started in self.0.started() {
            started.service.end_sessions();
        }
        if let Some(servers) = self.0.servers.get() {
            servers.clone().close().await;
        }
        for started in self.0.started() {
            started.spare.end().await;
        }
    }
}

impl Service {
    /// Returns what the bridge is at: for metrics.
    #[must_use]
    pub fn counters(&self) -> transport::Counters {
        self.0.counters()
    }

    /// Gives open calls up after a time.
    pub(crate) async fn give_up_after(&self, time: Duration) {
        self.0.settings.ending.give_up_after(time).await;
    }

    /// Accepts no calls from now on, and shuts down once none is open, or after `grace`, when they get an error.
    pub(crate) async fn retire(&self, grace: Duration) {
        self.close();
        let drained = Drain::drained(self);
        if tokio::time::timeout(grace, drained).await.is_err() {
            self.give_up_after(Duration::ZERO).await;
            tokio::time::sleep(LAST_ANSWERS).await;
        }
        self.shutdown().await;
    }
}

impl Drain for Service {
    fn options(&self) -> &transport::Options {
        &self.0.settings.http
    }

    fn lame_duck(&self) {
        self.lame_duck();
    }

    fn close(&self) {
        self.close();
    }

    fn drained(&self) -> Boxed<'_, ()> {
        boxed(async {
            for started in self.0.started() {
                started.service.drained().await;
            }
        })
    }

    fn leave(&self) -> Boxed<'_, ()> {
        boxed(async {
            for started in self.0.started() {
                Drain::leave(&started.service).await;
            }
        })
    }
}

/// Returns a service that refuses what needs a server, as the one will that comes after it.
pub(crate) fn unstarted(served: RevisionSet, options: transport::Options) -> transport::Service {
    let refused = |_: IncomingRequest, _: Peer| async {
        let why = "the server has not been started: send `initialize`, or a request that names its client";
        Err(mcp_revisions::errors::internal(why).error)
    };
    transport::Service::with_options(nameless(served), refused, options)
}

impl SharedBridge {
    /// Responds to a request whose body is of one type: this is compiled here, for all programs.
    #[inline(never)]
    fn respond(
        self: Arc<Self>,
        request: Request<Received>,
    ) -> Boxed<'static, Result<Response<Body>, Infallible>> {
        boxed(async move { Ok(self.handle(request).await) })
    }

    async fn handle(&self, request: Request<Received>) -> Response<Body> {
        let (mut head, body) = request.into_parts();
        if let Some(metrics) = self.settings.http.metrics(&head, || self.counters()) {
            return metrics;
        }
        if let Some(service) = self.known_service(&head) {
            return answered(service, Request::from_parts(head, body)).await;
        }
        if self.is_closed.load(Ordering::Acquire) {
            return answered(self.any(), Request::from_parts(head, body)).await;
        }
        let wanted = self.settings.http.wanted(&head);
        // A client without a token must not start a server.
        if wanted != Wanted::Nothing
            && let Err(refused) = self.settings.http.authorize(&mut head).await
        {
            return *refused;
        }
        match wanted {
            Wanted::Message if !is_too_long(&head) => self.first(head, body).await,
            // A client over HTTP+SSE names itself in the session that it opens.
            Wanted::Session => {
                let revision = self.settings.client_revisions.latest(Lifecycle::Handshake);
                let started =
                    match revision.and_then(|revision| self.faces.get_key_value(&revision)) {
                        Some((revision, face)) => self.start(face, anyone_of(*revision)).await,
                        None => return answered(self.any(), Request::from_parts(head, body)).await,
                    };
                match started {
                    Ok(service) => answered(service, Request::from_parts(head, body)).await,
                    Err(error) => failed(None, &error),
                }
            }
            _ => answered(self.any(), Request::from_parts(head, body)).await,
        }
    }

    /// Returns the services that have a server.
    fn started(&self) -> impl Iterator<Item = &Started> {
        self.faces.values().filter_map(OnceCell::get)
    }

    /// Returns what the services are at, all together.
    fn counters(&self) -> transport::Counters {
        let mut all = transport::Counters::default();
        for started in self.started() {
            all.add(&started.service.counters());
        }
        all
    }

    /// Returns a service for requests that need none of a certain revision.
    fn any(&self) -> &transport::Service {
        let mut started = self.started();
        started.next().map_or(&self.unstarted, |it| &it.service)
    }

    /// Returns the service that a request names by its headers: by the session, else by a revision without sessions.
    fn known_service(&self, head: &Parts) -> Option<&transport::Service> {
        let named = head.headers.get(headers::PROTOCOL_VERSION);
        let named = named
            .and_then(|version| Revision::from_protocol_version(version.to_str().ok()?))
            .and_then(|revision| Some((revision, self.faces.get(&revision)?.get()?)));
        match named {
            Some((revision, started)) if revision.lifecycle() == Lifecycle::PerRequest => {
                return Some(&started.service);
            }
            Some((_, started)) if started.service.runs_session_of(head) => {
                return Some(&started.service);
            }
            _ => {}
        }
        let mut services = self.started().map(|started| &started.service);
        services.find(|service| service.runs_session_of(head))
    }

    /// Answers what may be the first message of a client.
    async fn first(&self, head: Parts, body: Received) -> Response<Body> {
        let status = |status, why: &str| plain(status, why.to_owned());
        let busy = || {
            let why = "the server is not started yet, and many clients wait for it: try again";
            let mut busy = status(StatusCode::SERVICE_UNAVAILABLE, why);
            let seconds = http::HeaderValue::from_static("1");
            busy.headers_mut()
                .insert(http::header::RETRY_AFTER, seconds);
            busy
        };
        // A request that waits has not been read: it takes up no more than its connection does.
        let owner = transport::owner(&head);
        let turn = tokio::time::timeout(TURN_TIME, self.reads.take(&owner, 1)).await;
        let Ok(turn) = turn else { return busy() };
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
        let face = caller.as_ref().and_then(|it| self.faces.get(&it.revision));
        let (Some(caller), Some(face)) = (caller, face) else {
            return answered(self.any(), Request::from_parts(head, body)).await;
        };
        if let Some(started) = face.get() {
            drop(turn);
            return answered(&started.service, Request::from_parts(head, body)).await;
        }
        // Clients of other revisions do not wait for this start.
        let bytes_kept = u32::try_from(bytes.len().max(LEAST)).unwrap_or(u32::MAX);
        let wait = tokio::time::timeout(TURN_TIME, self.waits.take(&owner, bytes_kept)).await;
        let Ok(wait) = wait else { return busy() };
        drop(turn);
        let started = self.start(face, caller).await;
        drop(wait);
        match started {
            Ok(service) => answered(service, Request::from_parts(head, body)).await,
            Err(error) => failed(refusal(&bytes, &error), &error),
        }
    }

    /// Starts the server on behalf of a client, unless it was started for one of the same revision.
    async fn start<'f>(
        &self,
        face: &'f OnceCell<Started>,
        caller: Caller,
    ) -> Result<&'f transport::Service, Error> {
        let started = face
            .get_or_try_init(|| async {
                if self.is_closed.load(Ordering::Acquire) {
                    return Err(Error::Closed);
                }
                let caller = Arc::new(caller);
                let negotiated = ServerLink::negotiate(&self.settings, &caller);
                let negotiated = self.settings.ending.unless_over(negotiated).await;
                let (link, facts) = negotiated.unwrap_or(Err(Error::Closed))?;
                let app = facts.revision;
                let server = self.settings.server(&facts)?;
                let spare = Arc::new(Spare::new(link, caller));
                let start = Spare::start(&self.settings, app, Arc::clone(&spare));
                let servers = self
                    .servers
                    .get_or_init(|| Servers::each(Arc::clone(&start), &self.settings))
                    .starting(start);
                let proxy = Proxy::new(servers, Arc::clone(&self.settings), app);
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
                    spare,
                    looks: looks.abort_handle(),
                })
            })
            .await
            .inspect_err(|error| {
                warn!("{error}");
                measures::failed_start(&self.settings.name, error);
            })?;
        if self.is_lame_duck.load(Ordering::Acquire) {
            started.service.lame_duck();
        }
        if self.is_closed.load(Ordering::Acquire) {
            started.service.close();
        }
        Ok(&started.service)
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

/// Returns the response to a first message whose server cannot be started.
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

/// Returns whether the head of a message says that it is longer than may be: that is refused before it is read.
fn is_too_long(head: &Parts) -> bool {
    let length = head
        .headers
        .get(http::header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    length.is_some_and(|length| length > Limits::default().max_message_bytes)
}
