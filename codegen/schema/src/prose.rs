//! The prose of an upstream schema: its descriptions, by JSON pointer of the canonical form.

use crate::sorted::SortedMap;

use serde_json::Value;

use crate::pointer::escaped;

/// Collects the descriptions of an upstream schema.
#[must_use]
pub fn collect(upstream: &Value) -> SortedMap<String, String> {
    let mut prose = SortedMap::new();
    for key in ["definitions", "$defs"] {
        let definitions = upstream.get(key).and_then(Value::as_object);
        for (name, node) in definitions.into_iter().flatten() {
            schema(node, format!("/$defs/{}", escaped(name)), &mut prose);
        }
    }
    prose
}

/// Recursion is as deep as the text is nested, which its parser limits.
fn schema(node: &Value, pointer: String, prose: &mut SortedMap<String, String>) {
    let Some(node) = node.as_object() else {
        return;
    };
    for (keyword, value) in node {
        let at = format!("{pointer}/{keyword}");
        match (keyword.as_str(), value) {
            ("description", Value::String(text)) => {
                prose.insert(pointer.clone(), plain(text));
            }
            ("properties", Value::Object(members)) => {
                for (name, member) in members {
                    schema(member, format!("{at}/{}", escaped(name)), prose);
                }
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(nodes)) => {
                for (index, node) in nodes.iter().enumerate() {
                    schema(node, format!("{at}/{index}"), prose);
                }
            }
            ("items" | "additionalProperties", value) => schema(value, at, prose),
            _ => {}
        }
    }
}

/// Text that rustdoc takes as it is: brackets and angles mean nothing there.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.trim().chars() {
        if matches!(letter, '[' | ']' | '<' | '>' | '`' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    // An indented line would be a code block, and rustdoc would run it.
    let lines: Vec<&str> = out.lines().map(str::trim_start).collect();
    lines.join("\n")
}
