//! What a schema itself says of its methods.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::spec::Revision;

/// Whether the params of a request have a member, whichever of their shapes they have.
pub(super) fn takes(revision: &Revision, method: &str, member: &str) -> bool {
    fn has(revision: &Revision, schema: &Value, member: &str, depth: usize) -> bool {
        if schema
            .pointer("/properties")
            .and_then(|it| it.get(member))
            .is_some()
        {
            return true;
        }
        let named = (schema.get("$ref").and_then(Value::as_str))
            .and_then(|name| revision.definition(name.strip_prefix("#/$defs/")?));
        let choices = ["anyOf", "oneOf", "allOf"]
            .iter()
            .filter_map(|key| schema.get(key)?.as_array());
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
    let stated = revision
        .definitions()
        .filter_map(|(_, definition)| method_of(definition));
    stated.map(str::to_owned).collect()
}

/// Method and definition of each request of a revision.
pub(super) fn requests(revision: &Revision) -> BTreeMap<&str, &str> {
    let stated = revision
        .definitions()
        .filter_map(|(name, definition)| Some((method_of(definition)?, name)));
    stated
        .filter(|(method, _)| !method.starts_with("notifications/"))
        .collect()
}

fn method_of(definition: &Value) -> Option<&str> {
    definition.pointer("/properties/method/const")?.as_str()
}
