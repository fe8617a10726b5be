//! What of a schema the samples of a revision have reached: a sampler that leaves a corner out proves nothing about it.

use mcp_wire::pointer::escaped;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::place::reference;

/// How far a walk goes down.
const DEEPEST: usize = 64;

/// The parts of a schema that some sample has shown.
#[derive(Debug)]
pub struct Coverage<'s> {
    schema: &'s Value,
    reached: BTreeSet<String>,
}

impl<'s> Coverage<'s> {
    /// Nothing is reached yet.
    #[must_use]
    pub fn new(schema: &'s Value) -> Self {
        let reached = BTreeSet::new();
        Self { schema, reached }
    }

    /// Marks what a valid value of a definition shows.
    pub fn mark(&mut self, definition: &str, value: &Value) {
        self.walk(&format!("/$defs/{definition}"), value, 0);
    }

    /// Takes over what another walk over the same schema has reached.
    pub fn join(&mut self, other: Self) {
        self.reached.extend(other.reached);
    }

    /// The parts that no sample has shown.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(definitions) = self.schema.get("$defs").and_then(Value::as_object) {
            for (name, node) in definitions {
                parts(node, &format!("/$defs/{name}"), &mut all);
            }
        }
        all.retain(|part| !self.reached.contains(part));
        all
    }

    /// How many parts have been reached.
    #[must_use]
    pub fn count(&self) -> usize {
        self.reached.len()
    }

    fn walk(&mut self, at: &str, value: &Value, depth: usize) {
        let Some(node) = self.schema.pointer(at).filter(|_| depth < DEEPEST) else {
            return;
        };
        self.reached.insert(at.to_owned());
        if let Some(target) = reference(node) {
            self.walk(target, value, depth + 1);
        }
        for (index, part) in values(node).into_iter().enumerate() {
            if part == value {
                self.reached.insert(format!("{at}/enum/{index}"));
            }
        }
        for (index, name) in types(node).into_iter().enumerate() {
            if is_type(name, value) {
                self.reached.insert(format!("{at}/type/{index}"));
            }
        }
        for keyword in ["allOf", "anyOf"] {
            for (index, arm) in list(node, keyword).iter().enumerate() {
                if keyword == "allOf" || might_be(self.schema, arm, value, 0) {
                    self.walk(&format!("{at}/{keyword}/{index}"), value, depth + 1);
                }
            }
        }
        let properties = node.get("properties").and_then(Value::as_object);
        for (name, inner) in value.as_object().into_iter().flatten() {
            if properties.is_some_and(|properties| properties.contains_key(name)) {
                let step = escaped(name);
                self.walk(&format!("{at}/properties/{step}"), inner, depth + 1);
            } else if node
                .get("additionalProperties")
                .is_some_and(Value::is_object)
            {
                self.walk(&format!("{at}/additionalProperties"), inner, depth + 1);
            }
        }
        for inner in value.as_array().into_iter().flatten() {
            self.walk(&format!("{at}/items"), inner, depth + 1);
        }
    }
}

/// Every part of a schema that a sample can show: members, elements, variants, choices, types.
fn parts(node: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    all.extend((0..values(node).len()).map(|index| format!("{at}/enum/{index}")));
    all.extend((0..types(node).len()).map(|index| format!("{at}/type/{index}")));
    for keyword in ["allOf", "anyOf"] {
        for (index, arm) in list(node, keyword).iter().enumerate() {
            parts(arm, &format!("{at}/{keyword}/{index}"), all);
        }
    }
    for (name, inner) in node
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let step = escaped(name);
        parts(inner, &format!("{at}/properties/{step}"), all);
    }
    for keyword in ["additionalProperties", "items"] {
        if let Some(inner) = node.get(keyword).filter(|inner| inner.is_object()) {
            parts(inner, &format!("{at}/{keyword}"), all);
        }
    }
}

/// Whether a value looks like the schema: its type, its constants, what must be there; not all that the schema says.
fn might_be(schema: &Value, node: &Value, value: &Value, depth: usize) -> bool {
    if depth > DEEPEST {
        return false;
    }
    if let Some(target) = reference(node).and_then(|target| schema.pointer(target)) {
        return might_be(schema, target, value, depth + 1);
    }
    let names = types(node);
    let member = |name: &Value| name.as_str().and_then(|name| value.get(name)).is_some();
    let properties = node.get("properties").and_then(Value::as_object);
    (names.is_empty() || names.iter().any(|name| is_type(name, value)))
        && node.get("const").is_none_or(|only| only == value)
        && (values(node).is_empty() || values(node).contains(&value))
        && list(node, "required").iter().all(member)
        && list(node, "allOf")
            .iter()
            .all(|arm| might_be(schema, arm, value, depth + 1))
        && (list(node, "anyOf").is_empty()
            || list(node, "anyOf")
                .iter()
                .any(|arm| might_be(schema, arm, value, depth + 1)))
        && properties.into_iter().flatten().all(|(name, inner)| {
            let found = value.get(name);
            found.is_none_or(|found| might_be(schema, inner, found, depth + 1))
        })
}

fn list<'n>(node: &'n Value, keyword: &str) -> &'n [Value] {
    node.get(keyword)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The choices of an `enum`.
fn values(node: &Value) -> Vec<&Value> {
    list(node, "enum").iter().collect()
}

/// The names under `type`.
fn types(node: &Value) -> Vec<&str> {
    match node.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        _ => false,
    }
}
