//! The type of a file whose root is one: it becomes a definition, and references to the root follow it.

use serde_json::{Map, Value};

use super::reference;
use crate::naming::{numbered, type_name};
use crate::pointer::escaped;

/// Keywords of the root that say something of the file.
const OF_THE_FILE: [&str; 3] = ["$schema", "$defs", "$id"];

/// Returns whether a keyword says which values a schema has.
fn is_of_a_type(keyword: &str) -> bool {
    let more = [
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "enum",
        "items",
        "oneOf",
        "patternProperties",
        "prefixItems",
        "properties",
        "required",
        "type",
    ];
    more.contains(&keyword)
}

/// Returns whether the root of an upstream schema is a type.
pub(super) fn is_type(root: &Map<String, Value>) -> bool {
    root.keys().any(|keyword| is_of_a_type(keyword))
}

/// Makes the type of the root a definition that is called by the title of the file, else `Root`.
pub(super) fn named(canonical: &mut Value, refs: &mut [(String, String)], title: Option<&str>) {
    let Value::Object(root) = canonical else {
        return;
    };
    let stated = |root: &Map<String, Value>| -> Map<String, Value> {
        let of_type = root
            .iter()
            .filter(|(key, _)| !OF_THE_FILE.contains(&key.as_str()));
        of_type
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let stated = stated(root);
    if !is_type(&stated) {
        return;
    }
    root.retain(|key, _| OF_THE_FILE.contains(&key.as_str()));
    let definitions = root.entry("$defs").or_insert_with(|| Map::new().into());
    let Value::Object(definitions) = definitions else {
        return;
    };
    // A root that only refers to a definition is that one.
    let is_reference = stated.len() == 1
        && stated
            .get("$ref")
            .and_then(Value::as_str)
            .is_some_and(|target| {
                let name = target.strip_prefix("#/$defs/");
                name.is_some_and(|name| !name.contains('/'))
            });
    if is_reference {
        return;
    }
    let name = type_name(
        title
            .filter(|title| !title.trim().is_empty())
            .unwrap_or("Root"),
    );
    let is_taken = |name: &str| definitions.contains_key(name);
    let name = if is_taken(&name) {
        numbered(&name, is_taken)
    } else {
        name
    };
    definitions.insert(name.clone(), stated.into());
    let moved = |target: &str| {
        let is_definition = target == "/$defs" || target.starts_with("/$defs/");
        (!is_definition).then(|| format!("/$defs/{}{target}", escaped(&name)))
    };
    for (_, target) in refs.iter_mut() {
        if let Some(new) = moved(target) {
            *target = new;
        }
    }
    reference::redirected(canonical, &moved);
}
