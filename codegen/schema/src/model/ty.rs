//! Types of values, presence of members, methods.

use std::fmt;

pub use mcp_wire::{Direction, MethodKind};
use serde::Serialize;
use serde_json::Value;

use crate::spec::methods::CapabilityPartRow;

/// The presence of a member.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// It must.
    Required,
    /// It may be absent.
    Optional,
    /// It must, with this value; not a field in Rust.
    Constant(Value),
}

/// The type of a value.
#[derive(Debug, Clone, PartialEq, PartialOrd, Eq, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ty {
    /// A string.
    String,
    /// `true` or `false`.
    Boolean,
    /// A number without fraction, of any size.
    Integer,
    /// Any number.
    Number,
    /// Any JSON value, kept as text.
    Json,
    /// Any JSON object, kept as text.
    JsonObject,
    /// Any JSON array, kept as text.
    JsonArray,
    /// A value or `null`, where `null` says something else than absence.
    Nullable(Box<Ty>),
    /// A list.
    Array(Box<Ty>),
    /// An object whose members are all of one type.
    Map(Box<Ty>),
    /// A type of this model, by Rust name.
    Named(String),
    /// A type of a hand-written crate, by path, and the types that stand for it in the model.
    Runtime(String, Vec<Ty>),
}

impl Ty {
    /// Returns the type within its lists, maps and `null`s.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::Nullable(inner) | Self::Array(inner) | Self::Map(inner) => inner.innermost(),
            ty => ty,
        }
    }

    /// Returns the type of this model that it is by itself, by Rust name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the type of this model that stands there, by Rust name.
    pub fn named(&self) -> Option<&str> {
        self.innermost().name()
    }

    /// Returns the type held by value, if any: what lies behind a list or a map is on the heap already.
    pub(crate) fn by_value(&self) -> Option<&String> {
        match self {
            Self::Named(name) => Some(name),
            Self::Nullable(inner) => inner.by_value(),
            _ => None,
        }
    }
}

/// As people say it.
impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String => f.write_str("a string"),
            Self::Boolean => f.write_str("a boolean"),
            Self::Integer => f.write_str("an integer"),
            Self::Number => f.write_str("a number"),
            Self::Json => f.write_str("any JSON"),
            Self::JsonObject => f.write_str("any object"),
            Self::JsonArray => f.write_str("any list"),
            Self::Nullable(inner) => write!(f, "{inner} or null"),
            Self::Array(inner) => write!(f, "a list of {inner}"),
            Self::Map(inner) => write!(f, "a map to {inner}"),
            Self::Named(name) | Self::Runtime(name, _) => write!(f, "`{name}`"),
        }
    }
}

/// The values of unnamed members of an object.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// Any member; kept as opaque JSON.
    Open,
    /// Members of one type.
    Typed(Ty),
    /// Nothing: another member is an error.
    Closed,
}

/// A method of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelMethod {
    /// The `method` string.
    pub name: String,
    /// The sender.
    pub direction: Direction,
    /// Request, notification or embedded request.
    pub kind: MethodKind,
    /// The type of the whole message, by Rust name.
    pub message: String,
    /// The type of `params`; absent where the message has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Ty>,
    /// Set if `params` must be there.
    pub params_required: bool,
    /// The type of the result; absent for notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Ty>,
    /// Set if the result may ask for input first.
    pub input_required: bool,
    /// The type of the result once the server requires no input; `None` if there are several types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<Ty>,
    /// The member of the params that says what the request is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_by: Option<String>,
    /// The capability that the receiver has to have declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// The parts of that capability which some params need besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capability_parts: Vec<CapabilityPartRow>,
}
