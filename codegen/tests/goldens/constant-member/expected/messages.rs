//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Packet`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Packet {
    /// No doc line yet.
    pub name: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Packet {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            extra: Map::new(),
        }
    }
}
