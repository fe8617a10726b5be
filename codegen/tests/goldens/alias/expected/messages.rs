//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Names`, which has no doc line yet.
pub type Names = Vec<String>;

/// `Same`, which has no doc line yet.
pub type Same = Tool;

/// `Tool`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// No doc line yet.
    pub name: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Tool {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            extra: Map::new(),
        }
    }
}

/// `Tools`, which has no doc line yet.
pub type Tools = Vec<Tool>;
