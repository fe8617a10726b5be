//! What changes while a server's end of a conversation runs: its session, the requests that wait in both directions,
//! and open batches.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_protocol::{Adapter, Loss, Revision};
use mcp_wire::{ErrorObject, Json, RequestId};

use crate::methods;
use crate::protocol::input_required::seal::subject;
use crate::protocol::machine::Machine;
use crate::protocol::numbered::Numbered;
use crate::protocol::occasion::About;
use crate::protocol::revisions::is_legacy;
use crate::protocol::tasks::TaskWanted;
use crate::protocol::translate::no_params;
use crate::protocol::{Caller, Exchange, IncomingRequest, LogLevel, Token};

/// What changes while a server's end of a conversation runs.
///
/// [`Server`](super::Server) itself is never written to. So a per-request message over HTTP gets a connection of its own, made
/// on the spot, and no lock of another is on its path.
#[derive(Debug, Default)]
pub struct State {
    pub(in crate::protocol) session: Option<Box<Opened>>,
    pub(super) pending: Numbered<Token, Pending>,
    ids: BTreeMap<RequestId, Token>,
    pub(in crate::protocol) batches: Numbered<Exchange, Batch>,
    pub(in crate::protocol) asked: Numbered<i64, Asked>,
    pub(in crate::protocol) machines: Vec<Machine>,
    /// Calls of the application that adapters make on behalf of no request.
    pub(in crate::protocol) own: Numbered<Token, Own>,
    /// Whether no machine is made when one is needed.
    pub(in crate::protocol) is_bare: bool,
    pub(super) pending_bytes: usize,
    /// How many of those that wait are streams, and how many are of the per-request lifecycle: where there are none, none is
    /// looked for.
    pub(super) waiting_streams: usize,
    waiting_modern: usize,
    last_token: u64,
    pub(super) last_exchange: u64,
    pub(in crate::protocol) last_ask: i64,
}

/// What `initialize` settled.
#[derive(Debug)]
pub(in crate::protocol) struct Opened {
    pub(in crate::protocol) revision: Revision,
    pub(in crate::protocol) caller: Arc<Caller>,
    pub(in crate::protocol) log_level: Option<LogLevel>,
    pub(in crate::protocol) is_initialized: bool,
    /// For an application of the per-request lifecycle: what every request says there.
    pub(in crate::protocol) upgraded: Arc<mcp_protocol::Session>,
}

/// A request of the peer that waits for its answer.
#[derive(Debug)]
pub(in crate::protocol) struct Pending {
    pub(in crate::protocol) id: RequestId,
    pub(in crate::protocol) method: &'static str,
    pub(in crate::protocol) peer: Revision,
    pub(in crate::protocol) exchange: Exchange,
    pub(in crate::protocol) in_batch: bool,
    pub(in crate::protocol) caller: Arc<Caller>,
    pub(in crate::protocol) log_level: Option<LogLevel>,
    pub(in crate::protocol) progress_token: Option<Json>,
    /// What the application was called with; kept where an adapter might have to call again.
    pub(in crate::protocol) params: Option<Json>,
    /// The adapter that called the application on behalf of this, and the method that it called.
    pub(in crate::protocol) called: Option<(Adapter, &'static str)>,
    /// The adapter that is to know when this is cancelled.
    pub(in crate::protocol) adapter: Option<Adapter>,
    /// Who is behind the request, if the transport knows.
    pub(in crate::protocol) principal: Option<String>,
    /// The params of what it asks for, where it may be made again.
    pub(in crate::protocol) subject: Option<Json>,
    /// How often the client was asked back.
    pub(in crate::protocol) rounds: u32,
    /// Whether the client was answered for now, and has to retry.
    pub(in crate::protocol) is_parked: bool,
    /// The application's answer, if it came while the request was suspended.
    pub(in crate::protocol) early: Option<Result<Json, ErrorObject>>,
    /// Whether the stream that this opened was acknowledged.
    pub(in crate::protocol) is_acknowledged: bool,
    /// Whether no revision has its method, so that nothing of it is converted.
    pub(in crate::protocol) is_other: bool,
    /// The task that its client takes in the place of its result.
    pub(in crate::protocol) task: Option<TaskWanted>,
    /// The tasks that the stream which this opens is to tell of: those that were asked for, then those that were agreed to.
    pub(in crate::protocol) task_ids: Vec<String>,
    /// How many bytes the request is.
    pub(in crate::protocol) bytes: usize,
}

/// A call of the application that an adapter made on behalf of no request.
#[derive(Debug, Clone, Copy)]
pub(in crate::protocol) struct Own {
    pub(in crate::protocol) adapter: Adapter,
    pub(in crate::protocol) key: u64,
}

/// A batch of which some requests are not answered yet.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Batch {
    pub(in crate::protocol) waiting: usize,
    pub(in crate::protocol) answers: Vec<String>,
}

/// A request of the server that waits for the peer's answer.
#[derive(Debug)]
pub(in crate::protocol) struct Asked {
    /// `None` if no revision has it, so that nothing of the answer is converted.
    pub(in crate::protocol) method: Option<&'static str>,
    pub(in crate::protocol) by: AskedBy,
    pub(in crate::protocol) peer: Revision,
    /// The text whose response it went out in.
    pub(in crate::protocol) exchange: Option<Exchange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::protocol) enum AskedBy {
    Application(u64),
    Machine(Adapter, u64),
}

impl State {
    pub(in crate::protocol) fn given_up_with(
        &self,
        exchange: Exchange,
    ) -> impl Iterator<Item = Token> {
        let is_it = move |pending: &Pending| {
            pending.exchange == exchange && !pending.is_parked && !is_legacy(pending.peer)
        };
        let modern = (self.waiting_modern > 0).then(|| self.pending.iter());
        let waiting = modern.into_iter().flatten();
        waiting
            .filter(move |(_, pending)| is_it(pending))
            .map(|(token, _)| *token)
    }

    /// Returns what does not end by itself once the peer is gone: streams, and requests that wait for its answer.
    pub(in crate::protocol) fn endless(&self) -> Vec<Token> {
        let waits = |pending: &Pending| {
            pending.is_parked
                || pending.adapter.is_some()
                || pending.method == methods::SUBSCRIPTIONS_LISTEN
        };
        let pending = self.pending.iter().filter(|(_, pending)| waits(pending));
        pending.map(|(token, _)| *token).collect()
    }

    /// Returns the streams that clients of the per-request lifecycle have opened.
    pub(in crate::protocol) fn streams(&self) -> Vec<Token> {
        if self.waiting_streams == 0 {
            return Vec::new();
        }
        let pending = self.pending.iter();
        let streams =
            pending.filter(|(_, pending)| pending.method == methods::SUBSCRIPTIONS_LISTEN);
        streams.map(|(token, _)| *token).collect()
    }

    /// Gives back the room of requests that are over: a map that was filled once keeps some of it.
    #[cfg(any(feature = "server-http", feature = "server-stdio"))]
    pub(in crate::protocol) fn rest(&mut self) {
        if self.pending.is_empty() {
            self.pending = Numbered::default();
            self.ids = BTreeMap::new();
        }
        if self.asked.is_empty() {
            self.asked = Numbered::default();
        }
        if self.own.is_empty() {
            self.own = Numbered::default();
        }
    }

    /// Nothing more is said in an exchange: what is taken back of the questions in it goes to the conversation at large.
    pub(in crate::protocol) fn end_exchange(&mut self, exchange: Exchange) {
        for asked in self.asked.values_mut() {
            asked.exchange = asked.exchange.filter(|of| *of != exchange);
        }
    }

    pub(in crate::protocol) fn next_exchange(&mut self) -> Exchange {
        self.last_exchange += 1;
        Exchange(self.last_exchange)
    }

    pub(in crate::protocol) fn next_ask(&mut self) -> i64 {
        self.last_ask += 1;
        self.last_ask
    }

    pub(in crate::protocol) fn token_of(&self, id: &RequestId) -> Option<Token> {
        self.ids.get(id).copied()
    }

    pub(in crate::protocol) fn get(&self, token: Token) -> Option<&Pending> {
        self.pending.get(&token)
    }

    pub(in crate::protocol) fn get_mut(&mut self, token: Token) -> Option<&mut Pending> {
        self.pending.get_mut(&token)
    }

    pub(in crate::protocol) fn new_token(&mut self) -> Token {
        self.last_token += 1;
        Token(self.last_token)
    }

    /// A request is answered for now, and its id is free again.
    pub(in crate::protocol) fn park(&mut self, token: Token) {
        if let Some(pending) = self.pending.get_mut(&token) {
            pending.is_parked = true;
            pending.rounds += 1;
            self.ids.remove(&pending.id);
        }
    }

    /// Continues a suspended request in the place of another, which is gone then.
    pub(in crate::protocol) fn resume(&mut self, parked: Token, by: Token) -> Option<Exchange> {
        let Pending {
            id,
            exchange,
            caller,
            log_level,
            progress_token,
            ..
        } = self.take(by)?;
        let pending = self.pending.get_mut(&parked)?;
        self.ids.insert(id.clone(), parked);
        pending.id = id;
        pending.exchange = exchange;
        pending.caller = caller;
        pending.log_level = log_level;
        pending.progress_token = progress_token;
        pending.is_parked = false;
        Some(exchange)
    }

    /// Returns what a machine may know of a request; `params` are those that the application was called with, if none are
    /// given.
    pub(in crate::protocol) fn about(&self, token: Token, params: Option<Json>) -> Option<About> {
        let pending = self.get(token)?;
        let params = params.or_else(|| pending.params.clone());
        Some(About {
            token,
            method: pending.method,
            params: params.unwrap_or_else(no_params),
            peer: pending.peer,
            caller: Arc::clone(&pending.caller),
            principal: pending.principal.clone(),
            subject: pending.subject.as_ref().map(subject),
            rounds: pending.rounds,
        })
    }

    /// The call of a request that waits.
    pub(in crate::protocol) fn call<Method>(
        &self,
        token: Token,
        method: Method,
        params: Json,
        losses: Vec<Loss>,
    ) -> Option<IncomingRequest<Method>> {
        let pending = self.get(token)?;
        Some(IncomingRequest {
            token,
            id: Some(pending.id.clone()),
            exchange: pending.exchange,
            method,
            params,
            peer: pending.peer,
            caller: Arc::clone(&pending.caller),
            about: None,
            log_level: pending.log_level,
            progress_token: pending.progress_token.clone(),
            losses,
        })
    }

    pub(in crate::protocol) fn add(&mut self, pending: Pending) -> Token {
        let token = self.new_token();
        self.pending_bytes += pending.bytes;
        if pending.in_batch
            && let Some(batch) = self.batches.get_mut(&pending.exchange)
        {
            batch.waiting += 1;
        }
        self.waiting_streams += usize::from(pending.method == methods::SUBSCRIPTIONS_LISTEN);
        self.waiting_modern += usize::from(!is_legacy(pending.peer));
        self.ids.insert(pending.id.clone(), token);
        self.pending.insert(token, pending);
        token
    }

    pub(in crate::protocol) fn take(&mut self, token: Token) -> Option<Pending> {
        let pending = self.pending.remove(&token)?;
        self.waiting_streams -= usize::from(pending.method == methods::SUBSCRIPTIONS_LISTEN);
        self.waiting_modern -= usize::from(!is_legacy(pending.peer));
        self.pending_bytes = self.pending_bytes.saturating_sub(pending.bytes);
        if self.ids.get(&pending.id) == Some(&token) {
            self.ids.remove(&pending.id);
        }
        if pending.in_batch
            && let Some(batch) = self.batches.get_mut(&pending.exchange)
        {
            batch.waiting -= 1;
        }
        Some(pending)
    }
}
