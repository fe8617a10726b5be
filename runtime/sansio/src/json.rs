//! Small JSON objects: made of their members, and members looked for and set.

use mcp_wire::{Json, Map};

/// Returns whether a member stands at a path of an object, and is not false.
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

/// Returns an object of these members.
pub(crate) fn object<'n>(members: impl IntoIterator<Item = (&'n str, Json)>) -> Json {
    Json::of(&Map::from_iter(members))
}

/// Returns the object with these members set; `None` takes a member out.
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
