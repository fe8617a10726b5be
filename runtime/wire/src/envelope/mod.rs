//! The JSON-RPC 2.0 envelope: looked at once, and written around params and results that are texts already.

pub(crate) mod peek;
pub mod write;

use crate::json::{Extra, Json};
use crate::map::Map;
use crate::number::Integer;

/// What went wrong with a request.
#[derive(Clone, PartialEq, Eq)]
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

crate::record! {
    ErrorObject open {
        0 "code": required code;
        1 "message": required message;
        2 "data": json data;
    }
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
