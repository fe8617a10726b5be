//! Small values of a shape: what witnesses are made of.

use crate::sorted::{SortedMap, SortedSet};

use serde_json::{Map, Value, json};

use super::graph::{Graph, GraphRest, NodeId, NodeShape, WireNode};
use super::judge::valid;
use super::mentioned::Mentioned;
use super::scalars::{count, limit, scalar};

/// Maximum depth of samples before a shape is given up.
const MAX_DEPTH: usize = 24;

/// Returns the smallest values of a shape, one per choice that it leaves; empty for a shape that no small value has.
pub(crate) fn samples(graph: &Graph, id: NodeId) -> Vec<Value> {
    at_depth(graph, id, 0)
}

/// Returns the first of them.
pub(crate) fn minimal(graph: &Graph, id: NodeId) -> Option<Value> {
    minimal_at(graph, id, 0)
}

fn minimal_at(graph: &Graph, id: NodeId, depth: usize) -> Option<Value> {
    match &graph.node(id).shape {
        // The shapes that come first are the ones to try; no need for the rest.
        NodeShape::Union(variants) if depth <= MAX_DEPTH => variants
            .iter()
            .find_map(|variant| minimal_at(graph, *variant, depth + 1)),
        _ => at_depth(graph, id, depth).into_iter().next(),
    }
}

fn at_depth(graph: &Graph, id: NodeId, depth: usize) -> Vec<Value> {
    if depth > MAX_DEPTH {
        return Vec::new();
    }
    let node = graph.node(id);
    let mut plain = plain(graph, node, depth);
    if !node.limits.is_empty() {
        plain.retain(|value| valid(graph, id, value));
        if plain.is_empty() {
            plain = variations(graph, node, &Mentioned::of(&[(graph, node)]), depth);
            plain.retain(|value| valid(graph, id, value));
        }
    }
    plain
}

/// Maximum number of values of a shape with more than the least.
const MAX_VARIED: usize = 64;

/// Returns the smallest values of a shape, and then those with one thing more: another item, entry, optional member or value
/// within.
pub(super) fn varied(graph: &Graph, id: NodeId) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for value in varied_at(graph, id, MAX_VARIED, 0) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// At most twice `room` of them: what stands within shares the room, so that neither size nor depth multiplies.
fn varied_at(graph: &Graph, id: NodeId, room: usize, depth: usize) -> Vec<Value> {
    let mut all = at_depth(graph, id, depth);
    all.truncate(room);
    if room < 2 || depth > MAX_DEPTH {
        return all;
    }
    let node = graph.node(id);
    let within =
        |id: NodeId, others: usize| varied_at(graph, id, (room / others).max(1), depth + 1);
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
            let places: Vec<(&str, NodeId)> = each.into_iter().chain(named).take(room).collect();
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
    more.retain(|value| node.limits.is_empty() || valid(graph, id, value));
    all.extend(more);
    all.truncate(2 * room);
    all
}

/// One of each kind of JSON.
pub(super) fn anything() -> Vec<Value> {
    let all = json!(["x", {}, [], 1, 1.5, true, null]);
    all.as_array().cloned().unwrap_or_default()
}

/// Returns the smallest values of a shape, without regard to its limits.
fn plain(graph: &Graph, node: &WireNode, depth: usize) -> Vec<Value> {
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
                _ if least > 64.0 => None,
                Some(items) => minimal_at(graph, *items, depth + 1),
                None => Some(json!("x")),
            };
            let list = item.map(|item| Value::Array(vec![item; count(least, 64)]));
            list.into_iter().collect()
        }
        NodeShape::Object { members, .. } => {
            let required =
                members
                    .iter()
                    .filter(|(_, member)| member.required)
                    .map(|(name, member)| {
                        Some((name.clone(), minimal_at(graph, member.node, depth + 1)?))
                    });
            let object = required.collect::<Option<Map<_, _>>>();
            object.map(Value::Object).into_iter().collect()
        }
        NodeShape::Union(variants) => variants
            .iter()
            .flat_map(|variant| at_depth(graph, *variant, depth + 1).into_iter().take(4))
            .take(64)
            .collect(),
    }
}

/// Maximum number of values that are tried for the limits of a schema.
const MAX_TRIED: usize = 600;

/// Values of a shape that limits may admit or refuse: members that are named, counts, items, what they mention.
pub(super) fn variations(
    graph: &Graph,
    node: &WireNode,
    mentioned: &Mentioned,
    depth: usize,
) -> Vec<Value> {
    if depth > MAX_DEPTH {
        return Vec::new();
    }
    let own = plain(graph, node, depth);
    let mut all = own.clone();
    all.extend(mentioned.values.iter().cloned());
    all.extend(anything());
    match &node.shape {
        NodeShape::Array(_) => all.extend(lists(graph, node, mentioned, depth)),
        NodeShape::Object { .. } | NodeShape::Union(_) => {
            all.extend(objects(graph, node, &own, mentioned, depth));
        }
        NodeShape::Any => {
            all.extend(lists(graph, node, mentioned, depth));
            all.extend(objects(graph, node, &[json!({})], mentioned, depth));
        }
        _ => {}
    }
    all.truncate(MAX_TRIED);
    all
}

/// Lists of what stands there, and of what is mentioned.
fn lists(graph: &Graph, node: &WireNode, mentioned: &Mentioned, depth: usize) -> Vec<Value> {
    let listed: Vec<Value> = (0..)
        .map_while(|at| node.applied.get(&format!("prefixItems/{at}")))
        .map_while(|item| minimal_at(graph, *item, depth + 1))
        .collect();
    let mut items = match node.shape {
        NodeShape::Array(Some(items)) => at_depth(graph, items, depth + 1),
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
            all.push(Value::Array(vec![item.clone(); *count]));
        }
        // As many as there have to be, all of them different.
        let different = (0..*count).map(|at| items.get(at).cloned().unwrap_or_else(|| json!(at)));
        all.push(Value::Array(different.collect()));
    }
    all
}

/// Objects with and without the members that are named, and as many as are counted.
fn objects(
    graph: &Graph,
    node: &WireNode,
    bases: &[Value],
    mentioned: &Mentioned,
    depth: usize,
) -> Vec<Value> {
    let none = SortedMap::new();
    let (members, rest) = node.shape.object().unwrap_or((&none, GraphRest::Open));
    let entries = rest
        .each()
        .map_or_else(Vec::new, |each| at_depth(graph, each, depth + 1));
    let mut mentioned_names: SortedSet<&str> = mentioned.names.iter().map(String::as_str).collect();
    mentioned_names.extend(members.keys().map(String::as_str).take(32));
    mentioned_names.extend(["x-stranger", "", "A B"]);
    let mut values = vec![json!("x"), json!({}), json!(1)];
    values.splice(0..0, entries.iter().take(6).cloned());
    values.extend(mentioned.values.iter().take(12).cloned());
    values.extend(anything());
    let value_of = |name: &str| -> Vec<Value> {
        match members.get(name) {
            Some(member) => {
                let mut own = at_depth(graph, member.node, depth + 1);
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
            let mut counted = base.clone();
            // Names that are known first: an object may be closed.
            let known = members.iter().filter_map(|(name, member)| {
                Some((name.clone(), minimal_at(graph, member.node, depth + 1)?))
            });
            let entry = entries.first().cloned().unwrap_or_else(|| json!("x"));
            let strangers = (0..*count).map(|at| (format!("x-{at}"), entry.clone()));
            for (name, value) in known.chain(strangers) {
                if counted.len() < *count {
                    counted.entry(name).or_insert(value);
                }
            }
            all.push(Value::Object(counted));
        }
    }
    all
}
