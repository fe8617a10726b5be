//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Choice`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// `PlainChoice`, which has no doc line yet.
    Plain(PlainChoice),
    /// `TitledChoice`, which has no doc line yet.
    Titled(TitledChoice),
}

/// `PlainChoice`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainChoice {
    /// No doc line yet.
    pub values: Vec<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl PlainChoice {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(values: Vec<String>) -> Self {
        Self { values, extra: Map::new() }
    }
}

/// `TitledChoice`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct TitledChoice {
    /// No doc line yet.
    pub titles: Vec<String>,
    /// No doc line yet.
    pub values: Vec<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl TitledChoice {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(titles: Vec<String>, values: Vec<String>) -> Self {
        Self {
            titles,
            values,
            extra: Map::new(),
        }
    }
}
