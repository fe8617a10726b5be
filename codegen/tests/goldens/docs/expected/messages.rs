//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// Something to call, as this revision has it.
#[derive(Clone, PartialEq, Eq)]
pub struct Tool {
    /// What programs see.
    pub name: String,
    /// What people see; new in this revision.
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
            title: None,
            extra: Map::new(),
        }
    }

    /// Sets `title`.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

/// A tool in a list.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolItem {
    /// What programs see.
    pub name: String,
    /// What people see.
    pub title: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl ToolItem {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            extra: Map::new(),
        }
    }

    /// Sets `title`.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}
