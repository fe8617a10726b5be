//! What a service is at, in numbers: for metrics, in whichever form they are exported.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_protocol::Revision;

use crate::protocol::server::{Lost, Undelivered};
use crate::protocol::{CustomRequest, Event, IncomingRequest};
use crate::serve::{AnyHandler, HandlerFuture, Peer, Session};
use crate::transport::panics::lock;

/// What a service is at, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// The requests that handlers were called with since the service was created, by the revision of their client.
    pub requests: BTreeMap<Revision, u64>,
    /// What messages lost since the service was created, and the messages that were refused or dropped, by the rule in
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

/// Numbers by what is counted.
struct Tally<K>(Mutex<BTreeMap<K, u64>>);

impl<K: Ord> Tally<K> {
    fn add(&self, one: K) {
        *lock(&self.0).entry(one).or_default() += 1;
    }
}

/// Handlers whose calls are counted, and what messages lose on the way to them and back.
pub(super) struct Counted {
    handler: Arc<dyn AnyHandler>,
    requests: Tally<Revision>,
    losses: Tally<&'static str>,
}

impl Counted {
    pub(super) fn new(handler: Arc<dyn AnyHandler>) -> Arc<Self> {
        Arc::new(Self {
            handler,
            requests: Tally(Mutex::default()),
            losses: Tally(Mutex::default()),
        })
    }

    pub(super) fn requests(&self) -> BTreeMap<Revision, u64> {
        lock(&self.requests.0).clone()
    }

    pub(super) fn losses(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.losses.0).clone()
    }

    /// Counts what a message lost.
    pub(super) fn lost(&self, lost: &Lost<'_>) {
        for loss in lost.losses.iter().filter(|it| it.change.is_loss()) {
            self.losses.add(loss.rule());
        }
        if let Some(Undelivered::Rejected { rule, .. } | Undelivered::Dropped { rule }) =
            lost.undelivered
        {
            self.losses.add(rule);
        }
    }
}

impl AnyHandler for Counted {
    fn call(self: Arc<Self>, request: Event, peer: Peer) -> HandlerFuture {
        if let Event::Request(IncomingRequest { peer, .. })
        | Event::CustomRequest(CustomRequest { peer, .. }) = &request
        {
            self.requests.add(*peer);
        }
        Arc::clone(&self.handler).call(request, peer)
    }

    fn note(&self, event: Event, session: Session) {
        self.handler.note(event, session);
    }
}
