//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map, Number};

/// `Bag`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
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

/// `Batch`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Batch {
    /// A list.
    BagList(Vec<Bag>),
    /// A list.
    CallList(Vec<Call>),
}

/// `Call`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    /// No doc line yet.
    pub method: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Call {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            extra: Map::new(),
        }
    }
}

/// `Token`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A whole number.
    Integer(Integer),
    /// A string.
    String(String),
}

/// `Value`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
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
