//! Which nodes of two graphs say the same: equality of shapes, through references and cycles.
//!
//! By splitting classes until the nodes of each agree in all their parts. Names and places play no part, so a definition
//! that was renamed, inlined or extracted stays in its class.

use crate::sorted::SortedMap;
use std::collections::HashMap;

use super::graph::{Graph, NodeId, Rest, Shape};
use crate::schema::applied::is_applied;

/// The classes of two graphs.
#[derive(Debug)]
pub(crate) struct Classes {
    pub(crate) old: Vec<u32>,
    pub(crate) new: Vec<u32>,
}

impl Classes {
    pub(crate) fn of(old: &Graph, new: &Graph) -> Self {
        let nodes: Vec<(&Graph, NodeId, usize)> = (0..old.len())
            .map(|id| (old, id, 0))
            .chain((0..new.len()).map(|id| (new, id, old.len())))
            .collect();
        let mut table: HashMap<String, u32> = HashMap::new();
        let mut own: Vec<u32> = Vec::with_capacity(nodes.len());
        for (graph, id, _) in &nodes {
            let next = number(table.len());
            own.push(*table.entry(own_facts(graph, *id)).or_insert(next));
        }
        let parts: Vec<Parts> = nodes
            .iter()
            .map(|(graph, id, offset)| Parts::of(graph, *id, *offset))
            .collect();
        let mut class = settle(own, &parts);
        let new = class.split_off(old.len());
        Self { old: class, new }
    }
}

/// Splits classes, which begin as what each node says by itself, until nothing splits any more: what a node is made of is
/// looked at again only where one of its parts has got another class.
fn settle(mut class: Vec<u32>, parts: &[Parts]) -> Vec<u32> {
    let mut wholes: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    for (id, parts) in parts.iter().enumerate() {
        for part in &parts.nodes {
            wholes[*part].push(id);
        }
    }
    let mut members: HashMap<u32, usize> = HashMap::new();
    for class in &class {
        *members.entry(*class).or_default() += 1;
    }
    let mut next = number(members.len());
    // What all members of a class are made of, but for those that are to be looked at.
    let mut made_of: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut open: Vec<usize> = (0..parts.len()).collect();
    while !open.is_empty() {
        let mut groups: SortedMap<u32, SortedMap<Vec<u32>, Vec<usize>>> = SortedMap::new();
        for id in &open {
            let group = groups.entry(class[*id]).or_default();
            group.entry(parts[*id].key(&class)).or_default().push(*id);
        }
        open.clear();
        for (old, by_key) in groups {
            let looked_at: usize = by_key.values().map(Vec::len).sum();
            let stays = match made_of.get(&old) {
                Some(known) if members.get(&old).is_some_and(|all| *all > looked_at) => {
                    known.clone()
                }
                _ => {
                    let largest = by_key.iter().max_by_key(|(_, ids)| ids.len());
                    largest.map(|(key, _)| key.clone()).unwrap_or_default()
                }
            };
            for (key, ids) in by_key.into_iter().filter(|(key, _)| *key != stays) {
                members.entry(old).and_modify(|all| *all -= ids.len());
                members.insert(next, ids.len());
                made_of.insert(next, key);
                for id in ids {
                    class[id] = next;
                    open.extend(&wholes[id]);
                }
                next += 1;
            }
            made_of.insert(old, stays);
        }
        open.sort_unstable();
        open.dedup();
    }
    class
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The nodes that a node is made of, numbered through both graphs.
struct Parts {
    nodes: Vec<usize>,
    /// How many of them, from the first on, may stand in any order.
    unordered: usize,
}

impl Parts {
    fn key(&self, class: &[u32]) -> Vec<u32> {
        let (choices, others) = self.nodes.split_at(self.unordered.min(self.nodes.len()));
        let mut key: Vec<u32> = choices.iter().map(|part| class[*part]).collect();
        key.sort_unstable();
        key.dedup();
        key.extend(others.iter().map(|part| class[*part]));
        key
    }

    fn of(graph: &Graph, id: NodeId, offset: usize) -> Self {
        let node = graph.node(id);
        let at = |part: &NodeId| graph.resolve(*part) + offset;
        let (mut nodes, unordered) = match &node.shape {
            Shape::Object { members, rest } => {
                let mut nodes: Vec<usize> =
                    members.values().map(|member| at(&member.node)).collect();
                if let Rest::Each(each) = rest {
                    nodes.push(at(each));
                }
                (nodes, 0)
            }
            Shape::Array(Some(items)) => (vec![at(items)], 0),
            Shape::Union(variants) => (variants.iter().map(at).collect(), variants.len()),
            _ => (Vec::new(), 0),
        };
        nodes.extend(node.applied.values().map(at));
        Self { nodes, unordered }
    }
}

/// What a node says without its parts.
fn own_facts(graph: &Graph, id: NodeId) -> String {
    let node = graph.node(id);
    let shape = match &node.shape {
        Shape::Alias(_) => "alias".to_owned(),
        Shape::Any => "any".to_owned(),
        Shape::Scalar(kinds) => format!("{kinds:?}"),
        Shape::Choice(values) => {
            let mut values: Vec<String> = values.iter().map(ToString::to_string).collect();
            values.sort_unstable();
            format!("choice {values:?}")
        }
        Shape::Object { members, rest } => {
            let members: Vec<(&String, bool)> = members
                .iter()
                .map(|(name, member)| (name, member.required))
                .collect();
            let rest = match rest {
                Rest::Open => "open",
                Rest::Closed => "closed",
                Rest::Each(_) => "each",
            };
            format!("object {members:?} {rest}")
        }
        Shape::Array(items) => format!("array {}", items.is_some()),
        Shape::Union(_) => "union".to_owned(),
    };
    let limits: Vec<(&String, &serde_json::Value)> = node
        .limits
        .iter()
        .filter(|(name, _)| !is_applied(name))
        .collect();
    let applied: Vec<&String> = node.applied.keys().collect();
    format!(
        "{shape} {limits:?} {applied:?} {} {}",
        node.untyped, node.deprecated
    )
}
