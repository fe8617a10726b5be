//! What differs at one member of two types: the findings that a diff tells, for whoever plans conversions.
//!
//! The model keeps some members as opaque text; here they are seen through to what the schemas say of them.

use std::collections::{BTreeSet, HashMap};

use super::compare::Comparer;
use super::graph::{Graph, Member, NodeId, Shape};
use super::path::Step;
use super::site::{Finding, Places};

/// Two schemas, compared member by member.
pub(crate) struct Members<'g> {
    graphs: [&'g Graph; 2],
    objects: [HashMap<&'g str, NodeId>; 2],
    comparer: Comparer<'g>,
}

/// A finding at a member or inside it.
#[derive(Debug)]
pub(crate) struct Difference {
    /// From the value of the member to what differs.
    pub(crate) inside: Vec<Step>,
    /// What differs.
    pub(crate) finding: Finding,
}

/// How far a member is looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// To where members have names: these are planned by themselves.
    Unnamed,
    /// To the end.
    All,
}

impl<'g> Members<'g> {
    pub(crate) fn of(old: &'g Graph, new: &'g Graph) -> Self {
        Self {
            graphs: [old, new],
            objects: [objects(old), objects(new)],
            comparer: Comparer::new(old, new),
        }
    }

    /// What differs at a member that both objects name; they are known by the JSON pointers of their schemas.
    pub(crate) fn differences(
        &mut self,
        owners: [&str; 2],
        wire: &str,
        depth: Depth,
    ) -> Vec<Difference> {
        let [old, new] = [0, 1].map(|side| self.member(side, owners[side], wire));
        let (Some(old), Some(new)) = (old, new) else {
            return Vec::new();
        };
        if self.comparer.same(old.node, new.node) {
            return Vec::new();
        }
        let root = (self.comparer).root(Places::default(), wire, [Some(old), Some(new)]);
        let mut found = Vec::new();
        let mut seen = BTreeSet::from([root]);
        // The first step is the member itself.
        let mut ahead = vec![(root, Vec::new(), 1)];
        while let Some((site, way, hidden)) = ahead.pop() {
            let site = &self.comparer.sites[site];
            let inside = |steps: &[Step]| -> Option<Vec<Step>> {
                let steps = steps.get(hidden..).unwrap_or_default();
                let named = steps.iter().any(|step| matches!(step, Step::Member(_)));
                (depth == Depth::All || !named).then(|| [&way, steps].concat())
            };
            for finding in &site.findings {
                found.extend(inside(&finding.steps).map(|inside| Difference {
                    inside,
                    finding: finding.clone(),
                }));
            }
            for (steps, child) in &site.edges {
                if let Some(inside) = inside(steps).filter(|_| seen.insert(*child)) {
                    ahead.push((*child, inside, 0));
                }
            }
        }
        found
    }

    fn member(&self, side: usize, owner: &str, wire: &str) -> Option<Member> {
        let object = *self.objects[side].get(owner)?;
        let Shape::Object { members, .. } = &self.graphs[side].node(object).shape else {
            return None;
        };
        members.get(wire).copied()
    }

    /// The graph of one of the two schemas.
    pub(crate) fn graphs(&self) -> [&'g Graph; 2] {
        self.graphs
    }
}

/// The objects of a graph, by the JSON pointers of their schemas.
fn objects(graph: &Graph) -> HashMap<&str, NodeId> {
    let mut objects = HashMap::new();
    for (id, node) in graph.nodes.iter().enumerate() {
        if matches!(node.shape, Shape::Object { .. }) {
            objects.entry(node.pointer.as_str()).or_insert(id);
        }
    }
    objects
}
