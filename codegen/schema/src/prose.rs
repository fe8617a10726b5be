//! The prose of an upstream schema: its descriptions, by JSON pointer of the canonical form.

use crate::sorted::SortedMap;

use serde_json::Value;

use crate::Markdown;
use crate::pointer::escaped;
use crate::spec::canonical::{definition, definitions};

/// Collects the descriptions of an upstream schema, of which the other one is the canonical form.
pub fn collect(upstream: &Value, canonical: &Value) -> SortedMap<String, Markdown> {
    let mut prose = SortedMap::new();
    for key in ["definitions", "$defs"] {
        let definitions = upstream.get(key).and_then(Value::as_object);
        for (name, node) in definitions.into_iter().flatten() {
            if let Some(canonical) = definition(canonical, name) {
                let at = format!("/$defs/{}", escaped(name));
                schema(node, canonical, at, &mut prose);
            }
        }
    }
    // The definition that upstream has not is the type of the root.
    let is_upstreams = |name: &str| {
        let mut all = ["definitions", "$defs"].into_iter();
        all.any(|key| upstream.get(key).is_some_and(|all| all.get(name).is_some()))
    };
    if let Some((name, root)) = definitions(canonical).find(|(name, _)| !is_upstreams(name)) {
        schema(
            upstream,
            root,
            format!("/$defs/{}", escaped(name)),
            &mut prose,
        );
    }
    prose
}

/// Collects the descriptions of a schema and of what both forms have below it.
///
/// Recursion is as deep as the text is nested, which its parser limits.
fn schema(
    node: &Value,
    canonical: &Value,
    pointer: String,
    prose: &mut SortedMap<String, Markdown>,
) {
    let Some(node) = node.as_object() else {
        return;
    };
    for (keyword, value) in node {
        let keyword = match keyword.as_str() {
            "oneOf" if canonical.get("oneOf").is_none() && !node.contains_key("anyOf") => "anyOf",
            keyword => keyword,
        };
        let at = format!("{pointer}/{keyword}");
        match (keyword, value, canonical.get(keyword)) {
            ("description", Value::String(text), _) => {
                prose.insert(pointer.clone(), Markdown::prose(text));
            }
            ("properties", Value::Object(members), Some(Value::Object(same))) => {
                for (name, member) in members {
                    if let Some(same) = same.get(name) {
                        schema(member, same, format!("{at}/{}", escaped(name)), prose);
                    }
                }
            }
            // Choices that the canonical form joins have other places there.
            ("anyOf" | "oneOf" | "allOf", Value::Array(nodes), Some(Value::Array(same)))
                if nodes.len() == same.len() =>
            {
                for (index, (node, same)) in nodes.iter().zip(same).enumerate() {
                    schema(node, same, format!("{at}/{index}"), prose);
                }
            }
            ("items" | "additionalProperties", value, Some(same)) => {
                schema(value, same, at, prose);
            }
            _ => {}
        }
    }
}
