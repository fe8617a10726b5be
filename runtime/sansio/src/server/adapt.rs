//! The adapters of a server, for messages that no conversion can translate, because it needs to know more than the value at hand.
//!
//! A conversion says whose business it is ([`Adapter`]), and the connection hands it to the file in which that is done.
//! The memory of an adapter is a field of the connection's state, bounded by `Limits`. On a connection
//! [`without_adapters`](Connection::without_adapters) it becomes a typed [`NeedsAdapter`](crate::NeedsAdapter),
//! and the peer gets an error that this cannot be done.
//!
//! | handlers | client | file |
//! |---|---|---|
//! | per-request | handshake | `input_required::by_requests`: each of `inputRequests` becomes a request to the client, and the handler is called again with the answers |
//! | any | per-request | `input_required::suspend`: a question of the handler becomes `input_required` with a signed `requestState`; the handler goes on at the retry |
//! | per-request | handshake | `subscriptions::listen`: subscriptions and the list changes that the client expects unasked become one `subscriptions/listen` of the handlers |
//! | handshake | per-request | `subscriptions::listen::streams`: `subscriptions/listen` becomes `resources/subscribe` of the handlers, and notifications for the session go to the streams that want them |
//!
//! Tasks outlive their connection, and are no adapter of it: `tasks::server` says what they are to a connection, and
//! the transport runs them.

use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::{Adapter, Loss, RequiresState, Revision};
use mcp_wire::envelope::write;
use mcp_wire::{ErrorObject, Json};

use super::Server;
use super::reply::Outgoing;
use super::requests::PendingCall;
use crate::translate::no_params;
use crate::{Answered, Caller, Cancelled, Connection, Event, IncomingRequest, Token};
use mcp_revisions_core::methods;
use mcp_revisions_core::translate::is_handshake;
use mcp_wire::meta;

impl Connection<Server> {
    /// Returns when [`wake`](Self::wake) has something to do.
    #[must_use]
    pub fn wake_at(&self) -> Option<Duration> {
        let asked = self.state.asked.values().map(|asked| asked.until);
        let suspended = self.state.suspended.values().map(|call| call.until);
        let listening = (self.state.listening.iter()).filter_map(|it| it.deadline());
        let waiting = self.state.waiting_texts.iter().map(|it| it.until);
        asked.chain(suspended).chain(listening).chain(waiting).min()
    }

    /// Sets the time, and ends what has waited too long.
    pub fn wake(&mut self, now: Duration) {
        self.late_introduction(now);
        self.late_asked(now);
        self.late_suspended(now);
        self.wake_listening(now);
    }

    /// Hands a request to the adapter of a rule. Returns false if none takes it.
    pub(crate) fn adapt_request(
        &mut self,
        mut pending: Box<PendingCall>,
        params: Option<Json>,
        needs: &RequiresState,
        now: Duration,
    ) -> bool {
        let is_taken = matches!(
            needs.adapter,
            Adapter::MultiRoundTrip | Adapter::Subscription
        );
        if self.state.is_bare || !is_taken {
            return false;
        }
        pending.is_adapted = true;
        let token = self.state.add(pending);
        let params = Some(params.unwrap_or_else(no_params));
        let Some(about) = self.state.about(token, params) else {
            return false;
        };
        match needs.adapter {
            Adapter::MultiRoundTrip => self.retry(&about, now),
            _ if self.role.is_per_request => self.subscribe(&about, now),
            _ => self.open_stream(&about),
        }
        true
    }

    /// Hands an answer of the application to the adapter of a rule. Returns false if none takes it.
    pub(crate) fn adapt_answer(
        &mut self,
        token: Token,
        needs: &RequiresState,
        result: Result<&Json, &ErrorObject>,
        now: Duration,
    ) -> bool {
        if self.state.is_bare || needs.adapter != Adapter::MultiRoundTrip {
            return false;
        }
        let Some(about) = self.state.about(token, None) else {
            return false;
        };
        match (result, self.role.is_per_request) {
            (Ok(result), true) => {
                self.ask_by_requests(&about, result, now);
                true
            }
            (Err(error), false) => self.elicit(&about, error, now),
            _ => false,
        }
    }

    /// A request that an adapter has taken waits no more.
    pub(crate) fn end_adapted(&mut self, token: Token) {
        self.end_round(token);
        self.end_suspended(token);
        self.end_subscription(token);
        self.close_stream(token);
    }

    /// Answers a request for now, while the application goes on with its call.
    pub(crate) fn answer_with_questions(&mut self, token: Token, ticket: u64, result: Json) {
        let Some(pending) = self.state.get_mut(token) else {
            return;
        };
        pending.is_adapted = true;
        let exchange = pending.exchange;
        let body = write::response(&pending.id, &self.role.signed(result, pending.revision));
        self.state.suspend(token);
        self.state.end_exchange(exchange);
        // The client may retry as soon as it has the answer: the transport has to know the ticket by then.
        self.tell(Event::Suspended { token, ticket });
        self.send(Outgoing::last(exchange, 200, body));
    }

    /// Continues a suspended request in the place of the one by which its client has retried.
    pub(crate) fn resume(&mut self, token: Token, by: Token, now: Duration) {
        let Some(exchange) = self.state.resume(token, by) else {
            return;
        };
        self.tell(Event::Resumed { token, exchange });
        let pending = self.state.get_mut(token);
        if let Some(result) = pending.and_then(|pending| pending.early.take()) {
            let _ = self.answer(token, result, now);
        }
    }

    /// Gives the application the answer to its request, in its revision.
    pub(crate) fn deliver_to_application(
        &mut self,
        token: Token,
        result: Result<Json, ErrorObject>,
    ) {
        self.tell(Event::Answered(Answered {
            token,
            answer: result.into(),
            losses: Vec::new(),
        }));
    }

    /// Sends the peer a notification in its own words, about a request of it.
    pub(crate) fn send_notification(
        &mut self,
        about: Option<Token>,
        method: &'static str,
        params: Json,
    ) {
        let pending = about.and_then(|token| self.state.get(token));
        let params = match pending {
            Some(pending) if pending.method == methods::SUBSCRIPTIONS_LISTEN => {
                meta::with(&params, meta::SUBSCRIPTION_ID, &Json::of(&pending.id))
            }
            _ => params,
        };
        let exchange = pending.map(|pending| pending.exchange);
        let peer = pending
            .map(|pending| pending.revision)
            .or(self.session_revision())
            .unwrap_or(self.role.app());
        let method = self.role.translator.peer_name(method, peer);
        let body = write::notification(method, Some(params.text()));
        self.send(Outgoing::on_its_way(exchange, body));
    }

    /// Hands a request that waits to the application.
    pub(crate) fn call(
        &mut self,
        token: Token,
        method: &'static str,
        params: Json,
        losses: Vec<Loss>,
    ) {
        if let Some(call) = self.state.call(token, method, params, losses) {
            self.tell(Event::Request(call));
        }
    }

    /// Hands a request that still waits to the application once more, with other params.
    pub(crate) fn call_again(&mut self, token: Token, params: Json) {
        let Some(pending) = self.state.get_mut(token) else {
            return;
        };
        pending.rounds += 1;
        pending.params = Some(params.clone());
        let method = pending.method;
        self.call(token, method, params, Vec::new());
    }

    /// Calls the application on behalf of the session, with what a request of its own lifecycle says.
    pub(crate) fn own_call(&mut self, method: &'static str, params: Json, peer: Revision) -> Token {
        let caller = self
            .opened_by()
            .filter(|caller| caller.revision == peer)
            .unwrap_or_else(|| Arc::new(Caller::unknown(peer)));
        self.own_call_of(&caller, method, params)
    }

    /// Calls the application on behalf of this client.
    pub(crate) fn own_call_of(
        &mut self,
        caller: &Arc<Caller>,
        method: &'static str,
        params: Json,
    ) -> Token {
        let peer = caller.revision;
        let session = self.state.session.as_deref().filter(|_| is_handshake(peer));
        let params = match session.filter(|_| self.role.is_per_request) {
            Some(session) => session.caller.stated_in(&params, self.role.app()),
            None => params,
        };
        let token = self.state.new_token();
        self.state.own.insert(token, None);
        let call =
            IncomingRequest::without_message(token, method, params, peer, Arc::clone(caller));
        self.tell(Event::Request(call));
        token
    }

    /// A call on behalf of the session need not be answered any more.
    pub(crate) fn cancel_own(&mut self, token: Token) {
        if self.state.own.remove(&token).is_some() {
            let reason = None;
            self.tell(Event::Cancelled(Cancelled { token, reason }));
        }
    }
}
