//! Small values of a shape: what witnesses are made of.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use serde_json::{Map, Value, json};

use super::graph::{Graph, GraphRest, NodeId, NodeShape, WireNode};
use super::judge::valid;
use super::mentioned::{MOST_COUNTED, Mentioned};
use super::scalars::{count, limit, scalar};
use super::steps::StepBudget;

/// Maximum depth of samples before a shape is given up.
const MAX_DEPTH: usize = 24;

/// Maximum number of values of a shape with more than the least.
const MAX_VARIED: usize = 64;

/// Maximum number of values that are tried for the limits of a schema.
const MAX_TRIED: usize = 600;

/// Maximum number of values that are made or tried for one question: a shape may have any number of others within.
pub(super) const MAX_STEPS: usize = 50_000;

/// Returns a smallest value of a shape; `None` for a shape that no small value has.
pub(crate) fn minimal(graph: &Graph, id: NodeId) -> Option<Value> {
    let steps = StepBudget::new(MAX_STEPS);
    Sampler::new(graph, &steps).minimal(id)
}

/// Makes values of the shapes of a graph, as long as there are steps left.
#[derive(Clone, Copy)]
pub(super) struct Sampler<'g> {
    graph: &'g Graph,
    steps: &'g StepBudget,
}

impl<'g> Sampler<'g> {
    pub(super) fn new(graph: &'g Graph, steps: &'g StepBudget) -> Self {
        Self { graph, steps }
    }

    /// Returns the smallest values of a shape, one per choice that it leaves; empty for a shape that no small value has.
    pub(super) fn samples(self, id: NodeId) -> Vec<Value> {
        self.at_depth(id, 0)
    }

    /// Returns the first of them.
    pub(super) fn minimal(self, id: NodeId) -> Option<Value> {
        self.minimal_at(id, 0)
    }

    fn minimal_at(self, id: NodeId, depth: usize) -> Option<Value> {
        self.steps.take(1)?;
        match &self.graph.node(id).shape {
            // The shapes that come first are the ones to try; no need for the rest.
            NodeShape::Union(variants) if depth <= MAX_DEPTH => variants
                .iter()
                .find_map(|variant| self.minimal_at(*variant, depth + 1)),
            _ => self.at_depth(id, depth).into_iter().next(),
        }
    }

    fn at_depth(self, id: NodeId, depth: usize) -> Vec<Value> {
        if depth > MAX_DEPTH || self.steps.take(1).is_none() {
            return Vec::new();
        }
        let node = self.graph.node(id);
        let mut values = self.plain(node, depth);
        if !node.limits.is_empty() {
            values.retain(|value| valid(self.graph, id, value));
            if values.is_empty() {
                values = self.variations(node, &Mentioned::of(&[(self.graph, node)]), depth);
                if self.steps.take(values.len()).is_none() {
                    return Vec::new();
                }
                values.retain(|value| valid(self.graph, id, value));
            }
        }
        // The values around these copy them.
        match self.steps.take(values.iter().map(size).sum()) {
            Some(()) => values,
            None => Vec::new(),
        }
    }

    /// Returns a list of so many times the same.
    fn repeated(self, item: &Value, count: usize) -> Option<Value> {
        self.steps.take(size(item).saturating_mul(count))?;
        Some(Value::Array(vec![item.clone(); count]))
    }

    /// Returns the smallest values of a shape, and then those with one thing more: another item, entry, optional member or value
    /// within.
    pub(super) fn varied(self, id: NodeId) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        for value in self.varied_at(id, MAX_VARIED, 0) {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        all
    }

    /// At most twice `room` of them: what stands within shares the room, so that neither size nor depth multiplies.
    fn varied_at(self, id: NodeId, room: usize, depth: usize) -> Vec<Value> {
        let mut all = self.at_depth(id, depth);
        all.truncate(room);
        if room < 2 || depth > MAX_DEPTH {
            return all;
        }
        let node = self.graph.node(id);
        let within =
            |id: NodeId, others: usize| self.varied_at(id, (room / others).max(1), depth + 1);
        let mut more = Vec::new();
        match &node.shape {
            NodeShape::Array(items) => {
                let values = items.map_or_else(anything, |items| within(items, 1));
                more.extend(values.into_iter().map(|item| json!([item])));
            }
            NodeShape::Object { members, rest } => {
                let base = all.first().and_then(Value::as_object).cloned();
                let named = members.iter().map(|(name, member)| (&**name, member.node));
                let each = rest.each().map(|each| ("key", each));
                let places: Vec<(&str, NodeId)> =
                    each.into_iter().chain(named).take(room).collect();
                for (name, node) in base.iter().flat_map(|_| &places) {
                    more.extend(within(*node, places.len()).into_iter().map(|value| {
                        let mut with = base.clone().unwrap_or_default();
                        with.insert((*name).to_owned(), value);
                        Value::Object(with)
                    }));
                }
            }
            NodeShape::Union(variants) => {
                let first = variants.iter().take(room);
                more.extend(first.clone().flat_map(|one| within(*one, first.len())));
            }
            NodeShape::Any | NodeShape::Alias(_) | NodeShape::Scalar(_) | NodeShape::Choice(_) => {}
        }
        more.retain(|value| node.limits.is_empty() || valid(self.graph, id, value));
        all.extend(more);
        all.truncate(2 * room);
        all
    }

    /// Returns the smallest values of a shape, without regard to its limits.
    fn plain(self, node: &WireNode, depth: usize) -> Vec<Value> {
        match &node.shape {
            NodeShape::Any => anything(),
            NodeShape::Alias(_) => Vec::new(),
            NodeShape::Scalar(kinds) => kinds
                .iter()
                .flat_map(|kind| scalar(*kind, &node.limits))
                .collect(),
            NodeShape::Choice(values) => values.iter().take(MAX_VARIED).cloned().collect(),
            NodeShape::Array(items) => {
                let least = limit(&node.limits, "minItems").unwrap_or(0.0);
                if least < 1.0 {
                    return vec![json!([])];
                }
                let item = match items {
                    _ if least > MOST_COUNTED as f64 => None,
                    Some(items) => self.minimal_at(*items, depth + 1),
                    None => Some(json!("x")),
                };
                let list =
                    item.and_then(|item| self.repeated(&item, count(least, MOST_COUNTED as u32)));
                list.into_iter().collect()
            }
            NodeShape::Object { members, .. } => {
                let required =
                    members
                        .iter()
                        .filter(|(_, member)| member.required)
                        .map(|(name, member)| {
                            Some((name.clone(), self.minimal_at(member.node, depth + 1)?))
                        });
                let object = required.collect::<Option<Map<_, _>>>();
                object.map(Value::Object).into_iter().collect()
            }
            NodeShape::Union(variants) => variants
                .iter()
                .flat_map(|variant| self.at_depth(*variant, depth + 1).into_iter().take(4))
                .take(64)
                .collect(),
        }
    }

    /// Values of a shape that limits may admit or refuse: members that are named, counts, items, what they mention.
    pub(super) fn variations(
        self,
        node: &WireNode,
        mentioned: &Mentioned,
        depth: usize,
    ) -> Vec<Value> {
        if depth > MAX_DEPTH {
            return Vec::new();
        }
        let own = self.plain(node, depth);
        let mut all = own.clone();
        all.extend(mentioned.values.iter().cloned());
        all.extend(anything());
        match &node.shape {
            NodeShape::Array(_) => all.extend(self.lists(node, mentioned, depth)),
            NodeShape::Object { .. } | NodeShape::Union(_) => {
                all.extend(self.objects(node, &own, mentioned, depth));
            }
            NodeShape::Any => {
                all.extend(self.lists(node, mentioned, depth));
                all.extend(self.objects(node, &[json!({})], mentioned, depth));
            }
            _ => {}
        }
        all.truncate(MAX_TRIED);
        all
    }

    /// Lists of what stands there, and of what is mentioned.
    fn lists(self, node: &WireNode, mentioned: &Mentioned, depth: usize) -> Vec<Value> {
        let listed: Vec<Value> = (0..)
            .map_while(|at| node.applied.get(&format!("prefixItems/{at}")))
            .map_while(|item| self.minimal_at(*item, depth + 1))
            .collect();
        let mut items = match node.shape {
            NodeShape::Array(Some(items)) => self.at_depth(items, depth + 1),
            _ => anything(),
        };
        items.truncate(8);
        items.extend(mentioned.values.iter().take(24).cloned());
        items.extend(anything());
        let mut all = vec![json!([]), Value::Array(listed.clone())];
        for item in &items {
            all.push(json!([item]));
            all.push(json!([item, item]));
            for count in 0..=listed.len() {
                all.push(Value::Array(
                    [&listed[..count], std::slice::from_ref(item)].concat(),
                ));
            }
            if let Some(first) = items.first() {
                all.push(json!([first, item]));
            }
        }
        for count in &mentioned.counts {
            for item in items.iter().take(8) {
                all.extend(self.repeated(item, *count));
            }
            // As many as there have to be, all of them different.
            let different =
                (0..*count).map(|at| items.get(at).cloned().unwrap_or_else(|| json!(at)));
            all.push(Value::Array(different.collect()));
        }
        all
    }

    /// Objects with and without the members that are named, and as many as are counted.
    fn objects(
        self,
        node: &WireNode,
        bases: &[Value],
        mentioned: &Mentioned,
        depth: usize,
    ) -> Vec<Value> {
        let none = SortedMap::new();
        let (members, rest) = node.shape.object().unwrap_or((&none, GraphRest::Open));
        let entries = rest
            .each()
            .map_or_else(Vec::new, |each| self.at_depth(each, depth + 1));
        let mut mentioned_names: SortedSet<&str> =
            mentioned.names.iter().map(String::as_str).collect();
        mentioned_names.extend(members.keys().map(String::as_str).take(32));
        mentioned_names.extend(["x-stranger", "", "A B"]);
        let mut values = vec![json!("x"), json!({}), json!(1)];
        values.splice(0..0, entries.iter().take(6).cloned());
        values.extend(mentioned.values.iter().take(12).cloned());
        values.extend(anything());
        let value_of = |name: &str| -> Vec<Value> {
            match members.get(name) {
                Some(member) => {
                    let mut own = self.at_depth(member.node, depth + 1);
                    own.truncate(6);
                    own.extend(mentioned.values.iter().take(10).cloned());
                    own
                }
                None => values.clone(),
            }
        };
        let mut all = Vec::new();
        for base in bases.iter().filter_map(Value::as_object).take(4) {
            let mut full = base.clone();
            for name in &mentioned_names {
                let values = value_of(name);
                for value in values.iter().take(16) {
                    let mut with = base.clone();
                    with.insert((*name).to_owned(), value.clone());
                    all.push(Value::Object(with));
                }
                let known = mentioned.names.contains(*name) || members.contains_key(*name);
                if let Some(value) = values.first().filter(|_| known) {
                    full.entry(*name).or_insert_with(|| value.clone());
                }
            }
            for name in full.keys() {
                let mut without = full.clone();
                without.remove(name);
                all.push(Value::Object(without));
            }
            all.push(Value::Object(full));
            for count in &mentioned.counts {
                let counted = base.clone();
                // Names that are known first: an object may be closed.
                let known = members.iter().filter_map(|(name, member)| {
                    Some((name.clone(), self.minimal_at(member.node, depth + 1)?))
                });
                let entry = entries.first().cloned().unwrap_or_else(|| json!("x"));
                let strangers = (0..*count).map(|at| (format!("x-{at}"), entry.clone()));
                let others: Vec<(String, Value)> = known.chain(strangers).collect();
                // Members that keywords name count with the rest.
                let of_keywords = mentioned
                    .names
                    .iter()
                    .filter_map(|name| Some((name.clone(), value_of(name).into_iter().next()?)));
                let named: Vec<(String, Value)> = of_keywords.take(4).collect();
                for first in [&[][..], &named] {
                    let mut object = counted.clone();
                    for (name, value) in first.iter().chain(&others) {
                        if object.len() < *count {
                            object.entry(name.clone()).or_insert_with(|| value.clone());
                        }
                    }
                    all.push(Value::Object(object));
                }
            }
        }
        all
    }
}

/// One of each kind of JSON.
pub(super) fn anything() -> Vec<Value> {
    let all = json!(["x", {}, [], 1, 1.5, true, null]);
    all.as_array().cloned().unwrap_or_default()
}

/// Returns the number of values in a value; a long text counts as several.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        Value::String(text) => 1 + text.len() / 64,
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}
