//! What a schema itself says of its methods.

use crate::sorted::SortedMap;

use serde_json::Value;

use crate::spec::{Revision, canonical};

/// Whether the params of a request have a member, whichever of their shapes they have.
pub(super) fn takes(revision: &Revision, method: &str, member: &str) -> bool {
    fn has(revision: &Revision, schema: &Value, member: &str, depth: usize) -> bool {
        if schema["properties"].get(member).is_some() {
            return true;
        }
        let named = (schema.get("$ref").and_then(Value::as_str))
            .and_then(|name| revision.definition(name.strip_prefix("#/$defs/")?));
        let choices = ["anyOf", "oneOf", "allOf"].iter();
        let choices = choices.filter_map(|key| schema.get(key)?.as_array());
        let mut below = named.into_iter().chain(choices.flatten());
        // A reference may lead back to where it stands.
        depth < 8 && below.any(|schema| has(revision, schema, member, depth + 1))
    }
    let request = requests(revision)
        .get(method)
        .and_then(|name| revision.definition(name));
    let params = request.and_then(|request| request.pointer("/properties/params"));
    params.is_some_and(|params| has(revision, params, member, 0))
}

/// All methods of a revision, of requests and notifications.
pub(crate) fn methods(revision: &Revision) -> Vec<String> {
    (messages(&revision.schema))
        .map(|(method, _)| method.to_owned())
        .collect()
}

/// Method and definition of each message of a canonical schema.
pub(crate) fn messages(schema: &Value) -> impl Iterator<Item = (&str, &str)> {
    canonical::definitions(schema)
        .filter_map(|(name, definition)| Some((method_of(definition)?, name)))
}

/// Method and definition of each request of a revision.
pub(super) fn requests(revision: &Revision) -> SortedMap<&str, &str> {
    messages(&revision.schema)
        .filter(|(method, _)| !method.starts_with("notifications/"))
        .collect()
}

/// The constant of `method`, of the definition itself or of a part that it is put together from.
fn method_of(definition: &Value) -> Option<&str> {
    let own = definition.pointer("/properties/method/const");
    own.and_then(Value::as_str).or_else(|| {
        let parts = definition.get("allOf")?.as_array()?;
        parts.iter().find_map(method_of)
    })
}
