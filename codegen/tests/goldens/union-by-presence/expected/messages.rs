//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, JsonObject, Map};

/// `BlobContents`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct BlobContents {
    /// No doc line yet.
    pub blob: String,
    /// No doc line yet.
    pub uri: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl BlobContents {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(blob: impl Into<String>) -> Self {
        Self {
            blob: blob.into(),
            uri: None,
            extra: Map::new(),
        }
    }

    /// Sets `uri`.
    #[must_use]
    pub fn with_uri(mut self, uri: impl Into<String>) -> Self {
        self.uri = Some(uri.into());
        self
    }
}

/// `Choice`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// `PlainChoice`, which has no doc line yet.
    Plain(PlainChoice),
    /// `TitledChoice`, which has no doc line yet.
    Titled(TitledChoice),
}

/// `Contents`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// `PlainChoice`, which has no doc line yet.
    PlainChoice(PlainChoice),
    /// `BlobContents`, which has no doc line yet.
    BlobContents(BlobContents),
}

/// `PlainChoice`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
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

/// `PlainSchema`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schema {
    /// `PlainSchema`, which has no doc line yet.
    Plain(PlainSchema),
    /// `TitledSchema`, which has no doc line yet.
    Titled(TitledSchema),
}

/// `TitledChoice`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
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

/// `TitledSchema`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct TitledSchema {
    /// No doc line yet.
    pub items: TitledChoice,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl TitledSchema {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(items: impl Into<TitledChoice>) -> Self {
        Self {
            items: items.into(),
            extra: Map::new(),
        }
    }
}
