//! Messages read and written: the members first, then the decision what the message is.

use super::{ErrorObject, Message, Packet, RawError, RawNotification, RawRequest, RawResponse};
use crate::codec::{Decode, Encode};
use crate::fault::{Fault, What};
use crate::id::RequestId;
use crate::json::Json;
use crate::map::Extra;
use crate::object::{Members, Record};
use crate::reader::Reader;
use crate::writer::{ObjectWriter, Writer};

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
    extra: Extra,
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

impl Record for Parts {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("2.0"),
            1 => {
                reader.peek();
                self.id_at = reader.offset();
                self.id.insert(None).fill(reader)
            }
            2 => self.method.insert(String::new()).fill(reader),
            3 => {
                reader.peek();
                self.params_at = reader.offset();
                self.params.insert(Json::blank()).fill(reader)
            }
            4 => self.result.insert(Json::blank()).fill(reader),
            _ => self.error.insert(ErrorObject::blank()).fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Decode for Message {
    #[inline]
    fn blank() -> Self {
        Self::Notification(RawNotification {
            method: String::new(),
            params: None,
            extra: Extra::new(),
        })
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = Parts::read(reader)?;
        Ok(())
    }
}

impl Parts {
    fn read(reader: &mut Reader<'_>) -> Result<Message, Fault> {
        static MEMBERS: Members = Members::open(
            "JSON-RPC message",
            &["jsonrpc", "id", "method", "params", "result", "error"],
        )
        .requiring(&[0]);
        let mut parts = Self::default();
        reader.peek();
        let start = reader.offset();
        reader.record(&MEMBERS, &mut parts)?;
        let mut extra = std::mem::take(&mut parts.extra);
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
                    Some(id) => Message::Request(RawRequest {
                        id,
                        method,
                        params,
                        extra,
                    }),
                    None => Message::Notification(RawNotification {
                        method,
                        params,
                        extra,
                    }),
                })
            }
            (None, Some(result), None) => {
                let id = parts.id()?.ok_or_else(missing_id)?;
                keep_params(parts.params, &mut extra);
                Ok(Message::Response(RawResponse { id, result, extra }))
            }
            (None, None, Some(error)) => {
                keep_params(parts.params, &mut extra);
                Ok(Message::Error(RawError {
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
    #[inline]
    fn blank() -> Self {
        Self::Batch(Vec::new())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        if reader.peek() != b'[' {
            *self = Self::Single(reader.value()?);
            return Ok(());
        }
        let start = reader.offset();
        let batch: Vec<Message> = reader.value()?;
        if batch.is_empty() {
            return Err(Fault::new(start, What::Kind("at least one message")));
        }
        *self = Self::Batch(batch);
        Ok(())
    }
}

impl Decode for ErrorObject {
    #[inline]
    fn blank() -> Self {
        Self {
            code: Decode::blank(),
            message: String::new(),
            data: None,
            extra: Extra::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members =
            Members::open("Error", &["code", "message", "data"]).requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for ErrorObject {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.code.fill(reader),
            1 => self.message.fill(reader),
            _ => self.data.insert(Json::blank()).fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
