//! One spelling for what schemas spell in several ways: unions in unions, and "any JSON" by its kinds.

use crate::sorted::SortedSet;

use super::graph::{Graph, NodeId, Rest, Shape, WireNode};
use crate::schema::JsonType;

impl Graph {
    /// A union inside a union is one union, and scalars side by side are one scalar of several kinds.
    pub(super) fn flatten_unions(&mut self) {
        for id in 0..self.nodes.len() {
            if matches!(self.nodes[id].shape, Shape::Union(_)) {
                self.flatten_union(id);
            }
        }
    }

    /// What admits any JSON is `Any`, however the schema spells it: by its kinds, and by itself inside them.
    pub(super) fn simplify(&mut self) {
        let mut any: Vec<bool> = (0..self.nodes.len())
            .map(|id| {
                let node = self.node(id);
                matches!(node.shape, Shape::Any | Shape::Union(_)) && node.limits.is_empty()
            })
            .collect();
        // Assume the most, and take back what does not hold until the rest holds.
        let wrong = |any: &[bool]| -> Vec<NodeId> {
            let assumed = (0..any.len()).filter(|id| any[*id]);
            assumed.filter(|id| !self.admits_any(*id, any)).collect()
        };
        let mut open = wrong(&any);
        while !open.is_empty() {
            open.into_iter().for_each(|id| any[id] = false);
            open = wrong(&any);
        }
        for id in 0..any.len() {
            let within = match &self.nodes[id].shape {
                Shape::Array(items) => *items,
                Shape::Object { rest, .. } => rest.each(),
                _ => None,
            };
            let holds_any = within.is_some_and(|within| any[self.resolve(within)]);
            match &mut self.nodes[id].shape {
                shape @ Shape::Union(_) if any[id] => *shape = Shape::Any,
                Shape::Array(items) if holds_any => *items = None,
                Shape::Object { rest, .. } if holds_any => *rest = Rest::Open,
                _ => {}
            }
        }
    }

    /// Whether a node admits any JSON, if those do that are assumed to.
    fn admits_any(&self, id: NodeId, any: &[bool]) -> bool {
        let is_any = |node: &NodeId| any[self.resolve(*node)];
        let Shape::Union(variants) = &self.node(id).shape else {
            return matches!(self.node(id).shape, Shape::Any);
        };
        let (mut object, mut array) = (false, false);
        let mut scalars: SortedSet<JsonType> = SortedSet::new();
        for variant in variants {
            let node = self.node(*variant);
            if !node.limits.is_empty() {
                continue;
            }
            match &node.shape {
                Shape::Any => return true,
                Shape::Array(items) => array |= items.as_ref().is_none_or(is_any),
                Shape::Object { members, rest } if members.is_empty() => {
                    object |= match rest {
                        Rest::Open => true,
                        Rest::Closed => false,
                        Rest::Each(each) => is_any(each),
                    };
                }
                Shape::Scalar(kinds) => scalars.extend(kinds.iter().copied()),
                _ => {}
            }
        }
        let all = [
            JsonType::String,
            JsonType::Number,
            JsonType::Boolean,
            JsonType::Null,
        ];
        object && array && all.iter().all(|kind| scalars.contains(kind))
    }

    pub(super) fn flatten_union(&mut self, id: NodeId) {
        // One of them alone: what is the same in two of them is in neither.
        if self.nodes[id].limits.contains_key("oneOf") {
            return;
        }
        let mut variants = Vec::new();
        let mut scalars = SortedSet::new();
        let mut first_scalar = None;
        let mut seen = SortedSet::from([id]);
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            let node = self.node(next);
            match &node.shape {
                // The limits of a union within go with it.
                Shape::Union(inner) if next == id || node.limits.is_empty() => {
                    for variant in inner.iter().rev() {
                        let resolved = self.resolve(*variant);
                        let nested = matches!(self.nodes[resolved].shape, Shape::Union(_));
                        if !nested || seen.insert(resolved) {
                            open.push(*variant);
                        }
                    }
                }
                Shape::Scalar(kinds) if node.limits.is_empty() => {
                    first_scalar.get_or_insert((variants.len(), next));
                    scalars.extend(kinds.iter().copied());
                }
                _ => variants.push(next),
            }
        }
        if let Some((at, scalar)) = first_scalar {
            let merged = match &self.node(scalar).shape {
                Shape::Scalar(kinds) if *kinds == scalars => scalar,
                _ => {
                    let pointer = self.nodes[id].pointer.clone();
                    self.push_raw(WireNode {
                        shape: Shape::Scalar(scalars),
                        pointer,
                        ..WireNode::default()
                    })
                }
            };
            variants.insert(at, merged);
        }
        let bare = self.nodes[id].limits.is_empty();
        self.nodes[id].shape = match variants.as_slice() {
            // It keeps the name of the one: the only request of an extension is not called like the list of requests.
            [only] if bare => Shape::Alias(*only),
            _ => Shape::Union(variants),
        };
    }
}
