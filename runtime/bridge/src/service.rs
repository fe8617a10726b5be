//! The bridge as a tower service: one HTTP service for clients of every revision, whose servers start as clients come.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use mcp_revisions::http::{self as transport, Body, Drain};
use mcp_revisions::service::{Boxed, boxed, until};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

use crate::Proxy;
use crate::ending::LAST_ANSWERS;
use crate::servers::Servers;
use crate::settings::BridgeSettings;

/// Time between two searches for idle sessions.
const LOOK: Duration = Duration::from_secs(1);

/// A bridge as a tower service; clones share its connections.
///
/// It answers on every path, unless [`with_path`](mcp_revisions::http::Options::with_path) names one. Who may use it is decided by the options of
/// [`with_http_options`](crate::Bridge::with_http_options), and by the layers in front of it: put a
/// [`Principal`](mcp_revisions::http::Principal) or a [`PeerAddress`](mcp_revisions::http::PeerAddress) into the extensions
/// of requests, so that each client has a share of the limits.
#[derive(Clone)]
pub struct Service {
    service: transport::Service,
    servers: Servers,
    settings: Arc<BridgeSettings>,
    looks: Arc<OnceLock<IdleSearch>>,
}

/// The task that ends idle sessions; it ends with this.
struct IdleSearch(AbortHandle);

impl Drop for IdleSearch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service")
            .field("upstream", &self.settings.upstream)
            .finish_non_exhaustive()
    }
}

impl Service {
    pub(crate) fn new(settings: Arc<BridgeSettings>) -> Self {
        let servers = Servers::each(&settings, None);
        let proxy = Proxy::new(servers.clone());
        let options = settings.http.clone();
        Self {
            service: transport::Service::with_options(settings.server(), proxy, options),
            servers,
            settings,
            looks: Arc::default(),
        }
    }

    /// Serves HTTP/1.1 on a listener until `stop` is ready. Then the service is a lame duck for the time of its
    /// [options](mcp_revisions::http::Options::with_lame_duck). After that new calls get status 503, what is open has `grace` to
    /// finish, and gets an error after that. Then the connections to the upstream server are closed.
    /// Dropping the future closes all connections at once.
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
                let time = self.settings.http.lame_duck().saturating_add(grace);
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
        self.service.lame_duck();
    }

    /// Accepts no new calls from now on: they are answered with status 503, and streams of subscriptions end. What belongs to
    /// open calls is served.
    pub fn close(&self) {
        self.service.close();
    }

    /// Ends every session and every connection to the upstream server, and waits until they have ended.
    /// Await it to its end: dropping the future may leave servers at work.
    pub async fn shutdown(&self) {
        self.close();
        self.service.end_sessions();
        self.servers.close().await;
    }

    /// Returns the counters of the bridge, for metrics.
    #[must_use]
    pub fn counters(&self) -> transport::Counters {
        self.service.counters()
    }

    /// Gives open calls up after a time.
    pub(crate) async fn give_up_after(&self, time: Duration) {
        self.settings.clients.ending.give_up_after(time).await;
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

    /// Looks for idle sessions from the first request on.
    fn begin_to_look(&self) {
        self.looks.get_or_init(|| {
            let service = self.service.clone();
            let looks = tokio::spawn(async move {
                loop {
                    tokio::time::sleep(LOOK).await;
                    service.end_idle_sessions();
                }
            });
            IdleSearch(looks.abort_handle())
        });
    }
}

impl Drain for Service {
    fn options(&self) -> &transport::Options {
        &self.settings.http
    }

    fn lame_duck(&self) {
        self.lame_duck();
    }

    fn close(&self) {
        self.close();
    }

    fn drained(&self) -> Boxed<'_, ()> {
        boxed(self.service.drained())
    }

    fn leave(&self) -> Boxed<'_, ()> {
        Drain::leave(&self.service)
    }
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
        self.begin_to_look();
        tower_service::Service::call(&mut self.service, request)
    }
}
