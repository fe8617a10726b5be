//! One end of one conversation: input and time go in, outputs are taken out, and it says when it wants to be woken.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_wire::{ErrorObject, Json};

use super::ask::Ask;
use super::events::{Event, Exchange, Output, Said, To, Token};

/// One end of one conversation, of a [`Server`](super::server::Server) or a [`Client`](super::client::Client).
///
/// No sockets and no clock: whoever drives it hands in what came ([`receive`](Self::receive),
/// [`ended`](Self::ended), [`closed`](Self::closed)), the application says what it wants ([`ask`](Self::ask),
/// [`answer`](Self::answer), [`notify`](Self::notify), [`cancel`](Self::cancel)), and both take what is to be done from
/// [`poll`](Self::poll) until there is nothing more. `now` counts from whenever the driver likes.
/// Whatever comes in, nothing here fails or panics: what cannot be read is answered with an error, or left out.
pub struct Connection<S: Side> {
    pub(crate) side: Arc<S>,
    pub(crate) state: S::State,
    outputs: VecDeque<Output<S::Text>>,
}

/// Which end of a conversation: what is told once, and what differs between the two.
///
/// Implemented by [`Server`](super::server::Server) and [`Client`](super::client::Client), and by nothing else.
pub trait Side: Sized + sealed::Sealed {
    /// What it sends.
    type Text: fmt::Debug + Clone + PartialEq + Send;
    /// Where a text came from: at a server the headers of its POST, at a client the exchange that it answers.
    type Origin<'a>;
    /// Why a request of the application was not taken.
    type Refused: fmt::Debug;
    /// What changes while it runs.
    #[doc(hidden)]
    type State: fmt::Debug + Send;

    #[doc(hidden)]
    fn begin(side: &Self) -> Self::State;

    #[doc(hidden)]
    fn receive(
        at: &mut Connection<Self>,
        from: Self::Origin<'_>,
        bytes: &[u8],
        now: Duration,
    ) -> Exchange;
    #[doc(hidden)]
    fn ended(at: &mut Connection<Self>, exchange: Exchange, now: Duration);
    #[doc(hidden)]
    fn closed(at: &mut Connection<Self>, now: Duration);
    #[doc(hidden)]
    fn ask(at: &mut Connection<Self>, ask: Ask, now: Duration) -> Result<Token, Self::Refused>;
    #[doc(hidden)]
    fn answer(
        at: &mut Connection<Self>,
        call: Token,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Said;
    #[doc(hidden)]
    fn notify(
        at: &mut Connection<Self>,
        to: To,
        method: &str,
        params: Option<&Json>,
        now: Duration,
    ) -> Said;
    #[doc(hidden)]
    fn cancel(at: &mut Connection<Self>, ask: Token, reason: Option<&str>, now: Duration);
    #[doc(hidden)]
    fn wake_at(at: &Connection<Self>) -> Option<Duration>;
    #[doc(hidden)]
    fn wake(at: &mut Connection<Self>, now: Duration);
    #[doc(hidden)]
    fn pending(at: &Connection<Self>) -> usize;
    #[doc(hidden)]
    fn rest(_: &mut Self::State) {}
}

pub(crate) mod sealed {
    /// Keeps [`Side`](super::Side) to the two that there are.
    pub trait Sealed {}
}

impl<S: Side> Connection<S> {
    /// A connection on which nothing has been said, with all adapters.
    pub fn new(side: impl Into<Arc<S>>) -> Self {
        let side = side.into();
        Self {
            state: S::begin(&side),
            side,
            outputs: VecDeque::new(),
        }
    }

    /// What was told once.
    #[must_use]
    pub fn side(&self) -> &Arc<S> {
        &self.side
    }

    /// What is to be done next, in order; none if there is nothing to do until something comes.
    pub fn poll(&mut self) -> Option<Output<S::Text>> {
        self.outputs.pop_front()
    }

    /// Takes a text of the peer: a message, or a batch where the revision has them.
    pub fn receive(&mut self, from: S::Origin<'_>, bytes: &[u8], now: Duration) -> Exchange {
        S::receive(self, from, bytes, now)
    }

    /// The peer is gone from an exchange: at a server nobody reads its response any more, at a client no more of it comes.
    pub fn ended(&mut self, exchange: Exchange, now: Duration) {
        S::ended(self, exchange, now);
    }

    /// The peer will not say anything any more.
    pub fn closed(&mut self, now: Duration) {
        S::closed(self, now);
    }

    /// Sends the peer a request; exactly one [`Event::Answered`] follows, unless it is cancelled.
    ///
    /// # Errors
    /// Why it was not taken.
    pub fn ask(&mut self, ask: Ask, now: Duration) -> Result<Token, S::Refused> {
        S::ask(self, ask, now)
    }

    /// Answers a call, in the words of the application's revision.
    ///
    /// The answer goes out in the peer's revision. What that cannot say becomes an error for the peer: a request is
    /// answered exactly once, come what may. A token that is not known any more is not an error, for the call may just
    /// have been cancelled.
    pub fn answer(
        &mut self,
        call: Token,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Said {
        S::answer(self, call, result, now)
    }

    /// Sends a notification, in the words of the application's revision.
    ///
    /// What the peer did not ask for is swallowed: logs below its level, or any if a per-request client names no level;
    /// progress of a call without a token; anything but logs before the client is initialized.
    pub fn notify(&mut self, to: To, method: &str, params: Option<&Json>, now: Duration) -> Said {
        S::notify(self, to, method, params, now)
    }

    /// Gives up a request of the application: its answer is not waited for any more, and the peer is told.
    pub fn cancel(&mut self, ask: Token, reason: Option<&str>, now: Duration) {
        S::cancel(self, ask, reason, now);
    }

    /// When [`wake`](Self::wake) has something to do.
    #[must_use]
    pub fn wake_at(&self) -> Option<Duration> {
        S::wake_at(self)
    }

    /// Tells the time: whatever has waited long enough is over.
    pub fn wake(&mut self, now: Duration) {
        S::wake(self, now);
    }

    /// How many requests wait for their answer: at a server those of the peer, at a client those of the application.
    #[must_use]
    pub fn pending(&self) -> usize {
        S::pending(self)
    }

    /// Gives back the room of what comes and goes, where there is none of it.
    #[cfg(any(feature = "http", feature = "stdio"))]
    pub(crate) fn rest(&mut self) {
        if self.outputs.is_empty() {
            self.outputs = VecDeque::new();
        }
        S::rest(&mut self.state);
    }

    pub(crate) fn put(&mut self, output: Output<S::Text>) {
        self.outputs.push_back(output);
    }

    pub(crate) fn send(&mut self, text: S::Text) {
        self.put(Output::Send(text));
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.put(Output::Event(event));
    }
}

impl<S: Side> fmt::Debug for Connection<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("state", &self.state)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}
