//! Witnesses: a small text that one side may send and the other refuses.
//!
//! A change breaks only if there is one, so the verdict "not valid" is never a guess: the text is
//! built along a wire path, from what both sides require, and then put to both schemas.

use crate::sorted::SortedSet;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::graph::{Graph, NodeId, Rest, Shape};
use super::judge::{refused, valid};
use super::kind::Kind;
use super::path::{Part, Segment};
use super::sample::{Mentioned, anything, beside_limits, minimal, samples, variations};
use super::site::{Detail, Finding};
use super::variants::choices;
use super::verdict::End;
use super::walk::Root;

/// How deep a text may be.
const MAX_DEPTH: usize = 24;

/// A text that is valid in one revision and not in the other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Witness {
    /// Whose sender may send it.
    pub valid_in: End,
    /// What the text is: a message, a result or an error.
    pub part: Part,
    /// The text.
    pub json: Value,
    /// Where the old schema says what may stand there, as JSON pointers; one of them has to hold, none admits nothing.
    pub old: Vec<String>,
    /// The same of the new schema.
    pub new: Vec<String>,
}

/// What is put at the place that differs.
enum Put {
    /// The member is left out.
    Nothing,
    /// This value.
    Value(Value),
    /// A member without a name in the schema, with this value.
    Stranger(Value),
}

/// Makes witnesses for two graphs.
pub(crate) struct Forge<'g> {
    pub(crate) old: &'g Graph,
    pub(crate) new: &'g Graph,
}

impl Forge<'_> {
    /// A text from the `sender` that shows the finding, along one of its routes.
    pub(crate) fn witness(
        &self,
        roots: &[Root],
        routes: &[(usize, Vec<Segment>)],
        finding: &Finding,
        sender: End,
    ) -> Option<Witness> {
        let puts = self.puts(finding, sender);
        if puts.is_empty() {
            return None;
        }
        // Every route shows the same; the shortest text shows it best.
        let found = routes.iter().filter_map(|(root, segments)| {
            let mut way = segments.clone();
            way.extend(finding.segments.iter().cloned());
            puts.iter()
                .find_map(|put| self.along(&roots[*root], &way, put, sender))
        });
        found.min_by_key(|witness| witness.json.to_string().len())
    }

    fn along(&self, root: &Root, way: &[Segment], put: &Put, sender: End) -> Option<Witness> {
        let [old, new] = root.whole;
        [true, false].into_iter().find_map(|joint| {
            let maker = Maker {
                forge: self,
                sender,
                joint,
            };
            let text = maker.build(Some(old), Some(new), way, put, 0)?;
            maker.tells(old, new, &text).then(|| Witness {
                valid_in: sender,
                part: root.part,
                json: text,
                old: pointers(self.old, old),
                new: pointers(self.new, new),
            })
        })
    }

    fn graph(&self, end: End) -> &Graph {
        end.of(self.old, self.new)
    }

    /// What the sender may put there and the receiver, seen at that place alone, refuses.
    fn puts(&self, finding: &Finding, sender: End) -> Vec<Put> {
        let receiver = sender.other();
        let (graph, node) = (self.graph(sender), sender.of(finding.old, finding.new));
        let (other, other_node) = (self.graph(receiver), receiver.of(finding.old, finding.new));
        let [was_required, is_required] = finding.required;
        let required = |end: End| end.of(was_required, is_required) == Some(true);
        match finding.kind {
            Kind::BecameRequired | Kind::BecameOptional => match required(receiver) {
                true => vec![Put::Nothing],
                false => Vec::new(),
            },
            Kind::MemberAddedRequired
            | Kind::MemberAddedOptional
            | Kind::MemberRemoved
            | Kind::UnionMemberAdded
            | Kind::UnionMemberRemoved => match node {
                Some(node) => samples(graph, node).into_iter().map(Put::Value).collect(),
                None if required(receiver) => vec![Put::Nothing],
                None => Vec::new(),
            },
            Kind::OpennessChanged => anything().into_iter().map(Put::Stranger).collect(),
            Kind::EnumValueAdded | Kind::EnumValueRemoved => match &finding.detail {
                Detail::Value(value) => vec![Put::Value(value.clone())],
                _ => Vec::new(),
            },
            _ => {
                // Items of a list that may hold anything have no node of their own.
                let mut values = node.map_or_else(anything, |node| samples(graph, node));
                if let (Some(node), Some(other_node)) = (node, other_node) {
                    let (own, theirs) = (graph.node(node), other.node(other_node));
                    values.extend(beside_limits(&own.limits));
                    values.extend(beside_limits(&theirs.limits));
                    let limited = !own.limits.is_empty() || !theirs.limits.is_empty();
                    let mentioned = Mentioned::of(&[(graph, own), (other, theirs)]);
                    if limited || own.untyped || theirs.untyped {
                        values.extend(variations(graph, own, &mentioned, 0));
                        values.extend(samples(other, other_node));
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

    /// A small value that both shapes admit, if there is one; else one that the first admits.
    fn joint(&self, old: NodeId, new: NodeId, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let both = |value: &Value| valid(self.old, old, value) && valid(self.new, new, value);
        if let (Shape::Object { members: olds, .. }, Shape::Object { members: news, .. }) =
            (&self.old.node(old).shape, &self.new.node(new).shape)
        {
            let mut object = Map::new();
            let names: SortedSet<&String> = olds.keys().chain(news.keys()).collect();
            for name in names {
                let (o, n) = (olds.get(name), news.get(name));
                if ![o, n].into_iter().flatten().any(|member| member.required) {
                    continue;
                }
                let value = self.either(o.map(|m| m.node), n.map(|m| m.node), depth + 1)?;
                object.insert(name.clone(), value);
            }
            let value = Value::Object(object);
            if both(&value) {
                return Some(value);
            }
        }
        let mut candidates = samples(self.old, old);
        candidates.extend(samples(self.new, new));
        let first = candidates.first().cloned();
        candidates.into_iter().find(both).or(first)
    }

    fn either(&self, old: Option<NodeId>, new: Option<NodeId>, depth: usize) -> Option<Value> {
        match (old, new) {
            (Some(old), Some(new)) => self.joint(old, new, depth),
            (Some(old), None) => minimal(self.old, old),
            (None, Some(new)) => minimal(self.new, new),
            (None, None) => Some(json!("x")),
        }
    }
}

/// Where a schema says what a node is; several places for a union that was made by hand.
fn pointers(graph: &Graph, id: NodeId) -> Vec<String> {
    let pointer = |id: NodeId| graph.node(id).pointer.clone();
    match pointer(id) {
        own if own.is_empty() => choices(graph, id).into_iter().map(pointer).collect(),
        own => vec![own],
    }
}

/// Builds one text.
struct Maker<'f, 'g> {
    forge: &'f Forge<'g>,
    sender: End,
    /// Whether both sides are to be content with what is not in question, or the sender alone.
    joint: bool,
}

impl Maker<'_, '_> {
    /// Whether the sender admits a value and the receiver does not.
    fn tells(&self, old: NodeId, new: NodeId, value: &Value) -> bool {
        let (sender, receiver) = (self.sender, self.sender.other());
        valid(self.forge.graph(sender), sender.of(old, new), value)
            && refused(self.forge.graph(receiver), receiver.of(old, new), value)
    }

    /// Whether the receiver has an open object there that does not know the member.
    fn passes_over(&self, old: Option<NodeId>, new: Option<NodeId>, member: &str) -> bool {
        let receiver = self.sender.other();
        let (graph, holder) = (self.forge.graph(receiver), receiver.of(old, new));
        holder.is_none_or(|holder| match &graph.node(holder).shape {
            Shape::Object {
                members,
                rest: Rest::Open,
            } => !members.contains_key(member),
            _ => false,
        })
    }

    fn base(&self, old: Option<NodeId>, new: Option<NodeId>, depth: usize) -> Option<Value> {
        match self.sender.of(old, new).filter(|_| !self.joint) {
            Some(own) => minimal(self.forge.graph(self.sender), own),
            None => self.forge.either(old, new, depth),
        }
    }

    fn build(
        &self,
        old: Option<NodeId>,
        new: Option<NodeId>,
        segments: &[Segment],
        put: &Put,
        depth: usize,
    ) -> Option<Value> {
        let Some((segment, rest)) = segments.split_first() else {
            return match put {
                Put::Value(value) => Some(value.clone()),
                Put::Stranger(value) => {
                    let mut base = self.base(old, new, depth)?;
                    base.as_object_mut()?
                        .insert("x-stranger".to_owned(), value.clone());
                    self.tells(old?, new?, &base).then_some(base)
                }
                Put::Nothing => None,
            };
        };
        if depth > 4 * MAX_DEPTH {
            return None;
        }
        let inner_old = old.and_then(|id| inner(self.forge.old, id, segment, |choice| choice.0));
        let inner_new = new.and_then(|id| inner(self.forge.new, id, segment, |choice| choice.1));
        match segment {
            Segment::Choice(_) => self.build(inner_old, inner_new, rest, put, depth),
            Segment::Item => {
                let item = self.build(inner_old, inner_new, rest, put, depth + 1)?;
                Some(json!([item]))
            }
            Segment::Member(name) if rest.is_empty() && matches!(put, Put::Nothing) => {
                let mut base = self.base(old, new, depth)?;
                base.as_object_mut()?.remove(name);
                Some(base)
            }
            Segment::Member(name) => {
                // What is inside comes first: most changes end here, and an object may have any number of members.
                if rest.is_empty() && self.passes_over(old, new, name) {
                    return None;
                }
                let value = self.build(inner_old, inner_new, rest, put, depth + 1)?;
                let mut base = self.base(old, new, depth)?;
                base.as_object_mut()?.insert(name.clone(), value);
                Some(base)
            }
            Segment::Each => {
                let mut base = self.base(old, new, depth)?;
                let value = self.build(inner_old, inner_new, rest, put, depth + 1)?;
                base.as_object_mut()?.insert("key".to_owned(), value);
                Some(base)
            }
        }
    }
}

fn inner(
    graph: &Graph,
    id: NodeId,
    segment: &Segment,
    side: impl Fn((Option<NodeId>, Option<NodeId>)) -> Option<NodeId>,
) -> Option<NodeId> {
    match (segment, &graph.node(id).shape) {
        (Segment::Choice(choice), _) => side((choice.old, choice.new)),
        (Segment::Item, Shape::Array(items)) => *items,
        (
            Segment::Each,
            Shape::Object {
                rest: Rest::Each(each),
                ..
            },
        ) => Some(*each),
        (Segment::Member(name), Shape::Object { members, rest }) => match (members.get(name), rest)
        {
            (Some(member), _) => Some(member.node),
            (None, Rest::Each(each)) => Some(*each),
            _ => None,
        },
        _ => None,
    }
}
