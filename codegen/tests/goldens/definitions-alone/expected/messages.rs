//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Answer`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// No doc line yet.
    pub note: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Answer {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `note`.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// `Done`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Done {
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Done {
    /// Creates an empty value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// `Open`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Open {
    /// No doc line yet.
    pub since: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Open {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(since: impl Into<String>) -> Self {
        Self {
            since: since.into(),
            extra: Map::new(),
        }
    }
}

/// `OrderResult`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderResult {
    /// `OrderResultOpen`, which has no doc line yet.
    Open(OrderResultOpen),
    /// `OrderResultDone`, which has no doc line yet.
    Done(OrderResultDone),
}

/// `OrderResultDone`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct OrderResultDone {
    /// No doc line yet.
    pub note: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl OrderResultDone {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `note`.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// `OrderResultOpen`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct OrderResultOpen {
    /// No doc line yet.
    pub since: String,
    /// No doc line yet.
    pub note: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl OrderResultOpen {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(since: impl Into<String>) -> Self {
        Self {
            since: since.into(),
            note: None,
            extra: Map::new(),
        }
    }

    /// Sets `note`.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}
