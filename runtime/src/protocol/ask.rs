//! Requests of an application, and what comes of them.

use std::sync::Arc;

use mcp_registry::Loss;
use mcp_wire::{Decode, Encode, ErrorObject, Json, Peeked, Raw, Request, RequestId};

use super::client::{Failure, InputRequired};
use super::events::Token;
use super::profile::Profile;

/// A request of the application, to be sent by [`Connection::ask`](super::Connection::ask).
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    pub(crate) method: String,
    pub(crate) params: Option<Json>,
    pub(crate) progress: bool,
    pub(crate) log_level: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) about: Option<Token>,
    pub(crate) behalf: Option<Arc<Profile>>,
    pub(crate) takes_questions: bool,
}

impl Ask {
    /// A request of this method; its params are of the application's revision.
    #[must_use]
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

    /// For whom it is asked, where that is not the client itself: a gateway hands on what it was told by whoever asks it.
    ///
    /// A server of the handshake era was told of one client for all requests, and goes on with that.
    #[must_use]
    pub fn on_behalf_of(mut self, who: Arc<Profile>) -> Self {
        self.behalf = Some(who);
        self
    }

    /// Takes a result that asks for input as [`Answer::Result`], with the server's own keys and `requestState`, if the
    /// server speaks the application's revision: the application makes the request again with the answers. A server of
    /// another revision asks as without this.
    #[must_use]
    pub fn with_questions_in_result(mut self) -> Self {
        self.takes_questions = true;
        self
    }

    /// The call of the peer for whose sake it is asked, so that it takes the same way.
    #[must_use]
    pub fn about(mut self, call: Token) -> Self {
        self.about = Some(call);
        self
    }
}

/// The one answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The request.
    pub token: Token,
    /// What came.
    pub answer: Answer,
    /// What could not be carried over, of the request and of the answer.
    pub losses: Vec<Loss>,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The result: complete, unless [`Ask::with_questions_in_result`] takes another.
    Result(Json),
    /// At a client without adapters: the server wants to be told more, and the request to be sent again.
    InputRequired(InputRequired),
    /// The peer refused.
    Error(ErrorObject),
    /// No answer of the peer that could be handed on.
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

impl From<Result<Json, ErrorObject>> for Answer {
    fn from(result: Result<Json, ErrorObject>) -> Self {
        match result {
            Ok(result) => Self::Result(result),
            Err(error) => Self::Error(error),
        }
    }
}

/// What a peer answered.
pub(crate) fn outcome(message: &Peeked<'_>) -> Result<Json, ErrorObject> {
    match (message.result.map(Raw::to_json), message.error) {
        (Some(result), _) => Ok(result),
        (None, error) => Err(error
            .and_then(|error| mcp_wire::from_str(error.text()).ok())
            .unwrap_or_else(no_error)),
    }
}

/// An error of a peer that is no error object.
pub(crate) fn no_error() -> ErrorObject {
    ErrorObject::new(ErrorObject::INTERNAL_ERROR, "an error that is none")
}

/// The number of an id that this end gave out.
pub(crate) fn own_id(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Integer(id) => id.as_i64(),
        RequestId::String(_) => None,
    }
}
