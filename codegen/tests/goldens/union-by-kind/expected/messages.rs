//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map, Number};

/// `Bag`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Bag {
    /// No doc line yet.
    pub size: Integer,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Bag {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(size: impl Into<Integer>) -> Self {
        Self {
            size: size.into(),
            extra: Map::new(),
        }
    }
}

/// `Token`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// A whole number.
    Integer(Integer),
    /// A string.
    String(String),
}

impl From<Integer> for Token {
    fn from(value: Integer) -> Self {
        Self::Integer(value)
    }
}

impl From<String> for Token {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

/// `Value`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string.
    String(String),
    /// A number.
    Number(Number),
    /// `true` or `false`.
    Boolean(bool),
    /// A list.
    List(Vec<String>),
    /// `Bag`, which has no doc line yet.
    Bag(Bag),
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

impl From<Number> for Value {
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<Vec<String>> for Value {
    fn from(value: Vec<String>) -> Self {
        Self::List(value)
    }
}

impl From<Bag> for Value {
    fn from(value: Bag) -> Self {
        Self::Bag(value)
    }
}
