//! What generated crates say about their methods and types: traits, tables, and open cases.

use std::fmt;

use crate::codec::{Decode, Encode};
use crate::error::Error;
use crate::fault::Fault;
use crate::json::Json;
use crate::map::{Extra, Map};
use crate::object::Members;
use crate::reader::Reader;
use crate::writer::Writer;

/// Who sends a message to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the client to the server.
    ClientToServer,
    /// From the server to the client.
    ServerToClient,
}

impl Direction {
    /// `client-to-server` or `server-to-client`
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClientToServer => "client-to-server",
            Self::ServerToClient => "server-to-client",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a method is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MethodKind {
    /// A message that is answered.
    Request,
    /// A message that is not answered.
    Notification,
    /// A request inside `inputRequests` of a result, as of 2026-07-28, answered in `inputResponses`.
    Input,
}

impl MethodKind {
    /// `request`, `notification` or `input`
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Input => "input",
        }
    }
}

impl fmt::Display for MethodKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A request of one revision.
pub trait Request: Decode + Encode {
    /// The method, such as `tools/call`.
    const METHOD: &'static str;
    /// What the request carries.
    type Params: Decode + Encode;
    /// What answers it.
    type Result: Decode + Encode;
}

/// A notification of one revision.
pub trait Notification: Decode + Encode {
    /// The method, such as `notifications/progress`.
    const METHOD: &'static str;
    /// What the notification carries.
    type Params: Decode + Encode;
}

/// A row of a revision's table of methods; types are named as in the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// The method, such as `tools/call`.
    pub name: &'static str,
    /// Who sends it.
    pub direction: Direction,
    /// How it is called.
    pub kind: MethodKind,
    /// The definition of its params, if it has any.
    pub params: Option<&'static str>,
    /// Whether `params` must be there.
    pub params_required: bool,
    /// The definition of its result, if it is answered.
    pub result: Option<&'static str>,
    /// The definition of the whole message.
    pub message: &'static str,
}

/// A row of a revision's table of types.
#[derive(Debug, Clone, Copy)]
pub struct TypeInfo {
    /// The name of the definition in the schema.
    pub name: &'static str,
    /// The name of the type in Rust.
    pub rust_name: &'static str,
    /// Whether the schema defines it by name; else it was hoisted from an inline schema.
    pub definition: bool,
    /// Reads a text as the type and writes it again.
    pub round_trip: fn(&str) -> Result<String, Error>,
}

impl TypeInfo {
    /// The row of the type `T` of a definition.
    pub const fn of<T: Decode + Encode>(name: &'static str, rust_name: &'static str) -> Self {
        Self {
            name,
            rust_name,
            definition: true,
            round_trip: round_trip::<T>,
        }
    }

    /// The row of the type `T` of an inline schema; `name` is that of its place.
    pub const fn inline<T: Decode + Encode>(name: &'static str, rust_name: &'static str) -> Self {
        let row = Self::of::<T>(name, rust_name);
        Self {
            definition: false,
            ..row
        }
    }
}

fn round_trip<T: Decode + Encode>(text: &str) -> Result<String, Error> {
    crate::from_str::<T>(text).map(|value| crate::to_string(&value))
}

/// A message whose method is not of this revision.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownMessage {
    /// The method.
    pub method: String,
    /// Its params, unread; `null` is read as absent.
    pub params: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

impl UnknownMessage {
    /// A message without params.
    pub fn new(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            params: None,
            extra: Map::new(),
        }
    }
}

impl Decode for UnknownMessage {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("message", &["method", "params"]);
        let (mut method, mut params) = (None, None);
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => method = Some(reader.value()?),
                _ => params = reader.optional()?,
            }
        }
        Ok(Self {
            method: object.require(0, method)?,
            params,
            extra: object.into_extra(),
        })
    }
}

impl Encode for UnknownMessage {
    fn encode(&self, writer: &mut Writer) {
        let Self {
            method,
            params,
            extra,
        } = self;
        let mut object = writer.object();
        object.member("method", method);
        object.optional("params", params);
        object.extra(extra);
        object.end();
    }
}

/// The params of a method that has none: an object without known members.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NoParams {
    /// All members.
    pub extra: Extra,
}

impl Decode for NoParams {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.value().map(|extra| Self { extra })
    }
}

impl Encode for NoParams {
    fn encode(&self, writer: &mut Writer) {
        self.extra.encode(writer);
    }
}
