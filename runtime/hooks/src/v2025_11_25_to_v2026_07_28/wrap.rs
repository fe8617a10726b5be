//! What 2025-11-25 wants to be an object is wrapped into one, and marked, so that it can be undone.
//!
//! The conversion of a result does not know the schema of its tool, nor the other way round. So what becomes of either is
//! decided by itself, in a way that fits every decision about the other: a value that is not an object becomes
//! one that holds it as `result`, an object stays; and a schema takes all that its values can have become.

use mcp_2026_07_28 as new;
use mcp_convert::Ruled;
use mcp_wire::{Json, JsonObject, Kind, Map};
use serde_json::{Value, json};

use super::common::marks::{RESULT, mark, read_mark, unwrapped};
use super::common::spelled;
use super::references::{SchemaText, definitions, moved};
use crate::WRAPPED;

/// Wraps structured content that is not an object into one that holds it as `result`, and marks it.
pub fn wrap_structured(result: &mut new::CallToolResult, cx: &mut Ruled<'_>) {
    if let Some(meta) = &mut result.meta {
        drop_stray_mark(&mut meta.extra, cx);
    }
    let Some(wrapped) = result.structured_content.as_ref().and_then(wrapped) else {
        return;
    };
    if let Some(value) = result.structured_content.replace(wrapped.into()) {
        cx.reshape("/structuredContent", value);
    }
    let mark = mark(result.meta.is_none(), None);
    let meta = result.meta.get_or_insert_with(new::ResultMetaObject::new);
    set_mark(&mut meta.extra, mark, cx);
}

/// Undoes [`wrap_structured`], where its mark stands.
pub fn unwrap_structured(result: &mut new::CallToolResult, _: &mut Ruled<'_>) {
    let Some(meta) = &mut result.meta else {
        return;
    };
    let Some(mark) = meta.extra.get(WRAPPED).and_then(read_mark) else {
        return;
    };
    let Some(inner) = result.structured_content.as_ref().and_then(unwrapped) else {
        return;
    };
    meta.extra.remove(WRAPPED);
    result.structured_content = Some(inner);
    if mark.alone && meta.extra.is_empty() && meta.server_info.is_none() {
        result.meta = None;
    }
}

/// Wraps the result of a tool inside a sampling conversation, as [`wrap_structured`] does.
pub fn wrap_structured_block(block: &mut new::ToolResultContent, cx: &mut Ruled<'_>) {
    if let Some(meta) = &mut block.meta {
        drop_stray_mark(meta, cx);
    }
    let Some(wrapped) = block.structured_content.as_ref().and_then(wrapped) else {
        return;
    };
    if let Some(value) = block.structured_content.replace(wrapped.into()) {
        cx.reshape("/structuredContent", value);
    }
    let mark = mark(block.meta.is_none(), None);
    set_mark(block.meta.get_or_insert_with(Map::new), mark, cx);
}

/// Undoes [`wrap_structured_block`].
pub fn unwrap_structured_block(block: &mut new::ToolResultContent, _: &mut Ruled<'_>) {
    let Some(meta) = &mut block.meta else {
        return;
    };
    let Some(mark) = meta.get(WRAPPED).and_then(read_mark) else {
        return;
    };
    let Some(inner) = block.structured_content.as_ref().and_then(unwrapped) else {
        return;
    };
    meta.remove(WRAPPED);
    block.structured_content = Some(inner);
    if mark.alone && meta.is_empty() {
        block.meta = None;
    }
}

/// Returns structured content as the object that 2025-11-25 demands; the hooks before it made it one.
pub fn structured_object(value: Option<Json>, cx: &mut Ruled<'_>) -> Option<JsonObject> {
    let json = value?;
    match JsonObject::try_from(json.clone()) {
        Ok(object) => Some(object),
        Err(_) => {
            cx.lose("", json);
            None
        }
    }
}

fn wrapped(value: &Json) -> Option<JsonObject> {
    match value.kind() {
        Kind::Object => None,
        _ => JsonObject::from_text(&format!("{{\"{RESULT}\":{}}}", value.text())).ok(),
    }
}

/// Sets the mark; what the sender has put in its place is lost.
fn set_mark(meta: &mut Map<Json>, mark: Json, cx: &mut Ruled<'_>) {
    if let Some(other) = meta.insert(WRAPPED, mark) {
        cx.lesser().replace("/_meta/mcp-revisions~1wrapped", other);
    }
}

/// A mark that is not ours would be undone on the way back.
fn drop_stray_mark(meta: &mut Map<Json>, cx: &mut Ruled<'_>) {
    if meta
        .get(WRAPPED)
        .is_some_and(|mark| read_mark(mark).is_some())
        && let Some(mark) = meta.remove(WRAPPED)
    {
        cx.lesser().lose("/_meta/mcp-revisions~1wrapped", mark);
    }
}

/// Converts an output schema of anything but objects to one of the objects that its values become.
pub fn wrap_output_schema(tool: &mut new::Tool, cx: &mut Ruled<'_>) {
    if let Some(meta) = &mut tool.meta {
        drop_stray_mark(meta, cx);
    }
    let Some(schema) = &tool.output_schema else {
        return;
    };
    let takes = takes(schema);
    if takes == Takes::Objects {
        return;
    }
    let inner = spelled::value(schema.as_json().clone());
    let Some(whole) = inner.and_then(|inner| takes.wrap(inner)) else {
        // A schema in which a name stands twice cannot be rewritten, nor one with too many places.
        cx.lose("/outputSchema", schema.clone());
        tool.output_schema = None;
        return;
    };
    let wrapped = spelled::json(&whole).and_then(|json| JsonObject::try_from(json).ok());
    let Some(wrapped) = wrapped else {
        return;
    };
    // The mark holds the schema as it was: nothing has to be guessed on the way back.
    let mark = mark(tool.meta.is_none(), Some(schema));
    set_mark(tool.meta.get_or_insert_with(Map::new), mark, cx);
    if let Some(schema) = tool.output_schema.replace(wrapped) {
        cx.reshape("/outputSchema", schema);
    }
}

/// Undoes [`wrap_output_schema`], where its mark stands.
pub fn unwrap_output_schema(tool: &mut new::Tool, _: &mut Ruled<'_>) {
    let (Some(meta), Some(_)) = (&mut tool.meta, &tool.output_schema) else {
        return;
    };
    let Some(mark) = meta.get(WRAPPED).and_then(read_mark) else {
        return;
    };
    let Some(schema) = mark.schema else {
        return;
    };
    meta.remove(WRAPPED);
    tool.output_schema = Some(schema);
    if mark.alone && meta.is_empty() {
        tool.meta = None;
    }
}

/// What a schema takes, by the type that its root states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Only objects.
    Objects,
    /// Anything but objects.
    Others,
    /// Both, as far as is known without following it.
    Both,
}

fn takes(schema: &JsonObject) -> Takes {
    let Some(kind) = schema.get("type") else {
        return Takes::Both;
    };
    if let Some(kind) = kind.as_str() {
        return match &*kind {
            "object" => Takes::Objects,
            _ => Takes::Others,
        };
    }
    match kind.read::<Vec<String>>() {
        Ok(kinds) if !kinds.iter().any(|kind| kind == "object") => Takes::Others,
        Ok(_) | Err(_) => Takes::Both,
    }
}

impl Takes {
    /// Returns the schema of what values of a schema have become; `None` if it cannot be moved.
    fn wrap(self, mut inner: Value) -> Option<Value> {
        let dialect = inner
            .as_object_mut()
            .and_then(|schema| schema.remove("$schema"));
        let to = |place: &str| SchemaText::at(place).of_dialect(dialect.as_ref());
        let mut whole = match self {
            Self::Objects => inner,
            Self::Others => json!({
                "type": "object",
                "properties": { RESULT: moved(inner, &to("#/properties/result"))? },
                "required": [RESULT],
            }),
            // An object is still there as it was, anything else as `result`.
            Self::Both => {
                let definitions = definitions(dialect.as_ref());
                let place = format!("#/{definitions}/value");
                json!({
                    "type": "object",
                    "anyOf": [
                        { "$ref": place },
                        {
                            "properties": { RESULT: { "$ref": place } },
                            "required": [RESULT],
                            "additionalProperties": false,
                        },
                    ],
                    definitions: { "value": moved(inner, &to(&place))? },
                })
            }
        };
        if let (Some(dialect), Some(whole)) = (dialect, whole.as_object_mut()) {
            whole.insert("$schema".to_owned(), dialect);
        }
        Some(whole)
    }
}
