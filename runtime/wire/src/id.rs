//! The id of a request.

use std::fmt;

use crate::fault::Fault;
use crate::number::Integer;
use crate::reader::{Decode, Reader};
use crate::writer::{Encode, Writer};

/// The id of a request: a string or an integer, never `null`.
///
/// `1` and `1.0` are the same id, `"1"` is another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestId {
    /// An id such as `"f3c2"`.
    String(String),
    /// An id such as `7`, in the spelling of its text.
    Integer(Integer),
}

impl Decode for RequestId {
    #[inline]
    fn blank() -> Self {
        Self::String(String::new())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = match reader.peek() {
            b'"' => Self::String(reader.string()?),
            b'-' | b'0'..=b'9' => Self::Integer(reader.value()?),
            _ => return Err(reader.refuse("a string or an integer")),
        };
        Ok(())
    }
}

impl Encode for RequestId {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::String(text) => text.encode(writer),
            Self::Integer(integer) => integer.encode(writer),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) => text.fmt(f),
            Self::Integer(integer) => integer.fmt(f),
        }
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self::Integer(id.into())
    }
}

impl From<Integer> for RequestId {
    fn from(id: Integer) -> Self {
        Self::Integer(id)
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self::String(id.to_owned())
    }
}

impl From<String> for RequestId {
    fn from(id: String) -> Self {
        Self::String(id)
    }
}
