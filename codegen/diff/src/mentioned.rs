//! Names, values and counts that the keywords of a schema mention: what its limits may turn on.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use serde_json::Value;

use super::graph::{Graph, NodeShape, WireNode};
use super::patterns;
use super::scalars::{beside_limit, scalar};
use mcp_revisions_schema::schema::JsonType;

/// The numbers and texts that the keywords of a schema mention.
#[derive(Default)]
pub(super) struct Mentioned {
    /// Names of members.
    pub(super) names: SortedSet<String>,
    /// Values that stand there, or beside a bound that does.
    pub(super) values: Vec<Value>,
    /// Numbers of members or items at a bound.
    pub(super) counts: SortedSet<usize>,
}

impl Mentioned {
    /// Returns what these nodes speak of beside their shapes.
    pub(super) fn of(nodes: &[(&Graph, &WireNode)]) -> Self {
        let mut mentioned = Self::default();
        for (graph, node) in nodes {
            mentioned.limits(graph, node, 0);
        }
        mentioned
    }

    fn limits(&mut self, graph: &Graph, node: &WireNode, depth: usize) {
        for (name, value) in &node.limits {
            self.keyword(name, value, 0);
        }
        for inner in node.applied.values().take(16).filter(|_| depth < 4) {
            let inner = graph.node(*inner);
            match &inner.shape {
                NodeShape::Object { members, .. } => {
                    self.names.extend(members.keys().take(16).cloned());
                }
                NodeShape::Choice(values) => self.values.extend(values.iter().take(16).cloned()),
                _ => {}
            }
            self.limits(graph, inner, depth + 1);
        }
    }

    fn keyword(&mut self, name: &str, value: &Value, depth: usize) {
        if depth > 16 || self.values.len() > 64 || self.names.len() > 64 {
            return;
        }
        match (name, value) {
            ("const" | "default", value) => self.values.push(value.clone()),
            ("enum", Value::Array(values)) => self.values.extend(values.iter().take(16).cloned()),
            ("required", Value::Array(names)) => {
                self.names.extend(
                    names
                        .iter()
                        .filter_map(Value::as_str)
                        .take(16)
                        .map(str::to_owned),
                );
            }
            ("dependentRequired", Value::Object(needed)) => {
                for (name, needed) in needed {
                    self.names.insert(name.clone());
                    self.keyword("required", needed, depth + 1);
                }
            }
            ("pattern", Value::String(pattern)) => {
                let texts = patterns::texts(pattern);
                self.names.extend(texts.iter().cloned());
                self.values.extend(texts.into_iter().map(Value::from));
            }
            ("patternProperties", Value::Object(patterns)) => {
                for (pattern, schema) in patterns {
                    self.names.extend(patterns::texts(pattern));
                    self.schema(schema, depth + 1);
                }
            }
            ("properties" | "dependentSchemas", Value::Object(members)) => {
                for (name, schema) in members {
                    self.names.insert(name.clone());
                    self.schema(schema, depth + 1);
                }
            }
            ("propertyNames", schema) => {
                let mut names = Self::default();
                names.schema(schema, depth + 1);
                let texts = names.values.iter().filter_map(Value::as_str);
                self.names.extend(texts.map(str::to_owned));
            }
            (
                "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
                | "maxContains",
                bound,
            ) => {
                let small = bound.as_u64().filter(|bound| *bound < 128);
                if let Some(small) = small.and_then(|small| usize::try_from(small).ok()) {
                    self.counts
                        .extend([small.saturating_sub(1), small, small + 1]);
                }
            }
            ("type", kinds) => {
                let one = std::slice::from_ref(kinds);
                for kind in kinds
                    .as_array()
                    .map_or(one, Vec::as_slice)
                    .iter()
                    .filter_map(|kind| JsonType::from_name(kind.as_str()?))
                {
                    self.values
                        .extend(scalar(kind, &SortedMap::new()).into_iter().take(2));
                }
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                for schema in schemas.iter().take(32) {
                    self.schema(schema, depth + 1);
                }
            }
            (_, schema @ Value::Object(_)) => self.schema(schema, depth + 1),
            (bound, value) => self.values.extend(beside_limit(bound, value)),
        }
    }

    fn schema(&mut self, schema: &Value, depth: usize) {
        for (name, value) in schema.as_object().into_iter().flatten() {
            self.keyword(name, value, depth);
        }
    }
}
