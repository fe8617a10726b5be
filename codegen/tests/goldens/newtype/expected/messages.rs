//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Integer, Number};

/// `Count`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count(pub Integer);

impl From<Integer> for Count {
    fn from(value: Integer) -> Self {
        Self(value)
    }
}

impl From<Count> for Integer {
    fn from(value: Count) -> Self {
        value.0
    }
}

/// `Cursor`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cursor(pub String);

impl From<String> for Cursor {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<Cursor> for String {
    fn from(value: Cursor) -> Self {
        value.0
    }
}

impl From<&str> for Cursor {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

/// `Flag`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag(pub bool);

impl From<bool> for Flag {
    fn from(value: bool) -> Self {
        Self(value)
    }
}

impl From<Flag> for bool {
    fn from(value: Flag) -> Self {
        value.0
    }
}

/// `Ratio`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ratio(pub Number);

impl From<Number> for Ratio {
    fn from(value: Number) -> Self {
        Self(value)
    }
}

impl From<Ratio> for Number {
    fn from(value: Ratio) -> Self {
        value.0
    }
}
