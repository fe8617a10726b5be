//! A bridge or a gateway as a tower service: one HTTP service for clients of every revision, whose servers start as clients come.

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use mcp_revisions::http::{self as transport, Drain, Received, Responding};
use mcp_revisions::service::{Boxed, boxed, until};
use tokio::task::JoinSet;

use crate::ending::{BridgeEnding, LAST_ANSWERS};

/// A bridge or a gateway as a tower service; clones share its connections.
///
/// It answers on every path, unless [`with_path`](mcp_revisions::http::Options::with_path) names one. Who may use it is decided by
/// its HTTP options, and by the layers in front of it: put a [`Principal`](mcp_revisions::http::Principal) or a
/// [`PeerAddress`](mcp_revisions::http::PeerAddress) into the extensions of requests, so that each client has a share of the limits.
#[derive(Clone)]
pub struct Service {
    service: transport::Service,
    ending: Arc<BridgeEnding>,
    /// Ends the connections to the servers.
    close: Arc<dyn Fn() -> Boxed<'static, ()> + Send + Sync>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Service").field(&self.service).finish()
    }
}

impl Service {
    /// Creates the service of a bridge or gateway whose open calls end so, and whose connections to servers are ended by `close`.
    pub(crate) fn new<C>(
        service: transport::Service,
        ending: &Arc<BridgeEnding>,
        close: impl Fn() -> C + Send + Sync + 'static,
    ) -> Self
    where
        C: Future<Output = ()> + Send + 'static,
    {
        Self {
            service,
            ending: Arc::clone(ending),
            close: Arc::new(move || boxed(close())),
        }
    }

    /// Serves HTTP/1.1 on a listener until `stop` is ready. Then the service is a lame duck for the time of its
    /// [options](mcp_revisions::http::Options::with_lame_duck). After that new calls get status 503, what is open has `grace` to
    /// finish, and gets an error after that. Then the connections to the servers are closed.
    /// Dropping the future closes all connections at once.
    pub async fn serve(
        self,
        listener: impl Into<transport::Listener>,
        stop: impl Future<Output = ()>,
        grace: Duration,
    ) {
        let bound = listener.into();
        until(stop, |stopped| self.serve_until(bound, stopped, grace)).await;
    }

    #[inline(never)]
    fn serve_until(
        self,
        listener: transport::Listener,
        stopped: Boxed<'static, ()>,
        grace: Duration,
    ) -> Boxed<'static, ()> {
        boxed(async move {
            let mut ending = JoinSet::new();
            let stop = async {
                stopped.await;
                let time = self.options().lame_duck().saturating_add(grace);
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

    /// Ends every session and every connection to the servers, and waits until they have ended.
    /// Await it to its end: dropping the future may leave servers at work.
    pub async fn shutdown(&self) {
        self.close();
        self.service.end_sessions();
        (self.close)().await;
    }

    /// Returns the counters of the service, for metrics.
    #[must_use]
    pub fn counters(&self) -> transport::Counters {
        self.service.counters()
    }

    /// Gives open calls up after a time.
    pub(crate) async fn give_up_after(&self, time: Duration) {
        self.ending.give_up_after(time).await;
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

    pub(crate) fn respond(&self, request: Request<Received>) -> Responding {
        self.service.respond(request)
    }
}

impl Drain for Service {
    fn options(&self) -> &transport::Options {
        Drain::options(&self.service)
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

mcp_revisions::tower_service!(Service);
