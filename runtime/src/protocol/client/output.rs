//! What a client hands out: messages to send, and what the application wants to know.

use std::fmt;

use mcp_registry::{Loss, NeedsState, Revision};
use mcp_wire::{Decode, Encode, Error, ErrorObject, Json, Request, RequestId};

/// A request of the application.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub(super) method: String,
    pub(super) params: Option<Json>,
    pub(super) progress: bool,
    pub(super) log_level: Option<String>,
    pub(super) headers: Vec<(String, String)>,
}

impl Call {
    /// A request of this method; its params are of the application's revision.
    #[must_use]
    pub fn new(method: impl Into<String>, params: Option<Json>) -> Self {
        Self {
            method: method.into(),
            params,
            progress: false,
            log_level: None,
            headers: Vec::new(),
        }
    }

    /// A request whose params are a type of the application's revision.
    pub fn of<R: Request>(params: &R::Params) -> Self
    where
        R::Params: Encode,
    {
        Self::new(R::METHOD, Some(Json::of(params)))
    }

    /// Asks for progress notifications, which then name the request.
    #[must_use]
    pub fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Asks for log messages from this level on, for this request alone where the server's revision can do that.
    #[must_use]
    pub fn with_log_level(mut self, level: impl Into<String>) -> Self {
        self.log_level = Some(level.into());
        self
    }

    /// A parameter that a header repeats (`x-mcp-header` in the tool's schema): sent as `Mcp-Param-<name>` where the revision has it.
    #[must_use]
    pub fn with_param_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers
            .push((format!("Mcp-Param-{name}"), value.into()));
        self
    }
}

/// A request of the application, until its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub(super) u64);

/// One POST, or one line over stdio, and over HTTP the stream that answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Post(pub(super) u64);

/// A message on its way to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Send {
    /// Names the message when the answer is handed in.
    pub post: Post,
    /// The HTTP headers that belong to it; empty over stdio.
    pub headers: Vec<(String, String)>,
    /// The message, without line breaks.
    pub text: String,
}

/// What is to be done next.
#[derive(Debug)]
pub enum Output {
    /// Send a message.
    Send(Send),
    /// The server ended when it was probed: start it again, and send the following messages to the new one.
    Restart,
    /// Close the response stream of this POST, if it is open: its request was cancelled.
    Close(Post),
    /// Something for the application.
    Event(Event),
}

/// Something for the application; every value is of its own revision.
#[derive(Debug)]
pub enum Event {
    /// The revision to speak with the server is settled, or has changed.
    Settled(ServerFacts),
    /// The one answer to a request.
    Answer {
        /// The request.
        token: Token,
        /// Its method.
        method: String,
        /// What came.
        answer: Answer,
        /// What could not be carried over, of the request and of the answer.
        losses: Vec<Loss>,
    },
    /// A request of the server, by itself or in the result of a call, to be answered by [`Client::respond`](super::Client::respond).
    Request {
        /// Names it in the answer.
        request: ServerRequest,
        /// Its method, such as `sampling/createMessage`.
        method: String,
        /// Its params.
        params: Option<Json>,
        /// What could not be carried over.
        losses: Vec<Loss>,
    },
    /// A notification of the server.
    Notification {
        /// Its method.
        method: String,
        /// Its params.
        params: Option<Json>,
        /// The request that it belongs to: by its progress token, or by the stream that it came in.
        about: Option<Token>,
        /// What could not be carried over.
        losses: Vec<Loss>,
    },
    /// Something came that is of no use, and was left out.
    Ignored(Ignored),
}

/// What came of a request.
#[derive(Debug)]
pub enum Answer {
    /// The result, complete.
    Result(Json),
    /// The server wants to be told more, and the request to be sent again.
    InputRequired(InputRequired),
    /// The server refused.
    Error(ErrorObject),
    /// No answer of the server that could be handed on.
    Failed(Failure),
}

impl Answer {
    /// The result as a type of the application's revision.
    ///
    /// # Errors
    /// What came instead of a result, in words; and a result that is not of this type.
    pub fn read<T: Decode>(&self) -> Result<T, String> {
        match self {
            Self::Result(result) => result.read().map_err(|error| error.to_string()),
            Self::InputRequired(_) => Err("the server asks for input before it answers".to_owned()),
            Self::Error(error) => Err(format!("{} ({})", error.message, error.code)),
            Self::Failed(failure) => Err(failure.to_string()),
        }
    }
}

/// Questions of the server that have to be answered before it answers.
#[derive(Debug)]
pub struct InputRequired {
    /// The questions.
    pub questions: Vec<Question>,
    /// Hand it to [`Client::retry`](super::Client::retry) with the answers.
    pub retry: Retry,
}

/// A question of the server inside a result.
#[derive(Debug)]
pub struct Question {
    /// Names it in the answers.
    pub key: String,
    /// Such as `elicitation/create`.
    pub method: String,
    /// Its params in the application's revision; an error where that revision cannot ask this.
    pub params: Result<Json, ErrorObject>,
    /// What could not be carried over.
    pub losses: Vec<Loss>,
}

/// The request to send again once the server's questions are answered.
#[derive(Debug, Clone)]
pub struct Retry {
    pub(super) call: Call,
    pub(super) state: Option<Json>,
    pub(super) methods: Vec<(String, String)>,
    pub(super) revision: Revision,
}

impl Retry {
    /// The server's opaque state: the JSON string byte for byte as it came.
    #[must_use]
    pub fn request_state(&self) -> Option<&str> {
        self.state.as_ref().map(Json::text)
    }

    /// The method that will be sent again.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.call.method
    }
}

/// A request of the server, until it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerRequest(pub(super) Asked);

/// How the server has asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    /// By a request of its own.
    Request(RequestId),
    /// In the result of a call.
    Question { round: u64, key: String },
}

/// What the server said of itself, in the application's revision.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerFacts {
    /// The revision that is spoken with it.
    pub revision: Revision,
    /// Its `Implementation`.
    pub info: Option<Json>,
    /// Its `ServerCapabilities`.
    pub capabilities: Option<Json>,
    /// How to use it.
    pub instructions: Option<String>,
}

impl ServerFacts {
    /// A server of which nothing is known but the revision.
    pub(super) fn unknown(revision: Revision) -> Self {
        Self {
            revision,
            info: None,
            capabilities: None,
            instructions: None,
        }
    }
}

/// Why a request has no answer of the server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// The server cannot be told this in its revision; the seam for an adapter.
    NeedsAdapter(NeedsState),
    /// The params, or the answer, cannot be carried over; the error that the specification calls for.
    Rejected(ErrorObject),
    /// The params are not of the application's revision.
    InvalidParams(Error),
    /// The application's revision does not have that method, or no such params.
    UnknownMethod(String),
    /// The answer is not what the method is answered with in the server's revision.
    InvalidResult(String),
    /// Client and server have no revision in common; these are the server's.
    NoCommonRevision(Vec<String>),
    /// The server refused `initialize`.
    HandshakeRefused(ErrorObject),
    /// An HTTP answer without a message that answers.
    Http(u16),
    /// The connection, the server or the stream ended first.
    Closed,
    /// The application cancelled it.
    Cancelled,
    /// The application did not answer in time what the server asked.
    Unanswered,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeedsAdapter(needs) => needs.fmt(f),
            Self::Rejected(error) => write!(
                f,
                "cannot be carried over: {} ({})",
                error.message, error.code
            ),
            Self::InvalidParams(error) => {
                write!(f, "params are not of the application's revision: {error}")
            }
            Self::UnknownMethod(what) => f.write_str(what),
            Self::InvalidResult(what) => write!(f, "the server's answer is not valid: {what}"),
            Self::NoCommonRevision(versions) if versions.is_empty() => {
                f.write_str("no revision in common with the server")
            }
            Self::NoCommonRevision(versions) => {
                write!(
                    f,
                    "no revision in common with the server, which speaks {}",
                    versions.join(", ")
                )
            }
            Self::HandshakeRefused(error) => {
                write!(
                    f,
                    "the server refused `initialize`: {} ({})",
                    error.message, error.code
                )
            }
            Self::Http(status) => write!(f, "HTTP status {status} without an answer"),
            Self::Closed => f.write_str("the connection ended before the answer"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Unanswered => f.write_str("the server's questions were not answered in time"),
        }
    }
}

impl std::error::Error for Failure {}

/// Why a request or an answer was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// As many requests wait for an answer as [`Limits::pending`](crate::Limits::pending) allows.
    TooManyPending,
    /// The client is willing to speak no revision at all.
    NoRevisions,
    /// No request of the server waits for that answer.
    NotAsked,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyPending => {
                "too many requests wait for an answer: wait for some, or raise `Limits::pending`"
            }
            Self::NoRevisions => {
                "the client speaks no revision: name some in `Options::with_revisions`"
            }
            Self::NotAsked => "no request of the server waits for that answer",
        })
    }
}

impl std::error::Error for Refused {}

/// Something of no use.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Ignored {
    /// Bytes that are no message.
    Unreadable(Error),
    /// A message of more bytes than [`Limits::message_bytes`](crate::Limits::message_bytes).
    TooLong(usize),
    /// A batch from a server that may not send one, or of too many messages.
    Batch(usize),
    /// An answer to a request that was never sent, or has been answered.
    AnswerToNothing(Option<RequestId>),
    /// An error of the server that names no request.
    ServerError(ErrorObject),
    /// A request of a server that may not send any, or one too many; the method.
    Request(String),
    /// A message of this method that the application's revision does not have, by this rule.
    Swallowed(String, &'static str),
    /// A message of this method that an adapter would have to handle.
    NeedsAdapter(String, NeedsState),
    /// A message of this method that is not valid in the server's revision, or cannot be carried over.
    Invalid(String, String),
    /// An HTTP status in answer to a notification or a response.
    Status(u16),
}
