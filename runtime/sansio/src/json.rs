//! Creates small JSON objects, and reads and sets their members.

use mcp_wire::{Json, Map};

/// Returns whether an object has a member at this path that is neither `null` nor `false`.
pub fn declares(capabilities: &Json, path: &[&str]) -> bool {
    let mut at = capabilities.clone();
    for name in path {
        match at.get(name) {
            Some(member) if !member.is_null() && member.text() != "false" => at = member,
            _ => return false,
        }
    }
    true
}

/// Creates an object of these members.
pub(crate) fn object<'n>(members: impl IntoIterator<Item = (&'n str, Json)>) -> Json {
    Json::of(&Map::from_iter(members))
}

/// Returns the object with these members set; `None` removes a member.
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
