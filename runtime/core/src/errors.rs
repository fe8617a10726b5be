//! The errors of the protocol itself: code, message, data, and the HTTP status beside them.

use mcp_revisions_tables::Lifecycle;
use mcp_wire::{ErrorObject, Json, Map};

use crate::RevisionSet;

/// A header of a per-request message is missing, or differs from the body.
pub const HEADER_MISMATCH: i64 = -32020;
/// A request of the per-request lifecycle needs a client capability that it does not declare.
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// A request of the per-request lifecycle claims a revision that the server does not speak.
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
/// Events: the server does not have the event type or the subscription.
pub const NOT_FOUND: i64 = -32023;
/// Events: the principal may not have these events.
pub const FORBIDDEN: i64 = -32024;
/// Events: the client has as many subscriptions as it may have, or one of too many bytes.
pub const RESOURCE_EXHAUSTED: i64 = -32025;
/// Events: what the request asks for is not supported, such as a delivery mode.
pub const UNSUPPORTED: i64 = -32026;
/// Events: the webhook of a subscription cannot be reached, or has not repeated its challenge.
pub const CALLBACK_ENDPOINT: i64 = -32027;
/// There is no such resource; up to 2025-11-25.
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// The user has to go through a URL first; only in 2025-11-25.
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

impl Refusal {
    /// Creates the refusal of this code, HTTP status and message.
    #[must_use]
    pub fn new(code: i64, status: u16, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            error: ErrorObject::new(code, message),
            status,
        })
    }

    /// Returns whether the receiver may take the same message a little later: it had no room.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        self.status == 503
    }
}

/// Makes the error of a text that is not JSON.
#[must_use]
pub fn parse_error(why: &str) -> Box<Refusal> {
    Refusal::new(ErrorObject::PARSE_ERROR, 400, why)
}

/// Makes the error of JSON that is not a message which the receiver can take now.
#[must_use]
pub fn invalid_request(why: &str) -> Box<Refusal> {
    Refusal::new(ErrorObject::INVALID_REQUEST, 400, why)
}

/// Makes the error of a method that the revision does not have; in the per-request lifecycle the status says so too.
#[must_use]
pub fn method_not_found(method: &str, lifecycle: Lifecycle) -> Box<Refusal> {
    Box::new(Refusal {
        error: mcp_wire::service::method_not_found(method),
        status: status(ErrorObject::METHOD_NOT_FOUND, lifecycle),
    })
}

/// Makes the error of params that are not those of the method.
#[must_use]
pub fn invalid_params(why: &str) -> Box<Refusal> {
    Refusal::new(ErrorObject::INVALID_PARAMS, 200, why)
}

/// Makes the error of a required key of `_meta` that is missing or has an invalid value.
pub(crate) fn missing_meta(key: &str, served: RevisionSet) -> Box<Refusal> {
    let mut refusal = Refusal::new(
        ErrorObject::INVALID_PARAMS,
        400,
        format!("params._meta[\"{key}\"] is required; this server speaks {served}"),
    );
    refusal.error.data = Some(supported(served, None));
    refusal
}

/// Makes the error of a header that is missing or differs from the body.
#[must_use]
pub fn header_mismatch(why: &str) -> Box<Refusal> {
    Refusal::new(HEADER_MISMATCH, 400, why)
}

/// Makes the error of a claimed revision that is not served; `data` has those that are, latest first.
///
/// A server that has only the handshake lifecycle says -32602: a client that probes would take -32022 for the per-request one.
pub(crate) fn unsupported_version(requested: &str, served: RevisionSet) -> Box<Refusal> {
    let code = if served.has(Lifecycle::PerRequest) {
        UNSUPPORTED_PROTOCOL_VERSION
    } else {
        ErrorObject::INVALID_PARAMS
    };
    let requested = shortened(requested);
    let message =
        format!("protocol version `{requested}` is not supported; this server speaks {served}");
    let mut refusal = Refusal::new(code, 400, message);
    refusal.error.data = Some(supported(served, Some(&requested)));
    refusal
}

/// Makes the error of a client that did not declare what the request needs; `required` has it as `ClientCapabilities`.
#[must_use]
pub fn missing_capability(required: &Json) -> Box<Refusal> {
    let mut refusal = Refusal::new(
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
    Refusal::new(ErrorObject::INTERNAL_ERROR, 200, why)
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

/// Returns at most 100 characters of a text: a peer does not get to choose the length of our messages.
#[must_use]
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns the data of an error about a protocol version: those that are served, and the requested one.
fn supported(served: RevisionSet, requested: Option<&str>) -> Json {
    let served = ("supported", Json::of(&served.protocol_versions()));
    let requested = requested.map(|requested| ("requested", Json::of(requested)));
    Json::of(&Map::from_iter([served].into_iter().chain(requested)))
}
