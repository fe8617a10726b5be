//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, JsonObject};

/// `Answer`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// `Short`, which has no doc line yet.
    Short(Short),
    /// `Long`, which has no doc line yet.
    Long(Long),
}

/// `Long`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Long {
    /// No doc line yet.
    pub a: Option<String>,
    /// No doc line yet.
    pub b: Option<JsonObject>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Long {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `a`.
    #[must_use]
    pub fn with_a(mut self, a: impl Into<String>) -> Self {
        self.a = Some(a.into());
        self
    }

    /// Sets `b`.
    #[must_use]
    pub fn with_b(mut self, b: impl Into<JsonObject>) -> Self {
        self.b = Some(b.into());
        self
    }
}

/// `Outcome`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// `Short`, which has no doc line yet.
    Short(Short),
    /// `Long`, which has no doc line yet.
    Long(Long),
}

/// `Short`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Short {
    /// No doc line yet.
    pub a: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Short {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `a`.
    #[must_use]
    pub fn with_a(mut self, a: impl Into<String>) -> Self {
        self.a = Some(a.into());
        self
    }
}
