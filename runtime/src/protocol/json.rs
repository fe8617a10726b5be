//! Members of JSON objects: looked up, and set.

use mcp_wire::{Json, JsonObject, Map};

/// Returns the member of a value; None if that is no object, or has no such member.
pub(crate) fn member(object: &Json, name: &str) -> Option<Json> {
    JsonObject::try_from(object.clone()).ok()?.get(name)
}

/// Whether a member stands at a path of an object, and is not false.
pub(crate) fn declares(capabilities: &Json, path: &[&str]) -> bool {
    let mut at = capabilities.clone();
    for name in path {
        match member(&at, name) {
            Some(member) if !member.is_null() && member.text() != "false" => at = member,
            _ => return false,
        }
    }
    true
}

/// The object with these members set; `None` takes a member out.
pub(crate) fn with_members(object: &Json, members: &[(&str, Option<Json>)]) -> Json {
    let mut map: Map<Json> = object.read().unwrap_or_default();
    for (name, value) in members {
        match value {
            Some(value) => {
                map.insert(*name, value.clone());
            }
            None => {
                map.remove(name);
            }
        }
    }
    Json::of(&map)
}
