//! Equality of the nodes of two graphs: shapes compared through references and cycles.
//!
//! By splitting classes until the nodes of each agree in all their parts. Names and places play no part, so a definition
//! that was renamed, inlined or extracted stays in its class.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};

use serde_json::Value;

use super::graph::{Graph, GraphRest, NodeId, NodeShape};
use mcp_revisions_schema::schema::JsonType;
use mcp_revisions_schema::schema::applied::is_applied;

/// Returns the classes of the nodes of two graphs, by the index of each node.
pub(crate) fn classes(old: &Graph, new: &Graph) -> [Vec<usize>; 2] {
    let mut table: HashMap<OwnShape<'_>, usize> = HashMap::new();
    let mut class = Vec::new();
    let mut parts = Vec::new();
    for (graph, offset) in [(old, 0), (new, old.len())] {
        for id in 0..graph.len() {
            let next = table.len();
            let (own, of) = taken_apart(graph, id, offset);
            class.push(*table.entry(own).or_insert(next));
            parts.push(of);
        }
    }
    let mut class = settle(class, &parts, table.len());
    let new = class.split_off(old.len());
    [class, new]
}

/// Splits classes, which begin as what each node says by itself, until nothing splits any more: what a node is made of is
/// looked at again only where one of its parts has got another class.
fn settle(mut class: Vec<usize>, parts: &[Parts], count: usize) -> Vec<usize> {
    let mut wholes: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    for (id, parts) in parts.iter().enumerate() {
        for part in &parts.nodes {
            wholes[*part].push(id);
        }
    }
    let mut members = vec![0; count];
    class.iter().for_each(|class| members[*class] += 1);
    // The parts of all members of a class, but for those that are to be looked at.
    let mut made_of: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut open: Vec<usize> = (0..parts.len()).collect();
    while !open.is_empty() {
        let mut groups: SortedMap<usize, SortedMap<Vec<usize>, Vec<usize>>> = SortedMap::new();
        for id in &open {
            let group = groups.entry(class[*id]).or_default();
            group.entry(parts[*id].key(&class)).or_default().push(*id);
        }
        open.clear();
        for (old, by_key) in groups {
            let looked_at: usize = by_key.values().map(Vec::len).sum();
            let known = made_of.remove(&old).filter(|_| members[old] > looked_at);
            let stays = known.unwrap_or_else(|| {
                let largest = by_key.iter().max_by_key(|(_, ids)| ids.len());
                largest.map(|(key, _)| key.clone()).unwrap_or_default()
            });
            for (key, ids) in by_key.into_iter().filter(|(key, _)| *key != stays) {
                let next = members.len();
                members[old] -= ids.len();
                members.push(ids.len());
                made_of.insert(next, key);
                for id in ids {
                    class[id] = next;
                    open.extend(&wholes[id]);
                }
            }
            made_of.insert(old, stays);
        }
        open.sort_unstable();
        open.dedup();
    }
    class
}

/// The nodes that a node is made of, numbered through both graphs.
struct Parts {
    nodes: Vec<usize>,
    /// Number of parts, from the first on, that may stand in any order.
    unordered: usize,
}

impl Parts {
    fn key(&self, class: &[usize]) -> Vec<usize> {
        let (choices, others) = self.nodes.split_at(self.unordered.min(self.nodes.len()));
        let mut key: Vec<usize> = choices.iter().map(|part| class[*part]).collect();
        key.sort_unstable();
        key.dedup();
        key.extend(others.iter().map(|part| class[*part]));
        key
    }
}

/// A node without its parts.
#[derive(PartialEq, Eq, Hash)]
struct OwnShape<'g> {
    shape: Discriminant<NodeShape>,
    members: Vec<(&'g str, bool)>,
    rest: Option<Discriminant<GraphRest>>,
    values: Vec<String>,
    kinds: Option<&'g SortedSet<JsonType>>,
    limits: Vec<(&'g str, &'g Value)>,
    applied: Vec<&'g str>,
    untyped: bool,
    deprecated: bool,
}

/// Returns the shape of a node without its parts, and the parts.
fn taken_apart(graph: &Graph, id: NodeId, offset: usize) -> (OwnShape<'_>, Parts) {
    let node = graph.node(id);
    let limits = node.limits.iter().filter(|(name, _)| !is_applied(name));
    let mut own = OwnShape {
        shape: discriminant(&node.shape),
        members: Vec::new(),
        rest: None,
        values: Vec::new(),
        kinds: None,
        limits: limits.map(|(name, limit)| (&**name, limit)).collect(),
        applied: node.applied.iter().map(|(place, _)| &**place).collect(),
        untyped: node.untyped,
        deprecated: node.deprecated,
    };
    let mut nodes: Vec<NodeId> = Vec::new();
    let mut unordered = 0;
    match &node.shape {
        NodeShape::Object { members, rest } => {
            let named = members.iter();
            own.members = named.map(|(name, of)| (&**name, of.required)).collect();
            own.rest = Some(discriminant(rest));
            nodes.extend(members.iter().map(|(_, member)| member.node));
            nodes.extend(rest.each());
        }
        NodeShape::Array(items) => nodes.extend(items),
        NodeShape::Union(variants) => {
            nodes.extend(variants);
            unordered = nodes.len();
        }
        NodeShape::Choice(values) => {
            own.values = values.iter().map(Value::to_string).collect();
            own.values.sort_unstable();
        }
        NodeShape::Scalar(kinds) => own.kinds = Some(kinds),
        NodeShape::Alias(_) | NodeShape::Any => {}
    }
    nodes.extend(node.applied.iter().map(|(_, part)| *part));
    for part in &mut nodes {
        *part = graph.resolve(*part) + offset;
    }
    (own, Parts { nodes, unordered })
}
