//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map, Number};

/// `Closed`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Closed {
    /// No doc line yet.
    pub name: String,
}

impl Closed {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into() }
    }
}

/// `Point`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Point {
    /// No doc line yet.
    pub label: String,
    /// No doc line yet.
    pub pinned: bool,
    /// No doc line yet.
    pub x: Number,
    /// No doc line yet.
    pub y: Number,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Point {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(
        label: impl Into<String>,
        pinned: bool,
        x: impl Into<Number>,
        y: impl Into<Number>,
    ) -> Self {
        Self {
            label: label.into(),
            pinned,
            x: x.into(),
            y: y.into(),
            extra: Map::new(),
        }
    }
}

/// `Typed`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Typed {
    /// No doc line yet.
    pub name: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Map<Integer>,
}

impl Typed {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            extra: Map::new(),
        }
    }
}
