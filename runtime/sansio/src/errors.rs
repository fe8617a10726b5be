//! The errors that an endpoint calls for: those of the protocol, and those of its limits.

use mcp_wire::ErrorObject;

pub use mcp_revisions_core::errors::{
    HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, RESOURCE_NOT_FOUND, Refusal,
    UNSUPPORTED_PROTOCOL_VERSION, URL_ELICITATION_REQUIRED, header_mismatch, internal,
    invalid_params, invalid_request, method_not_found, missing_capability, parse_error, status,
};

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

/// Makes the error of a request that was given up at an unknown point.
fn unfinished(why: &str) -> Box<Refusal> {
    internal(&format!(
        "{why}; whether the request ran is not known: send it again if it may run twice"
    ))
}

/// Makes the error of a message longer than [`Limits::max_message_bytes`](crate::Limits::max_message_bytes).
#[must_use]
pub fn message_too_large(bytes: usize, limit: usize) -> Box<Refusal> {
    let why = format!("a message of {bytes} bytes; at most {limit} are taken");
    Refusal::new(ErrorObject::INVALID_REQUEST, 413, why)
}

/// Makes the error of a batch longer than [`Limits::max_batch_length`](crate::Limits::max_batch_length).
pub(crate) fn batch_too_long(limit: usize) -> Box<Refusal> {
    Refusal::new(
        ErrorObject::INVALID_REQUEST,
        400,
        format!("a batch has at most {limit} messages here"),
    )
}

/// Makes the error of a server that has no room now.
pub(crate) fn busy(why: impl Into<String>) -> Box<Refusal> {
    Refusal::new(ErrorObject::INTERNAL_ERROR, 503, why)
}

/// Makes the error of too many pending requests; see [`Limits::max_pending_requests`](crate::Limits::max_pending_requests).
pub(crate) fn too_many_pending(limit: usize) -> Box<Refusal> {
    busy(format!(
        "{limit} requests are not answered yet: try again once one is"
    ))
}

/// Makes the error of pending requests with too many bytes; see [`Limits::max_pending_bytes`](crate::Limits::max_pending_bytes).
pub(crate) fn too_much_pending(limit: usize) -> Box<Refusal> {
    busy(format!(
        "requests of {limit} bytes are not answered yet: try again once one is"
    ))
}

/// Makes the error of a client with as many suspended requests as it may have; `full` says how many those are.
pub fn too_many_suspended(full: &str) -> Box<Refusal> {
    busy(format!(
        "as many requests wait for their client's input as may: {full}: answer one of them, or cancel it, first"
    ))
}

/// Makes the error of a client whose suspended requests take up as much as they may; `full` says how much that is.
pub fn too_much_suspended(full: &str) -> Box<Refusal> {
    busy(format!(
        "requests that wait for their client's input take up {full} in bytes: answer one of them, or cancel it, first"
    ))
}

/// Makes the error of a client that has as much to read as it may; `full` says how much that is.
pub fn too_much_unread(full: &str) -> Box<Refusal> {
    internal(&format!(
        "the answer is not sent: what this client has not read takes up {full} in bytes"
    ))
}

/// Makes the error of a call with too many rounds of input; see [`Limits::max_input_rounds`](crate::Limits::max_input_rounds).
pub(crate) fn asked_too_often(limit: u32) -> Box<Refusal> {
    internal(&format!(
        "the server asked back {limit} times without an answer"
    ))
}

/// Makes the error of too many subscriptions; see [`Limits::max_subscriptions`](crate::Limits::max_subscriptions).
pub(crate) fn too_many_subscriptions(limit: usize) -> Box<Refusal> {
    internal(&format!("{limit} subscriptions are open: end one first"))
}

/// Makes the error of too many open sessions; see [`Limits::max_sessions`](crate::Limits::max_sessions).
pub(crate) fn too_many_sessions(limit: usize) -> Box<Refusal> {
    busy(format!(
        "{limit} sessions are open: try again once one has ended"
    ))
}

/// Makes the error of open sessions with too many bytes; see [`Limits::max_session_bytes`](crate::Limits::max_session_bytes).
pub(crate) fn too_much_in_sessions(limit: usize) -> Box<Refusal> {
    busy(format!(
        "what the clients of open sessions say of themselves takes up {limit} bytes: try again once one has ended"
    ))
}

/// Makes the error of a client whose info and capabilities are longer than is kept.
pub(crate) fn introduction_too_large(bytes: usize, limit: usize) -> Box<Refusal> {
    invalid_params(&format!(
        "`clientInfo` and `capabilities` are {bytes} bytes, at most {limit} are taken: leave out icons, or link to them"
    ))
}

/// Returns the two ends of an error that quotes what a peer sent: what it begins with, and what was expected in its place.
pub fn abridged(error: &impl std::fmt::Display) -> String {
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
