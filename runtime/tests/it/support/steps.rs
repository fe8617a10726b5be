//! A server's end of a conversation, step by step: each with all that it came to.

#![allow(dead_code, reason = "each test uses its own part")]

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{
    Connection, Event, Exchange, Fate, Outgoing, OutgoingRequest, Output as Step, Profile,
    ProfileError, SendOutcome, To, Token,
};
use mcp_revisions::{
    Limits, Revision, RevisionSet,
    core::{Headers, Loss},
};

/// A server that several channels share.
pub(crate) struct Server(pub(crate) Arc<mcp_revisions::sansio::Server>);

/// A connection, to whichever server is the first to use it.
#[derive(Default)]
pub(crate) struct Channel {
    connection: Option<Connection<mcp_revisions::sansio::Server>>,
    is_bare: bool,
}

/// What a text came to.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) exchange: Exchange,
    /// What ended its exchange at once.
    pub(crate) reply: Option<Reply>,
    pub(crate) events: Vec<Event>,
    /// What was sent beside.
    pub(crate) send: Vec<Outgoing>,
    pub(crate) closes: Vec<Exchange>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Option<String>,
    pub(crate) opens_session: bool,
}

/// What something that was said came to.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) send: Vec<Outgoing>,
    pub(crate) events: Vec<Event>,
    pub(crate) closes: Vec<Exchange>,
    pub(crate) losses: Vec<Loss>,
    pub(crate) fate: Fate,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Channel(..)")
    }
}

impl Channel {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn bare() -> Self {
        Self {
            is_bare: true,
            ..Self::default()
        }
    }

    pub(crate) fn pending(&self) -> usize {
        self.connection.as_ref().map_or(0, |it| it.unanswered())
    }

    pub(crate) fn pending_bytes(&self) -> usize {
        self.connection
            .as_ref()
            .map_or(0, |it| it.unanswered_bytes())
    }

    pub(crate) fn asked(&self) -> usize {
        self.connection.as_ref().map_or(0, |it| it.pending())
    }

    pub(crate) fn session_revision(&self) -> Option<Revision> {
        self.connection.as_ref()?.session_revision()
    }

    pub(crate) fn wake_at(&self) -> Option<Duration> {
        self.connection.as_ref()?.wake_at()
    }

    fn of(&mut self, server: &Server) -> &mut Connection<mcp_revisions::sansio::Server> {
        let is_bare = self.is_bare;
        self.connection.get_or_insert_with(|| {
            let mut connection = Connection::new(Arc::clone(&server.0));
            if is_bare {
                connection = connection.without_adapters();
            }
            connection
        })
    }
}

impl Deref for Server {
    type Target = mcp_revisions::sansio::Server;

    fn deref(&self) -> &mcp_revisions::sansio::Server {
        &self.0
    }
}

impl Server {
    pub(crate) fn new(app: Revision, profile: Profile) -> Result<Self, ProfileError> {
        mcp_revisions::sansio::Server::new(app, profile).map(|server| Self(Arc::new(server)))
    }

    /// The server, told something else.
    pub(crate) fn told(
        self,
        change: impl FnOnce(mcp_revisions::sansio::Server) -> mcp_revisions::sansio::Server,
    ) -> Self {
        Self(Arc::new(change(Arc::into_inner(self.0).unwrap())))
    }

    pub(crate) fn with_revisions(self, served: RevisionSet) -> Self {
        self.told(|server| server.with_revisions(served))
    }

    pub(crate) fn with_limits(self, limits: Limits) -> Self {
        self.told(|server| server.with_limits(limits))
    }

    pub(crate) fn receive(
        &self,
        channel: &mut Channel,
        headers: Option<&Headers<'_>>,
        bytes: &[u8],
        now: Duration,
    ) -> Received {
        let connection = channel.of(self);
        let exchange = connection.receive(headers, bytes, now);
        let Output {
            send,
            events,
            closes,
            ..
        } = drained(connection, None);
        let is_reply = |text: &Outgoing| text.last && text.exchange == Some(exchange);
        let (mut replies, send): (Vec<_>, Vec<_>) = send.into_iter().partition(is_reply);
        assert!(replies.len() <= 1, "answered twice: {replies:?}");
        let reply = replies.pop().map(|text| Reply {
            status: text.status,
            opens_session: events.iter().any(|it| matches!(it, Event::Opened(_))),
            body: Some(text.body).filter(|body| !body.is_empty()),
        });
        Received {
            exchange,
            reply,
            events,
            send,
            closes,
        }
    }

    pub(crate) fn answer(
        &self,
        channel: &mut Channel,
        call: Token,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Output {
        let connection = channel.of(self);
        let said = connection.answer(call, result, now);
        drained(connection, Some(said))
    }

    pub(crate) fn notify(
        &self,
        channel: &mut Channel,
        to: To,
        method: &str,
        params: Option<&Json>,
        now: Duration,
    ) -> Output {
        let connection = channel.of(self);
        let said = connection.notify(to, method, params, now);
        drained(connection, Some(said))
    }

    pub(crate) fn ask(
        &self,
        channel: &mut Channel,
        about: Option<Token>,
        method: &str,
        params: Option<&Json>,
        now: Duration,
    ) -> (Option<Token>, Output) {
        let connection = channel.of(self);
        let mut ask = OutgoingRequest::new(method, params.cloned());
        if let Some(call) = about {
            ask = ask.about(call);
        }
        let asked = connection.ask(ask, now);
        let token = asked.as_ref().ok().copied();
        let mut output = drained(connection, None);
        if let Err(fate) = asked {
            output.fate = fate;
        }
        (token, output)
    }

    pub(crate) fn cancel(&self, channel: &mut Channel, ask: Token, now: Duration) -> Output {
        let connection = channel.of(self);
        connection.cancel(ask, None, now);
        drained(connection, None)
    }

    pub(crate) fn tick(&self, channel: &mut Channel, now: Duration) -> Output {
        let connection = channel.of(self);
        connection.wake(now);
        drained(connection, None)
    }
}

fn drained(
    connection: &mut Connection<mcp_revisions::sansio::Server>,
    said: Option<SendOutcome>,
) -> Output {
    let (fate, losses) = match said {
        Some(SendOutcome { fate, losses, .. }) => (fate, losses),
        None => (Fate::Sent, Vec::new()),
    };
    let mut output = Output {
        send: Vec::new(),
        events: Vec::new(),
        closes: Vec::new(),
        losses,
        fate,
    };
    while let Some(step) = connection.poll() {
        match step {
            Step::Send(text) => output.send.push(text),
            Step::Empty(exchange, status) => output.send.push(Outgoing {
                exchange: Some(exchange),
                last: true,
                status,
                body: String::new(),
            }),
            Step::Event(event) => output.events.push(event),
            Step::Close(exchange) => output.closes.push(exchange),
            Step::Restart => unreachable!("a client's alone"),
        }
    }
    output
}
