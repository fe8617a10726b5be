//! What a step of a server's end came to, before the connection hands it out.

use mcp_registry::Loss;
use mcp_wire::RequestId;
use mcp_wire::envelope::write;

use crate::errors::Refusal;
use crate::protocol::{Event, Exchange, Fate, Ignored, Output};

/// A text for the client.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The exchange whose response this belongs to; `None` is for the conversation at large.
    pub exchange: Option<Exchange>,
    /// Whether the exchange ends with this. Else it is a notification or a request on its way.
    pub last: bool,
    /// The status, over HTTP, if this is the whole response.
    pub status: u16,
    /// The text; if it is empty, an empty response over HTTP, and nothing elsewhere.
    pub body: String,
}

impl Outgoing {
    /// What an exchange ends with.
    pub(super) fn last(exchange: Exchange, status: u16, body: String) -> Self {
        Self {
            exchange: Some(exchange),
            last: true,
            status,
            body,
        }
    }
}

/// What a text came to: what was done about it, and what answers it at once.
pub(super) struct Received {
    pub(super) outputs: Vec<Output<Outgoing>>,
    /// `None` while requests in it wait for the application.
    pub(super) reply: Option<Outgoing>,
}

/// What one message came to, before it is known whether it stands alone or in a batch.
#[derive(Default)]
pub(super) struct Handled {
    /// What answers it at once, and the status beside it.
    pub(super) answer: Option<(String, u16)>,
    pub(super) outputs: Vec<Output<Outgoing>>,
    /// Whether a request waits for the application.
    pub(super) waits: bool,
    /// The status of an empty response.
    pub(super) status: u16,
}

impl Handled {
    pub(super) fn refused(id: Option<&RequestId>, refusal: &Refusal) -> Self {
        Self {
            answer: Some((write::error(id, &refusal.error), refusal.status)),
            ..Self::default()
        }
    }

    pub(super) fn answered(id: &RequestId, result: &str) -> Self {
        Self {
            answer: Some((write::response(id, result), 200)),
            ..Self::default()
        }
    }

    pub(super) fn told(event: Event) -> Self {
        Self {
            outputs: vec![Output::Event(event)],
            status: 202,
            ..Self::default()
        }
    }

    /// What an adapter did while a message was handled, as part of that.
    pub(super) fn adapted(done: Done, waits: bool) -> Self {
        Self {
            outputs: done.outputs,
            waits,
            ..Self::default()
        }
    }

    pub(super) fn put_aside(ignored: Ignored, status: u16) -> Self {
        Self {
            outputs: vec![Output::Event(Event::Ignored(ignored))],
            status,
            ..Self::default()
        }
    }
}

/// What something that was to be said came to.
#[derive(Debug)]
#[must_use = "it holds the texts to send"]
pub(super) struct Done {
    pub(super) outputs: Vec<Output<Outgoing>>,
    pub(super) losses: Vec<Loss>,
    pub(super) fate: Fate,
}

impl Done {
    pub(super) fn of(fate: Fate) -> Self {
        Self {
            outputs: Vec::new(),
            losses: Vec::new(),
            fate,
        }
    }

    pub(super) fn send(&mut self, text: Outgoing) {
        self.outputs.push(Output::Send(text));
    }

    pub(super) fn send_all(&mut self, texts: Option<Outgoing>) {
        self.outputs.extend(texts.map(Output::Send));
    }

    pub(super) fn tell(&mut self, event: Event) {
        self.outputs.push(Output::Event(event));
    }

    pub(super) fn tell_all(&mut self, events: Option<Event>) {
        self.outputs.extend(events.map(Output::Event));
    }

    /// Goes on with what came of something else.
    pub(super) fn join(&mut self, more: Self) {
        let Self {
            outputs,
            losses,
            fate: _,
        } = more;
        self.outputs.extend(outputs);
        self.losses.extend(losses);
    }
}
