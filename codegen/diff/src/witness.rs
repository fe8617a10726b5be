//! Witnesses: a small text that one side may send and the other refuses.
//!
//! A change breaks only if there is one, so the verdict "not valid" is never a guess: the text is
//! built along a wire path, from what both sides require, and then put to both schemas.

use mcp_revisions_schema::sorted::SortedSet;

use serde_json::{Map, Value, json};

use super::graph::{Graph, GraphRest, NodeId, NodeShape};
use super::judge::{refused, valid};
use super::kind::ChangeKind;
use super::mentioned::Mentioned;
use super::path::PathSegment;
use super::row::Witness;
use super::sample::{MAX_STEPS, Sampler, anything};
use super::scalars::{beside_limit, between_bounds};
use super::site::{DifferenceDetail, SchemaDifference};
use super::steps::StepBudget;
use super::variants::choices;
use super::verdict::ComparedEnd;
use super::walk::{Root, WireWays};
use mcp_revisions_schema::schema::applied::is_hint;

/// Maximum number of ways to a difference that are tried.
const MAX_WAYS: usize = 6;

/// Maximum number of items of a list that have a schema each.
const MAX_PREFIX: usize = 64;

/// Maximum depth of a text.
const MAX_DEPTH: usize = 24;

/// The value put at the place that differs.
enum Put {
    /// The member is left out.
    Nothing,
    /// This value.
    Value(Value),
    /// A member without a name in the schema, with this value.
    Stranger(Value),
}

/// The nodes of the old and the new side at one place, as far as they have one there.
type WitnessPair = [Option<NodeId>; 2];

/// Makes witnesses of one sender for two graphs, of one finding.
#[derive(Clone, Copy)]
struct Forge<'g> {
    graphs: [&'g Graph; 2],
    sender: ComparedEnd,
    /// Set if both sides accept the rest of the text, not only the sender.
    joint: bool,
    steps: &'g StepBudget,
}

/// Returns a text from the sender that shows the finding, along one of the ways to it; a `joint` one shows nothing else where that
/// can be.
pub(super) fn witness(
    graphs: [&Graph; 2],
    sender: ComparedEnd,
    roots: &[Root],
    ways: &WireWays,
    finding: &SchemaDifference,
    joint: bool,
) -> Option<Witness> {
    let steps = StepBudget::new(MAX_STEPS);
    let forge = Forge {
        graphs,
        sender,
        joint,
        steps: &steps,
    };
    forge.witness(roots, ways, finding)
}

/// Returns whether the sender admits a value and the receiver is known to refuse it.
pub(super) fn tells(
    graphs: [&Graph; 2],
    nodes: [NodeId; 2],
    sender: ComparedEnd,
    value: &Value,
) -> bool {
    let receiver = sender.other();
    valid(sender.at(graphs), sender.at(nodes), value)
        && refused(receiver.at(graphs), receiver.at(nodes), value)
}

impl<'g> Forge<'g> {
    fn of(self, graph: &'g Graph) -> Sampler<'g> {
        Sampler::new(graph, self.steps)
    }

    fn witness(
        &self,
        roots: &[Root],
        ways: &WireWays,
        finding: &SchemaDifference,
    ) -> Option<Witness> {
        let puts = self.puts(finding);
        if puts.is_empty() {
            return None;
        }
        // Every way shows the same; the shortest text shows it best.
        let found = ways.iter().take(MAX_WAYS).filter_map(|(root, segments)| {
            let way = [segments.as_slice(), &finding.segments].concat();
            puts.iter()
                .find_map(|put| self.along(&roots[*root], &way, put))
        });
        found.min_by_key(|witness| witness.json.to_string().len())
    }

    fn along(&self, root: &Root, way: &[PathSegment], put: &Put) -> Option<Witness> {
        let kinds = [true, false]
            .into_iter()
            .filter(|joint| self.joint || !joint);
        kinds.into_iter().find_map(|joint| {
            let forge = Self { joint, ..*self };
            let json = forge.build(root.whole.map(Some), way, put, 0)?;
            let pointers = |end: ComparedEnd| pointers(end.at(self.graphs), end.at(root.whole));
            tells(self.graphs, root.whole, self.sender, &json).then(|| Witness {
                valid_in: self.sender,
                part: root.part,
                method: root.path.method.clone(),
                json,
                old: pointers(ComparedEnd::Old),
                new: pointers(ComparedEnd::New),
            })
        })
    }

    /// Returns values that the sender may put there, and that the receiver refuses at that place.
    fn puts(&self, finding: &SchemaDifference) -> Vec<Put> {
        let (sender, receiver) = (self.sender, self.sender.other());
        let (graph, node) = (sender.at(self.graphs), sender.at(finding.nodes));
        let (other, other_node) = (receiver.at(self.graphs), receiver.at(finding.nodes));
        let left_out = || match receiver.at(finding.required) {
            Some(true) => vec![Put::Nothing],
            _ => Vec::new(),
        };
        match (finding.kind, &finding.detail) {
            (ChangeKind::BecameRequired | ChangeKind::BecameOptional, _) => left_out(),
            (
                ChangeKind::MemberAddedRequired
                | ChangeKind::MemberAddedOptional
                | ChangeKind::MemberRemoved
                | ChangeKind::UnionMemberAdded
                | ChangeKind::UnionMemberRemoved,
                _,
            ) => match node {
                Some(node) => self
                    .of(graph)
                    .varied(node)
                    .into_iter()
                    .map(Put::Value)
                    .collect(),
                None => {
                    let mut puts = left_out();
                    if let (DifferenceDetail::Unnamed(GraphRest::Each(each)), Some(named)) =
                        (&finding.detail, other_node)
                    {
                        let mut entries = self.of(graph).varied(*each);
                        entries.retain(|value| refused(other, named, value));
                        puts.extend(entries.into_iter().map(Put::Value));
                    }
                    puts
                }
            },
            (ChangeKind::OpennessChanged, _) => {
                let object = node.and_then(|node| graph.node(node).shape.object());
                let strangers = match object {
                    Some((_, GraphRest::Each(each))) => self.of(graph).varied(each),
                    _ => anything(),
                };
                strangers.into_iter().map(Put::Stranger).collect()
            }
            (kind, DifferenceDetail::Value(value)) => {
                let has_it = match kind {
                    ChangeKind::EnumValueAdded => ComparedEnd::New,
                    _ => ComparedEnd::Old,
                };
                let put = Some(Put::Value(value.clone())).filter(|_| sender == has_it);
                put.into_iter().collect()
            }
            // A hint refuses nothing: what is refused there is refused for something else.
            (_, DifferenceDetail::Limit(name, ..)) if is_hint(name) => Vec::new(),
            _ => {
                // Items of a list that may hold anything have no node of their own.
                let mut values = node.map_or_else(anything, |node| self.of(graph).varied(node));
                if let (Some(node), Some(other_node)) = (node, other_node) {
                    let (own, theirs) = (graph.node(node), other.node(other_node));
                    let limits = own.limits.iter().chain(&theirs.limits);
                    values.extend(limits.flat_map(|(name, at)| beside_limit(name, at)));
                    values.extend(between_bounds([&own.limits, &theirs.limits]));
                    let limited = !own.limits.is_empty() || !theirs.limits.is_empty();
                    let mentioned = Mentioned::of(&[(graph, own), (other, theirs)]);
                    if limited || own.untyped || theirs.untyped {
                        values.extend(self.of(graph).variations(own, &mentioned, 0));
                        values.extend(self.of(other).samples(other_node));
                    }
                }
                values.retain(|value| {
                    node.is_none_or(|node| valid(graph, node, value))
                        && other_node.is_some_and(|node| refused(other, node, value))
                });
                values.into_iter().map(Put::Value).collect()
            }
        }
    }

    /// Returns a small value that both shapes admit, if there is one; else one that the first admits.
    fn common(&self, [old, new]: [NodeId; 2], depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.steps.take(1)?;
        let [old_graph, new_graph] = self.graphs;
        let both = |value: &Value| valid(old_graph, old, value) && valid(new_graph, new, value);
        let objects = [old_graph.node(old), new_graph.node(new)].map(|node| node.shape.object());
        if let [Some((olds, _)), Some((news, _))] = objects {
            let mut object = Map::new();
            let names: SortedSet<&String> = olds.keys().chain(news.keys()).collect();
            for name in names {
                let members = [olds.get(name), news.get(name)];
                if members.into_iter().flatten().any(|member| member.required) {
                    let nodes = members.map(|member| member.map(|member| member.node));
                    object.insert(name.clone(), self.either(nodes, depth + 1)?);
                }
            }
            let value = Value::Object(object);
            if both(&value) {
                return Some(value);
            }
        }
        let mut candidates = self.of(old_graph).samples(old);
        candidates.extend(self.of(new_graph).samples(new));
        let first = candidates.first().cloned();
        candidates.into_iter().find(both).or(first)
    }

    fn either(&self, nodes: WitnessPair, depth: usize) -> Option<Value> {
        let [old, new] = self.graphs;
        match nodes {
            [Some(old), Some(new)] => self.common([old, new], depth),
            [Some(id), None] => self.of(old).minimal(id),
            [None, Some(id)] => self.of(new).minimal(id),
            [None, None] => Some(json!("x")),
        }
    }

    /// Returns whether the receiver has an open object there that does not know the member.
    fn passes_over(&self, holders: WitnessPair, member: &str) -> bool {
        let receiver = self.sender.other();
        let graph = receiver.at(self.graphs);
        receiver.at(holders).is_none_or(|holder| {
            let object = graph.node(holder).shape.object();
            object.is_some_and(|(members, rest)| {
                matches!(rest, GraphRest::Open) && !members.contains_key(member)
            })
        })
    }

    /// Returns the value around what differs, to be written into by `put`.
    fn base(
        &self,
        nodes: WitnessPair,
        depth: usize,
        put: impl FnOnce(&mut Map<String, Value>),
    ) -> Option<Value> {
        let mut base = match self.sender.at(nodes).filter(|_| !self.joint) {
            Some(own) => self.of(self.sender.at(self.graphs)).minimal(own),
            None => self.either(nodes, depth),
        }?;
        put(base.as_object_mut()?);
        Some(base)
    }

    /// Returns the items of a list that have a schema each, on one of the two sides.
    fn prefix(&self, nodes: WitnessPair, depth: usize) -> Option<Vec<Value>> {
        let part = |end: ComparedEnd, at: usize| {
            let node = end.at(self.graphs).node(end.at(nodes)?);
            node.applied.get(&format!("prefixItems/{at}")).copied()
        };
        let parts = (0..MAX_PREFIX).map_while(|at| {
            let parts = [part(ComparedEnd::Old, at), part(ComparedEnd::New, at)];
            parts.iter().any(Option::is_some).then_some(parts)
        });
        parts.map(|parts| self.either(parts, depth)).collect()
    }

    fn build(
        &self,
        nodes: WitnessPair,
        way: &[PathSegment],
        put: &Put,
        depth: usize,
    ) -> Option<Value> {
        let Some((segment, rest)) = way.split_first() else {
            return match put {
                Put::Value(value) => Some(value.clone()),
                Put::Stranger(value) => {
                    let base = self.base(nodes, depth, |object| {
                        object.insert("x-stranger".to_owned(), value.clone());
                    })?;
                    let [old, new] = nodes;
                    tells(self.graphs, [old?, new?], self.sender, &base).then_some(base)
                }
                Put::Nothing => None,
            };
        };
        if depth > 4 * MAX_DEPTH {
            return None;
        }
        let inner = [ComparedEnd::Old, ComparedEnd::New].map(|end| {
            let (graph, id) = (end.at(self.graphs), end.at(nodes)?);
            match (segment, &graph.node(id).shape) {
                (PathSegment::Choice(choice), _) => end.at(choice.nodes),
                (PathSegment::Item, NodeShape::Array(items)) => *items,
                (PathSegment::Each, NodeShape::Object { rest, .. }) => rest.each(),
                (PathSegment::Member(name), NodeShape::Object { members, rest }) => {
                    let named = members.get(name).map(|member| member.node);
                    named.or(rest.each())
                }
                _ => None,
            }
        });
        let within = |depth| self.build(inner, rest, put, depth);
        match segment {
            PathSegment::Choice(_) => within(depth),
            PathSegment::Item => {
                let mut items = self.prefix(nodes, depth + 1)?;
                items.push(within(depth + 1)?);
                Some(Value::Array(items))
            }
            PathSegment::Member(name) if rest.is_empty() && matches!(put, Put::Nothing) => {
                self.base(nodes, depth, |object| drop(object.remove(name)))
            }
            // Inner parts come first: most changes end here, and an object may have any number of members.
            PathSegment::Member(name) if rest.is_empty() && self.passes_over(nodes, name) => None,
            PathSegment::Member(_) | PathSegment::Each => {
                let name = match segment {
                    PathSegment::Member(name) => name,
                    _ => "key",
                };
                let value = within(depth + 1)?;
                self.base(nodes, depth, |object| {
                    object.insert(name.to_owned(), value);
                })
            }
        }
    }
}

/// Returns the pointers to the schema of a node; several for a union that was made by hand.
fn pointers(graph: &Graph, id: NodeId) -> Vec<String> {
    let pointer = |id: NodeId| graph.node(id).pointer.clone();
    match pointer(id) {
        own if own.is_empty() => choices(graph, id).into_iter().map(pointer).collect(),
        own => vec![own],
    }
}
