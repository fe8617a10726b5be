//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Json, JsonObject, Map};

/// `Tool`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Tool {
    /// No doc line yet.
    pub input_schema: JsonObject,
    /// No doc line yet.
    pub any: Option<Json>,
    /// No doc line yet.
    pub meta: Option<Map<Json>>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Tool {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(input_schema: impl Into<JsonObject>) -> Self {
        Self {
            input_schema: input_schema.into(),
            any: None,
            meta: None,
            extra: Map::new(),
        }
    }

    /// Sets `any`.
    #[must_use]
    pub fn with_any(mut self, any: impl Into<Json>) -> Self {
        self.any = Some(any.into());
        self
    }

    /// Sets `_meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: Map<Json>) -> Self {
        self.meta = Some(meta);
        self
    }
}
