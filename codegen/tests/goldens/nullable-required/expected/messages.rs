//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map};

/// `Owner`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Owner {
    /// No doc line yet.
    pub name: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Owner {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            extra: Map::new(),
        }
    }
}

/// `Task`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// No doc line yet.
    pub note: Option<Option<String>>,
    /// No doc line yet.
    pub owner: Option<Owner>,
    /// No doc line yet.
    pub ttl: Option<Integer>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Task {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(owner: Option<Owner>, ttl: Option<Integer>) -> Self {
        Self {
            note: None,
            owner,
            ttl,
            extra: Map::new(),
        }
    }

    /// Sets `note`.
    #[must_use]
    pub fn with_note(mut self, note: Option<String>) -> Self {
        self.note = Some(note);
        self
    }
}
