//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map};

/// `Closed`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// No doc line yet.
    pub name: String,
}

impl Closed {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into() }
    }
}

/// `Open`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    /// No doc line yet.
    pub name: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Open {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            extra: Map::new(),
        }
    }
}

/// `Typed`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Typed {
    /// No doc line yet.
    pub name: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Map<Integer>,
}

impl Typed {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            extra: Map::new(),
        }
    }
}
