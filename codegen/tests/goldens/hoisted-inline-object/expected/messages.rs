//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Tool`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Tool {
    /// No doc line yet.
    pub name: String,
    /// No doc line yet.
    pub annotations: Option<ToolAnnotations>,
    /// No doc line yet.
    pub icons: Option<Vec<ToolIcons>>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Tool {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            annotations: None,
            icons: None,
            extra: Map::new(),
        }
    }

    /// Sets `annotations`.
    #[must_use]
    pub fn with_annotations(mut self, annotations: impl Into<ToolAnnotations>) -> Self {
        self.annotations = Some(annotations.into());
        self
    }

    /// Sets `icons`.
    #[must_use]
    pub fn with_icons(mut self, icons: Vec<ToolIcons>) -> Self {
        self.icons = Some(icons);
        self
    }
}

/// `ToolAnnotations`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ToolAnnotations {
    /// No doc line yet.
    pub title: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl ToolAnnotations {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `title`.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

/// `ToolIcons`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolIcons {
    /// No doc line yet.
    pub src: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl ToolIcons {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            extra: Map::new(),
        }
    }
}
