//! Properties of schemas that are booleans.

use mcp_convert::{Context, Ruled, pointer_to};
use mcp_wire::{Extra, Json, JsonObject};

use super::booleans;

/// Properties of schemas that are `true` or `false` become the objects that say the same.
pub fn spell_out_booleans(tool: &mut mcp_2026_07_28::Tool, cx: &mut Ruled<'_>) {
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
}

/// Returns the schema with objects for boolean properties; `None` if it has no such property.
fn spelled_out(schema: &JsonObject, at: &str, cx: &mut Ruled<'_>) -> Option<JsonObject> {
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
        cx.replace(pointer, std::mem::replace(value, object));
        changed = true;
    }
    if !changed {
        return None;
    }
    members.insert("properties", Json::of(&properties));
    Some(Context::close(&members))
}
