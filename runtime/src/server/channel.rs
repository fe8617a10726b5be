//! The state of one channel: its session, the requests that wait in both directions, and open batches.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_registry::{Adapter, Revision};
use mcp_wire::{Json, RequestId};

use super::adapter::StateMachine;
use super::call::{Client, Exchange, LogLevel, Token};

/// One channel to a peer: a process's stdio, a session over HTTP, or a single POST outside of any.
///
/// All state is here, owned by the caller; [`Server`](super::Server) itself is never written to. So a modern request
/// over HTTP gets a channel of its own, made on the spot, and no lock is ever on its path.
#[derive(Default)]
pub struct Channel {
    pub(super) session: Option<Box<Opened>>,
    pending: BTreeMap<Token, Pending>,
    ids: BTreeMap<RequestId, Token>,
    pub(super) batches: BTreeMap<Exchange, Batch>,
    pub(super) asked: BTreeMap<i64, Asked>,
    pub(super) machines: Vec<Box<dyn StateMachine>>,
    last_token: u64,
    last_exchange: u64,
    last_ask: i64,
    pub(super) last_heard: Duration,
}

/// What `initialize` settled.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) revision: Revision,
    pub(super) client: Arc<Client>,
    pub(super) log_level: Option<LogLevel>,
    pub(super) is_initialized: bool,
    /// For an application of the modern era: what every request says there.
    pub(super) upgraded: mcp_registry::Session,
    /// Likewise the client, as the application's revision has it.
    pub(super) client_info: Option<Json>,
}

/// A request of the peer that waits for its answer.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) id: RequestId,
    pub(super) method: &'static str,
    pub(super) peer: Revision,
    pub(super) exchange: Exchange,
    pub(super) in_batch: bool,
    pub(super) client: Arc<Client>,
    pub(super) log_level: Option<LogLevel>,
    pub(super) progress_token: Option<Json>,
    /// What the application was called with; kept where an adapter might have to call again.
    pub(super) params: Option<Json>,
    /// The adapter that called the application on behalf of this, and the method that it called.
    pub(super) called: Option<(Adapter, &'static str)>,
}

/// A batch of which some requests are not answered yet.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) waiting: usize,
    pub(super) answers: Vec<String>,
}

/// A request of the server that waits for the peer's answer.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: &'static str,
    pub(super) by: AskedBy,
    pub(super) peer: Revision,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum AskedBy {
    Application(u64),
    Machine(Adapter, u64),
}

impl Channel {
    /// A channel on which nothing has been said.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Plugs in a state machine; one for each [`Adapter`], a later one takes the place of an earlier.
    pub fn plug(&mut self, machine: Box<dyn StateMachine>) {
        self.machines
            .retain(|one| one.adapter() != machine.adapter());
        self.machines.push(machine);
    }

    /// The revision that `initialize` settled, if it did.
    #[must_use]
    pub fn session_revision(&self) -> Option<Revision> {
        self.session.as_ref().map(|session| session.revision)
    }

    /// How many requests of the peer wait for their answer.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// How many requests of the server wait for the peer's answer.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked.len()
    }

    /// When the last message came.
    #[must_use]
    pub fn last_heard(&self) -> Duration {
        self.last_heard
    }

    /// When [`Server::tick`](super::Server::tick) is wanted next.
    #[must_use]
    pub fn wake_at(&self) -> Option<Duration> {
        self.machines
            .iter()
            .filter_map(|machine| machine.wake_at())
            .min()
    }

    /// Ends the channel: the tokens of what was not answered, so that the application can stop working on it.
    pub fn close(&mut self) -> Vec<Token> {
        self.session = None;
        self.ids.clear();
        self.batches.clear();
        self.asked.clear();
        std::mem::take(&mut self.pending).into_keys().collect()
    }

    pub(super) fn next_exchange(&mut self) -> Exchange {
        self.last_exchange += 1;
        Exchange(self.last_exchange)
    }

    pub(super) fn next_ask(&mut self) -> i64 {
        self.last_ask += 1;
        self.last_ask
    }

    pub(super) fn token_of(&self, id: &RequestId) -> Option<Token> {
        self.ids.get(id).copied()
    }

    pub(super) fn get(&self, token: Token) -> Option<&Pending> {
        self.pending.get(&token)
    }

    pub(super) fn get_mut(&mut self, token: Token) -> Option<&mut Pending> {
        self.pending.get_mut(&token)
    }

    pub(super) fn add(&mut self, pending: Pending) -> Token {
        self.last_token += 1;
        let token = Token(self.last_token);
        if pending.in_batch
            && let Some(batch) = self.batches.get_mut(&pending.exchange)
        {
            batch.waiting += 1;
        }
        self.ids.insert(pending.id.clone(), token);
        self.pending.insert(token, pending);
        token
    }

    pub(super) fn take(&mut self, token: Token) -> Option<Pending> {
        let pending = self.pending.remove(&token)?;
        self.ids.remove(&pending.id);
        if pending.in_batch
            && let Some(batch) = self.batches.get_mut(&pending.exchange)
        {
            batch.waiting -= 1;
        }
        Some(pending)
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("session", &self.session_revision())
            .field("pending", &self.pending.len())
            .field("asked", &self.asked.len())
            .field("machines", &self.machines.len())
            .finish_non_exhaustive()
    }
}
