//! One end of one conversation: input and time go in, outputs are taken out, and it says when it wants to be woken.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::events::{Event, Output};

/// One end of one conversation, in the role of a [`Server`](super::server::Server) or of a
/// [`Client`](super::client::Client).
///
/// It has no sockets and no clock. A driver hands in texts by `receive`, the ends of streams by `ended` and `closed`, and the
/// time by `wake`; the application calls `ask`, `answer`, `notify` and `cancel`; both take outputs from [`poll`](Self::poll)
/// until there are no more. These functions have the same names in both roles. `now` counts from any moment that the driver
/// chooses. No input causes an error or a panic: a text that cannot be read is answered with an error, or ignored.
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

impl<R: Role> fmt::Debug for Connection<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("state", &self.state)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}
