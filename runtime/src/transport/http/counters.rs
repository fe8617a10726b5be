//! What a service is at, in numbers: for metrics, in whichever form they are exported.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_protocol::Revision;

use crate::protocol::{CustomNotification, CustomRequest, IncomingRequest, Notification};
use crate::serve::{AnyHandler, HandlerFuture, Peer, Session};

/// What a service is at, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// The requests that handlers were called with since the service was created, by the revision of their client.
    pub requests: BTreeMap<Revision, u64>,
    /// The sessions that run here.
    pub sessions: usize,
    /// The requests that are suspended until their client responds.
    pub suspended_requests: usize,
    /// The bytes of requests that are read or worked on.
    pub request_bytes: usize,
    /// The bytes of responses that clients have not read yet.
    pub unread_bytes: usize,
}

/// Handlers whose calls are counted.
pub(super) struct Counted {
    handler: Arc<dyn AnyHandler>,
    requests: Mutex<BTreeMap<Revision, u64>>,
}

impl Counted {
    pub(super) fn new(handler: Arc<dyn AnyHandler>) -> Arc<Self> {
        Arc::new(Self {
            handler,
            requests: Mutex::default(),
        })
    }

    pub(super) fn requests(&self) -> BTreeMap<Revision, u64> {
        let requests = self.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, peer: Revision) {
        let requests = self.requests.lock();
        *requests
            .unwrap_or_else(PoisonError::into_inner)
            .entry(peer)
            .or_default() += 1;
    }
}

impl AnyHandler for Counted {
    fn call(self: Arc<Self>, call: IncomingRequest, peer: Peer) -> HandlerFuture {
        self.count(call.peer);
        Arc::clone(&self.handler).call(call, peer)
    }

    fn custom_request(self: Arc<Self>, call: CustomRequest, peer: Peer) -> HandlerFuture {
        self.count(call.peer);
        Arc::clone(&self.handler).custom_request(call, peer)
    }

    fn custom_notification(&self, notice: CustomNotification, session: Session) {
        self.handler.custom_notification(notice, session);
    }

    fn notice(&self, notice: Notification, session: Session) {
        self.handler.notice(notice, session);
    }

    fn on_initialized(&self, session: Session) {
        self.handler.on_initialized(session);
    }
}
