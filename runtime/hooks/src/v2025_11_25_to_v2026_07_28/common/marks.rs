//! The mark in `_meta` of what was wrapped into an object, so that it can be undone.
//!
//! 2026-07-28 lets structured content and output schemas be of any kind; what wraps them on the way down says so here,
//! and what drops them further down takes the mark away with them.

use mcp_wire::{Extra, Json, JsonObject};

/// The member that holds what was wrapped.
pub(crate) const RESULT: &str = "result";

/// What a mark says.
pub(crate) struct Mark {
    /// Whether `_meta` was made for the mark.
    pub(crate) alone: bool,
    /// The schema that was wrapped.
    pub(crate) schema: Option<JsonObject>,
}

/// Returns a mark: whether `_meta` is made for it, and the schema that was wrapped.
pub(crate) fn mark(alone: bool, schema: Option<&JsonObject>) -> Json {
    let mut members = Extra::new();
    if let Some(schema) = schema {
        members.insert("schema", Json::from(schema.clone()));
    }
    if alone {
        members.insert("alone", Json::from(true));
    }
    Json::of(&members)
}

/// Reads a mark; `None` if it is not one of ours.
pub(crate) fn read_mark(mark: &Json) -> Option<Mark> {
    let mut members: Extra = mark.read().ok()?;
    let alone = match members.remove("alone") {
        Some(alone) if alone.as_bool() == Some(true) => true,
        Some(_) => return None,
        None => false,
    };
    let schema = match members.remove("schema") {
        Some(schema) => Some(JsonObject::try_from(schema).ok()?),
        None => None,
    };
    members.is_empty().then_some(Mark { alone, schema })
}

/// Returns the value that was wrapped into an object; `None` if nothing was.
pub(crate) fn unwrapped(value: &Json) -> Option<Json> {
    let members: Extra = value.read().ok()?;
    match members.len() {
        1 => members.get(RESULT).cloned(),
        _ => None,
    }
}
