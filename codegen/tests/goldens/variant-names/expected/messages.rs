//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Begun`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Begun {
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Begun {
    /// Creates an empty value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// `Custom`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Custom {
    /// No doc line yet.
    pub at: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Custom {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(at: impl Into<String>) -> Self {
        Self {
            at: at.into(),
            extra: Map::new(),
        }
    }
}

/// `Moment`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// `Begun`, which has no doc line yet.
    Begun(Begun),
    /// `Custom`, which has no doc line yet.
    Custom(Custom),
}
