//! Tools: titles, those that demand tasks, and output schemas that are no object's.

use mcp_wire::{Json, JsonObject, Map};
use serde_json::{Value, json};

use crate::context::{Context, Policy};
use crate::outcome::{LossKind, Stop};

/// The key in `_meta` that marks what was wrapped into an object, so that it can be undone.
pub const WRAPPED: &str = "mcp-revisions/wrapped";

/// The title of a tool moves to its annotations, where 2025-03-26 has one, unless another one stands there.
///
/// # Errors
/// None.
pub fn title_to_annotations(tool: &mut mcp_2025_06_18::Tool, cx: &mut Context) -> Result<(), Stop> {
    if cx.policy() == Policy::Carry {
        return Ok(());
    }
    let taken = tool.annotations.as_ref().is_some_and(|annotations| annotations.title.is_some());
    if taken || tool.title.is_none() {
        return Ok(());
    }
    let Some(title) = tool.title.take() else { return Ok(()) };
    cx.lose("tool-title", LossKind::Cosmetic, "/title", Json::of(&title));
    match &mut tool.annotations {
        Some(annotations) => {
            cx.add("tool-title", LossKind::Cosmetic, "/annotations/title");
            annotations.title = Some(title);
        }
        None => {
            cx.add("tool-title", LossKind::Cosmetic, "/annotations");
            tool.annotations = Some(mcp_2025_06_18::ToolAnnotations::new().with_title(title));
        }
    }
    Ok(())
}

/// Whether a tool can be called by a peer that knows no tasks.
#[must_use]
pub fn works_without_tasks(tool: &mcp_2025_11_25::Tool) -> bool {
    let support = tool.execution.as_ref().and_then(|execution| execution.task_support);
    support != Some(mcp_2025_11_25::TaskSupport::Required)
}

/// An output schema whose root is no object becomes the schema of an object that holds it as `result`.
///
/// # Errors
/// None.
pub fn wrap_output_schema(tool: &mut mcp_2026_07_28::Tool, cx: &mut Context) -> Result<(), Stop> {
    let Some(schema) = &tool.output_schema else { return Ok(()) };
    let is_object = schema.get("type").is_some_and(|kind| kind.as_str().as_deref() == Some("object"));
    if is_object {
        return Ok(());
    }
    let Ok(mut inner) = schema.parse::<Value>() else {
        // A schema that no JSON value can hold cannot be rewritten either.
        cx.lose("output-schema-root", LossKind::Semantic, "/outputSchema", schema.clone().into());
        tool.output_schema = None;
        return Ok(());
    };
    let dialect = inner.as_object_mut().and_then(|schema| schema.remove("$schema"));
    move_references(&mut inner);
    let mut whole = json!({
        "type": "object",
        "properties": { "result": inner },
        "required": ["result"],
    });
    if let (Some(dialect), Some(whole)) = (dialect, whole.as_object_mut()) {
        whole.insert("$schema".to_owned(), dialect);
    }
    let Ok(wrapped) = JsonObject::from_value(&whole) else { return Ok(()) };
    // The mark holds the schema as it was: nothing has to be guessed on the way back.
    let meta = tool.meta.get_or_insert_with(Map::new);
    meta.insert(WRAPPED, Json::from(schema.clone()));
    tool.output_schema = Some(wrapped);
    Ok(())
}

/// Undoes [`wrap_output_schema`], where its mark stands.
///
/// # Errors
/// None.
pub fn unwrap_output_schema(tool: &mut mcp_2026_07_28::Tool, _: &mut Context) -> Result<(), Stop> {
    let Some(meta) = &mut tool.meta else { return Ok(()) };
    if let Some(mark) = meta.remove(WRAPPED) {
        tool.output_schema = JsonObject::try_from(mark).ok().or(tool.output_schema.take());
        if meta.is_empty() {
            tool.meta = None;
        }
    }
    Ok(())
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
