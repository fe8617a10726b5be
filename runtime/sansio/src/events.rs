//! Events between a connection and its application, with the same names in both roles.

use std::sync::Arc;

use mcp_revisions_core::{
    Context, ConversionError, Failure, Loss, Outcome, RequiresState, Revision, Subject,
    UnknownFields,
};
use mcp_wire::{Decode, Error, ErrorObject, Json, Map, RequestId, Unreadable, meta};

use super::ask::{Answered, Token};
use super::json::object;
use super::tasks::TaskStatus;
use super::translate::no_params;

/// Names one text and what belongs to it: over HTTP a POST and its response, else a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exchange(pub u64);

impl Exchange {
    /// The exchange of calls that no text asked for.
    pub const NONE: Self = Self(0);
}

/// The next task of the driver.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "each is moved once, and a box for each event would cost an allocation a call"
)]
pub enum Output<Text> {
    /// Send a text.
    Send(Text),
    /// Tell the application.
    Event(Event),
    /// Nothing is said in an exchange of this end as a server: an empty response with this status over HTTP, and nothing
    /// elsewhere.
    Empty(Exchange, u16),
    /// Nothing more belongs to this exchange: close its response if it is open.
    Close(Exchange),
    /// The server ended when it was probed: start it again, and send what follows to the new one. For a client over
    /// standard streams alone.
    Restart,
}

/// An event for the application; every value is of its own revision.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A request of the peer, to be answered with [`Connection::answer`](super::Connection::answer).
    Request(IncomingRequest),
    /// A notification of the peer.
    Notification(Notification),
    /// At an end that takes them: a request of a method that no revision has, to be answered like any other.
    CustomRequest(CustomRequest),
    /// A notification of a method that no revision has.
    CustomNotification(CustomNotification),
    /// A call need not be answered any more.
    Cancelled(Cancelled),
    /// The one answer to a request of [`Connection::ask`](super::Connection::ask).
    Answered(Answered),
    /// At a server that is [late](super::server::Server::late): this client introduces itself, to be answered with
    /// [`Connection::introduce`](super::Connection::introduce). Until then its messages wait.
    Introduced(Arc<Caller>),
    /// At a server: `initialize` opened a session of this revision.
    Opened(Revision),
    /// At a server: the client of the session wants log notifications from this level on.
    LogLevel(LogLevel),
    /// At a server: the client has read the answer to `initialize`, so that it may be sent anything from now on.
    Initialized,
    /// At a server: a client of the per-request lifecycle has opened a stream that an adapter serves, and can be notified.
    Listens,
    /// At a server: a call was answered for now and is suspended; its client retries with this ticket.
    Suspended {
        /// The call.
        token: Token,
        /// The ticket that [`Server::ticket`](super::server::Server::ticket) returns for the retry.
        ticket: u64,
    },
    /// At a server: the client of a suspended call has sent it again, in this exchange.
    Resumed {
        /// The call that was suspended.
        token: Token,
        /// The exchange of the request that takes its place.
        exchange: Exchange,
    },
    /// At a client that takes tasks: the server runs a request of the application as a task, and how far it has come. The
    /// answer to the request comes later.
    Task {
        /// The request.
        token: Token,
        /// The task.
        task: TaskState,
    },
    /// At a client: the revision to speak with the server is settled, or has changed.
    Settled(ServerFacts),
    /// At a client: it is not known which revision to speak with the server, and why; the next request tries again.
    NotSettled(super::ask::Failure),
    /// At a client: something that the server had ended or lost is open again. What may have changed meanwhile is notified.
    Reopened(Reopened),
    /// A message of this method came that needs an adapter which is not plugged in; a request was answered with an error.
    RequiresState(String, RequiresState),
    /// Something came that is of no use, and was left out.
    Ignored(Ignored),
    /// The peer made a mistake in a message, which was taken as it was meant.
    Mended(MendedMessage),
}

impl Event {
    /// Returns the reason why a message of a peer does not reach the application.
    pub(super) fn stopped(stopped: &ConversionError, method: &str) -> Self {
        let why = match stopped {
            ConversionError::RequiresState(needs) => {
                return Self::RequiresState(method.to_owned(), needs.clone());
            }
            ConversionError::Dropped(dropped) => {
                return Self::Ignored(Ignored::Dropped(method.into(), dropped.rule));
            }
            other => other.to_string(),
        };
        Self::Ignored(Ignored::Invalid(method.into(), why))
    }
}

/// A session or stream of a client that is open again, in place of one that the server had ended or lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reopened {
    /// The session, with the subscriptions and the log level that the application had asked for in it.
    Session,
    /// The stream of changes that an adapter listens to.
    Changes,
}

/// The task that a server makes of a call, as the server describes it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TaskState {
    /// Its id, by which [`OutgoingRequest::for_task`](super::OutgoingRequest::for_task) asks for the result again.
    pub id: String,
    /// The status.
    pub status: TaskStatus,
    /// The server's message about it, for people.
    pub message: Option<String>,
}

/// A call that need not be answered any more; its token is no longer known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Cancelled {
    /// The call.
    pub token: Token,
    /// Why, as the peer said.
    pub reason: Option<String>,
}

/// A mistake of the peer in a message that was taken as it was meant.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MendedMessage {
    /// The method of the message, or of the request that it answers; empty if the message does not say.
    pub method: String,
    /// The mistake: where it is, what was expected, and what was found.
    pub why: String,
}

impl MendedMessage {
    pub(super) fn new(method: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            why: why.into(),
        }
    }
}

/// Something of no use.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Ignored {
    /// Bytes that are not a message, and how they begin: at most 100 characters.
    Unreadable(Unreadable, String),
    /// A message of more bytes than [`Limits::max_message_bytes`](crate::Limits::max_message_bytes).
    TooLong(usize),
    /// A batch from a peer that may not send one, or of too many messages.
    Batch(usize),
    /// An answer to a request that was never sent, or has been answered.
    AnswerToNothing(Option<RequestId>),
    /// An error that names no request.
    Error(ErrorObject),
    /// An error in answer to a request of this method, which this end sent by itself.
    Refused(&'static str, ErrorObject),
    /// A request of a server that may not send any, or one too many; the method.
    Request(String),
    /// A message of this method that the application's revision does not have, by this rule.
    Dropped(String, &'static str),
    /// A message of this method that is not valid, or cannot be carried over, and why.
    Invalid(String, String),
    /// An HTTP status in answer to a notification or an answer.
    Status(u16),
    /// A message about a request that was cancelled or is answered, which may have crossed that on its way; its method, or
    /// `a response`.
    Late(String),
}

impl Ignored {
    /// Returns whether the peer made a mistake: `false` for what the other revision does not have, which is reported as a
    /// loss, and for what is late.
    #[must_use]
    pub fn is_mistake(&self) -> bool {
        !matches!(self, Self::Dropped(..) | Self::Late(_))
    }
}

/// A request of a peer, in the words of the application's revision.
#[derive(Debug, Clone, PartialEq)]
pub struct IncomingRequest<Method = &'static str> {
    /// The token to answer it by.
    pub token: Token,
    /// Its id on the wire; `None` if it has no message: it came in the result of another request, or from an adapter.
    pub id: Option<RequestId>,
    /// The exchange that it came in; that of no exchange if it came in the result of another request.
    pub exchange: Exchange,
    /// The method.
    pub method: Method,
    /// The params, in the application's revision; `{}` if there were none.
    pub params: Json,
    /// The revision of the peer.
    pub revision: Revision,
    /// The peer's identity and capabilities.
    pub caller: Arc<Caller>,
    /// The request of the application to which it belongs, if that is known; `None` at a server.
    pub about: Option<Token>,
    /// The least level of log notifications that the peer wants for this request.
    ///
    /// `None`: a per-request peer must get none, and a handshake one left it to the server.
    pub log_level: Option<LogLevel>,
    /// The token for progress notifications, if the peer wants any.
    pub progress_token: Option<Json>,
    /// Set if the peer takes a task in the place of the result.
    pub takes_task: bool,
    /// The losses on the way to the application's revision.
    pub losses: Vec<Loss>,
}

impl<Method> IncomingRequest<Method> {
    /// Creates one that no message of the peer is.
    pub(super) fn without_message(
        token: Token,
        method: Method,
        params: Json,
        revision: Revision,
        caller: Arc<Caller>,
    ) -> Self {
        Self {
            token,
            id: None,
            exchange: Exchange::NONE,
            method,
            params,
            revision,
            caller,
            about: None,
            log_level: None,
            progress_token: None,
            takes_task: false,
            losses: Vec::new(),
        }
    }

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
#[non_exhaustive]
pub struct Notification<Method = &'static str> {
    /// The method.
    pub method: Method,
    /// The params, in the application's revision.
    pub params: Json,
    /// The revision of the peer.
    pub revision: Revision,
    /// The request of the application that it belongs to: by its progress token, or by the stream that it came in.
    pub about: Option<Token>,
    /// The losses on the way to the application's revision.
    pub losses: Vec<Loss>,
}

/// A request of a method that no revision has: of an extension, or of a vendor. Nothing of it is converted.
pub type CustomRequest = IncomingRequest<String>;

/// A notification of a method that no revision has. Nothing of it is converted.
pub type CustomNotification = Notification<String>;

/// The member of capabilities that declares extensions.
const EXTENSIONS: &str = "extensions";

/// The identity and the capabilities of a peer, in its own words.
#[derive(Debug, Clone, PartialEq)]
pub struct Caller {
    /// The revision of the words.
    pub revision: Revision,
    /// `Implementation`, if it said.
    pub info: Option<Json>,
    /// Its capabilities, if it said.
    pub capabilities: Option<Json>,
}

impl Caller {
    /// Creates a peer without info and capabilities.
    #[must_use]
    pub fn unknown(revision: Revision) -> Self {
        Self {
            revision,
            info: None,
            capabilities: None,
        }
    }

    /// Converts the capabilities to `ClientCapabilities` of another revision.
    ///
    /// # Errors
    /// Capabilities that are not valid in the client's revision.
    pub fn capabilities_in(&self, revision: Revision) -> Result<Option<Outcome<Json>>, Failure> {
        self.part_in("ClientCapabilities", self.capabilities.as_ref(), revision)
    }

    /// Converts the client's info to `Implementation` of another revision.
    ///
    /// # Errors
    /// Info that is not valid in the client's revision.
    pub fn info_in(&self, revision: Revision) -> Result<Option<Outcome<Json>>, Failure> {
        self.part_in("Implementation", self.info.as_ref(), revision)
    }

    /// Returns params of a revision of the per-request lifecycle with the revision, the capabilities and the info of this client in
    /// their `_meta`. Extensions are declared alike in all revisions, and stay even where the client's revision does not define
    /// them.
    #[must_use]
    pub fn stated_in(&self, params: &Json, revision: Revision) -> Json {
        let value = |part: Result<Option<Outcome<Json>>, Failure>| part.ok()??.value();
        let mut capabilities: Map<Json> = value(self.capabilities_in(revision))
            .and_then(|it| it.read().ok())
            .unwrap_or_default();
        let declared = self.capabilities.as_ref().and_then(|it| it.get(EXTENSIONS));
        if let Some(extensions) = declared.filter(|it| !it.is_null())
            && !capabilities.contains_key(EXTENSIONS)
        {
            capabilities.insert(EXTENSIONS, extensions);
        }
        let info = value(self.info_in(revision));
        let object = if params.is_null() {
            &no_params()
        } else {
            params
        };
        meta::edit(object, |members| {
            let version = revision.protocol_version();
            members.insert(meta::PROTOCOL_VERSION, Json::of(&version));
            members.insert(meta::CLIENT_CAPABILITIES, Json::of(&capabilities));
            if let Some(info) = info {
                members.insert(meta::CLIENT_INFO, info);
            }
        })
    }

    /// Returns whether the client declared a capability, such as `sampling`.
    #[must_use]
    pub fn can(&self, capability: &str) -> bool {
        let declared = self.capabilities.as_ref().and_then(|it| it.get(capability));
        declared.is_some_and(|value| !value.is_null())
    }

    fn part_in(
        &self,
        type_name: &str,
        part: Option<&Json>,
        revision: Revision,
    ) -> Result<Option<Outcome<Json>>, Failure> {
        let Some(part) = part else { return Ok(None) };
        let cx = Context::new(UnknownFields::Drop);
        mcp_revisions_core::values::convert(
            Subject::Type(type_name),
            self.revision,
            revision,
            part.text(),
            cx,
        )
        .map(Some)
    }
}

/// The server's description of itself, in the application's revision.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerFacts {
    /// The revision that is spoken with it.
    pub revision: Revision,
    /// Its `Implementation`.
    pub info: Option<Json>,
    /// Its `ServerCapabilities`.
    pub capabilities: Option<Json>,
    /// The server's advice on its use.
    pub instructions: Option<String>,
    /// The result of `initialize` or `server/discover`, as it came: in the server's own revision.
    pub result: Option<Json>,
}

/// Returns the params of the notification that a request is not waited for any more.
pub(super) fn cancelled(id: &RequestId, reason: Option<&str>) -> Json {
    object(
        [("requestId", Json::of(id))]
            .into_iter()
            .chain(reason.map(|reason| ("reason", Json::of(reason)))),
    )
}

/// The outcome of sending.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "it may not have been sent"]
#[non_exhaustive]
pub struct SendOutcome {
    /// The fate of the message.
    pub fate: Fate,
    /// The losses on the way to the peer's revision.
    pub losses: Vec<Loss>,
}

impl SendOutcome {
    /// Returns the fate of what was sent, with no losses.
    pub fn of(fate: Fate) -> Self {
        Self {
            fate,
            losses: Vec::new(),
        }
    }
}

/// The fate of a message to be sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// It is among the texts to send; or waits for the rest of its batch.
    Sent,
    /// The peer's revision has no such thing, or the peer did not ask for it; the rule says so.
    Dropped(&'static str),
    /// It needs an adapter that is not plugged in. A request was answered with an error in its place.
    RequiresState(RequiresState),
    /// An adapter took it over.
    Adapted,
    /// The peer cannot be sent this. A request of the peer was answered with this error.
    Refused(Box<ErrorObject>),
    /// It has no receiver: the request was answered before or is cancelled, or the revision is not negotiated yet.
    Unknown,
}

impl Fate {
    /// Returns the fate of a message that was not converted; `invalid` is the code of an error about one that is not of
    /// its type.
    pub(super) fn stopped(stopped: ConversionError, invalid: i64) -> Self {
        match stopped {
            ConversionError::Dropped(dropped) => Self::Dropped(dropped.rule),
            ConversionError::RequiresState(needs) => Self::RequiresState(needs),
            other => Self::Refused(Box::new(other.into_error(invalid))),
        }
    }
}

/// The receiver of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// The peer that waits for the response to this call: progress, logs, and notifications of a `subscriptions/listen`.
    Request(Token),
    /// The peer of the connection.
    Session,
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

mcp_wire::strings! {
    LogLevel {
        Debug "debug";
        Info "info";
        Notice "notice";
        Warning "warning";
        Error "error";
        Critical "critical";
        Alert "alert";
        Emergency "emergency";
    }
}

impl LogLevel {
    /// The level that a server of the per-request lifecycle is asked for on behalf of a client which leaves it to the server.
    pub const DEFAULT: Self = Self::Info;

    /// Returns the level of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}
