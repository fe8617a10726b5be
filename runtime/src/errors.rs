//! The errors that the protocol itself calls for: code, message, data, and the HTTP status beside them.

use mcp_protocol::Lifecycle;
use mcp_wire::{ErrorObject, Json};

use crate::RevisionSet;

/// A header of a per-request message is missing, or differs from the body.
pub const HEADER_MISMATCH: i64 = -32020;
/// A request of the per-request lifecycle needs a client capability that it does not declare.
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// A request of the per-request lifecycle claims a revision that the server does not speak.
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
/// There is no such resource; up to 2025-11-25.
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// The user has to go through a URL first; 2025-11-25 alone.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

/// An error that answers a message, and the status of the HTTP response that carries it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{} ({}, HTTP {status})", error.message, error.code)]
pub struct Refusal {
    /// The error.
    pub error: ErrorObject,
    /// The status.
    pub status: u16,
}

/// The refusal that an error is, where another layer knows the status.
impl From<ErrorObject> for Box<Refusal> {
    fn from(error: ErrorObject) -> Self {
        Self::new(Refusal { error, status: 200 })
    }
}

fn refusal(code: i64, status: u16, message: impl Into<String>) -> Box<Refusal> {
    Box::new(Refusal {
        error: ErrorObject::new(code, message),
        status,
    })
}

/// Makes the error of a text that is not JSON.
#[must_use]
pub fn parse_error(why: &str) -> Box<Refusal> {
    refusal(ErrorObject::PARSE_ERROR, 400, why)
}

/// Makes the error of JSON that is not a message which the receiver can take now.
#[must_use]
pub fn invalid_request(why: &str) -> Box<Refusal> {
    refusal(ErrorObject::INVALID_REQUEST, 400, why)
}

/// Makes the error of a method that the revision does not have; in the per-request lifecycle the status says so too.
#[must_use]
pub fn method_not_found(method: &str, lifecycle: Lifecycle) -> Box<Refusal> {
    let code = ErrorObject::METHOD_NOT_FOUND;
    refusal(
        code,
        status(code, lifecycle),
        format!("no method `{}`", shortened(method)),
    )
}

/// Makes the error of params that are not those of the method.
#[must_use]
pub fn invalid_params(why: &str) -> Box<Refusal> {
    refusal(ErrorObject::INVALID_PARAMS, 200, why)
}

/// Makes the error of a required key of `_meta` that is missing or has an invalid value.
#[must_use]
pub fn missing_meta(key: &str, served: RevisionSet) -> Box<Refusal> {
    let mut refusal = refusal(
        ErrorObject::INVALID_PARAMS,
        400,
        format!("params._meta[\"{key}\"] is required; this server speaks {served}"),
    );
    refusal.error.data = Some(Json::of(&Supported {
        served,
        requested: None,
    }));
    refusal
}

/// Makes the error of a header that is missing or differs from the body.
#[must_use]
pub fn header_mismatch(why: &str) -> Box<Refusal> {
    refusal(HEADER_MISMATCH, 400, why)
}

/// Makes the error of a claimed revision that is not served; `data` has those that are, latest first.
#[must_use]
pub fn unsupported_version(requested: &str, served: RevisionSet) -> Box<Refusal> {
    unsupported(UNSUPPORTED_PROTOCOL_VERSION, requested, served)
}

/// Makes the error [`unsupported_version`] of a server that has only the handshake lifecycle.
///
/// Its code is the one that such servers use: a client that probes would take -32022 for the per-request lifecycle.
#[must_use]
pub fn unsupported_by_handshake_server(requested: &str, served: RevisionSet) -> Box<Refusal> {
    unsupported(ErrorObject::INVALID_PARAMS, requested, served)
}

fn unsupported(code: i64, requested: &str, served: RevisionSet) -> Box<Refusal> {
    let requested = shortened(requested);
    let message =
        format!("protocol version `{requested}` is not supported; this server speaks {served}");
    let mut refusal = refusal(code, 400, message);
    refusal.error.data = Some(Json::of(&Supported {
        served,
        requested: Some(&requested),
    }));
    refusal
}

/// Makes the error of a client that did not declare what the request needs; `required` has it as `ClientCapabilities`.
#[must_use]
pub fn missing_capability(required: &Json) -> Box<Refusal> {
    let mut refusal = refusal(
        MISSING_CLIENT_CAPABILITY,
        400,
        format!(
            "this request needs client capabilities: {}",
            shortened(required.text())
        ),
    );
    refusal.error.data = Json::from_text(&format!("{{\"requiredCapabilities\":{required}}}")).ok();
    refusal
}

/// Makes the error of a receiver that failed.
#[must_use]
pub fn internal(why: &str) -> Box<Refusal> {
    refusal(ErrorObject::INTERNAL_ERROR, 200, why)
}

/// Makes the error of a request whose replica is gone before it answered.
#[must_use]
pub fn replica_gone() -> Box<Refusal> {
    unfinished("the replica that ran this request is gone")
}

/// Makes the error of a request whose answer is lost, because the replicas could not reach each other for a while.
#[must_use]
pub fn replica_unreachable() -> Box<Refusal> {
    unfinished(
        "the answer of the replica that ran this request is gone: it could not be reached for a while",
    )
}

/// Makes the error of a request of a session that another replica runs now.
#[must_use]
pub fn session_moved() -> Box<Refusal> {
    unfinished("this replica was taken for gone, and another replica runs the session now")
}

/// Makes the error of a request that is not done when the server ends.
#[must_use]
pub fn server_ended() -> Box<Refusal> {
    unfinished("the server ended before this request was done")
}

/// A request that was given up at an unknown point.
fn unfinished(why: &str) -> Box<Refusal> {
    internal(&format!(
        "{why}; whether the request ran is not known: send it again if it may run twice"
    ))
}

/// Makes the error of a message longer than [`Limits::max_message_bytes`](crate::Limits::max_message_bytes).
#[must_use]
pub fn message_too_large(bytes: usize, limit: usize) -> Box<Refusal> {
    let why = format!("a message of {bytes} bytes; at most {limit} are taken");
    refusal(ErrorObject::INVALID_REQUEST, 413, why)
}

/// Makes the error of a batch longer than [`Limits::max_batch_length`](crate::Limits::max_batch_length).
#[must_use]
pub fn batch_too_long(limit: usize) -> Box<Refusal> {
    refusal(
        ErrorObject::INVALID_REQUEST,
        400,
        format!("a batch has at most {limit} messages here"),
    )
}

/// Makes the error of a server that has no room now.
fn busy(why: impl Into<String>) -> Box<Refusal> {
    refusal(ErrorObject::INTERNAL_ERROR, 503, why)
}

/// Makes the error of too many pending requests; see [`Limits::max_pending_requests`](crate::Limits::max_pending_requests).
#[must_use]
pub fn too_many_pending(limit: usize) -> Box<Refusal> {
    busy(format!(
        "{limit} requests are not answered yet: try again once one is"
    ))
}

/// Makes the error of pending requests with too many bytes; see [`Limits::max_pending_bytes`](crate::Limits::max_pending_bytes).
#[must_use]
pub fn too_much_pending(limit: usize) -> Box<Refusal> {
    busy(format!(
        "requests of {limit} bytes are not answered yet: try again once one is"
    ))
}

/// As many requests of a client are suspended as may be; `full` says how many those are.
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub(crate) fn too_many_suspended(full: &str) -> Box<Refusal> {
    busy(format!(
        "as many requests wait for their client's input as may: {full}: answer one of them, or cancel it, first"
    ))
}

/// What the suspended requests of a client take up is as much as it may be; `full` says how much that is.
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub(crate) fn too_much_suspended(full: &str) -> Box<Refusal> {
    busy(format!(
        "requests that wait for their client's input take up {full} in bytes: answer one of them, or cancel it, first"
    ))
}

/// What a client has not read is as much as it may be; `full` says how much that is.
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub(crate) fn too_much_unread(full: &str) -> Box<Refusal> {
    internal(&format!(
        "the answer is not sent: what this client has not read takes up {full} in bytes"
    ))
}

/// Makes the error of a call with too many rounds of input; see [`Limits::max_input_rounds`](crate::Limits::max_input_rounds).
#[must_use]
pub fn asked_too_often(limit: u32) -> Box<Refusal> {
    internal(&format!(
        "the server asked back {limit} times without an answer"
    ))
}

/// Makes the error of too many subscriptions; see [`Limits::max_subscriptions`](crate::Limits::max_subscriptions).
#[must_use]
pub fn too_many_subscriptions(limit: usize) -> Box<Refusal> {
    internal(&format!("{limit} subscriptions are open: end one first"))
}

/// Makes the error of too many open sessions; see [`Limits::max_sessions`](crate::Limits::max_sessions).
#[must_use]
pub fn too_many_sessions(limit: usize) -> Box<Refusal> {
    busy(format!(
        "{limit} sessions are open: try again once one has ended"
    ))
}

/// Makes the error of a client whose info and capabilities are longer than is kept.
#[must_use]
pub fn introduction_too_large(bytes: usize, limit: usize) -> Box<Refusal> {
    invalid_params(&format!(
        "`clientInfo` and `capabilities` are {bytes} bytes, at most {limit} are taken: leave out icons, or link to them"
    ))
}

/// Returns the status of an HTTP response that carries this error as the answer to a request.
#[must_use]
pub fn status(code: i64, lifecycle: Lifecycle) -> u16 {
    match (lifecycle, code) {
        (_, ErrorObject::PARSE_ERROR | ErrorObject::INVALID_REQUEST) => 400,
        (Lifecycle::PerRequest, ErrorObject::METHOD_NOT_FOUND) => 404,
        (
            Lifecycle::PerRequest,
            HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_PROTOCOL_VERSION,
        ) => 400,
        _ => 200,
    }
}

/// At most 100 characters: a peer does not get to choose the length of our messages.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The two ends of an error that quotes what a peer sent: what it begins with, and what was expected in its place.
#[cfg(any(feature = "server-http", feature = "server-stdio", feature = "client"))]
pub(crate) fn abridged(error: &impl std::fmt::Display) -> String {
    const END: usize = 200;
    let text = error.to_string();
    let first = text.char_indices().nth(END).map(|(at, _)| at);
    let last = text.char_indices().nth_back(END).map(|(at, _)| at);
    let ends = first.zip(last).filter(|(first, last)| first < last);
    let Some((first, last)) = ends else {
        return text;
    };
    let part = |range: Option<&str>| range.unwrap_or_default().to_owned();
    format!("{} … {}", part(text.get(..first)), part(text.get(last..)))
}

struct Supported<'a> {
    served: RevisionSet,
    requested: Option<&'a str>,
}

impl mcp_wire::Encode for Supported<'_> {
    fn encode(&self, writer: &mut mcp_wire::Writer) {
        let Self { served, requested } = self;
        let mut object = writer.object();
        object.member("supported", &served.protocol_versions());
        object.optional("requested", requested);
        object.end();
    }
}
