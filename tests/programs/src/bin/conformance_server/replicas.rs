//! Several services behind one address: each request gets the next one.

use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use http::{Request, Response};
use mcp_revisions::http::{Body, Service};

/// Services that take turns.
#[derive(Clone)]
pub(crate) struct RoundRobin {
    services: Arc<Vec<Service>>,
    next: Arc<AtomicUsize>,
}

impl RoundRobin {
    pub(crate) fn new(services: Vec<Service>) -> Self {
        Self {
            services: Arc::new(services),
            next: Arc::default(),
        }
    }
}

impl<B> tower_service::Service<Request<B>> for RoundRobin
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.services.len().max(1);
        let mut service = self.services[turn].clone();
        tower_service::Service::call(&mut service, request)
    }
}
