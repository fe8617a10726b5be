//! The state of a service in numbers: for metrics, in whichever form they are exported.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_revisions_core::Revision;

use super::tools::ListedTool;
use crate::serve::{AnyHandler, AppFuture, HandlerFuture, Peer, Session};
use crate::transport::observe;
use crate::transport::panics::lock;
use mcp_revisions_sansio::server::MessageLosses;
use mcp_revisions_sansio::{Caller, CustomRequest, Event, IncomingRequest};

/// The state of a service, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// The requests of clients that handlers were called with since the service was created, by the revision of the client. A
    /// `tools/list` of the server's own is none.
    pub requests: BTreeMap<Revision, u64>,
    /// Losses of messages since the service was created, and the messages that were refused or dropped, by the rule in
    /// `spec/shims/`.
    pub losses: BTreeMap<&'static str, u64>,
    /// The sessions that run here.
    pub sessions: usize,
    /// The requests that are suspended until their client responds.
    pub suspended_requests: usize,
    /// The bytes of requests that are read or worked on.
    pub request_bytes: usize,
    /// The bytes of responses that clients have not read yet.
    pub unread_bytes: usize,
}

impl Counters {
    /// Adds the numbers of another service, which [shares](super::Options::with_shared_budgets) its budgets with this one.
    pub fn add(&mut self, other: &Self) {
        for (revision, count) in &other.requests {
            *self.requests.entry(*revision).or_default() += count;
        }
        for (rule, count) in &other.losses {
            *self.losses.entry(rule).or_default() += count;
        }
        self.sessions += other.sessions;
        // Each of them reports the same.
        self.suspended_requests = self.suspended_requests.max(other.suspended_requests);
        self.request_bytes = self.request_bytes.max(other.request_bytes);
        self.unread_bytes = self.unread_bytes.max(other.unread_bytes);
    }
}

/// Handlers whose calls are counted, and what messages lose on the way to them and back.
pub(super) struct CountingHandler {
    handler: Arc<dyn AnyHandler>,
    pub(super) requests: Mutex<BTreeMap<Revision, u64>>,
    pub(super) losses: Mutex<BTreeMap<&'static str, u64>>,
}

impl CountingHandler {
    pub(super) fn new(handler: Arc<dyn AnyHandler>) -> Arc<Self> {
        Arc::new(Self {
            handler,
            requests: Mutex::default(),
            losses: Mutex::default(),
        })
    }

    /// Counts what a message lost.
    pub(super) fn lost(&self, lost: &MessageLosses<'_>) {
        observe::metrics::server::lost(lost);
        let mut losses = lock(&self.losses);
        for loss in lost.losses.iter().filter(|it| it.is_loss()) {
            *losses.entry(loss.rule()).or_default() += 1;
        }
        if let Some(rule) = lost.undelivered.and_then(|error| error.rule()) {
            *losses.entry(rule).or_default() += 1;
        }
    }
}

impl AnyHandler for CountingHandler {
    fn call(self: Arc<Self>, request: Event, peer: Peer) -> HandlerFuture {
        let is_own = peer.extension::<ListedTool>().is_some();
        if let Event::Request(IncomingRequest { revision: peer, .. })
        | Event::CustomRequest(CustomRequest { revision: peer, .. }) = &request
            && !is_own
        {
            *lock(&self.requests).entry(*peer).or_default() += 1;
        }
        Arc::clone(&self.handler).call(request, peer)
    }

    fn application(self: Arc<Self>, caller: Arc<Caller>, session: Session) -> AppFuture {
        Arc::clone(&self.handler).application(caller, session)
    }

    fn note(&self, event: Event, session: Session) {
        self.handler.note(event, session);
    }
}
