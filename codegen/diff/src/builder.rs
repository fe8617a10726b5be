//! Makes the graph of a schema: what each keyword says of shapes, in one spelling.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::collections::HashMap;

use serde_json::Value;

use super::graph::{Graph, GraphMember, GraphRest, NodeId, NodeShape, WireNode};
use mcp_revisions_schema::Error;
use mcp_revisions_schema::draft::flatten::flatten;
use mcp_revisions_schema::schema::{
    Additional, Constraints, JsonType, Schema, SchemaNode, applied, subschema,
};

/// Maximum depth of inline schemas.
const MAX_DEPTH: usize = 128;

impl Graph {
    /// Returns the graph of a schema.
    pub(crate) fn of(schema: &Schema) -> Result<Self, Error> {
        let mut builder = GraphBuilder {
            schema,
            graph: Self::default(),
            elsewhere: HashMap::new(),
            refined: Vec::new(),
            depth: 0,
        };
        for name in schema.definitions.keys() {
            let id = builder.push(NodeShape::Any, &SchemaNode::default());
            builder.graph.definitions.insert(name.clone(), id);
        }
        for (name, node) in &schema.definitions {
            builder.definition(name, node)?;
        }
        let GraphBuilder {
            mut graph, refined, ..
        } = builder;
        graph.settle_aliases(schema)?;
        graph.refine(&refined);
        (0..graph.len()).for_each(|id| graph.split_scalar(id));
        (0..graph.len()).for_each(|id| graph.spare_one_of(id));
        (0..graph.len()).for_each(|id| graph.exclude_kinds(id));
        (0..graph.len()).for_each(|id| graph.flatten_union(id));
        graph.simplify();
        Ok(graph)
    }

    /// A reference with hints or limits beside it is what it refers to, and these.
    fn refine(&mut self, refined: &[NodeId]) {
        for id in refined {
            let Some(target) = self.nodes[*id].applied.get("$ref").copied() else {
                continue;
            };
            let target = self.node(target);
            let own = &self.nodes[*id];
            let told_twice = (target.limits.keys()).any(|name| own.limits.contains_key(name));
            if told_twice || !matches!(own.shape, NodeShape::Any) {
                continue;
            }
            let copy = own.clone();
            let mut refined = WireNode {
                pointer: copy.pointer,
                definition: copy.definition,
                deprecated: copy.deprecated || target.deprecated,
                ..target.clone()
            };
            let is_own = |name: &String| name != "$ref";
            (refined.limits).extend(copy.limits.into_iter().filter(|(name, _)| is_own(name)));
            (refined.applied).extend(copy.applied.into_iter().filter(|(name, _)| is_own(name)));
            self.nodes[*id] = refined;
        }
    }

    /// Lets each reference lead straight to what is not one.
    fn settle_aliases(&mut self, schema: &Schema) -> Result<(), Error> {
        let mut settled = vec![false; self.nodes.len()];
        for (name, start) in self.definitions.clone() {
            let mut way = Vec::new();
            let mut end = start;
            while let (NodeShape::Alias(next), false) = (&self.nodes[end].shape, settled[end]) {
                if way.len() > self.nodes.len() {
                    return Err(Error::schema(
                        &schema.file,
                        &format!("/$defs/{name}"),
                        "a definition that says something",
                        "references that go round in a circle",
                        "mend it with an erratum",
                    ));
                }
                way.push(end);
                end = *next;
            }
            if let NodeShape::Alias(known) = self.nodes[end].shape {
                end = known;
            }
            for id in way {
                self.nodes[id].shape = NodeShape::Alias(end);
                settled[id] = true;
            }
        }
        Ok(())
    }
}

struct GraphBuilder<'s> {
    schema: &'s Schema,
    graph: Graph,
    /// Places that are referred to and that are not definitions.
    elsewhere: HashMap<String, NodeId>,
    /// References with more beside them.
    refined: Vec<NodeId>,
    /// Number of schemas around the one that is read.
    depth: usize,
}

impl GraphBuilder<'_> {
    fn push(&mut self, shape: NodeShape, node: &SchemaNode) -> NodeId {
        let mut limits = node.constraints.values.clone();
        limits.extend(node.unsaid.clone());
        applied::settle(&mut limits, &node.types);
        self.graph.push_raw(WireNode {
            shape,
            limits,
            deprecated: node.deprecated,
            pointer: node.pointer.clone(),
            ..WireNode::default()
        })
    }

    fn definition(&mut self, name: &str, node: &SchemaNode) -> Result<(), Error> {
        let Some(id) = self.graph.definitions.get(name).copied() else {
            return Ok(());
        };
        let inner = self.node(node)?;
        // The node just made becomes the definition itself, unless it is a reference to another one.
        let mut made = self.graph.nodes[inner].clone();
        if node.reference.is_some() && !says_more(node) {
            made = WireNode {
                shape: NodeShape::Alias(inner),
                pointer: node.pointer.clone(),
                ..WireNode::default()
            };
        }
        if self.refined.contains(&inner) {
            self.refined.push(id);
        }
        made.definition = Some(name.to_owned());
        self.graph.nodes[id] = made;
        Ok(())
    }

    fn node(&mut self, node: &SchemaNode) -> Result<NodeId, Error> {
        if self.depth > MAX_DEPTH {
            return Err(Error::schema(
                &self.schema.file,
                &node.pointer,
                format!("inline schemas that are at most {MAX_DEPTH} deep"),
                "deeper ones",
                "give the inner ones definitions of their own",
            ));
        }
        self.depth += 1;
        let made = self.referred(node);
        self.depth -= 1;
        made
    }

    /// Reads a schema, or the one that it refers to.
    fn referred(&mut self, node: &SchemaNode) -> Result<NodeId, Error> {
        if let Some(target) = &node.reference {
            // `Schema::parse` has refused references to nothing.
            let known = self.graph.definitions.get(target).copied();
            let target = known.unwrap_or_else(|| self.graph.push_raw(WireNode::default()));
            if !says_more(node) {
                return Ok(target);
            }
            let beside = SchemaNode {
                reference: None,
                ..node.clone()
            };
            let id = self.node(&beside)?;
            self.apply(id, "$ref", node.reference.clone().into(), target);
            self.refined.push(id);
            return Ok(id);
        }
        let id = self.shaped(node)?;
        // An earlier node says nothing new: it is a definition, or was joined from one.
        if self.graph.nodes[id].pointer == node.pointer {
            self.limits(id)?;
        }
        Ok(id)
    }

    fn shaped(&mut self, node: &SchemaNode) -> Result<NodeId, Error> {
        if !node.all_of.is_empty() {
            let mut whole = match flatten(self.schema, node) {
                Ok(whole) => whole,
                Err(unsupported) if unsupported.endless => {
                    return Err(unsupported.refused(&self.schema.file));
                }
                // A schema that cannot be joined has to hold besides.
                Err(_) => {
                    let beside = SchemaNode {
                        all_of: Vec::new(),
                        ..node.clone()
                    };
                    let id = self.node(&beside)?;
                    for (index, part) in node.all_of.iter().enumerate() {
                        let made = self.node(part)?;
                        let raw = self.raw(&self.graph.nodes[id].pointer, "allOf");
                        self.apply(id, &format!("allOf/{index}"), raw, made);
                    }
                    return Ok(id);
                }
            };
            whole.pointer.clone_from(&node.pointer);
            return self.node(&whole);
        }
        if !node.any_of.is_empty() {
            let mut rest = SchemaNode {
                any_of: Vec::new(),
                ..node.clone()
            };
            if !rest.says_more_than(|rest| rest.unsupported = None) {
                let variants = (node.any_of.iter())
                    .map(|variant| self.node(variant))
                    .collect::<Result<_, _>>()?;
                return Ok(self.push(NodeShape::Union(variants), node));
            }
            let one = rest.unsaid.remove("oneOf");
            let id = self.node(&rest)?;
            let choices = SchemaNode {
                pointer: node.pointer.clone(),
                any_of: node.any_of.clone(),
                unsaid: one
                    .map(|one| ("oneOf".to_owned(), one))
                    .into_iter()
                    .collect(),
                ..SchemaNode::default()
            };
            let choices = self.node(&choices)?;
            self.apply(id, "anyOf", self.raw(&node.pointer, "anyOf"), choices);
            return Ok(id);
        }
        if let Some(values) = values(node) {
            let shape = match whole_kinds(&values) {
                Some(kinds) => NodeShape::Scalar(kinds),
                None => NodeShape::Choice(values),
            };
            return Ok(self.push(shape, node));
        }
        let of_lists = node.items.is_some();
        let of_objects = node.has_members();
        let structured = |ty: &JsonType| matches!(ty, JsonType::Object | JsonType::Array);
        let types = if of_lists && of_objects && node.types.is_empty() {
            JsonType::ALL
        } else {
            node.types.as_slice()
        };
        if types.len() > 1 && types.iter().any(structured) {
            let mut variants = Vec::new();
            for ty in types {
                let one = SchemaNode {
                    types: vec![*ty],
                    constraints: Constraints::default(),
                    unsaid: SortedMap::new(),
                    unsupported: None,
                    ..node.clone()
                };
                variants.push(self.node(&one)?);
            }
            return Ok(self.push(NodeShape::Union(variants), node));
        }
        match types {
            [JsonType::Array] => self.array(node),
            [JsonType::Object] => self.object(node),
            [] if of_objects || of_lists => {
                let id = if of_objects {
                    self.object(node)?
                } else {
                    self.array(node)?
                };
                self.graph.nodes[id].untyped = true;
                Ok(id)
            }
            [] => Ok(self.push(NodeShape::Any, node)),
            scalars => {
                let kinds = scalars.iter().copied().collect();
                Ok(self.push(NodeShape::Scalar(kinds), node))
            }
        }
    }

    /// Reads the schemas within the limits of a node.
    fn limits(&mut self, id: NodeId) -> Result<(), Error> {
        let WireNode {
            limits, pointer, ..
        } = &self.graph.nodes[id];
        let parts = applied::parts(limits, pointer);
        for text in applied::patterns(limits) {
            self.graph.patterns.read(&text);
        }
        for (place, value, pointer) in parts {
            if self.graph.nodes[id].applied.contains_key(&place) {
                continue;
            }
            let node = match applied::target(&place, &value) {
                Some(target) => self.elsewhere(&target)?,
                None => self.subschema(&value, pointer)?,
            };
            self.graph.nodes[id].applied.insert(place, node);
        }
        Ok(())
    }

    /// Reads a schema that stands within a keyword.
    fn subschema(&mut self, value: &Value, at: String) -> Result<NodeId, Error> {
        let node = subschema(&self.schema.root, &self.schema.file, value, at)?;
        self.node(&node)
    }

    /// Returns the schema at a place that has no definition of its own.
    fn elsewhere(&mut self, target: &str) -> Result<NodeId, Error> {
        if let Some(known) = self.elsewhere.get(target) {
            return Ok(*known);
        }
        let id = self.graph.push_raw(WireNode::default());
        self.elsewhere.insert(target.to_owned(), id);
        if let Some(value) = self.schema.root.pointer(target) {
            let made = self.subschema(value, target.to_owned())?;
            self.apply(id, "$ref", Value::from(target), made);
            self.graph.nodes[id].pointer = target.to_owned();
            self.refined.push(id);
        }
        Ok(id)
    }

    fn apply(&mut self, id: NodeId, place: &str, raw: Value, to: NodeId) {
        let node = &mut self.graph.nodes[id];
        let keyword = place.split('/').next().unwrap_or(place);
        node.limits.entry(keyword.to_owned()).or_insert(raw);
        node.applied.insert(place.to_owned(), to);
    }

    /// Returns the value of a keyword as the file has it.
    fn raw(&self, pointer: &str, keyword: &str) -> Value {
        let at = |keyword: &str| self.schema.root.pointer(pointer)?.get(keyword).cloned();
        let other = if keyword == "anyOf" { "oneOf" } else { keyword };
        at(keyword).or_else(|| at(other)).unwrap_or_default()
    }

    fn array(&mut self, node: &SchemaNode) -> Result<NodeId, Error> {
        let says_something = |items: &&SchemaNode| {
            !items.is_any() || !items.constraints.is_empty() || !items.unsaid.is_empty()
        };
        let items = node
            .items
            .as_deref()
            .filter(says_something)
            .map(|items| self.node(items))
            .transpose()?;
        Ok(self.push(NodeShape::Array(items), node))
    }

    fn object(&mut self, node: &SchemaNode) -> Result<NodeId, Error> {
        let mut members = SortedMap::new();
        for (name, property) in &node.properties {
            let member = GraphMember {
                node: self.node(property)?,
                required: node.required.contains(name),
            };
            members.insert(name.clone(), member);
        }
        for name in &node.required {
            members.entry(name.clone()).or_insert_with(|| GraphMember {
                node: self.graph.push_raw(WireNode {
                    pointer: node.pointer.clone(),
                    ..WireNode::default()
                }),
                required: true,
            });
        }
        let rest = match &node.additional {
            Additional::Any => GraphRest::Open,
            Additional::Forbidden => GraphRest::Closed,
            // `additionalProperties: {type: object, properties: {}}` and the like stay as they are.
            Additional::Schema(each) => GraphRest::Each(self.node(each)?),
        };
        let id = self.push(NodeShape::Object { members, rest }, node);
        let says = |keyword: &str| {
            let raw = self.schema.root.pointer(&node.pointer);
            raw.is_some_and(|raw| raw.get(keyword).is_some())
        };
        if says("additionalProperties") {
            self.graph.nodes[id].free = matches!(rest, GraphRest::Open);
            // No member is left for it.
            let limits = &mut self.graph.nodes[id].limits;
            limits.remove("unevaluatedProperties");
        }
        Ok(id)
    }
}

/// Returns whether a reference has anything beside it.
fn says_more(node: &SchemaNode) -> bool {
    let more = node.says_more_than(|rest| (rest.reference, rest.unsupported) = (None, None));
    more || node.deprecated || !node.constraints.is_empty() || !node.unsaid.is_empty()
}

/// Returns the kinds whose values these are, each with all of its own: `true` and `false` are the boolean.
fn whole_kinds(values: &[Value]) -> Option<SortedSet<JsonType>> {
    let has = |value: Value| values.contains(&value);
    let boolean = has(Value::Bool(true)) && has(Value::Bool(false));
    let null = has(Value::Null);
    let is_whole = |value: &Value| value.is_null() || value.is_boolean() && boolean;
    let kinds = [(boolean, JsonType::Boolean), (null, JsonType::Null)]
        .into_iter()
        .filter(|(all, _)| *all);
    (!values.is_empty() && values.iter().all(is_whole))
        .then(|| kinds.map(|(_, kind)| kind).collect())
}

/// Returns the values of `const` and `enum` that all keywords of a node admit, as far as these bind them.
fn values(node: &SchemaNode) -> Option<Vec<Value>> {
    let constant = node.constant.as_ref();
    let mut values = (node.choices.as_deref())
        .or(constant.map(std::slice::from_ref))?
        .to_vec();
    values.retain(|value| {
        constant.is_none_or(|constant| constant == value)
            && (node.types.is_empty() || node.types.iter().any(|ty| ty.admits(value)))
    });
    Some(values)
}
