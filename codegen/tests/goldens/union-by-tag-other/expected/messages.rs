//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map};

/// `OtherReference`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherReference {
    /// No doc line yet.
    pub id: Option<Integer>,
    /// No doc line yet.
    pub kind: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl OtherReference {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(kind: impl Into<String>) -> Self {
        Self {
            id: None,
            kind: kind.into(),
            extra: Map::new(),
        }
    }

    /// Sets `id`.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Integer>) -> Self {
        self.id = Some(id.into());
        self
    }
}

/// `Reference`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Reference {
    /// `ToolReference`, which has no doc line yet.
    Tool(ToolReference),
    /// `OtherReference`, which has no doc line yet.
    Other(OtherReference),
}

/// `ToolReference`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReference {
    /// No doc line yet.
    pub name: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl ToolReference {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            extra: Map::new(),
        }
    }
}
