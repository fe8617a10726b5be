//! A server's end of a connection: its inputs, and its state.

use std::sync::Arc;
use std::time::Duration;

use mcp_protocol::Revision;
#[cfg(feature = "server-http")]
use mcp_wire::RequestId;

use super::state::State;
use super::{Outgoing, Server};
use crate::headers::Headers;
use crate::protocol::connection::sealed::Sealed;
use crate::protocol::{Caller, Connection, Exchange, Role, Token};

impl Sealed for Server {}

impl Role for Server {
    type Text = Outgoing;
    type State = State;

    fn begin(&self) -> State {
        State::default()
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
    /// [`Event::NeedsAdapter`](crate::protocol::Event::NeedsAdapter).
    #[must_use]
    pub fn without_adapters(mut self) -> Self {
        self.state.is_bare = true;
        self
    }

    /// Returns how many requests of the peer wait for their answer.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.state.pending()
    }

    /// Returns whether such streams are open.
    #[must_use]
    pub fn has_streams(&self) -> bool {
        self.state.has_streams()
    }

    /// Returns the revision that `initialize` negotiated, if it did.
    #[must_use]
    pub fn session_revision(&self) -> Option<Revision> {
        self.state.session_revision()
    }

    /// Returns the client that opened the session by `initialize`, or the stream on which a per-request client is notified.
    #[must_use]
    pub fn opened_by(&self) -> Option<Arc<Caller>> {
        self.state.opened_by()
    }

    /// Returns the bytes of the requests that wait for their response.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        self.state.pending_bytes()
    }

    /// Returns the bytes that are kept of the info and capabilities of the session's client.
    #[must_use]
    pub fn session_bytes(&self) -> usize {
        self.state.session_bytes()
    }

    /// Returns the number of requests of the server that wait for the peer's response.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.state.asked()
    }

    /// Returns the exchange whose response carries messages about a call.
    #[must_use]
    pub fn exchange_of(&self, call: Token) -> Option<Exchange> {
        self.state.exchange_of(call)
    }

    /// Returns whether the requests of this exchange are given up when its client hangs up.
    #[must_use]
    pub fn is_given_up_by_hanging_up(&self, exchange: Exchange) -> bool {
        self.state.is_given_up_by_hanging_up(exchange)
    }

    /// Returns the ids of the requests that came in this exchange, and are not answered.
    #[cfg(feature = "server-http")]
    pub(crate) fn waiting_in(&self, exchange: Exchange) -> Vec<RequestId> {
        self.state.waiting_in(exchange)
    }

    /// Counts exchanges and requests of the server from here.
    #[cfg(feature = "server-http")]
    pub(crate) fn count_from(&mut self, first: u64) {
        self.state.count_from(first);
    }

    /// Frees buffers that are empty.
    #[cfg(any(feature = "server-http", feature = "server-stdio"))]
    pub(crate) fn rest(&mut self) {
        self.free_outputs();
        self.state.rest();
    }
}
