//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Json, JsonArray, JsonObject, Map};

/// `Call`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    /// No doc line yet.
    pub anything: Json,
    /// No doc line yet.
    pub arguments: JsonObject,
    /// No doc line yet.
    pub list: JsonArray,
    /// No doc line yet.
    pub maybe: Option<Json>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Call {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(
        anything: impl Into<Json>,
        arguments: impl Into<JsonObject>,
        list: impl Into<JsonArray>,
    ) -> Self {
        Self {
            anything: anything.into(),
            arguments: arguments.into(),
            list: list.into(),
            maybe: None,
            extra: Map::new(),
        }
    }

    /// Sets `maybe`.
    #[must_use]
    pub fn with_maybe(mut self, maybe: impl Into<Json>) -> Self {
        self.maybe = Some(maybe.into());
        self
    }
}
