//! A server's end of a connection: its inputs, and its state.

use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::{Headers, Revision, methods};
use mcp_wire::RequestId;

use super::state::ServerState;
use super::{Outgoing, Server};
use crate::connection::sealed::Sealed;
use crate::{Caller, Connection, Event, Exchange, Role, Token};

impl Sealed for Server {}

impl Role for Server {
    type Text = Outgoing;
    type State = ServerState;

    fn begin(&self) -> ServerState {
        ServerState::default()
    }

    fn report(&self, event: &Event) {
        self.on_mistake.report(event);
    }

    fn wake_at(state: &ServerState) -> Option<Duration> {
        let asked = state.asked.values().map(|asked| asked.until);
        let suspended = state.suspended.values().map(|call| call.until);
        let listening = (state.listening.iter()).filter_map(|it| it.deadline());
        let waiting = state.waiting_texts.iter().map(|it| it.until);
        asked.chain(suspended).chain(listening).chain(waiting).min()
    }
}

impl Connection<Server> {
    /// Takes a text of the peer: a message, or a batch where the revision has them. `headers` are those of its POST, and
    /// None on stdio.
    pub fn receive(
        &mut self,
        headers: Option<&Headers<'_>>,
        bytes: &[u8],
        now: Duration,
    ) -> Exchange {
        let looked = self.role.look(headers, bytes);
        self.take(headers, looked, now)
    }

    /// Returns the connection without adapters: what needs one is refused, and reported as an
    /// [`Event::RequiresState`](crate::Event::RequiresState).
    #[must_use]
    pub fn without_adapters(mut self) -> Self {
        self.state.is_bare = true;
        self
    }

    /// Returns the number of requests of the peer that have no response yet, or became tasks of the session that are at work.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        let waiting = self.state.waiting_texts.as_ref().map_or(0, |it| it.len());
        self.state.pending.len() + waiting + Arc::strong_count(&self.state.in_use) - 1
    }

    /// Returns whether the peer has streams of changes open: requests of `subscriptions/listen` without a response yet.
    #[must_use]
    pub fn has_streams(&self) -> bool {
        self.state.waiting_streams > 0
    }

    /// Returns the revision that `initialize` negotiated, if it did.
    #[must_use]
    pub fn session_revision(&self) -> Option<Revision> {
        self.state.session.as_ref().map(|session| session.revision)
    }

    /// Returns the client that opened the session by `initialize`, or the stream on which a per-request client is notified; at
    /// a [late](Server::late) server, the client that has introduced itself.
    #[must_use]
    pub fn opened_by(&self) -> Option<Arc<Caller>> {
        if let Some(session) = &self.state.session {
            return Some(Arc::clone(&session.caller));
        }
        let pending = self
            .state
            .pending
            .values()
            .find(|it| it.method == methods::SUBSCRIPTIONS_LISTEN);
        let listens = pending.map(|pending| &pending.caller);
        listens.or(self.state.introduced.as_ref()).cloned()
    }

    /// Returns the bytes of the requests of the peer that have no response yet.
    #[must_use]
    pub fn unanswered_bytes(&self) -> usize {
        let waiting = self.state.waiting_texts.as_ref().map_or(0, |it| it.bytes());
        self.state.pending_bytes + waiting
    }

    /// Returns the number of requests of the application that wait for the peer's response.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.state.asked.len()
    }

    /// Returns the exchange whose response carries messages about a call.
    #[must_use]
    pub fn exchange_of(&self, call: Token) -> Option<Exchange> {
        if self.state.own.contains_key(&call) {
            Some(Exchange::NONE)
        } else {
            self.state.get(call).map(|pending| pending.exchange)
        }
    }

    /// Returns whether the requests of this exchange are given up when its client hangs up.
    #[must_use]
    pub fn is_given_up_by_hanging_up(&self, exchange: Exchange) -> bool {
        self.state.given_up_with(exchange).next().is_some()
    }

    /// Returns the ids of the requests that came in this exchange, and are not answered.
    pub fn waiting_in(&self, exchange: Exchange) -> Vec<RequestId> {
        let pending = self.state.pending.values();
        let of_it = pending.filter(|it| it.exchange == exchange);
        of_it.map(|pending| pending.id.clone()).collect()
    }

    /// Sets the time, and ends what has waited too long.
    pub fn wake(&mut self, now: Duration) {
        self.late_introduction(now);
        self.late_asked(now);
        self.late_suspended(now);
        self.wake_listening(now);
    }
}

impl Caller {
    /// Returns the bytes of what the client has said of itself.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let said = [&self.info, &self.capabilities];
        said.into_iter()
            .flatten()
            .map(|said| said.text().len())
            .sum()
    }
}
