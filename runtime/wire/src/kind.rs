//! The kinds of JSON values.

use std::fmt;

/// The kind of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number without fraction and exponent.
    Integer,
    /// A number with a fraction or an exponent.
    Number,
    /// `true` or `false`
    Boolean,
    /// `null`
    Null,
}

impl Kind {
    /// Returns the kind's name in JSON Schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Null => "null",
        }
    }

    pub(crate) fn of_number(text: &str) -> Self {
        if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            Self::Number
        } else {
            Self::Integer
        }
    }

    /// Returns the kind of a text that is known to be JSON, without blanks before it.
    pub(crate) fn of_text(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            _ => Self::of_number(text),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
