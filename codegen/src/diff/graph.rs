//! A schema as a graph of shapes: what a value may be, without what its parts are called.
//!
//! The comparison reads the schema here and not the model, because the model keeps some values as
//! opaque text on purpose (`Tool.outputSchema`), and what changes inside them is on the wire all the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::Error;
use crate::draft::flatten::flatten;
use crate::schema::{Additional, JsonType, Node, Schema, schema_error};

/// Index of a node in its [`Graph`].
pub(crate) type NodeId = usize;

/// How deep inline schemas may be nested.
const MAX_DEPTH: usize = 128;

/// All shapes of one schema.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(super) nodes: Vec<WireNode>,
    /// Nodes of the definitions, by name.
    pub(crate) definitions: BTreeMap<String, NodeId>,
}

/// One shape and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct WireNode {
    /// What a value may be.
    pub(crate) shape: Shape,
    /// Limits that change what is valid, such as `minimum`, and hints, such as `format`.
    pub(crate) limits: BTreeMap<String, Value>,
    /// Whether the schema marks it as deprecated.
    pub(crate) deprecated: bool,
    /// JSON pointer into the canonical schema.
    pub(crate) pointer: String,
    /// The name, if it is a definition.
    pub(crate) definition: Option<String>,
}

/// What a value may be.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    /// Another node; never seen through [`Graph::node`].
    Alias(NodeId),
    /// Any JSON.
    Any,
    /// One of these scalar kinds.
    Scalar(BTreeSet<JsonType>),
    /// One of these values.
    Choice(Vec<Value>),
    /// An object.
    Object {
        /// Its named members: the value and whether it must be there.
        members: BTreeMap<String, Member>,
        /// What may stand beside them.
        rest: Rest,
    },
    /// A list; of anything where no node is given.
    Array(Option<NodeId>),
    /// One of several shapes.
    Union(Vec<NodeId>),
}

/// A named member.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub(crate) node: NodeId,
    pub(crate) required: bool,
}

/// What may stand beside named members.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rest {
    Open,
    Closed,
    Each(NodeId),
}

impl Graph {
    /// The graph of a schema in canonical form.
    pub(crate) fn build(schema: &Value, file: &str) -> Result<Self, Error> {
        let schema = Schema::parse(schema, file)?;
        let mut builder = Builder {
            schema: &schema,
            graph: Self::default(),
        };
        for name in schema.definitions.keys() {
            let id = builder.push(Shape::Any, &Node::default());
            builder.graph.definitions.insert(name.clone(), id);
        }
        for (name, node) in &schema.definitions {
            builder.definition(name, node)?;
        }
        let mut graph = builder.graph;
        graph.check_aliases(&schema)?;
        graph.flatten_unions();
        graph.simplify();
        Ok(graph)
    }

    /// The node behind any aliases.
    pub(crate) fn resolve(&self, mut id: NodeId) -> NodeId {
        // Building refuses alias cycles, so this ends.
        while let Shape::Alias(target) = self.nodes[id].shape {
            id = target;
        }
        id
    }

    /// A node, aliases followed.
    pub(crate) fn node(&self, id: NodeId) -> &WireNode {
        &self.nodes[self.resolve(id)]
    }

    /// The name under which a node is known, before any alias is followed.
    pub(crate) fn name(&self, id: NodeId) -> Option<&str> {
        let direct = self.nodes[id].definition.as_deref();
        direct.or_else(|| self.node(id).definition.as_deref())
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A node made by hand: the union of the results that may answer one request.
    pub(crate) fn add_union(&mut self, variants: Vec<NodeId>) -> NodeId {
        let id = self.push_raw(WireNode {
            shape: Shape::Union(variants),
            limits: BTreeMap::new(),
            deprecated: false,
            pointer: String::new(),
            definition: None,
        });
        self.flatten_union(id);
        id
    }

    pub(super) fn push_raw(&mut self, node: WireNode) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn check_aliases(&self, schema: &Schema) -> Result<(), Error> {
        for (name, start) in &self.definitions {
            let mut id = *start;
            let mut steps = 0;
            while let Shape::Alias(target) = self.nodes[id].shape {
                id = target;
                steps += 1;
                if steps > self.nodes.len() {
                    return Err(schema_error(
                        &schema.file,
                        &format!("/$defs/{name}"),
                        "a definition that says something",
                        "references that go round in a circle",
                        "mend it with an erratum",
                    ));
                }
            }
        }
        Ok(())
    }
}

struct Builder<'s> {
    schema: &'s Schema,
    graph: Graph,
}

impl Builder<'_> {
    fn push(&mut self, shape: Shape, node: &Node) -> NodeId {
        self.graph.push_raw(WireNode {
            shape,
            limits: node.constraints.values.clone(),
            deprecated: node.deprecated,
            pointer: node.pointer.clone(),
            definition: None,
        })
    }

    fn definition(&mut self, name: &str, node: &Node) -> Result<(), Error> {
        let id = self.graph.definitions[name];
        let inner = self.node(node, 0)?;
        // What was just made becomes the definition itself, unless it is a reference to another one.
        let mut made = self.graph.nodes[inner].clone();
        if node.reference.is_some() {
            made.shape = Shape::Alias(inner);
            made.pointer.clone_from(&node.pointer);
        }
        made.definition = Some(name.to_owned());
        self.graph.nodes[id] = made;
        Ok(())
    }

    fn node(&mut self, node: &Node, depth: usize) -> Result<NodeId, Error> {
        if depth > MAX_DEPTH {
            return Err(schema_error(
                &self.schema.file,
                &node.pointer,
                &format!("inline schemas that are at most {MAX_DEPTH} deep"),
                "deeper ones",
                "give the inner ones definitions of their own",
            ));
        }
        if let Some(target) = &node.reference {
            // `Schema::parse` has refused references to nothing.
            return Ok(self.graph.definitions[target]);
        }
        if !node.all_of.is_empty() {
            let mut whole = match flatten(self.schema, node) {
                Ok(whole) => whole,
                Err(unfit) if unfit.endless => return Err(unfit.refused(&self.schema.file)),
                // What cannot be joined is any JSON, as the model has it.
                Err(_) => return Ok(self.push(Shape::Any, node)),
            };
            whole.pointer.clone_from(&node.pointer);
            return self.node(&whole, depth + 1);
        }
        if !node.any_of.is_empty() {
            let variants = (node.any_of.iter())
                .map(|variant| self.node(variant, depth + 1))
                .collect::<Result<_, _>>()?;
            return Ok(self.push(Shape::Union(variants), node));
        }
        if let Some(value) = &node.constant {
            return Ok(self.push(Shape::Choice(vec![value.clone()]), node));
        }
        if let Some(values) = &node.choices {
            return Ok(self.push(Shape::Choice(values.clone()), node));
        }
        let structured = |ty: &&JsonType| matches!(ty, JsonType::Object | JsonType::Array);
        if node.types.len() > 1 && node.types.iter().any(|ty| structured(&ty)) {
            let mut variants = Vec::new();
            for ty in &node.types {
                let one = Node {
                    types: vec![*ty],
                    ..node.clone()
                };
                variants.push(self.node(&one, depth + 1)?);
            }
            return Ok(self.push(Shape::Union(variants), node));
        }
        match node.types.as_slice() {
            [JsonType::Array] => {
                let items = match &node.items {
                    Some(items) if !items.is_any() => Some(self.node(items, depth + 1)?),
                    _ => None,
                };
                Ok(self.push(Shape::Array(items), node))
            }
            [JsonType::Object] => self.object(node, depth),
            [] if !node.properties.is_empty() || !node.required.is_empty() => {
                self.object(node, depth)
            }
            [] => Ok(self.push(Shape::Any, node)),
            scalars => {
                let kinds = scalars.iter().copied().collect();
                Ok(self.push(Shape::Scalar(kinds), node))
            }
        }
    }

    fn object(&mut self, node: &Node, depth: usize) -> Result<NodeId, Error> {
        let mut members = BTreeMap::new();
        for (name, property) in &node.properties {
            let member = Member {
                node: self.node(property, depth + 1)?,
                required: node.required.contains(name),
            };
            members.insert(name.clone(), member);
        }
        for name in &node.required {
            if !members.contains_key(name) {
                let any = Node {
                    pointer: node.pointer.clone(),
                    ..Node::default()
                };
                let member = Member {
                    node: self.push(Shape::Any, &any),
                    required: true,
                };
                members.insert(name.clone(), member);
            }
        }
        let rest = match &node.additional {
            Additional::Any => Rest::Open,
            Additional::Forbidden => Rest::Closed,
            Additional::Schema(each) => {
                let each = self.node(each, depth + 1)?;
                // `additionalProperties: {type: object, properties: {}}` and the like stay as they are.
                Rest::Each(each)
            }
        };
        Ok(self.push(Shape::Object { members, rest }, node))
    }
}
