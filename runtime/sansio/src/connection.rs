//! A connection to one peer: texts and the time go in, outputs and the next wake time come out.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::events::{Event, Output};

/// A connection to one peer, in the role of a [`Server`](super::server::Server) or of a [`Client`](super::client::Client),
/// with all the state of it.
///
/// It has no sockets and no clock: [the run loop](crate) has both. A function with the same name does the same in both roles.
///
/// | | |
/// |---|---|
/// | the driver hands in | `receive`, `ended`, `closed`, `wake` |
/// | the application says | `ask`, `answer`, `notify`, `cancel` |
/// | the driver takes out | [`poll`](Self::poll), [`wake_at`](Self::wake_at) |
///
/// `now` is the time since any moment that the driver chooses, the same for all calls. No input causes an error or a
/// panic: a text that cannot be read is answered with an error, or ignored.
pub struct Connection<R: Role> {
    pub(super) role: Arc<R>,
    pub(super) state: R::State,
    outputs: VecDeque<Output<R::Text>>,
}

/// The role of a connection: server or client. It holds the options of an endpoint, and names the types that differ between the two.
///
/// Implemented by [`Server`](super::server::Server) and [`Client`](super::client::Client), and by nothing else.
pub trait Role: Sized + sealed::Sealed {
    /// The text that it sends.
    type Text: fmt::Debug + Clone + PartialEq + Send;
    /// The state of a connection in this role.
    #[doc(hidden)]
    type State: fmt::Debug + Send;

    /// Returns the state of a new connection.
    #[doc(hidden)]
    fn begin(&self) -> Self::State;

    /// Reports an event that is a mistake of the peer.
    #[doc(hidden)]
    fn report(&self, event: &Event);

    /// Returns the earliest deadline of a state.
    #[doc(hidden)]
    fn wake_at(state: &Self::State) -> Option<Duration>;
}

pub(super) mod sealed {
    /// Restricts [`Role`](super::Role) to the server and the client.
    pub trait Sealed {}
}

impl<R: Role> Connection<R> {
    /// Creates a connection with all adapters.
    pub fn new(role: impl Into<Arc<R>>) -> Self {
        let role = role.into();
        Self {
            state: role.begin(),
            role,
            outputs: VecDeque::new(),
        }
    }

    /// Returns the server or the client of the connection.
    #[must_use]
    pub fn role(&self) -> &Arc<R> {
        &self.role
    }

    /// Returns the next output, in order; `None` if there is nothing to do until the next input.
    pub fn poll(&mut self) -> Option<Output<R::Text>> {
        self.outputs.pop_front()
    }

    /// Returns the time at which the connection has to be woken by `wake` if nothing else is handed in before; `None` if it
    /// waits for nothing that ends by itself.
    ///
    /// It can be another one after each call that takes the time (`receive`, `ask`, `answer`, `cancel`, `ended`, `wake`), so
    /// the driver asks for it once [`poll`](Self::poll) is empty.
    #[must_use]
    pub fn wake_at(&self) -> Option<Duration> {
        R::wake_at(&self.state)
    }

    /// Frees the queue of outputs, if it is empty.
    pub(super) fn free_outputs(&mut self) {
        if self.outputs.is_empty() {
            self.outputs = VecDeque::new();
        }
    }

    pub(super) fn put(&mut self, output: Output<R::Text>) {
        self.outputs.push_back(output);
    }

    pub(super) fn send(&mut self, text: R::Text) {
        self.put(Output::Send(text));
    }

    pub(super) fn tell(&mut self, event: Event) {
        if matches!(event, Event::Ignored(_) | Event::Mended(_)) {
            self.role.report(&event);
        }
        self.put(Output::Event(event));
    }
}

mcp_wire::debug_struct!([R: Role] Connection<R>, "Connection", self, "state": self.state, "outputs": self.outputs);
