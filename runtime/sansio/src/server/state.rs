//! The state of a server's connection: its session, the unanswered requests of both directions, open batches, and the state
//! of adapters.

use std::collections::BTreeSet;
use std::sync::Arc;

use mcp_revisions_core::{Loss, methods, translate::is_handshake};
use mcp_wire::{Json, RequestId};

use super::requests::{About, Batch, OpenSession, PendingCall, ServerRequest};
use crate::input_required::server::by_requests::ServerRound;
use crate::input_required::server::seal::subject;
use crate::input_required::server::suspend::SuspendedCall;
use crate::negotiate::server::late::WaitingTexts;
use crate::numbered::Numbered;
use crate::sorted::Sorted;
use crate::subscriptions::listen::Listening;
use crate::subscriptions::listen::streams::{SubscriptionCall, SubscriptionStream};
use crate::translate::no_params;
use crate::withdrawn::Withdrawn;
use crate::{Caller, Exchange, IncomingRequest, Token};

/// The state of a server's connection. It holds all that changes while the connection is open.
///
/// A [`Server`](super::Server) itself never changes: a per-request message over HTTP gets a connection of its own, and waits for
/// no lock of another.
#[derive(Debug, Default)]
pub struct ServerState {
    pub(crate) session: Option<Box<OpenSession>>,
    /// The client that has introduced itself to a late server.
    pub(crate) introduced: Option<Arc<Caller>>,
    /// The texts that wait until the application of the connection is known.
    pub(crate) waiting_texts: Option<Box<WaitingTexts>>,
    pub(super) pending: Numbered<Token, Box<PendingCall>>,
    ids: Sorted<RequestId, Token>,
    pub(crate) batches: Numbered<Exchange, Batch>,
    pub(crate) asked: Numbered<i64, ServerRequest>,
    /// The latest requests to the peer that were cancelled, and that it may still answer.
    pub(crate) withdrawn: Withdrawn,
    /// Set if no adapter is active.
    pub(crate) is_bare: bool,
    /// Calls whose handlers request input in a result, and whose client gets these as requests.
    pub(crate) rounds: Numbered<Token, ServerRound>,
    /// Calls that wait for the retry of their client, by their ticket.
    pub(crate) suspended: Numbered<u64, SuspendedCall>,
    /// The changes that the client of a session listens to, where the handlers report them in a call.
    pub(crate) listening: Option<Box<Listening>>,
    /// Streams with notifications of changes, where the handlers report them to a session.
    pub(crate) streams: Numbered<Token, SubscriptionStream>,
    /// Calls of the application that adapters make by themselves, and the subscription that such a call changes.
    pub(crate) own: Numbered<Token, Option<Box<SubscriptionCall>>>,
    /// Resources whose subscription such a call changes.
    pub(crate) running: BTreeSet<String>,
    /// Cloned by each running task that ends with the session.
    pub(crate) in_use: Arc<()>,
    pub(super) pending_bytes: usize,
    /// Numbers of unanswered requests that are streams, and that are of the per-request lifecycle; zero saves a search.
    pub(super) waiting_streams: usize,
    waiting_per_request: usize,
    last_token: u64,
    pub(crate) last_exchange: u64,
    pub(crate) last_ask: i64,
    /// The number after which ids of the server's requests begin. Each replica that runs the session begins elsewhere.
    pub(crate) first_ask: i64,
}

impl ServerState {
    /// Returns the per-request requests of an exchange that the end of the exchange cancels.
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

    /// Returns the requests that do not end by themselves once the peer is gone: streams, and those that wait for its input.
    pub(crate) fn endless(&self) -> Vec<Token> {
        let waits = |pending: &PendingCall| {
            pending.is_suspended || pending.is_adapted || pending.is_stream()
        };
        self.pending.find_all(|pending| waits(pending))
    }

    /// Returns the unanswered requests that are not suspended.
    pub(super) fn waiting(&self) -> Vec<Token> {
        self.pending.find_all(|pending| !pending.is_suspended)
    }

    /// Returns the streams that clients of the per-request lifecycle have opened.
    pub(crate) fn open_streams(&self) -> Vec<Token> {
        self.pending.find_all(|pending| pending.is_stream())
    }

    /// Frees the memory of empty maps, which keep the capacity that they once had.
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

    /// Ends an exchange: cancellations of requests that were sent to the peer in it belong to no exchange.
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

    /// Suspends a request, whose client has an answer for now, and frees its id.
    pub(crate) fn suspend(&mut self, token: Token) {
        if let Some(pending) = self.pending.get_mut(&token) {
            pending.is_suspended = true;
            pending.rounds += 1;
            self.ids.remove(&pending.id);
        }
    }

    /// Continues a suspended request in place of its retry, which is removed, and returns the exchange of the retry.
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

    /// Returns the facts of a request for an adapter. Without `params`, they have those that the application was called with.
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

    /// Returns the call of an unanswered request.
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
