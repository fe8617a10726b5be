//! A schema as a graph of shapes: what a value may be, without what its parts are called, and in one spelling for what
//! schemas spell in several ways: unions in unions, and "any JSON" by its kinds.
//!
//! The comparison reads the schema here and not the model, because the model keeps some values as
//! opaque text on purpose (`Tool.outputSchema`), and what changes inside them is on the wire all the same.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use serde_json::Value;

use super::patterns::Patterns;
use mcp_revisions_schema::schema::JsonType;
use mcp_revisions_schema::schema::applied::scalars;

/// Index of a node in its [`Graph`].
pub(crate) type NodeId = usize;

/// All shapes of one schema.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(super) nodes: Vec<WireNode>,
    /// Nodes of the definitions, by name.
    pub(crate) definitions: SortedMap<String, NodeId>,
    /// The patterns that stand in the schema.
    pub(super) patterns: Patterns,
}

/// One shape and where it stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct WireNode {
    /// The values that it admits.
    pub shape: NodeShape,
    /// Limits that change what is valid, such as `minimum`, hints, such as `format`, and keywords that are not
    /// understood, as they stand.
    pub limits: SortedMap<String, Value>,
    /// The schemas within those limits that are made of schemas, by keyword and place in it: `not`, `prefixItems/0`.
    pub(crate) applied: SortedMap<String, NodeId>,
    /// Set if the shape binds only values of its own kind: no keyword requires that kind.
    pub(crate) untyped: bool,
    /// Set if the object itself says that unnamed members may be anything.
    pub(crate) free: bool,
    /// Set if the schema marks it as deprecated.
    pub(crate) deprecated: bool,
    /// JSON pointer into the canonical schema.
    pub pointer: String,
    /// The name, if it is a definition.
    pub(crate) definition: Option<String>,
}

/// The values that a node admits.
#[derive(Debug, Clone, Default)]
pub(crate) enum NodeShape {
    /// Another node; never seen through [`Graph::node`].
    Alias(NodeId),
    /// Any JSON.
    #[default]
    Any,
    /// One of these scalar kinds.
    Scalar(SortedSet<JsonType>),
    /// One of these values.
    Choice(Vec<Value>),
    /// An object.
    Object {
        /// Its named members: the value and whether it must be there.
        members: SortedMap<String, GraphMember>,
        /// The values of unnamed members.
        rest: GraphRest,
    },
    /// A list; of anything where no node is given.
    Array(Option<NodeId>),
    /// One of several shapes.
    Union(Vec<NodeId>),
}

/// A named member.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphMember {
    pub node: NodeId,
    pub(crate) required: bool,
}

/// The values of members without a name in the schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum GraphRest {
    Open,
    Closed,
    Each(NodeId),
}

impl GraphRest {
    /// Returns the schema of members that are not named.
    pub(crate) fn each(self) -> Option<NodeId> {
        match self {
            Self::Each(each) => Some(each),
            Self::Open | Self::Closed => None,
        }
    }
}

impl NodeShape {
    /// Returns the named members of an object, and what may stand beside them.
    pub(crate) fn object(&self) -> Option<(&SortedMap<String, GraphMember>, GraphRest)> {
        match self {
            Self::Object { members, rest } => Some((members, *rest)),
            _ => None,
        }
    }
}

impl Graph {
    /// Returns the node behind any aliases.
    pub(crate) fn resolve(&self, mut id: NodeId) -> NodeId {
        // Building refuses alias cycles, so this ends.
        while let NodeShape::Alias(target) = self.nodes[id].shape {
            id = target;
        }
        id
    }

    /// Returns a node, aliases followed.
    pub(crate) fn node(&self, id: NodeId) -> &WireNode {
        &self.nodes[self.resolve(id)]
    }

    /// Returns the name under which a node is known, before any alias is followed.
    pub(crate) fn name(&self, id: NodeId) -> Option<&str> {
        let direct = self.nodes[id].definition.as_deref();
        direct.or_else(|| self.node(id).definition.as_deref())
    }

    /// Returns a named member of an object.
    pub(crate) fn member(&self, id: NodeId, name: &str) -> Option<GraphMember> {
        let (members, _) = self.node(id).shape.object()?;
        members.get(name).copied()
    }

    /// Returns whether a node admits any JSON.
    pub(crate) fn is_any(&self, id: NodeId) -> bool {
        let node = self.node(id);
        matches!(node.shape, NodeShape::Any) && node.limits.is_empty()
    }

    /// Returns whether a node says of itself that it admits no value, as the schema `false` does.
    pub(crate) fn is_never(&self, id: NodeId) -> bool {
        let not = self.node(id).limits.get("not").and_then(Value::as_object);
        not.is_some_and(|not| not.is_empty())
    }

    /// Returns the only value that a node admits, if there is one.
    pub(crate) fn constant(&self, id: NodeId) -> Option<&Value> {
        match &self.node(id).shape {
            NodeShape::Choice(values) if values.len() == 1 => values.first(),
            _ => None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns a node made by hand: the union of the results that may answer one request.
    pub(crate) fn add_union(&mut self, variants: Vec<NodeId>) -> NodeId {
        let id = self.push_raw(WireNode {
            shape: NodeShape::Union(variants),
            ..WireNode::default()
        });
        self.flatten_union(id);
        id
    }

    pub(super) fn push_raw(&mut self, node: WireNode) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Makes a node that admits any JSON `Any`, however the schema spells it: by its kinds, and by itself inside them.
    pub(super) fn simplify(&mut self) {
        let mut any: Vec<bool> = (0..self.nodes.len())
            .map(|id| {
                let node = self.node(id);
                matches!(node.shape, NodeShape::Any | NodeShape::Union(_)) && node.limits.is_empty()
            })
            .collect();
        // Assume the most, and take back what does not hold until the rest holds.
        loop {
            let assumed = (0..any.len()).filter(|id| any[*id]);
            let wrong: Vec<NodeId> = assumed.filter(|id| !self.admits_any(*id, &any)).collect();
            if wrong.is_empty() {
                break;
            }
            wrong.into_iter().for_each(|id| any[id] = false);
        }
        for id in 0..any.len() {
            let within = match &self.nodes[id].shape {
                NodeShape::Array(items) => *items,
                NodeShape::Object { rest, .. } => rest.each(),
                _ => None,
            };
            let holds_any = within.is_some_and(|within| any[self.resolve(within)]);
            self.nodes[id].free |= holds_any;
            match &mut self.nodes[id].shape {
                shape @ NodeShape::Union(_) if any[id] => *shape = NodeShape::Any,
                NodeShape::Array(items) if holds_any => *items = None,
                NodeShape::Object { rest, .. } if holds_any => *rest = GraphRest::Open,
                _ => {}
            }
        }
    }

    /// Returns whether a node admits any JSON, if those do that are assumed to.
    fn admits_any(&self, id: NodeId, any: &[bool]) -> bool {
        let is_any = |node: &NodeId| any[self.resolve(*node)];
        let NodeShape::Union(variants) = &self.node(id).shape else {
            return matches!(self.node(id).shape, NodeShape::Any);
        };
        let (mut object, mut array) = (false, false);
        let mut scalars: SortedSet<JsonType> = SortedSet::new();
        for variant in variants {
            let node = self.node(*variant);
            if !node.limits.is_empty() {
                continue;
            }
            match &node.shape {
                NodeShape::Any => return true,
                NodeShape::Array(items) => array |= items.as_ref().is_none_or(is_any),
                NodeShape::Object { members, rest } if members.is_empty() => {
                    let is_open = matches!(rest, GraphRest::Open);
                    object |= is_open || rest.each().as_ref().is_some_and(is_any);
                }
                NodeShape::Scalar(kinds) => scalars.extend(kinds.iter().copied()),
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

    /// Limits of some kinds of scalars stand with these kinds, as they do in a union that is written out.
    pub(super) fn split_scalar(&mut self, id: NodeId) {
        let node = &self.nodes[id];
        let NodeShape::Scalar(kinds) = &node.shape else {
            return;
        };
        let mut groups: SortedMap<Vec<JsonType>, SortedMap<String, Value>> = SortedMap::new();
        let mut free = kinds.clone();
        for (name, bound) in &node.limits {
            let bound_kinds = scalars(name).iter().copied();
            let bound_kinds: Vec<JsonType> =
                bound_kinds.filter(|kind| kinds.contains(kind)).collect();
            free.retain(|kind| !bound_kinds.contains(kind));
            if !bound_kinds.is_empty() {
                let limits = groups.entry(bound_kinds).or_default();
                limits.insert(name.clone(), bound.clone());
            }
        }
        if groups.len() + usize::from(!free.is_empty()) < 2 {
            return;
        }
        let pointer = node.pointer.clone();
        let free = Some((free.iter().copied().collect(), SortedMap::new()))
            .filter(|(kinds, _): &(Vec<JsonType>, _)| !kinds.is_empty());
        let mut variants = Vec::new();
        for (kinds, limits) in groups.into_iter().chain(free) {
            self.nodes[id]
                .limits
                .retain(|name, _| !limits.contains_key(name));
            variants.push(self.push_raw(WireNode {
                shape: NodeShape::Scalar(kinds.into_iter().collect()),
                limits,
                pointer: pointer.clone(),
                ..WireNode::default()
            }));
        }
        self.nodes[id].shape = NodeShape::Union(variants);
    }

    /// One of several shapes is any of them, where no value has two of them.
    pub(super) fn spare_one_of(&mut self, id: NodeId) {
        let WireNode { shape, limits, .. } = &self.nodes[id];
        let NodeShape::Union(variants) = shape else {
            return;
        };
        if !limits.contains_key("oneOf") {
            return;
        }
        let mut all = SortedSet::new();
        let mut objects = Vec::new();
        let apart = variants.iter().all(|variant| {
            let node = self.node(*variant);
            if !node.untyped && matches!(node.shape, NodeShape::Object { .. }) {
                objects.push(*variant);
                return objects.len() > 1 || all.insert(JsonType::Object);
            }
            let kinds = self.kinds(*variant);
            kinds.is_some_and(|kinds| kinds.into_iter().all(|kind| all.insert(kind)))
        });
        if apart && (objects.len() < 2 || self.have_a_tag(&objects)) {
            self.nodes[id].limits.remove("oneOf");
        }
    }

    /// Reads keywords that only the kinds of values decide: schemas of `allOf` without a common kind admit nothing, and a
    /// `not` of another kind refuses nothing.
    pub(super) fn exclude_kinds(&mut self, id: NodeId) {
        let of_part = |keyword: &str| {
            let place = self.nodes[id].applied.get(keyword);
            place.and_then(|part| self.kinds(*part))
        };
        let own = self.kinds(id);
        let shares = |own: &SortedSet<JsonType>, other: &SortedSet<JsonType>| {
            own.iter().any(|kind| other.contains(kind))
        };
        let excluded = of_part("not").zip(own.as_ref());
        let is_idle = excluded.is_some_and(|(not, own)| !shares(own, &not));
        let mut parts: Vec<_> = (0..)
            .map_while(|at| {
                let place = format!("allOf/{at}");
                self.nodes[id].applied.get(&place)
            })
            .filter_map(|part| self.kinds(*part))
            .collect();
        let has_parts = !parts.is_empty();
        parts.extend(own);
        let common = parts.into_iter().reduce(|mut all, next| {
            all.retain(|kind| next.contains(kind));
            all
        });
        let is_never = has_parts && common.is_some_and(|common| common.is_empty());
        let node = &mut self.nodes[id];
        if is_idle {
            node.limits.remove("not");
            node.applied.remove("not");
        }
        if is_never {
            node.shape = NodeShape::Choice(Vec::new());
            node.limits = SortedMap::new();
            node.applied = SortedMap::new();
        }
    }

    /// Returns whether a member tells these objects apart: each admits values of it that no other does, and all but one require
    /// it.
    fn have_a_tag(&self, objects: &[NodeId]) -> bool {
        let first = objects.first().map(|first| &self.node(*first).shape);
        let mut names = first
            .and_then(NodeShape::object)
            .into_iter()
            .flat_map(|(members, _)| members.keys());
        names.any(|name| {
            let mut values = SortedSet::new();
            let mut lacking = 0;
            objects.iter().all(|object| {
                let Some(member) = self.member(*object, name) else {
                    return false;
                };
                lacking += usize::from(!member.required);
                let NodeShape::Choice(own) = &self.node(member.node).shape else {
                    return false;
                };
                // Numbers may be equal in several spellings.
                lacking < 2
                    && (own.iter())
                        .all(|value| value.is_string() && values.insert(value.to_string()))
            })
        })
    }

    /// Returns the kinds that the values of a shape are of, where each value is of one; integers are numbers.
    pub(super) fn kinds(&self, id: NodeId) -> Option<SortedSet<JsonType>> {
        let node = self.node(id);
        let of_value = |value: &Value| {
            let mut kinds = JsonType::KINDS.into_iter();
            kinds.find(|kind| *kind != JsonType::Integer && kind.admits(value))
        };
        let one = |kind| Some(SortedSet::from_iter([kind]));
        match &node.shape {
            _ if node.untyped => None,
            NodeShape::Scalar(kinds) => Some(
                (kinds.iter())
                    .map(|kind| match kind {
                        JsonType::Integer => JsonType::Number,
                        kind => *kind,
                    })
                    .collect(),
            ),
            NodeShape::Choice(values) => values.iter().map(of_value).collect(),
            NodeShape::Object { .. } => one(JsonType::Object),
            NodeShape::Array(_) => one(JsonType::Array),
            NodeShape::Any | NodeShape::Alias(_) | NodeShape::Union(_) => None,
        }
    }

    /// A union inside a union is one union, and scalars side by side are one scalar of several kinds.
    pub(super) fn flatten_union(&mut self, id: NodeId) {
        let WireNode { shape, limits, .. } = &self.nodes[id];
        // One of them alone: what is the same in two of them is in neither.
        if !matches!(shape, NodeShape::Union(_)) || limits.contains_key("oneOf") {
            return;
        }
        let mut variants = Vec::new();
        let mut scalars = SortedSet::new();
        let mut first_scalar = None;
        let mut seen = SortedSet::from_iter([id]);
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            let node = self.node(next);
            match &node.shape {
                // The limits of a union within go with it.
                NodeShape::Union(inner) if next == id || node.limits.is_empty() => {
                    for variant in inner.iter().rev() {
                        let resolved = self.resolve(*variant);
                        let nested = matches!(self.nodes[resolved].shape, NodeShape::Union(_));
                        if !nested || seen.insert(resolved) {
                            open.push(*variant);
                        }
                    }
                }
                NodeShape::Scalar(kinds) if node.limits.is_empty() => {
                    first_scalar.get_or_insert((variants.len(), next));
                    scalars.extend(kinds.iter().copied());
                }
                _ => variants.push(next),
            }
        }
        if let Some((at, scalar)) = first_scalar {
            let merged = match &self.node(scalar).shape {
                NodeShape::Scalar(kinds) if *kinds == scalars => scalar,
                _ => {
                    let pointer = self.nodes[id].pointer.clone();
                    self.push_raw(WireNode {
                        shape: NodeShape::Scalar(scalars),
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
            [only] if bare => NodeShape::Alias(*only),
            // The rest beside scalars of several kinds stands beside one scalar.
            [only] if is_bare_scalar(self.node(*only)) => self.node(*only).shape.clone(),
            _ => NodeShape::Union(variants),
        };
    }
}

fn is_bare_scalar(node: &WireNode) -> bool {
    matches!(node.shape, NodeShape::Scalar(_)) && node.limits.is_empty() && !node.deprecated
}
