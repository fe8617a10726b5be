//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, JsonObject, Map};

/// `File`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// No doc line yet.
    pub name: String,
    /// No doc line yet.
    pub size: Integer,
    /// No doc line yet.
    pub meta: Option<JsonObject>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl File {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(name: impl Into<String>, size: impl Into<Integer>) -> Self {
        Self {
            name: name.into(),
            size: size.into(),
            meta: None,
            extra: Map::new(),
        }
    }

    /// Sets `meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<JsonObject>) -> Self {
        self.meta = Some(meta.into());
        self
    }
}

/// `Measured`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Measured {
    /// No doc line yet.
    pub meta: Option<JsonObject>,
    /// No doc line yet.
    pub size: Option<Integer>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Measured {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<JsonObject>) -> Self {
        self.meta = Some(meta.into());
        self
    }

    /// Sets `size`.
    #[must_use]
    pub fn with_size(mut self, size: impl Into<Integer>) -> Self {
        self.size = Some(size.into());
        self
    }
}

/// `Named`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Named {
    /// No doc line yet.
    pub name: String,
    /// No doc line yet.
    pub meta: Option<JsonObject>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Named {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            meta: None,
            extra: Map::new(),
        }
    }

    /// Sets `meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<JsonObject>) -> Self {
        self.meta = Some(meta.into());
        self
    }
}
