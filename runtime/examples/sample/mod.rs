//! A value that a plain schema allows: what it proposes, or else the first that comes to mind.

use serde_json::{Map, Value};

/// A value that the schema allows; `null` where it says nothing.
pub(crate) fn of(schema: &Value) -> Value {
    if let Some(proposed) = schema.get("default").or_else(|| schema.get("const")) {
        return proposed.clone();
    }
    if let Some(first) = schema["enum"]
        .as_array()
        .and_then(|choices| choices.first())
    {
        return first.clone();
    }
    if let Some(first) = schema["oneOf"]
        .as_array()
        .and_then(|choices| choices.first())
    {
        return of(first);
    }
    match schema["type"].as_str() {
        Some("object") => {
            let members = schema["properties"].as_object().into_iter().flatten();
            let members = members.map(|(name, member)| (name.clone(), of(member)));
            members.collect::<Map<_, _>>().into()
        }
        Some("array") => Value::Array(Vec::new()),
        Some("string") => "text".into(),
        Some("integer" | "number") => 1.into(),
        Some("boolean") => true.into(),
        _ => Value::Null,
    }
}
