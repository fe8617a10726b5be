//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Form`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Form {
    /// No doc line yet.
    pub title: String,
    /// No doc line yet.
    pub kind: Option<FormKind>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Form {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            kind: None,
            extra: Map::new(),
        }
    }

    /// Sets `kind`.
    #[must_use]
    pub fn with_kind(mut self, kind: impl Into<FormKind>) -> Self {
        self.kind = Some(kind.into());
        self
    }
}

/// `FormKind`, which has no doc line yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormKind {
    /// `form`
    Form,
}

/// `Packet`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
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
