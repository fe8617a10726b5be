//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Answer`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// No doc line yet.
    pub result: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Answer {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(result: impl Into<String>) -> Self {
        Self {
            result: result.into(),
            extra: Map::new(),
        }
    }
}

/// `Batch`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Batch {
    /// A list.
    CallList(Vec<Call>),
    /// A list.
    AnswerList(Vec<Answer>),
}

/// `Call`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
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
