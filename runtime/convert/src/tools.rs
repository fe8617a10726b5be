//! Tools: titles, those that demand tasks, and output schemas that are no object's.

use mcp_wire::{Extra, Json, JsonObject, Map};
use serde_json::{Value, json};

use crate::booleans;
use crate::context::{Context, Policy, pointer_to};
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
    let taken = tool
        .annotations
        .as_ref()
        .is_some_and(|annotations| annotations.title.is_some());
    if taken || tool.title.is_none() {
        return Ok(());
    }
    let Some(title) = tool.title.take() else {
        return Ok(());
    };
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
    let support = tool
        .execution
        .as_ref()
        .and_then(|execution| execution.task_support);
    support != Some(mcp_2025_11_25::TaskSupport::Required)
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
pub(crate) struct Mark {
    /// Whether `_meta` was made for the mark.
    pub(crate) alone: bool,
    /// The schema that was wrapped.
    schema: Option<JsonObject>,
}

/// A mark: whether `_meta` is made for it, and the schema that was wrapped.
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

/// Reads a mark; none if somebody else wrote it.
pub(crate) fn read_mark(mark: &Json) -> Option<Mark> {
    let mut members: Extra = mark.read().ok()?;
    let alone = members.remove("alone").is_some();
    let schema = match members.remove("schema") {
        Some(schema) => Some(JsonObject::try_from(schema).ok()?),
        None => None,
    };
    members.is_empty().then_some(Mark { alone, schema })
}

/// Properties of schemas that are `true` or `false` become the objects that say the same.
///
/// # Errors
/// None.
pub fn spell_out_booleans(tool: &mut mcp_2026_07_28::Tool, cx: &mut Context) -> Result<(), Stop> {
    if let Some(schema) = spelled_out(&tool.input_schema, "/inputSchema", cx) {
        tool.input_schema = schema;
    }
    if let Some(schema) = tool
        .output_schema
        .as_ref()
        .and_then(|schema| spelled_out(schema, "/outputSchema", cx))
    {
        tool.output_schema = Some(schema);
    }
    Ok(())
}

/// The schema with objects for boolean properties; none if it has no such property.
fn spelled_out(schema: &JsonObject, at: &str, cx: &mut Context) -> Option<JsonObject> {
    if !booleans::may_be_properties(schema.text()) {
        return None;
    }
    // A name that stands there twice is left to whoever reads the schema.
    let mut members: Extra = schema.read().ok()?;
    let mut properties: Extra = members.get("properties")?.read().ok()?;
    let mut changed = false;
    for (name, value) in properties.iter_mut() {
        let object = match value.as_bool() {
            Some(true) => "{}",
            Some(false) => r#"{"not":{}}"#,
            None => continue,
        };
        let Ok(object) = Json::from_text(object) else {
            continue;
        };
        let pointer = format!("{at}/properties{}", pointer_to(name));
        cx.replace(
            "schema-booleans",
            LossKind::Cosmetic,
            pointer,
            std::mem::replace(value, object),
        );
        changed = true;
    }
    if !changed {
        return None;
    }
    members.insert("properties", Json::of(&properties));
    Some(Context::close(&members))
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
