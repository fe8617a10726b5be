//! The JSON-RPC 2.0 envelope: which sort of message a text is, with params and result left opaque.

use crate::codec::{Decode, Encode};
use crate::fault::{Fault, What};
use crate::id::RequestId;
use crate::json::Json;
use crate::map::{Extra, Map};
use crate::number::Integer;
use crate::object::Members;
use crate::reader::Reader;
use crate::writer::{ObjectWriter, Writer};

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

/// What comes in one text: a message, or a batch of them, as revision 2025-03-26 allows.
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

impl ErrorObject {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = PARSE_ERROR;
    /// The JSON is not a request.
    pub const INVALID_REQUEST: i64 = INVALID_REQUEST;
    /// The method does not exist.
    pub const METHOD_NOT_FOUND: i64 = METHOD_NOT_FOUND;
    /// The params are not those of the method.
    pub const INVALID_PARAMS: i64 = INVALID_PARAMS;
    /// The receiver failed.
    pub const INTERNAL_ERROR: i64 = INTERNAL_ERROR;

    /// An error without data.
    pub fn new(code: impl Into<Integer>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            data: None,
            extra: Map::new(),
        }
    }

    /// The error with `data`.
    #[must_use]
    pub fn with_data(mut self, data: Json) -> Self {
        self.data = Some(data);
        self
    }
}

impl RawRequest {
    /// A request without params.
    pub fn new(id: impl Into<RequestId>, method: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            method: method.into(),
            params: None,
            extra: Map::new(),
        }
    }

    /// The request with `params`.
    #[must_use]
    pub fn with_params(mut self, params: Json) -> Self {
        self.params = Some(params);
        self
    }
}

impl RawNotification {
    /// A notification without params.
    pub fn new(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            params: None,
            extra: Map::new(),
        }
    }

    /// The notification with `params`.
    #[must_use]
    pub fn with_params(mut self, params: Json) -> Self {
        self.params = Some(params);
        self
    }
}

impl RawResponse {
    /// The response to the request `id`.
    pub fn new(id: impl Into<RequestId>, result: Json) -> Self {
        Self {
            id: id.into(),
            result,
            extra: Map::new(),
        }
    }
}

impl RawError {
    /// The error response to the request `id`; `None` if its id could not be read.
    pub fn new(id: Option<RequestId>, error: ErrorObject) -> Self {
        Self {
            id,
            error,
            extra: Map::new(),
        }
    }
}

impl Message {
    /// The id, if the message has one.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Request(request) => Some(&request.id),
            Self::Notification(_) => None,
            Self::Response(response) => Some(&response.id),
            Self::Error(error) => error.id.as_ref(),
        }
    }

    /// The method, of a request or a notification.
    pub fn method(&self) -> Option<&str> {
        match self {
            Self::Request(request) => Some(&request.method),
            Self::Notification(notification) => Some(&notification.method),
            Self::Response(_) | Self::Error(_) => None,
        }
    }
}

/// The members of a message, read before it is decided what the message is.
#[derive(Default)]
struct Parts {
    /// `null` is an id here.
    id: Option<Option<RequestId>>,
    id_at: usize,
    method: Option<String>,
    params: Option<Json>,
    params_at: usize,
    result: Option<Json>,
    error: Option<ErrorObject>,
}

impl Parts {
    /// The id that a request or a response must have.
    fn id(&mut self) -> Result<Option<RequestId>, Fault> {
        match self.id.take() {
            Some(None) => Err(Fault::new(self.id_at, What::Kind("a string or an integer"))),
            id => Ok(id.flatten()),
        }
    }

    fn checked_params(&mut self) -> Result<Option<Json>, Fault> {
        let params = self.params.take().filter(|params| !params.is_null());
        match params
            .as_ref()
            .map(|params| params.text().as_bytes().first())
        {
            None | Some(Some(b'{' | b'[')) => Ok(params),
            Some(_) => Err(Fault::new(
                self.params_at,
                What::Kind("an object or an array"),
            )),
        }
    }
}

impl Decode for Message {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "JSON-RPC message",
            &["jsonrpc", "id", "method", "params", "result", "error"],
        );
        let mut parts = Parts::default();
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("2.0")?,
                1 => {
                    reader.peek();
                    parts.id_at = reader.offset();
                    parts.id = Some(reader.optional()?);
                }
                2 => parts.method = Some(reader.value()?),
                3 => {
                    reader.peek();
                    parts.params_at = reader.offset();
                    parts.params = Some(reader.value()?);
                }
                4 => parts.result = Some(reader.value()?),
                _ => parts.error = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        let start = object.offset();
        let mut extra = object.into_extra();
        let missing_id = || {
            Fault::new(
                start,
                What::Missing {
                    of: "JSON-RPC message",
                    member: "id",
                },
            )
        };
        match (parts.method.take(), parts.result.take(), parts.error.take()) {
            (Some(method), None, None) => {
                let params = parts.checked_params()?;
                Ok(match parts.id()? {
                    Some(id) => Self::Request(RawRequest {
                        id,
                        method,
                        params,
                        extra,
                    }),
                    None => Self::Notification(RawNotification {
                        method,
                        params,
                        extra,
                    }),
                })
            }
            (None, Some(result), None) => {
                let id = parts.id()?.ok_or_else(missing_id)?;
                keep_params(parts.params, &mut extra);
                Ok(Self::Response(RawResponse { id, result, extra }))
            }
            (None, None, Some(error)) => {
                keep_params(parts.params, &mut extra);
                Ok(Self::Error(RawError {
                    id: parts.id.flatten(),
                    error,
                    extra,
                }))
            }
            (None, None, None) => Err(Fault::new(
                start,
                What::Missing {
                    of: "JSON-RPC message",
                    member: "method",
                },
            )),
            _ => Err(Fault::new(
                start,
                What::Conflict("one of `method`, `result` and `error`"),
            )),
        }
    }
}

/// A response knows no params; if it has them, they are an unknown member.
fn keep_params(params: Option<Json>, extra: &mut Extra) {
    if let Some(params) = params {
        extra.push("params".to_owned(), params);
    }
}

impl Decode for Packet {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        if reader.peek() != b'[' {
            return Message::decode(reader).map(Self::Single);
        }
        let start = reader.offset();
        let batch: Vec<Message> = reader.value()?;
        if batch.is_empty() {
            return Err(Fault::new(start, What::Kind("at least one message")));
        }
        Ok(Self::Batch(batch))
    }
}

impl Decode for ErrorObject {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Error", &["code", "message", "data"]);
        let (mut code, mut message, mut data) = (None, None, None);
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => code = Some(reader.value()?),
                1 => message = Some(reader.value()?),
                _ => data = Some(reader.value()?),
            }
        }
        Ok(Self {
            code: object.require(0, code)?,
            message: object.require(1, message)?,
            data,
            extra: object.into_extra(),
        })
    }
}

fn begin(writer: &mut Writer) -> ObjectWriter<'_> {
    let mut object = writer.object();
    object.constant("jsonrpc", "2.0");
    object
}

impl Encode for RawRequest {
    fn encode(&self, writer: &mut Writer) {
        let Self {
            id,
            method,
            params,
            extra,
        } = self;
        let mut object = begin(writer);
        object.member("id", id);
        object.member("method", method);
        object.optional("params", params);
        object.extra(extra);
        object.end();
    }
}

impl Encode for RawNotification {
    fn encode(&self, writer: &mut Writer) {
        let Self {
            method,
            params,
            extra,
        } = self;
        let mut object = begin(writer);
        object.member("method", method);
        object.optional("params", params);
        object.extra(extra);
        object.end();
    }
}

impl Encode for RawResponse {
    fn encode(&self, writer: &mut Writer) {
        let Self { id, result, extra } = self;
        let mut object = begin(writer);
        object.member("id", id);
        object.member("result", result);
        object.extra(extra);
        object.end();
    }
}

impl Encode for RawError {
    fn encode(&self, writer: &mut Writer) {
        let Self { id, error, extra } = self;
        let mut object = begin(writer);
        object.optional("id", id);
        object.member("error", error);
        object.extra(extra);
        object.end();
    }
}

impl Encode for ErrorObject {
    fn encode(&self, writer: &mut Writer) {
        let Self {
            code,
            message,
            data,
            extra,
        } = self;
        let mut object = writer.object();
        object.member("code", code);
        object.member("message", message);
        object.optional("data", data);
        object.extra(extra);
        object.end();
    }
}

impl Encode for Message {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Request(request) => request.encode(writer),
            Self::Notification(notification) => notification.encode(writer),
            Self::Response(response) => response.encode(writer),
            Self::Error(error) => error.encode(writer),
        }
    }
}

impl Encode for Packet {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Single(message) => message.encode(writer),
            Self::Batch(messages) => messages.encode(writer),
        }
    }
}
