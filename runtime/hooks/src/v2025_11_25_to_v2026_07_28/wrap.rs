//! What 2025-11-25 wants to be an object is wrapped into one, and marked, so that it can be undone.

use mcp_convert::{Context, LossKind, Stop};
use mcp_wire::{Extra, Json, JsonObject, Kind, Map};
use serde_json::{Value, json};

/// The key in `_meta` that marks what was wrapped into an object, so that it can be undone.
pub const WRAPPED: &str = "mcp-revisions/wrapped";

/// Structured content that is no object becomes an object that holds it as `result`, and is marked.
///
/// # Errors
/// None.
pub fn wrap_structured(
    result: &mut mcp_2026_07_28::CallToolResult,
    _: &mut Context,
) -> Result<(), Stop> {
    if let Some(wrapped) = result.structured_content.as_ref().and_then(wrapped) {
        result.structured_content = Some(wrapped.into());
        let mark = mark(result.meta.is_none(), None);
        let meta = result
            .meta
            .get_or_insert_with(mcp_2026_07_28::ResultMetaObject::new);
        meta.extra.insert(WRAPPED, mark);
    }
    Ok(())
}

/// Undoes [`wrap_structured`], where its mark stands.
///
/// # Errors
/// None.
pub fn unwrap_structured(
    result: &mut mcp_2026_07_28::CallToolResult,
    _: &mut Context,
) -> Result<(), Stop> {
    let Some(meta) = &mut result.meta else {
        return Ok(());
    };
    let Some(mark) = meta.extra.get(WRAPPED).and_then(read_mark) else {
        return Ok(());
    };
    let Some(inner) = result.structured_content.as_ref().and_then(unwrapped) else {
        return Ok(());
    };
    meta.extra.remove(WRAPPED);
    result.structured_content = Some(inner);
    if mark.alone && meta.extra.is_empty() && meta.server_info.is_none() {
        result.meta = None;
    }
    Ok(())
}

/// [`wrap_structured`] for the result of a tool inside a sampling conversation.
///
/// # Errors
/// None.
pub fn wrap_structured_block(
    block: &mut mcp_2026_07_28::ToolResultContent,
    _: &mut Context,
) -> Result<(), Stop> {
    if let Some(wrapped) = block.structured_content.as_ref().and_then(wrapped) {
        block.structured_content = Some(wrapped.into());
        let mark = mark(block.meta.is_none(), None);
        block
            .meta
            .get_or_insert_with(Map::new)
            .insert(WRAPPED, mark);
    }
    Ok(())
}

/// Undoes [`wrap_structured_block`].
///
/// # Errors
/// None.
pub fn unwrap_structured_block(
    block: &mut mcp_2026_07_28::ToolResultContent,
    _: &mut Context,
) -> Result<(), Stop> {
    let Some(meta) = &mut block.meta else {
        return Ok(());
    };
    let Some(mark) = meta.get(WRAPPED).and_then(read_mark) else {
        return Ok(());
    };
    let Some(inner) = block.structured_content.as_ref().and_then(unwrapped) else {
        return Ok(());
    };
    meta.remove(WRAPPED);
    block.structured_content = Some(inner);
    if mark.alone && meta.is_empty() {
        block.meta = None;
    }
    Ok(())
}

/// Structured content as the object that 2025-11-25 demands; the hooks before it made it one.
///
/// # Errors
/// None.
pub fn structured_object(
    value: Option<Json>,
    cx: &mut Context,
) -> Result<Option<JsonObject>, Stop> {
    let Some(value) = value else { return Ok(None) };
    match JsonObject::try_from(value.clone()) {
        Ok(object) => Ok(Some(object)),
        Err(_) => {
            cx.lose("structured-any", LossKind::Semantic, "", value);
            Ok(None)
        }
    }
}

fn wrapped(value: &Json) -> Option<JsonObject> {
    match value.kind() {
        Kind::Object => None,
        _ => JsonObject::from_text(&format!("{{\"result\":{}}}", value.text())).ok(),
    }
}

/// What was wrapped; none if this is no wrap.
fn unwrapped(value: &Json) -> Option<Json> {
    let members: Extra = value.read().ok()?;
    match members.len() {
        1 => members.get("result").cloned(),
        _ => None,
    }
}

/// An output schema whose root is no object becomes the schema of an object that holds it as `result`.
///
/// # Errors
/// None.
pub fn wrap_output_schema(tool: &mut mcp_2026_07_28::Tool, cx: &mut Context) -> Result<(), Stop> {
    let Some(schema) = &tool.output_schema else {
        return Ok(());
    };
    let is_object = schema
        .get("type")
        .is_some_and(|kind| kind.as_str().as_deref() == Some("object"));
    if is_object {
        return Ok(());
    }
    let Ok(mut inner) = schema.parse::<Value>() else {
        // A schema that no JSON value can hold cannot be rewritten either.
        cx.lose(
            "output-schema-root",
            LossKind::Semantic,
            "/outputSchema",
            schema.clone().into(),
        );
        tool.output_schema = None;
        return Ok(());
    };
    let dialect = inner
        .as_object_mut()
        .and_then(|schema| schema.remove("$schema"));
    move_references(&mut inner);
    let mut whole = json!({
        "type": "object",
        "properties": { "result": inner },
        "required": ["result"],
    });
    if let (Some(dialect), Some(whole)) = (dialect, whole.as_object_mut()) {
        whole.insert("$schema".to_owned(), dialect);
    }
    let Ok(wrapped) = JsonObject::from_value(&whole) else {
        return Ok(());
    };
    // The mark holds the schema as it was: nothing has to be guessed on the way back.
    let mark = mark(tool.meta.is_none(), Some(schema));
    tool.meta.get_or_insert_with(Map::new).insert(WRAPPED, mark);
    tool.output_schema = Some(wrapped);
    Ok(())
}

/// Undoes [`wrap_output_schema`], where its mark stands.
///
/// # Errors
/// None.
pub fn unwrap_output_schema(tool: &mut mcp_2026_07_28::Tool, _: &mut Context) -> Result<(), Stop> {
    let Some(meta) = &mut tool.meta else {
        return Ok(());
    };
    let Some(mark) = meta.get(WRAPPED).and_then(read_mark) else {
        return Ok(());
    };
    let Some(schema) = mark.schema else {
        return Ok(());
    };
    meta.remove(WRAPPED);
    tool.output_schema = Some(schema);
    if mark.alone && meta.is_empty() {
        tool.meta = None;
    }
    Ok(())
}

/// What a mark under [`WRAPPED`] says.
struct Mark {
    /// Whether `_meta` was made for the mark.
    alone: bool,
    /// The schema that was wrapped.
    schema: Option<JsonObject>,
}

/// A mark: whether `_meta` is made for it, and the schema that was wrapped.
fn mark(alone: bool, schema: Option<&JsonObject>) -> Json {
    let mut members = Extra::new();
    if let Some(schema) = schema {
        members.insert("schema", Json::from(schema.clone()));
    }
    if alone {
        members.insert("alone", Json::from(true));
    }
    Json::of(&members)
}

/// Reads a mark; none if somebody else wrote it.
fn read_mark(mark: &Json) -> Option<Mark> {
    let mut members: Extra = mark.read().ok()?;
    let alone = members.remove("alone").is_some();
    let schema = match members.remove("schema") {
        Some(schema) => Some(JsonObject::try_from(schema).ok()?),
        None => None,
    };
    members.is_empty().then_some(Mark { alone, schema })
}

/// References to the root point below `result` now; those inside a schema with an `$id` of its own stay.
fn move_references(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("$id") {
                return;
            }
            for (name, value) in members {
                match value {
                    Value::String(target) if name == "$ref" || name == "$dynamicRef" => {
                        if let Some(rest) = target.strip_prefix('#')
                            && (rest.is_empty() || rest.starts_with('/'))
                        {
                            *target = format!("#/properties/result{rest}");
                        }
                    }
                    // Values that are data, not schemas.
                    _ if matches!(name.as_str(), "const" | "enum" | "default" | "examples") => {}
                    value => move_references(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(move_references),
        _ => {}
    }
}
