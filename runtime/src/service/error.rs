//! Why a call has no result: one type for handlers and for clients.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::{Lifecycle, Revision};
use mcp_wire::ErrorObject;

use mcp_revisions_core::methods;
use mcp_revisions_sansio::Failure;
use mcp_revisions_sansio::errors;

/// Maximum number of bytes of a URI that an error repeats.
const URI_BYTES: usize = 2 << 10;

/// Why a call has no result.
///
/// Handlers return it with `?`; on its way to the peer each becomes the error that the peer's revision has for it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The params are not those of the method; the text says why.
    #[error("{0}")]
    InvalidParams(String),
    /// There is no such method.
    #[error("no method `{0}`")]
    MethodNotFound(String),
    /// There is no resource at this URI.
    #[error("no resource `{0}`")]
    ResourceNotFound(String),
    /// The user declined the elicitation (`action: "decline"`).
    #[error("the user declined to answer")]
    Declined,
    /// The user cancelled the elicitation (`action: "cancel"`).
    #[error("the user dismissed the question")]
    Cancelled,
    /// The client cannot be asked: it has not declared the capability. The value is the error that its call ends with, unless
    /// the handler goes on.
    #[error("{} ({})", .0.message, .0.code)]
    CannotAsk(ErrorObject),
    /// The client has not answered the question yet: the call ends with it, and starts over with the answer. The result of
    /// its handler is not used. See [`RequestContext::stateless`](super::RequestContext::stateless).
    #[error("the call starts over once its question is answered")]
    InputRequired,
    /// An error as JSON-RPC has it: the peer's own, or one of the application.
    #[error("{} ({})", .0.message, .0.code)]
    Rpc(ErrorObject),
    /// A message is not valid.
    #[error("{0}")]
    Decode(#[source] mcp_wire::Error),
    /// The request of a client failed without a response, or was not taken; the value says why.
    #[error("{0}")]
    RequestFailed(#[source] Failure),
    /// The response did not arrive in time.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// The transport failed.
    #[error("{0}")]
    Transport(#[source] TransportError),
    /// An internal error. **The text is sent to the peer.**
    #[error("{0}")]
    Internal(String),
}

/// A failure of the transport, and the error of the system that it comes from, if there is one.
#[derive(Debug, Clone)]
pub struct TransportError {
    text: String,
    cause: Option<Arc<io::Error>>,
}

impl TransportError {
    /// Returns the kind of the system's error, such as [`io::ErrorKind::ConnectionRefused`]; `None` if it was none of the system.
    #[must_use]
    pub fn kind(&self) -> Option<io::ErrorKind> {
        self.cause.as_ref().map(|cause| cause.kind())
    }
}

impl std::fmt::Display for TransportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for TransportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

/// Two are equal if they say the same, of the same kind.
impl PartialEq for TransportError {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.kind() == other.kind()
    }
}

impl From<String> for TransportError {
    fn from(text: String) -> Self {
        Self { text, cause: None }
    }
}

impl From<io::Error> for TransportError {
    fn from(error: io::Error) -> Self {
        let (text, cause) = (error.to_string(), Some(Arc::new(error)));
        Self { text, cause }
    }
}

impl Error {
    /// Creates an error of the transport.
    pub(crate) fn transport(why: impl Into<String>) -> Self {
        Self::Transport(why.into().into())
    }

    /// Creates an error of the application, with its own code.
    #[must_use]
    pub fn application(code: i64, message: impl Into<String>) -> Self {
        Self::Rpc(ErrorObject::new(code, message))
    }

    /// Creates an internal error. **The text is sent to the peer.**
    #[must_use]
    pub fn internal(why: impl std::fmt::Display) -> Self {
        Self::Internal(why.to_string())
    }

    /// Converts it to a JSON-RPC error for a peer of this revision.
    #[must_use]
    pub fn into_object(self, revision: Revision) -> ErrorObject {
        match self {
            Self::Rpc(error) | Self::CannotAsk(error) => error,
            Self::InvalidParams(why) => errors::invalid_params(&why).error,
            Self::Decode(error) => errors::invalid_params(&errors::abridged(&error)).error,
            Self::MethodNotFound(method) => {
                errors::method_not_found(&method, revision.lifecycle()).error
            }
            Self::ResourceNotFound(uri) => {
                let code = match revision.lifecycle() {
                    Lifecycle::Handshake => errors::RESOURCE_NOT_FOUND,
                    Lifecycle::PerRequest => ErrorObject::INVALID_PARAMS,
                };
                no_resource(&uri, code)
            }
            other => errors::internal(&other.to_string()).error,
        }
    }

    /// Converts it to the error of a request of this method: only `resources/read` has a code of its own for a missing resource.
    pub(crate) fn into_answer(self, method: &str, revision: Revision) -> ErrorObject {
        match self {
            Self::ResourceNotFound(uri) if method != methods::RESOURCES_READ => {
                no_resource(&uri, ErrorObject::INVALID_PARAMS)
            }
            other => other.into_object(revision),
        }
    }

    /// Returns whether it is the error of params that could not be read; a handler may have answered the same.
    pub(crate) fn may_be_of_params(&self) -> bool {
        let invalid = Some(ErrorObject::INVALID_PARAMS);
        matches!(self, Self::Rpc(error) if error.code.as_i64() == invalid)
    }

    /// Returns whether the call itself was wrong: a tool that fails so has not run.
    pub(crate) fn is_of_the_protocol(&self) -> bool {
        matches!(
            self,
            Self::InputRequired
                | Self::InvalidParams(_)
                | Self::MethodNotFound(_)
                | Self::ResourceNotFound(_)
                | Self::Rpc(_)
                | Self::CannotAsk(_)
                | Self::Decode(_)
        )
    }
}

/// Returns the error for a resource that there is not.
fn no_resource(uri: &str, code: i64) -> ErrorObject {
    let message = format!(
        "no resource `{}`",
        mcp_revisions_core::errors::shortened(uri)
    );
    let error = ErrorObject::new(code, message);
    // A URI of which a part is left out is another.
    if uri.len() > URI_BYTES {
        return error;
    }
    let data = mcp_wire::Map::from_iter([("uri", mcp_wire::Json::of(uri))]);
    error.with_data(mcp_wire::Json::of(&data))
}

impl From<ErrorObject> for Error {
    fn from(error: ErrorObject) -> Self {
        Self::Rpc(error)
    }
}

impl From<mcp_wire::Error> for Error {
    fn from(error: mcp_wire::Error) -> Self {
        Self::Decode(error)
    }
}

impl From<Box<Failure>> for Error {
    fn from(failure: Box<Failure>) -> Self {
        Self::RequestFailed(*failure)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Transport(error.into())
    }
}
