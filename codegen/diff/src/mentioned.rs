//! Names, values and counts that the keywords of a schema mention, for values at its limits.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use serde_json::{Value, json};

use super::graph::{Graph, NodeShape, WireNode};
use super::patterns;
use super::scalars::{beside_limit, scalar};
use mcp_revisions_schema::schema::JsonType;

/// Maximum number of members or items of a value that shows a limit.
pub(super) const MOST_COUNTED: usize = 2048;

/// Maximum number of values of a kind that are joined with each other.
const MOST_JOINED: usize = 8;

/// Returns the texts, padded to the lengths of the longer ones.
fn padded<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<String> {
    let texts: SortedSet<&str> = texts
        .filter(|text| text.len() < 64)
        .take(MOST_JOINED)
        .collect();
    let lengths: SortedSet<usize> = texts.iter().map(|text| text.len()).collect();
    let longer = |text: &&str| {
        let (text, own) = ((*text).to_owned(), text.len());
        let greater = lengths.iter().filter(move |length| **length > own);
        greater.map(move |length| format!("{text}{}", "x".repeat(length - own)))
    };
    texts.iter().flat_map(longer).collect()
}

/// The numbers and texts that the keywords of a schema mention.
#[derive(Default)]
pub(super) struct Mentioned {
    /// Names of members.
    pub(super) names: SortedSet<String>,
    /// Values that they mention, and values beside a bound.
    pub(super) values: Vec<Value>,
    /// Numbers of members or items at a bound, and beside it.
    pub(super) counts: SortedSet<usize>,
}

impl Mentioned {
    /// Collects the names, values and counts of the keywords of these nodes.
    pub(super) fn of(nodes: &[(&Graph, &WireNode)]) -> Self {
        let mut mentioned = Self::default();
        for (graph, node) in nodes {
            mentioned.limits(graph, node, 0);
        }
        mentioned.join();
        mentioned
    }

    /// Adds values that fit one keyword and not another: padded texts of a pattern, and multiples of a number beside a limit.
    fn join(&mut self) {
        let texts = self.values.iter().filter_map(Value::as_str);
        self.values
            .extend(padded(texts).into_iter().map(Value::from));
        let names = padded(self.names.iter().map(String::as_str));
        self.names.extend(names);
        let mentioned = self.values.iter().filter_map(Value::as_f64);
        let numbers: Vec<f64> = mentioned.take(MOST_JOINED).collect();
        for step in numbers.iter().filter(|step| **step > 0.0) {
            let beside = numbers.iter().flat_map(|at| {
                let below = (at / step).floor() * step;
                [below - step, below, below + step]
            });
            self.values.extend(beside.map(|at| json!(at)));
        }
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

    /// Adds the values on both sides of the boundary of a keyword.
    fn keyword(&mut self, name: &str, value: &Value, depth: usize) {
        if depth > 16 || self.values.len() > 64 || self.names.len() > 64 {
            return;
        }
        let mut rows = BOUNDARIES.iter();
        match rows.find(|(keywords, _)| keywords.contains(&name)) {
            Some((_, boundary)) => boundary(self, value, depth + 1),
            None => self.values.extend(beside_limit(name, value)),
        }
    }

    fn constant(&mut self, value: &Value, _: usize) {
        self.values.push(value.clone());
    }

    fn choices(&mut self, values: &Value, _: usize) {
        self.values.extend(items(values).take(16).cloned());
    }

    fn required(&mut self, names: &Value, _: usize) {
        let names = items(names).filter_map(Value::as_str).take(16);
        self.names.extend(names.map(str::to_owned));
    }

    fn dependent_required(&mut self, needed: &Value, depth: usize) {
        for (name, needed) in members(needed) {
            self.names.insert(name.clone());
            self.required(needed, depth);
        }
    }

    fn pattern(&mut self, pattern: &Value, _: usize) {
        let texts = patterns::texts(pattern.as_str().unwrap_or_default());
        self.names.extend(texts.iter().cloned());
        self.values.extend(texts.into_iter().map(Value::from));
    }

    fn patterned(&mut self, patterns: &Value, depth: usize) {
        for (pattern, schema) in members(patterns) {
            self.names.extend(patterns::texts(pattern));
            self.schema(schema, depth);
        }
    }

    fn named(&mut self, named: &Value, depth: usize) {
        for (name, schema) in members(named) {
            self.names.insert(name.clone());
            self.schema(schema, depth);
        }
    }

    fn property_names(&mut self, schema: &Value, depth: usize) {
        let mut names = Self::default();
        names.schema(schema, depth);
        let texts = names.values.iter().filter_map(Value::as_str);
        self.names.extend(texts.map(str::to_owned));
    }

    fn count(&mut self, bound: &Value, _: usize) {
        if let Some(bound) = bound.as_u64().and_then(|bound| usize::try_from(bound).ok()) {
            self.beside_count(bound);
        }
    }

    fn kinds(&mut self, kinds: &Value, _: usize) {
        let one = std::slice::from_ref(kinds);
        let names = kinds.as_array().map_or(one, Vec::as_slice).iter();
        for kind in names.filter_map(|kind| JsonType::from_name(kind.as_str()?)) {
            let some = scalar(kind, &SortedMap::new()).into_iter().take(2);
            self.values.extend(some);
        }
    }

    fn each(&mut self, schemas: &Value, depth: usize) {
        for schema in items(schemas).take(32) {
            self.schema(schema, depth);
        }
    }

    /// Adds a list with one item more than there are schemas of items: it meets the schema of the rest.
    fn prefix(&mut self, schemas: &Value, depth: usize) {
        self.beside_count(items(schemas).count());
        self.each(schemas, depth);
    }

    /// Adds a number of members or items, and those beside it.
    fn beside_count(&mut self, count: usize) {
        if count < MOST_COUNTED {
            (self.counts).extend([count.saturating_sub(1), count, count + 1]);
        }
    }

    fn schema(&mut self, schema: &Value, depth: usize) {
        for (name, value) in schema.as_object().into_iter().flatten() {
            self.keyword(name, value, depth);
        }
    }
}

/// A function that adds the boundary of a keyword.
type Boundary = fn(&mut Mentioned, &Value, usize);

/// The functions of keywords. For other keywords, [`beside_limit`] returns the values.
const BOUNDARIES: &[(&[&str], Boundary)] = &[
    (&["const", "default"], Mentioned::constant),
    (&["enum"], Mentioned::choices),
    (&["type"], Mentioned::kinds),
    (&["required"], Mentioned::required),
    (&["dependentRequired"], Mentioned::dependent_required),
    (&["pattern"], Mentioned::pattern),
    (&["patternProperties"], Mentioned::patterned),
    (&["properties", "dependentSchemas"], Mentioned::named),
    (&["propertyNames"], Mentioned::property_names),
    (
        &["minItems", "maxItems", "minContains", "maxContains"],
        Mentioned::count,
    ),
    (&["minProperties", "maxProperties"], Mentioned::count),
    (&["allOf", "anyOf", "oneOf"], Mentioned::each),
    (&["prefixItems"], Mentioned::prefix),
    (
        &["items", "contains", "unevaluatedItems", "contentSchema"],
        Mentioned::schema,
    ),
    (
        &["additionalProperties", "unevaluatedProperties"],
        Mentioned::schema,
    ),
    (&["not", "if", "then", "else"], Mentioned::schema),
];

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
