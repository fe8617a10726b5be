//! Requests of an application, and their outcomes.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use mcp_revisions_core::{ConversionError, Lifecycle, Loss, Profile, Revision, methods};
use mcp_wire::{Decode, Encode, ErrorObject, Integer, Json, Map, Peeked, Raw, Request, RequestId};

use super::quote::shown;
use super::sign_in::NeededSignIn;

/// Names a request, of the peer or to it, until it is answered; unique in its connection, for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub(crate) u64);

/// A request of the application, to be sent by [`Connection::ask`](super::Connection::ask).
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct OutgoingRequest {
    pub(crate) method: String,
    /// The params, in the revision of the application.
    pub params: Option<Json>,
    pub(crate) progress: bool,
    pub(crate) log_level: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) about: Option<Token>,
    pub(crate) behalf: Option<Arc<Profile>>,
    pub(crate) takes_questions: bool,
    pub(crate) takes_task: bool,
    pub(crate) prefers_task: bool,
    pub(crate) resumes: Option<String>,
}

impl OutgoingRequest {
    /// Creates a request of this method; its params are of the application's revision.
    pub fn new(method: impl Into<String>, params: Option<Json>) -> Self {
        Self {
            method: method.into(),
            params,
            progress: false,
            log_level: None,
            headers: Vec::new(),
            about: None,
            behalf: None,
            takes_questions: false,
            takes_task: false,
            prefers_task: false,
            resumes: None,
        }
    }

    /// Asks for the result of a task that an earlier call of a tool became, by its id: a client that was started again can
    /// have it, as long as the server keeps it. The client has to take tasks.
    pub fn for_task(id: impl Into<String>) -> Self {
        Self {
            resumes: Some(id.into()),
            ..Self::new(methods::TOOLS_CALL, None)
        }
    }

    /// Creates a request whose params are a type of the application's revision.
    pub fn of<R: Request>(params: &R::Params) -> Self
    where
        R::Params: Encode,
    {
        Self::new(R::METHOD, Some(Json::of(params)))
    }

    /// Asks for progress notifications, which then name the request.
    pub fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Asks for log messages from this level on, for this request alone where the server's revision can do that.
    pub fn with_log_level(mut self, level: impl Into<String>) -> Self {
        self.log_level = Some(level.into());
        self
    }

    /// Sets a header parameter (`x-mcp-header` in the tool's schema), sent as `Mcp-Param-<name>` where the revision has it.
    pub fn with_param_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers
            .push((format!("Mcp-Param-{name}"), value.into()));
        self
    }

    /// Names the client for which the request is made, where that is not this client: a gateway passes on its own client.
    ///
    /// A server of the handshake lifecycle knows one client for all requests, and goes on with that.
    pub fn on_behalf_of(mut self, who: Arc<Profile>) -> Self {
        self.behalf = Some(who);
        self
    }

    /// Takes a result that asks for input as [`Answer::Result`], with the server's own keys and `requestState`, if the
    /// server speaks the application's revision: the application makes the request again with the answers. A server of
    /// another revision asks as without this.
    pub fn with_questions_in_result(mut self) -> Self {
        self.takes_questions = true;
        self
    }

    /// Takes a task as [`Answer::Result`], if the server speaks the application's revision and whom the request is made for
    /// has tasks: the application looks after it. Another task is looked after as without this.
    pub fn with_task_in_result(mut self) -> Self {
        self.takes_task = true;
        self
    }

    /// Asks for a task where the server has tasks that clients ask for, and the tools that it listed say that this one takes
    /// one. The client looks after it. Without this, a task is asked for where a tool runs no other way.
    pub fn with_task_preferred(mut self) -> Self {
        self.prefers_task = true;
        self
    }

    /// Ties the request to a call of the peer, so that it is sent on the stream of that call.
    pub fn about(mut self, call: Token) -> Self {
        self.about = Some(call);
        self
    }
}

/// The one answer to a request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answered {
    /// The request.
    pub token: Token,
    /// The answer.
    pub answer: Answer,
    /// The losses of the request and of the answer.
    pub losses: Vec<Loss>,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The result: complete, unless [`OutgoingRequest::with_questions_in_result`] takes another.
    Result(Json),
    /// At a client without adapters: the server requires input, and the request to be sent again.
    InputRequired(InputRequired),
    /// The peer refused.
    Error(ErrorObject),
    /// No answer of the peer that could be handed on.
    Failed(Failure),
}

impl Answer {
    /// Reads the result as a type of the application's revision.
    ///
    /// # Errors
    /// Returns a text for an answer that is not a result, and for a result that is not of this type.
    pub fn read<T: Decode>(&self) -> Result<T, String> {
        match self {
            Self::Result(result) => result.read().map_err(|error| error.to_string()),
            Self::InputRequired(_) => Err("the server asks for input before it answers".to_owned()),
            Self::Error(error) => Err(format!("{} ({})", error.message, error.code)),
            Self::Failed(failure) => Err(failure.to_string()),
        }
    }
}

impl From<Result<Json, ErrorObject>> for Answer {
    fn from(result: Result<Json, ErrorObject>) -> Self {
        match result {
            Ok(result) => Self::Result(result),
            Err(error) => Self::Error(error),
        }
    }
}

/// Questions of the server that have to be answered before it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequired {
    /// The questions.
    pub questions: Vec<Question>,
    /// Hand it to [`Connection::retry`](super::Connection::retry) with the answers.
    pub retry: Retry,
}

/// A question of the server inside a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Names it in the answers.
    pub key: String,
    /// Such as `elicitation/create`.
    pub method: String,
    /// Its params in the application's revision; an error where that revision cannot ask this.
    pub params: Result<Json, ErrorObject>,
    /// The losses.
    pub losses: Vec<Loss>,
}

/// The request to send again once the server's questions are answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    pub(crate) ask: OutgoingRequest,
    pub(crate) state: Option<Json>,
    pub(crate) methods: Vec<(String, String)>,
    pub(crate) revision: Revision,
    /// The error of an older server in whose place the questions are: the request goes again without answers.
    pub(crate) error: Option<Box<ErrorObject>>,
}

impl Retry {
    /// Returns the server's opaque state: the JSON string byte for byte as it came.
    #[must_use]
    pub fn request_state(&self) -> Option<&str> {
        self.state.as_ref().map(Json::text)
    }

    /// Returns the method that will be sent again.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.ask.method
    }
}

/// Why a request has no answer of the server, or was not taken.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// The params, or the answer, were not converted, and why.
    NotConverted(ConversionError),
    /// The receiver's revision cannot be sent the params, or the answer; the error that the specification calls for.
    Rejected(ErrorObject),
    /// The answer is not what the method is answered with in the server's revision.
    InvalidResult(String),
    /// Client and server have no revision in common; these are the server's.
    NoCommonRevision(Vec<String>),
    /// The server refused this first message, `initialize` or `server/discover`.
    StartRefused(&'static str, ErrorObject),
    /// No first message settled a revision: why, and the revisions of those that were sent, in this order.
    NotNegotiated(Box<Failure>, Vec<Revision>),
    /// The server ended, or had its time, before it was known which revision it speaks; which of the two, for people.
    NotStarted(String),
    /// An HTTP response without a message that answers: its status, and how its body begins, at most 100 characters.
    Http(u16, String),
    /// The request did not reach the server, or its answer did not arrive; why, as the transport says.
    Transport(String),
    /// The server wants a sign-in that the client does not have.
    SignIn(Box<NeededSignIn>),
    /// The connection, the server or the stream ended first.
    Closed,
    /// The process of the server ended first; its status, and the last line of its standard error if that was read, in
    /// brackets, for people.
    Ended(String),
    /// The application cancelled it.
    Cancelled,
    /// The application did not answer in time what the server asked.
    Unanswered,
    /// As many requests wait for an answer as [`Limits::max_pending_requests`](crate::Limits::max_pending_requests) allows: this
    /// one was not taken.
    TooManyPending,
    /// The client is willing to speak no revision at all.
    NoRevisions,
    /// The server reads nothing of what it is sent: this was not taken.
    NotRead,
}

impl Failure {
    /// Returns the failure itself, without what was tried besides.
    #[must_use]
    pub fn reason(&self) -> &Self {
        match self {
            Self::NotNegotiated(why, _) => why,
            failure => failure,
        }
    }

    /// Returns the first messages that were sent in vain, for people, behind a semicolon; empty if that is not the failure.
    #[must_use]
    pub fn tried(&self) -> String {
        let Self::NotNegotiated(_, tried) = self else {
            return String::new();
        };
        let mut text = "; tried".to_owned();
        let mut last = None;
        for revision in tried {
            let lifecycle = revision.lifecycle();
            let method = match lifecycle {
                Lifecycle::Handshake => methods::INITIALIZE,
                Lifecycle::PerRequest => methods::SERVER_DISCOVER,
            };
            let comma = if last.is_some() { "," } else { "" };
            text.push_str(&match last.replace(lifecycle) {
                Some(last) if last == lifecycle => format!("{comma} {revision}"),
                _ => format!("{comma} `{method}` in {revision}"),
            });
        }
        text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConverted(error) => error.fmt(f),
            Self::Rejected(error) => write!(
                f,
                "cannot be carried over: {} ({})",
                error.message, error.code
            ),
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
            Self::StartRefused(method, error) => {
                let ErrorObject { message, code, .. } = error;
                write!(f, "the server refused `{method}`: {message} ({code})")
            }
            Self::NotNegotiated(why, _) => write!(f, "{why}{}", self.tried()),
            Self::NotStarted(why) => write!(f, "the server {why}"),
            Self::Http(status, body) if body.is_empty() => {
                write!(f, "HTTP status {status} without an answer")
            }
            Self::Http(status, body) => {
                write!(f, "HTTP status {status} without an answer: {body:?}")
            }
            Self::Transport(why) => write!(f, "no answer of the server arrived: {why}"),
            Self::SignIn(needed) => f.write_str(&needed.why),
            Self::Closed => f.write_str("the connection ended before the answer"),
            Self::Ended(how) => write!(f, "the server ended before the answer{how}"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Unanswered => f.write_str("the server's questions were not answered in time"),
            Self::TooManyPending => f.write_str(
                "too many requests wait for an answer: wait for some, or raise `Limits::max_pending_requests`",
            ),
            Self::NoRevisions => f.write_str(
                "the client speaks no revision: name some in `Options::with_revisions`",
            ),
            Self::NotRead => f.write_str("the server takes nothing of what it is sent"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotNegotiated(why, _) => Some(why.as_ref()),
            Self::NotConverted(error) => Some(error),
            _ => None,
        }
    }
}

/// Returns the answer of a peer.
pub(crate) fn outcome(message: &Peeked<'_>) -> Result<Json, ErrorObject> {
    match (message.result.map(Raw::to_json), message.error) {
        (Some(result), _) => Ok(result),
        (None, Some(error)) => Err(read_error(error).0),
        (None, None) => Err(ErrorObject::new(ErrorObject::INTERNAL_ERROR, NO_MESSAGE)),
    }
}

/// The message of an error whose peer gave none.
const NO_MESSAGE: &str = "an error without a message";

/// Reads the error of a peer, and says what is wrong with it if it is not an error object.
///
/// The words of the peer are kept. A code that is the string of an integer is that integer; any other code that is not an
/// integer becomes -32603 and is quoted in the message. The message is `message`, of whichever kind; else `data` if that is
/// a string; else the error itself if it is not an object.
pub(crate) fn read_error(error: Raw<'_>) -> (ErrorObject, Option<String>) {
    match mcp_wire::from_str(error.text()) {
        Ok(error) => (error, None),
        Err(why) => {
            let printed = why.to_string();
            let why = printed.strip_prefix("at ").unwrap_or(&printed);
            (
                meant_error(error.to_json()),
                Some(format!("at /error, {why}")),
            )
        }
    }
}

/// Returns the error object that another value is meant to be.
#[cold]
fn meant_error(error: Json) -> ErrorObject {
    let internal = ErrorObject::INTERNAL_ERROR;
    let Ok(mut members) = error.read::<Map<Json>>() else {
        return ErrorObject::new(
            internal,
            words(&error).unwrap_or_else(|| NO_MESSAGE.to_owned()),
        );
    };
    let (code, message) = (members.remove("code"), members.remove("message"));
    let data = members.remove("data");
    let number = code.as_ref().and_then(|code| {
        let spelled = code.as_str();
        let text = spelled.as_deref().map_or(code.text(), str::trim);
        mcp_wire::from_str::<Integer>(text).ok()
    });
    let string_of = |data: &Json| data.as_str().map(Cow::into_owned);
    let message = (message.as_ref().and_then(words))
        .or_else(|| data.as_ref().and_then(string_of))
        .unwrap_or_else(|| NO_MESSAGE.to_owned());
    let message = match code.filter(|code| number.is_none() && !code.is_null()) {
        Some(code) => format!("{message} (code {code})"),
        None => message,
    };
    ErrorObject {
        code: number.unwrap_or_else(|| internal.into()),
        message,
        data,
        extra: members,
    }
}

/// Returns a value as words: a string, else its JSON text; `None` for `null`.
fn words(value: &Json) -> Option<String> {
    let text = value.as_str().map(Cow::into_owned);
    text.or_else(|| (!value.is_null()).then(|| value.text().to_owned()))
}

/// Returns the number of an id that this end gave out, be it spelled as a string.
pub fn own_id(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Integer(id) => id.as_i64(),
        RequestId::String(id) => mcp_wire::from_str::<Integer>(id.trim()).ok()?.as_i64(),
    }
}

/// Returns the number of an id, and what is wrong with its spelling.
pub(crate) fn spelled_id(id: &RequestId) -> Option<(i64, Option<String>)> {
    let number = own_id(id)?;
    let why = match id {
        RequestId::Integer(_) => None,
        RequestId::String(_) => Some(format!("at /id: expected {number}, found {}", shown(id))),
    };
    Some((number, why))
}
