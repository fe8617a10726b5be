//! What goes between an endpoint and its application: calls, notices and events on one side, outgoing texts on the other.

use std::sync::Arc;

use mcp_registry::{Context, Failure, Loss, Outcome, Policy, Revision, Subject};
use mcp_wire::{Decode, Error, ErrorObject, Json, RequestId};

use crate::adapters::NeedsAdapter;

/// Names a request of a peer until it is answered; unique in its channel, for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub(crate) u64);

/// Names what came in one text: the POST, over HTTP, whose response waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exchange(pub(crate) u64);

impl Exchange {
    /// That of calls which no text asked for.
    pub const NONE: Self = Self(0);
}

/// Where a text came from, or which request it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// The number of this text; [`Outgoing::exchange`] refers to it.
    pub exchange: Exchange,
    /// What to send back at once. `None` while requests in it wait for the application.
    pub reply: Option<Reply>,
    /// What the application has to know, in order.
    pub events: Vec<Event>,
}

/// What is sent back at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The status, over HTTP.
    pub status: u16,
    /// The text; `None` is an empty response over HTTP, and nothing elsewhere.
    pub body: Option<String>,
    /// Whether this answers `initialize` and opens a session: over HTTP the moment to mint its id.
    pub opens_session: bool,
}

/// What an application has to know.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A request, to be answered with [`Server::answer`](super::Server::answer).
    Call(Call),
    /// A notification of the peer.
    Notice(Notice),
    /// A request need not be answered any more.
    Cancelled(Cancelled),
    /// The answer to a request of [`Server::ask`](super::Server::ask).
    Answered(PeerAnswer),
    /// `initialize` opened a session of this revision.
    Opened(Revision),
    /// The client has read the answer to `initialize`: from now on it may be sent anything.
    Initialized,
    /// A text to send.
    Send(Outgoing),
    /// A request was answered for now, and its call goes on; the client is to come again with this ticket.
    Parked {
        /// The request.
        token: Token,
        /// What [`Server::ticket`](super::Server::ticket) says of the request that comes again.
        ticket: u64,
    },
    /// A client of the modern era has opened a stream that an adapter serves: it can be told things from now on.
    Listens,
    /// The client of a parked call has come again, in this text.
    Resumed {
        /// The request that was parked.
        token: Token,
        /// The text that the request came in which takes its place.
        exchange: Exchange,
    },
    /// Something came that needs an adapter which is not plugged in; a request was answered with an error.
    NeedsAdapter(NeedsAdapter),
    /// A message that nothing waits for, or that could not be read, was put aside.
    Ignored(Ignored),
}

/// A request that need not be answered any more; its token is no longer known.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancelled {
    /// The request.
    pub token: Token,
    /// The text that it came in.
    pub exchange: Exchange,
    /// Whether nothing more will be sent for that text: over HTTP its response can end.
    pub ends_exchange: bool,
    /// Why, as the peer said.
    pub reason: Option<String>,
}

/// A message that was put aside.
#[derive(Debug, Clone, PartialEq)]
pub enum Ignored {
    /// An answer to a request that was never sent, or was answered before.
    AnswerToNothing(Option<RequestId>),
    /// A notification that cannot be handed on; the text says why.
    Notification(String),
    /// A notification that the application's revision does not have; the rule says so.
    Swallowed(&'static str),
}

/// A request of a peer, in the words of the application's revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What to answer it by.
    pub token: Token,
    /// The text that it came in.
    pub exchange: Exchange,
    /// The method.
    pub method: &'static str,
    /// The params, in the application's revision; `{}` if there were none.
    pub params: Json,
    /// The revision of the peer.
    pub peer: Revision,
    /// Who asks, and what it can do.
    pub client: Arc<Client>,
    /// The least level of log notifications that the peer wants for this request.
    ///
    /// `None`: to a modern peer none may be sent, and a legacy one left it to the server.
    pub log_level: Option<LogLevel>,
    /// The token for progress notifications, if the peer wants any.
    pub progress_token: Option<Json>,
    /// What the way to the application's revision lost.
    pub losses: Vec<Loss>,
}

impl Call {
    /// Reads the params as a type of the application's revision.
    ///
    /// # Errors
    /// Params that are not of the type; answer them with [`errors::invalid_params`](crate::errors::invalid_params).
    pub fn read<T: Decode>(&self) -> Result<T, Error> {
        self.params.read()
    }
}

/// A notification of a peer, in the words of the application's revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// The method.
    pub method: &'static str,
    /// The params, in the application's revision.
    pub params: Json,
    /// The revision of the peer.
    pub peer: Revision,
    /// What the way to the application's revision lost.
    pub losses: Vec<Loss>,
}

/// The answer of a peer to a request of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerAnswer {
    /// The key that the request was sent with.
    pub key: u64,
    /// The result in the application's revision, or the error.
    pub result: Result<Json, ErrorObject>,
    /// What the way to the application's revision lost.
    pub losses: Vec<Loss>,
}

/// Who a client is and what it can do, in its own words.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// The revision of the words.
    pub revision: Revision,
    /// `Implementation`, if the client said.
    pub info: Option<Json>,
    /// `ClientCapabilities`, if the client said.
    pub capabilities: Option<Json>,
}

impl Client {
    /// A client that said nothing.
    #[must_use]
    pub fn unknown(revision: Revision) -> Self {
        Self {
            revision,
            info: None,
            capabilities: None,
        }
    }

    /// The capabilities as `ClientCapabilities` of another revision.
    ///
    /// # Errors
    /// Capabilities that are none in the client's revision.
    pub fn capabilities_in(&self, revision: Revision) -> Result<Option<Outcome<Json>>, Failure> {
        self.part_in("ClientCapabilities", self.capabilities.as_ref(), revision)
    }

    /// The client as `Implementation` of another revision.
    ///
    /// # Errors
    /// A description that is none in the client's revision.
    pub fn info_in(&self, revision: Revision) -> Result<Option<Outcome<Json>>, Failure> {
        self.part_in("Implementation", self.info.as_ref(), revision)
    }

    /// Whether the client declared a capability, such as `sampling`.
    #[must_use]
    pub fn can(&self, capability: &str) -> bool {
        let capabilities = self.capabilities.clone();
        let object = capabilities.and_then(|json| mcp_wire::JsonObject::try_from(json).ok());
        object.is_some_and(|object| object.get(capability).is_some_and(|value| !value.is_null()))
    }

    fn part_in(
        &self,
        type_name: &str,
        part: Option<&Json>,
        revision: Revision,
    ) -> Result<Option<Outcome<Json>>, Failure> {
        let Some(part) = part else { return Ok(None) };
        let cx = Context::new(Policy::Strict);
        mcp_registry::convert(
            Subject::Type(type_name),
            self.revision,
            revision,
            part.text(),
            cx,
        )
        .map(Some)
    }
}

/// A text for the peer.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The text whose response this belongs to; `None` is for the channel at large.
    pub exchange: Option<Exchange>,
    /// Whether the exchange ends with this. Else it is a notification or a request on its way.
    pub last: bool,
    /// The status, over HTTP, if this is the whole response.
    pub status: u16,
    /// The text.
    pub body: String,
}

/// What sending came to.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "it holds the texts to send"]
pub struct Output {
    /// Texts to send, in order.
    pub send: Vec<Outgoing>,
    /// What the application has to know: only adapters give rise to it.
    pub events: Vec<Event>,
    /// What the way to the peer's revision lost.
    pub losses: Vec<Loss>,
    /// What became of it.
    pub fate: Fate,
}

/// What became of something that was to be sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// It is among the texts to send; or waits for the rest of its batch.
    Sent,
    /// The peer's revision has no such thing, or the peer did not ask for it; the rule says so.
    Swallowed(&'static str),
    /// It needs an adapter that is not plugged in. A request was answered with an error in its place.
    NeedsAdapter(NeedsAdapter),
    /// An adapter took it over.
    Adapted,
    /// The peer cannot be sent this. A request of the peer was answered with this error.
    Refused(Box<ErrorObject>),
    /// The token is not known: the request was answered before, or is cancelled.
    Unknown,
}

impl Output {
    pub(crate) fn join(&mut self, more: Self) {
        let Self {
            send,
            events,
            losses,
            fate: _,
        } = more;
        self.send.extend(send);
        self.events.extend(events);
        self.losses.extend(losses);
    }

    pub(crate) fn of(fate: Fate) -> Self {
        Self {
            send: Vec::new(),
            events: Vec::new(),
            losses: Vec::new(),
            fate,
        }
    }
}

/// The severity of a log notification, as in RFC 5424; from the least to the most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    const NAMES: [(&'static str, Self); 8] = [
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("notice", Self::Notice),
        ("warning", Self::Warning),
        ("error", Self::Error),
        ("critical", Self::Critical),
        ("alert", Self::Alert),
        ("emergency", Self::Emergency),
    ];

    /// The level of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, level)| *level)
    }

    /// Its name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(_, level)| *level == self)
            .map_or("", |(name, _)| name)
    }
}
