//! Which nodes of two graphs say the same: equality of shapes, through references and cycles.
//!
//! Bottom-up where shapes end, and by splitting classes until they agree in all their parts where
//! shapes contain themselves. Names and places play no part, so a definition
//! that was renamed, inlined or extracted stays in its class.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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
        let mut class = settle(&own, &parts);
        let new = class.split_off(old.len());
        Self { old: class, new }
    }
}

/// Gives every node its class.
fn settle(own: &[u32], parts: &[Parts]) -> Vec<u32> {
    let mut class = own.to_vec();
    let (bottom_up, rest) = order(parts);
    let mut table: HashMap<Vec<u32>, u32> = HashMap::with_capacity(own.len());
    // What leads to no cycle is settled at once, parts first.
    for id in bottom_up {
        let next = number(table.len());
        class[id] = *table.entry(parts[id].key(own[id], &class)).or_insert(next);
    }
    split(&mut class, own, parts, &rest, number(table.len()));
    class
}

/// Splits the classes of the rest until nothing splits any more: what a node is made of is looked at again only where
/// one of its parts has got another class. The classes up to `first` are given.
fn split(class: &mut [u32], own: &[u32], parts: &[Parts], rest: &[usize], first: u32) {
    let mut wholes: HashMap<usize, Vec<usize>> = HashMap::new();
    for id in rest {
        for part in &parts[*id].nodes {
            wholes.entry(*part).or_default().push(*id);
        }
    }
    let mut begun: HashMap<u32, u32> = HashMap::new();
    let mut next = first;
    let mut members: HashMap<u32, usize> = HashMap::new();
    for id in rest {
        class[*id] = *begun.entry(own[*id]).or_insert_with(|| {
            next += 1;
            next - 1
        });
        *members.entry(class[*id]).or_default() += 1;
    }
    // What all members of a class are made of, but for those that are to be looked at.
    let mut made_of: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut open: BTreeSet<usize> = rest.iter().copied().collect();
    while !open.is_empty() {
        let mut groups: BTreeMap<u32, BTreeMap<Vec<u32>, Vec<usize>>> = BTreeMap::new();
        for id in &open {
            let key = parts[*id].key(own[*id], class);
            let group = groups.entry(class[*id]).or_default();
            group.entry(key).or_default().push(*id);
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
                    open.extend(wholes.get(&id).into_iter().flatten());
                }
                next += 1;
            }
            made_of.insert(old, stays);
        }
    }
}

/// The nodes that lead to no cycle, parts before wholes, and all others.
fn order(parts: &[Parts]) -> (Vec<usize>, Vec<usize>) {
    let mut wholes: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    let mut waiting: Vec<usize> = Vec::with_capacity(parts.len());
    for (id, parts) in parts.iter().enumerate() {
        waiting.push(parts.nodes.len());
        for part in &parts.nodes {
            wholes[*part].push(id);
        }
    }
    let mut ready: Vec<usize> = (0..parts.len()).filter(|id| waiting[*id] == 0).collect();
    let mut at = 0;
    while let Some(id) = ready.get(at).copied() {
        at += 1;
        for whole in &wholes[id] {
            waiting[*whole] -= 1;
            if waiting[*whole] == 0 {
                ready.push(*whole);
            }
        }
    }
    let rest = (0..parts.len()).filter(|id| waiting[*id] > 0).collect();
    (ready, rest)
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
    fn key(&self, own: u32, class: &[u32]) -> Vec<u32> {
        let (choices, others) = self.nodes.split_at(self.unordered.min(self.nodes.len()));
        let mut key: Vec<u32> = choices.iter().map(|part| class[*part]).collect();
        key.sort_unstable();
        key.dedup();
        key.extend(others.iter().map(|part| class[*part]));
        key.push(own);
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
