//! A server's end of a conversation: what goes in is handed to the steps, and what they came to is put out.

use std::sync::Arc;
use std::time::Duration;

use mcp_registry::Revision;
use mcp_wire::{ErrorObject, Json};

use super::done::{Done, Outgoing};
use super::state::State;
use super::{Looked, Server};
use crate::adapters::StateMachine;
use crate::headers::Headers;
use crate::protocol::connection::sealed::Sealed;
use crate::protocol::{Ask, Caller, Connection, Exchange, Fate, Said, Side, To, Token};

impl Sealed for Server {}

impl Side for Server {
    type Text = Outgoing;
    type Origin<'a> = Option<&'a Headers<'a>>;
    type Refused = Fate;
    type State = State;

    fn begin(_: &Self) -> State {
        State::default()
    }

    fn receive(
        at: &mut Connection<Self>,
        from: Option<&Headers<'_>>,
        bytes: &[u8],
        now: Duration,
    ) -> Exchange {
        let looked = at.side.look(from, bytes);
        at.take(from, looked, now)
    }

    fn ended(at: &mut Connection<Self>, exchange: Exchange, now: Duration) {
        let done = at.side.hang_up(&mut at.state, exchange, now);
        let _ = at.apply(done);
    }

    fn closed(at: &mut Connection<Self>, now: Duration) {
        let done = at.side.input_ended(&mut at.state, now);
        let _ = at.apply(done);
    }

    fn ask(at: &mut Connection<Self>, ask: Ask, now: Duration) -> Result<Token, Fate> {
        let token = at.state.new_token();
        let done = at.side.ask(&mut at.state, token.0, &ask, now);
        match at.apply(done).fate {
            Fate::Sent | Fate::Adapted => Ok(token),
            fate => Err(fate),
        }
    }

    fn answer(
        at: &mut Connection<Self>,
        call: Token,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Said {
        let done = at.side.answer(&mut at.state, call, result, now);
        at.apply(done)
    }

    fn notify(
        at: &mut Connection<Self>,
        to: To,
        method: &str,
        params: Option<&Json>,
        now: Duration,
    ) -> Said {
        let done = at.side.notify(&mut at.state, to, method, params, now);
        at.apply(done)
    }

    fn cancel(at: &mut Connection<Self>, ask: Token, reason: Option<&str>, now: Duration) {
        let done = at.side.forget(&mut at.state, ask.0, reason, now);
        let _ = at.apply(done);
    }

    fn wake_at(at: &Connection<Self>) -> Option<Duration> {
        at.state.wake_at()
    }

    fn wake(at: &mut Connection<Self>, now: Duration) {
        let done = at.side.tick(&mut at.state, now);
        let _ = at.apply(done);
    }

    fn pending(at: &Connection<Self>) -> usize {
        at.state.pending()
    }

    fn rest(state: &mut State) {
        state.rest();
    }
}

impl Connection<Server> {
    /// The connection without adapters but those that are plugged in.
    #[must_use]
    pub fn without_adapters(mut self) -> Self {
        self.state.is_bare = true;
        self
    }

    /// Plugs in a state machine; one for each [`Adapter`](mcp_registry::Adapter), a later one takes the place of an
    /// earlier.
    pub fn plug(&mut self, machine: Box<dyn StateMachine>) {
        self.state.plug(machine);
    }

    /// As [`receive`](Self::receive), of a text that [`Server::look`] has looked at with the same headers.
    pub fn take(
        &mut self,
        headers: Option<&Headers<'_>>,
        looked: Looked<'_>,
        now: Duration,
    ) -> Exchange {
        let exchange = self.state.next_exchange();
        let principal = headers.and_then(|headers| headers.principal);
        let received = (self.side).receive(&mut self.state, exchange, looked, principal, now);
        for output in received.outputs {
            self.put(output);
        }
        if let Some(reply) = received.reply {
            self.send(reply);
        }
        exchange
    }

    /// Gives up a call: its peer does not want the answer any more.
    pub fn give_up(&mut self, call: Token, reason: Option<String>, now: Duration) -> Said {
        let done = self.side.give_up(&mut self.state, call, reason, now);
        self.apply(done)
    }

    /// Ends the streams that clients of the modern era have opened, as a server does that stops: each is told so.
    pub fn end_streams(&mut self, now: Duration) {
        let done = self.side.end_streams(&mut self.state, now);
        let _ = self.apply(done);
    }

    /// Whether such streams are open.
    #[must_use]
    pub fn has_streams(&self) -> bool {
        self.state.has_streams()
    }

    /// The revision that `initialize` settled, if it did.
    #[must_use]
    pub fn session_revision(&self) -> Option<Revision> {
        self.state.session_revision()
    }

    /// Who has opened the session by `initialize`, or the stream on which a modern client is told things.
    #[must_use]
    pub fn opened_by(&self) -> Option<Arc<Caller>> {
        self.state.opened_by()
    }

    /// How many bytes the requests are that wait for their answer.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        self.state.pending_bytes()
    }

    /// How many bytes are kept of what the client of the session said of itself.
    #[must_use]
    pub fn session_bytes(&self) -> usize {
        self.state.session_bytes()
    }

    /// How many requests of the server wait for the peer's answer.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.state.asked()
    }

    /// The exchange whose response what is said about a call goes into.
    #[must_use]
    pub fn exchange_of(&self, call: Token) -> Option<Exchange> {
        self.state.exchange_of(call)
    }

    /// Whether what came in this exchange is given up by whoever does not wait for its response.
    #[must_use]
    pub fn is_given_up_by_hanging_up(&self, exchange: Exchange) -> bool {
        self.state.is_given_up_by_hanging_up(exchange)
    }

    fn apply(&mut self, done: Done) -> Said {
        let Done {
            outputs,
            losses,
            fate,
        } = done;
        for output in outputs {
            self.put(output);
        }
        Said { fate, losses }
    }
}
