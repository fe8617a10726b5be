//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map};

/// `Hints`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Hints {
    /// No doc line yet.
    pub read_only: Option<bool>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Hints {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `readOnly`.
    #[must_use]
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = Some(read_only);
        self
    }
}

/// `Task`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Task {
    /// No doc line yet.
    pub owner: Option<Tool>,
    /// No doc line yet.
    pub ttl: Option<Integer>,
    /// No doc line yet.
    pub note: Option<Option<String>>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Task {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(owner: Option<Tool>, ttl: Option<Integer>) -> Self {
        Self {
            owner,
            ttl,
            note: None,
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

/// `Tool`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Tool {
    /// No doc line yet.
    pub name: String,
    /// No doc line yet.
    pub sizes: Option<Vec<Integer>>,
    /// No doc line yet.
    pub title: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Tool {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            sizes: None,
            title: None,
            extra: Map::new(),
        }
    }

    /// Sets `sizes`.
    #[must_use]
    pub fn with_sizes(mut self, sizes: Vec<Integer>) -> Self {
        self.sizes = Some(sizes);
        self
    }

    /// Sets `title`.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}
