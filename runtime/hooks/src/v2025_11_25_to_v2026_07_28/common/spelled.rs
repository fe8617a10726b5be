//! Schemas as values that can be rewritten, their numbers as they are spelled.
//!
//! A `Value` holds numbers of 64 bits. So a number stands in it as a text behind a mark, and so does any text that
//! begins with the mark itself.

use mcp_wire::{Extra, Json, Kind};
use serde_json::{Map, Value};

const MARK: char = '\0';

/// Returns the value of a text; `None` if a name stands in an object twice, since its meaning would be ambiguous.
///
/// Drops the text once its parts are read: else a schema that is nested deep would be there once per level.
pub(crate) fn value(json: Json) -> Option<Value> {
    Some(match json.kind() {
        Kind::Object => {
            let members: Extra = json.read().ok()?;
            drop(json);
            let members = members
                .into_iter()
                .map(|(name, it)| Some((name, value(it)?)));
            Value::Object(members.collect::<Option<Map<String, Value>>>()?)
        }
        Kind::Array => {
            let items: Vec<Json> = json.read().ok()?;
            drop(json);
            Value::Array(items.into_iter().map(value).collect::<Option<_>>()?)
        }
        Kind::Integer | Kind::Number => Value::String(format!("{MARK}{}", json.text())),
        _ => match json.as_str() {
            Some(text) if text.starts_with(MARK) => Value::String(format!("{MARK}{}", json.text())),
            Some(text) => Value::String(text.into_owned()),
            None => json.parse().ok()?,
        },
    })
}

/// Returns the text of a value that [`value`] gave, and that was rewritten.
pub(crate) fn json(value: &Value) -> Option<Json> {
    Some(match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, it)| Some((name.clone(), json(it)?)));
            Json::of(&members.collect::<Option<Extra>>()?)
        }
        Value::Array(items) => Json::of(&items.iter().map(json).collect::<Option<Vec<Json>>>()?),
        Value::String(text) => match text.strip_prefix(MARK) {
            Some(spelled) => Json::from_text(spelled).ok()?,
            None => Json::of(text),
        },
        other => Json::from_value(other).ok()?,
    })
}
