//! Definitions that no message reaches: their changes have no wire path, and the required members that go are a note.

use super::compare::Comparer;
use super::facts;
use super::graph::{Graph, NodeId, NodeShape};
use super::methods::Pairs;
use super::row::DiffRow;
use super::side::ComparedSide;
use crate::words::joined;
use mcp_revisions_schema::sorted::SortedSet;

/// Maximum number of definitions in the note.
const MAX_NAMED: usize = 5;

/// Returns the note on definitions of both sides that no message of either reaches and that lost a required member;
/// `None` if there is none, or a row tells of the member where a message has it.
pub(super) fn note(
    sides: [&ComparedSide; 2],
    pairs: &Pairs<'_>,
    comparer: &Comparer<'_>,
    rows: &[DiffRow],
) -> Option<String> {
    let is_told = |member: &&String| rows.iter().any(|row| row.subject.as_ref() == Some(*member));
    let reached = sides.map(|side| reached(side, pairs));
    let mut found = Vec::new();
    for (name, old) in &sides[0].graph.definitions {
        let Some(new) = sides[1].graph.definitions.get(name) else {
            continue;
        };
        let is_reached =
            reached[0][sides[0].graph.resolve(*old)] || reached[1][sides[1].graph.resolve(*new)];
        if is_reached || comparer.same(*old, *new) {
            continue;
        }
        let members = sides[0].graph.node(*old).shape.object();
        let gone: Vec<&String> = members
            .into_iter()
            .flat_map(|(members, _)| members)
            .filter(|(member, value)| {
                let now = sides[1].graph.member(*new, member);
                value.required && now.is_none_or(|now| !now.required)
            })
            .map(|(member, _)| member)
            .filter(|member| !is_told(member))
            .collect();
        if !gone.is_empty() {
            let members = joined(gone.iter().map(|member| format!("`{member}`")), ", ");
            found.push(format!("`{name}` ({members})"));
        }
    }
    if found.is_empty() {
        return None;
    }
    let more = match found.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    found.truncate(MAX_NAMED);
    Some(format!(
        "required members went from definitions that no message reaches, and no change shows it: {}{more}",
        joined(found, ", ")
    ))
}

/// Returns the nodes of a side that its messages, its envelope and its errors lead to.
fn reached(side: &ComparedSide, pairs: &Pairs<'_>) -> Vec<bool> {
    let graph = &side.graph;
    let messages = side.messages.iter();
    let messages =
        messages.flat_map(|message| [Some(message.node), message.result, message.response]);
    let errors = facts::carried(side)
        .into_iter()
        .map(|error| Some(error.node));
    let envelope = graph.definitions.get("JSONRPCMessage").copied();
    let results = [pairs.old, pairs.new]
        .into_iter()
        .flat_map(|side| &side.feature)
        .flat_map(|feature| &feature.results)
        .map(|(_, _, result)| graph.definitions.get(result).copied());
    let roots = messages.chain(errors).chain([envelope]).chain(results);
    let mut open: Vec<NodeId> = roots.flatten().collect();
    let mut reached = vec![false; graph.len()];
    while let Some(id) = open.pop() {
        let id = graph.resolve(id);
        if !std::mem::replace(&mut reached[id], true) {
            open.extend(parts(graph, id));
        }
    }
    reached
}

/// Returns the nodes within a node.
fn parts(graph: &Graph, id: NodeId) -> SortedSet<NodeId> {
    let node = graph.node(id);
    let mut parts: SortedSet<NodeId> = node.applied.values().copied().collect();
    match &node.shape {
        NodeShape::Array(items) => parts.extend(*items),
        NodeShape::Object { members, rest } => {
            parts.extend(members.values().map(|member| member.node));
            parts.extend(rest.each());
        }
        NodeShape::Union(variants) => parts.extend(variants.iter().copied()),
        NodeShape::Any | NodeShape::Alias(_) | NodeShape::Scalar(_) | NodeShape::Choice(_) => {}
    }
    parts
}
