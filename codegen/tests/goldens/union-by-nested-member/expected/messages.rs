//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, JsonObject, Map};

/// `PlainSchema`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainSchema {
    /// No doc line yet.
    pub items: JsonObject,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl PlainSchema {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(items: impl Into<JsonObject>) -> Self {
        Self {
            items: items.into(),
            extra: Map::new(),
        }
    }
}

/// `Schema`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Schema {
    /// `PlainSchema`, which has no doc line yet.
    Plain(PlainSchema),
    /// `TitledSchema`, which has no doc line yet.
    Titled(TitledSchema),
}

/// `TitledSchema`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct TitledSchema {
    /// No doc line yet.
    pub items: TitledSchemaItems,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl TitledSchema {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(items: impl Into<TitledSchemaItems>) -> Self {
        Self {
            items: items.into(),
            extra: Map::new(),
        }
    }
}

/// `TitledSchemaItems`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct TitledSchemaItems {
    /// No doc line yet.
    pub titles: Vec<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl TitledSchemaItems {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(titles: Vec<String>) -> Self {
        Self { titles, extra: Map::new() }
    }
}
