//! The state of a server's end of a conversation: its session, the requests that wait in both directions,
//! open batches, and what adapters keep.

use std::collections::BTreeSet;
use std::sync::Arc;

use mcp_revisions_core::Loss;
use mcp_wire::{Json, RequestId};

use super::late::WaitingTexts;
use super::requests::{About, Batch, Opened, PendingCall, ServerRequest};
use crate::input_required::server::by_requests::ServerRound;
use crate::input_required::server::seal::subject;
use crate::input_required::server::suspend::Suspended;
use crate::numbered::Numbered;
use crate::sorted::Sorted;
use crate::subscriptions::listen::Listening;
use crate::subscriptions::listen::streams::{SubscriptionCall, SubscriptionStream};
use crate::translate::no_params;
use crate::withdrawn::Withdrawn;
use crate::{Caller, Exchange, IncomingRequest, Token};
use mcp_revisions_core::methods;
use mcp_revisions_core::translate::is_handshake;

/// The state of a server's end of a conversation while it runs.
///
/// [`Server`](super::Server) itself is never written to. So a per-request message over HTTP gets a connection of its own, made
/// on the spot, and no lock of another is on its path.
#[derive(Debug, Default)]
pub struct ServerState {
    pub(crate) session: Option<Box<Opened>>,
    /// The client that has introduced itself to a late server.
    pub(super) introduced: Option<Arc<Caller>>,
    /// The texts that wait until it is known which application the connection serves.
    pub(super) waiting_texts: Option<Box<WaitingTexts>>,
    pub(super) pending: Numbered<Token, Box<PendingCall>>,
    ids: Sorted<RequestId, Token>,
    pub(crate) batches: Numbered<Exchange, Batch>,
    pub(crate) asked: Numbered<i64, ServerRequest>,
    /// Requests to the peer that were withdrawn and may yet be answered, the latest of them.
    pub(crate) withdrawn: Withdrawn,
    /// Set if no adapter does anything.
    pub(crate) is_bare: bool,
    /// Calls whose handlers ask for input in a result, and whose client is asked by requests.
    pub(crate) rounds: Numbered<Token, ServerRound>,
    /// Calls that wait for the retry of their client, by their ticket.
    pub(crate) suspended: Numbered<u64, Suspended>,
    /// The changes of which the client of a session is notified, where the handlers report them in a call.
    pub(crate) listening: Option<Box<Listening>>,
    /// Streams with notifications of changes, where the handlers report them to a session.
    pub(crate) streams: Numbered<Token, SubscriptionStream>,
    /// Calls of the application that adapters make on behalf of no request, and the subscription that such a call changes.
    pub(crate) own: Numbered<Token, Option<Box<SubscriptionCall>>>,
    /// Resources whose subscription such a call changes.
    pub(crate) running: BTreeSet<String>,
    /// Tasks that end with the session, each with a clone while it is at work.
    pub(crate) in_use: Arc<()>,
    pub(super) pending_bytes: usize,
    /// Numbers of waiting requests that are streams, and that are of the per-request lifecycle: where there are none, none is
    /// looked for.
    pub(super) waiting_streams: usize,
    waiting_per_request: usize,
    last_token: u64,
    pub(super) last_exchange: u64,
    pub(crate) last_ask: i64,
    /// The number that requests of the server begin behind; those of another replica that ran the session begin elsewhere.
    pub(super) first_ask: i64,
}

impl ServerState {
    pub(crate) fn given_up_with(&self, exchange: Exchange) -> impl Iterator<Item = Token> {
        let is_it = move |pending: &PendingCall| {
            pending.exchange == exchange && !pending.is_suspended && !is_handshake(pending.revision)
        };
        let per_request = (self.waiting_per_request > 0).then(|| self.pending.iter());
        let waiting = per_request.into_iter().flatten();
        waiting
            .filter(move |(_, pending)| is_it(pending))
            .map(|(token, _)| *token)
    }

    /// Returns what does not end by itself once the peer is gone: streams, and requests that wait for its answer.
    pub(crate) fn endless(&self) -> Vec<Token> {
        let waits = |pending: &PendingCall| {
            pending.is_suspended
                || pending.is_adapted
                || pending.method == methods::SUBSCRIPTIONS_LISTEN
        };
        let pending = self.pending.iter().filter(|(_, pending)| waits(pending));
        pending.map(|(token, _)| *token).collect()
    }

    /// Returns the requests whose peer waits for their answer.
    pub(super) fn waiting(&self) -> Vec<Token> {
        let waiting = self
            .pending
            .iter()
            .filter(|(_, pending)| !pending.is_suspended);
        waiting.map(|(token, _)| *token).collect()
    }

    /// Returns the streams that clients of the per-request lifecycle have opened.
    pub(crate) fn open_streams(&self) -> Vec<Token> {
        if self.waiting_streams == 0 {
            return Vec::new();
        }
        let pending = self.pending.iter();
        let streams =
            pending.filter(|(_, pending)| pending.method == methods::SUBSCRIPTIONS_LISTEN);
        streams.map(|(token, _)| *token).collect()
    }

    /// Gives back the room of requests that are over: a map that was filled once keeps some of it.
    pub(crate) fn rest(&mut self) {
        if self.pending.is_empty() {
            self.pending = Numbered::default();
            self.ids = Sorted::default();
        }
        if self.asked.is_empty() {
            self.asked = Numbered::default();
        }
        if self.own.is_empty() {
            self.own = Numbered::default();
        }
    }

    /// Nothing more is said in an exchange: what is taken back of the questions in it goes to the conversation at large.
    pub(crate) fn end_exchange(&mut self, exchange: Exchange) {
        for asked in self.asked.values_mut() {
            asked.exchange = asked.exchange.filter(|of| *of != exchange);
        }
    }

    pub(crate) fn next_exchange(&mut self) -> Exchange {
        self.last_exchange += 1;
        Exchange(self.last_exchange)
    }

    pub(crate) fn next_ask(&mut self) -> i64 {
        self.last_ask += 1;
        self.last_ask
    }

    pub(crate) fn token_of(&self, id: &RequestId) -> Option<Token> {
        self.ids.get(id).copied()
    }

    pub(crate) fn get(&self, token: Token) -> Option<&PendingCall> {
        self.pending.get(&token).map(Box::as_ref)
    }

    pub(crate) fn get_mut(&mut self, token: Token) -> Option<&mut PendingCall> {
        self.pending.get_mut(&token).map(Box::as_mut)
    }

    pub(crate) fn new_token(&mut self) -> Token {
        self.last_token += 1;
        Token(self.last_token)
    }

    /// A request is answered for now, and its id is free again.
    pub(crate) fn suspend(&mut self, token: Token) {
        if let Some(pending) = self.pending.get_mut(&token) {
            pending.is_suspended = true;
            pending.rounds += 1;
            self.ids.remove(&pending.id);
        }
    }

    /// Continues a suspended request in the place of another, which is gone then.
    pub(crate) fn resume(&mut self, suspended: Token, by: Token) -> Option<Exchange> {
        let PendingCall {
            id,
            exchange,
            caller,
            log_level,
            progress_token,
            ..
        } = *self.take(by)?;
        let pending = self.pending.get_mut(&suspended)?;
        self.ids.insert(id.clone(), suspended);
        pending.id = id;
        pending.exchange = exchange;
        pending.caller = caller;
        pending.log_level = log_level;
        pending.progress_token = progress_token;
        pending.is_suspended = false;
        Some(exchange)
    }

    /// Returns what an adapter needs to know of a request; `params` are those that the application was called with, if none are
    /// given.
    pub(crate) fn about(&self, token: Token, params: Option<Json>) -> Option<About> {
        let pending = self.get(token)?;
        Some(About {
            token,
            method: pending.method,
            params: params
                .or_else(|| pending.params.clone())
                .unwrap_or_else(no_params),
            revision: pending.revision,
            caller: Arc::clone(&pending.caller),
            principal: pending.principal.clone(),
            subject: pending.subject.as_ref().map(subject),
            rounds: pending.rounds,
        })
    }

    /// Returns the call of a request that waits.
    pub(crate) fn call<Method>(
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
            revision: pending.revision,
            caller: Arc::clone(&pending.caller),
            about: None,
            log_level: pending.log_level,
            progress_token: pending.progress_token.clone(),
            takes_task: pending.task.is_some(),
            losses,
        })
    }

    pub(crate) fn add(&mut self, pending: Box<PendingCall>) -> Token {
        let token = self.new_token();
        self.pending_bytes += pending.bytes;
        if pending.in_batch
            && let Some(batch) = self.batches.get_mut(&pending.exchange)
        {
            batch.waiting += 1;
        }
        self.waiting_streams += usize::from(pending.method == methods::SUBSCRIPTIONS_LISTEN);
        self.waiting_per_request += usize::from(!is_handshake(pending.revision));
        self.ids.insert(pending.id.clone(), token);
        self.pending.insert(token, pending);
        token
    }

    pub(crate) fn take(&mut self, token: Token) -> Option<Box<PendingCall>> {
        let pending = self.pending.remove(&token)?;
        self.waiting_streams -= usize::from(pending.method == methods::SUBSCRIPTIONS_LISTEN);
        self.waiting_per_request -= usize::from(!is_handshake(pending.revision));
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
