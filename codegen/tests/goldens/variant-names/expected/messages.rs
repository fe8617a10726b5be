//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Begun`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Begun {
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Begun {
    /// An empty one; `with_*` sets what it holds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// `Custom`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Custom {
    /// No doc line yet.
    pub at: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Custom {
    /// One with what must be there; `with_*` sets the rest.
    #[must_use]
    pub fn new(at: impl Into<String>) -> Self {
        Self {
            at: at.into(),
            extra: Map::new(),
        }
    }
}

/// `Moment`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Moment {
    /// `Begun`, which has no doc line yet.
    Begun(Begun),
    /// `Custom`, which has no doc line yet.
    Custom(Custom),
}

impl From<Begun> for Moment {
    fn from(value: Begun) -> Self {
        Self::Begun(value)
    }
}

impl From<Custom> for Moment {
    fn from(value: Custom) -> Self {
        Self::Custom(value)
    }
}
