//! The JSON-RPC 2.0 envelope: which sort of message a text is, with params and result left opaque.

mod codec;
pub(crate) mod peek;
pub mod write;

use crate::id::RequestId;
use crate::json::Json;
use crate::map::{Extra, Map};
use crate::number::Integer;

/// A message, its params or result still JSON text.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Has `method` and `id`.
    Request(RawRequest),
    /// Has `method` and no `id`.
    Notification(RawNotification),
    /// Has `result`.
    Response(RawResponse),
    /// Has `error`.
    Error(RawError),
}

/// The content of one text: a message, or a batch of them, as revision 2025-03-26 allows.
#[derive(Debug, Clone, PartialEq)]
pub enum Packet {
    /// One message.
    Single(Message),
    /// A batch; reading refuses an empty one.
    Batch(Vec<Message>),
}

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct RawRequest {
    /// Comes back with the response.
    pub id: RequestId,
    /// Such as `tools/call`.
    pub method: String,
    /// An object or, as far as JSON-RPC goes, an array.
    pub params: Option<Json>,
    /// Unknown members.
    pub extra: Extra,
}

/// A notification.
#[derive(Debug, Clone, PartialEq)]
pub struct RawNotification {
    /// Such as `notifications/progress`.
    pub method: String,
    /// An object or, as far as JSON-RPC goes, an array.
    pub params: Option<Json>,
    /// Unknown members.
    pub extra: Extra,
}

/// The response to a request that succeeded.
#[derive(Debug, Clone, PartialEq)]
pub struct RawResponse {
    /// The id of the request.
    pub id: RequestId,
    /// Any JSON.
    pub result: Json,
    /// Unknown members.
    pub extra: Extra,
}

/// The response to a request that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct RawError {
    /// The id of the request; absent or `null` if it could not be read. Written only if it is there.
    pub id: Option<RequestId>,
    /// What went wrong.
    pub error: ErrorObject,
    /// Unknown members.
    pub extra: Extra,
}

/// What went wrong with a request.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorObject {
    /// The sort of error.
    pub code: Integer,
    /// One sentence for people.
    pub message: String,
    /// Any JSON; `null` is kept.
    pub data: Option<Json>,
    /// Unknown members.
    pub extra: Extra,
}

impl ErrorObject {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The params are not those of the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed.
    pub const INTERNAL_ERROR: i64 = -32603;

    /// Creates an error without data.
    pub fn new(code: impl Into<Integer>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            data: None,
            extra: Map::new(),
        }
    }

    /// Returns the error with `data`.
    #[must_use]
    pub fn with_data(mut self, data: Json) -> Self {
        self.data = Some(data);
        self
    }
}

impl Message {
    /// Returns the id, if the message has one.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Request(request) => Some(&request.id),
            Self::Notification(_) => None,
            Self::Response(response) => Some(&response.id),
            Self::Error(error) => error.id.as_ref(),
        }
    }

    /// Returns the method, of a request or a notification.
    pub fn method(&self) -> Option<&str> {
        match self {
            Self::Request(request) => Some(&request.method),
            Self::Notification(notification) => Some(&notification.method),
            Self::Response(_) | Self::Error(_) => None,
        }
    }
}
