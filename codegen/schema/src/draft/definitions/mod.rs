//! From schema nodes to types: every definition becomes one, and so does every inline schema that needs a name.

mod hoist;

use crate::sorted::{SortedMap, SortedSet};

use serde_json::Value;

use super::flatten::flatten;
use super::names::{DraftNames, rust_name};
use super::open::unknown;
use crate::decision::{Decision, Scope};
use crate::model::{BuiltModel, Model, Shape, Ty, TypeDef};
use crate::naming::is_path;
use crate::rules::{HeldRules, ShapeAs};
use crate::schema::{Additional, JsonType, Schema, SchemaNode, Unsupported};
use crate::{Error, Markdown};
use hoist::Hoisted;

/// Maximum depth of generics within each other: readers, and the stack of a Rust parser, have an end.
const MAX_WRAPS: usize = 16;

/// Maximum depth of inline schemas.
const MAX_DEPTH: usize = 64;

/// Makes the types of a schema, still without methods; `prose` is what the schema says of itself, by JSON pointer.
pub(super) fn shaped(
    schema: Schema,
    scope: &Scope,
    rules: &HeldRules<'_>,
    prose: &SortedMap<String, Markdown>,
) -> Result<BuiltModel, Error> {
    let (names, mut decisions) = DraftNames::of(&schema, scope, rules);
    decisions.extend(unknown(&schema, scope));
    let mut builder = DraftBuilder {
        schema: &schema,
        scope,
        rules,
        upstream: prose,
        names,
        begun: SortedSet::new(),
        types: SortedMap::new(),
        prose: SortedMap::new(),
        settled: decisions,
        open: TentativeChanges::default(),
        errors: Vec::new(),
        ahead: 0,
    };
    for definition in schema.definitions.keys() {
        builder.definition(definition);
    }
    let DraftBuilder {
        types,
        prose,
        settled: decisions,
        errors,
        ..
    } = builder;
    Error::check(errors)?;
    Ok(BuiltModel {
        model: Model {
            types,
            methods: Vec::new(),
            schema,
        },
        prose,
        decisions,
    })
}

pub(super) struct DraftBuilder<'s> {
    pub(super) schema: &'s Schema,
    pub(super) scope: &'s Scope,
    pub(super) rules: &'s HeldRules<'s>,
    upstream: &'s SortedMap<String, Markdown>,
    names: DraftNames,
    /// Definitions that are done, or on their way.
    begun: SortedSet<String>,
    types: SortedMap<String, TypeDef>,
    prose: SortedMap<String, Markdown>,
    /// The decisions of definitions that are done.
    settled: Vec<Decision>,
    /// The changes for the definition that is under way.
    open: TentativeChanges,
    errors: Vec<Error>,
    /// Number of definitions that are under way because another one asked for them.
    ahead: usize,
}

/// The changes made for one definition, which can still be taken back.
#[derive(Default)]
struct TentativeChanges {
    decisions: Vec<Decision>,
    /// The inline schemas that were named, in order.
    hoisted: Vec<Hoisted>,
    depth: usize,
}

impl<'s> DraftBuilder<'s> {
    /// Makes the type of a definition, unless that is done or under way.
    fn definition(&mut self, definition: &str) {
        let schema = self.schema;
        let Some(node) = schema.definitions.get(definition) else {
            return;
        };
        let Some(name) = self.names.definition(definition).map(str::to_owned) else {
            return;
        };
        if !self.begun.insert(definition.to_owned()) {
            return;
        }
        self.keep_prose(node, definition.to_owned());
        let asked_by = std::mem::take(&mut self.open);
        let shape = match self.runtime(node, definition) {
            Ok(Some(shape)) => shape,
            Ok(None) => self.shape(node, definition).unwrap_or_else(|unsupported| {
                self.decide(unsupported.opaque(self.scope, definition));
                Shape::Alias(Ty::Json)
            }),
            Err(error) => {
                self.errors.push(error);
                Shape::Alias(Ty::Json)
            }
        };
        let done = std::mem::replace(&mut self.open, asked_by);
        self.settled.extend(done.decisions);
        let own = || definition.to_owned();
        self.put(node, name, (Some(own()), own()), own(), shape);
    }

    /// Adds a type that stands at a place, as a definition or inline.
    fn put(
        &mut self,
        node: &SchemaNode,
        name: String,
        (definition, place): (Option<String>, String),
        doc_key: String,
        shape: Shape,
    ) {
        let new = TypeDef {
            name: name.clone(),
            definition,
            places: vec![place],
            pointer: node.pointer.clone(),
            doc_key,
            area: String::new(),
            deprecated: node.deprecated,
            shape,
        };
        self.types.insert(name, new);
    }

    pub(super) fn decide(&mut self, decision: Decision) {
        self.open.decisions.push(decision);
    }

    /// Returns the hand-written type that stands for a definition, where a rule says so.
    ///
    /// Answers by a `[[shape]]` rule for the definition, if the schema says something else by now.
    fn runtime(&mut self, node: &SchemaNode, definition: &str) -> Result<Option<Shape>, Error> {
        let rules = self.rules;
        let Some(runtime) = rules.runtime(definition) else {
            return Ok(None);
        };
        if !is_path(&runtime.path) {
            let problem = format!("`{}` is not the path of a Rust type", runtime.path);
            return Err(rules.runtime_error(definition, &problem));
        }
        let sorted = |kinds: &[JsonType]| {
            let types: Option<SortedSet<Ty>> = kinds.iter().map(plain).collect();
            types.map(Vec::from_iter)
        };
        let said = sorted(&node.types).unwrap_or_default();
        let Some(stands_for) = sorted(&runtime.stands_for) else {
            let problem = "no hand-written type stands for `null`";
            return Err(rules.runtime_error(definition, problem));
        };
        if said != stands_for {
            let words = |types: &[Ty]| match types {
                [] => "something else".to_owned(),
                types => (types.iter().map(Ty::to_string).collect::<Vec<_>>()).join(" or "),
            };
            let ty = self.ruled(node, definition).unwrap_or_else(|| {
                let (kinds, path) = (words(&stands_for), &runtime.path);
                let expected = format!("{kinds}, for which names.toml has `{path}`");
                let unsupported = Unsupported::new(node, expected, words(&said));
                self.decide(unsupported.opaque(self.scope, definition));
                Ty::Json
            });
            return Ok(Some(Shape::Alias(ty)));
        }
        Ok(Some(Shape::Alias(Ty::Runtime(runtime.path.clone(), said))))
    }

    pub(super) fn keep_prose(&mut self, node: &SchemaNode, key: String) {
        if let Some(text) = self.upstream.get(&node.pointer) {
            self.prose.entry(key).or_insert_with(|| text.clone());
        }
    }

    /// Returns the type that a rule or a reference gives to a node, in spite of its other keywords.
    fn given(&self, node: &SchemaNode, place: &str) -> Result<Option<Ty>, Unsupported> {
        if let Some(ty) = self.ruled(node, place) {
            return Ok(Some(ty));
        }
        if let Some(unsupported) = &node.unsupported {
            return Err(Unsupported::clone(unsupported));
        }
        let Some(target) = &node.reference else {
            return Ok(None);
        };
        let name = self
            .names
            .definition(target)
            .map_or_else(|| rust_name(self.rules, target), str::to_owned);
        Ok(Some(Ty::Named(name)))
    }

    /// Returns the shape of the node at a place; `place` doubles as the key of its docs.
    fn shape(&mut self, node: &SchemaNode, place: &str) -> Result<Shape, Unsupported> {
        if let Some(ty) = self.given(node, place)? {
            return Ok(Shape::Alias(ty));
        }
        if !node.all_of.is_empty() {
            let node = flatten(self.schema, node)?;
            return self.shape(&node, place);
        }
        if !node.any_of.is_empty() && !is_nullable(node) {
            return Ok(self.union(node, place));
        }
        if let Some(choices) = self.choices(node, place)? {
            return Ok(choices);
        }
        if node.types.len() > 1 && !is_nullable(node) {
            return Ok(self.union_of(scalars(node)?, place));
        }
        if node.is_object() && has_members(node) {
            return self.object(node, place).map(Shape::Object);
        }
        let ty = self.ty(node, place);
        Ok(match ty {
            Ty::String | Ty::Boolean | Ty::Integer | Ty::Number => Shape::Newtype(ty),
            ty => Shape::Alias(ty),
        })
    }

    /// Returns the type of a value at a place; an inline schema that needs a name is hoisted, one that no type holds is opaque.
    pub(super) fn ty(&mut self, node: &SchemaNode, place: &str) -> Ty {
        self.open.depth += 1;
        let (expected, found) = ("inline schemas that are at most 64 deep", "deeper ones");
        let ty = if self.open.depth > MAX_DEPTH {
            Err(Unsupported::new(node, expected, found))
        } else {
            self.ty_inner(node, place)
        };
        self.open.depth -= 1;
        let expected = || format!("at most {MAX_WRAPS} lists, maps and `null`s around one value");
        let fits = ty.and_then(|ty| {
            if wraps(&ty) > MAX_WRAPS {
                Err(Unsupported::new(node, expected(), "more"))
            } else {
                Ok(ty)
            }
        });
        fits.unwrap_or_else(|unsupported| {
            self.decide(unsupported.opaque(self.scope, place));
            Ty::Json
        })
    }

    fn ty_inner(&mut self, node: &SchemaNode, place: &str) -> Result<Ty, Unsupported> {
        if let Some(ty) = self.given(node, place)? {
            return Ok(ty);
        }
        if is_nullable(node) {
            return Ok(Ty::Nullable(Box::new(self.ty(&without_null(node), place))));
        }
        if let Some(value) = &node.constant
            && !value.is_string()
        {
            let expected = "a constant that is a string, a number or a boolean";
            return constant(value)
                .ok_or_else(|| Unsupported::new(node, expected, value.to_string()));
        }
        // A scalar with limits that is left over needs no name.
        if !node.all_of.is_empty() {
            return Ok(self.ty(&flatten(self.schema, node)?, place));
        }
        let is_text = node.types == [JsonType::String];
        let is_named = || {
            let names = self.rules.inline_names(place);
            let mut known = names.iter().map(|name| self.known_strings(node, name));
            known.next().flatten().is_some()
        };
        let hoisted = !node.any_of.is_empty()
            || node.types.len() > 1
            || node.choices.is_some()
            || matches!(node.constant, Some(Value::String(_)))
            || (node.is_object() && has_members(node))
            // Any string needs no name of its own, unless some of them get names.
            || (is_text && is_named());
        if hoisted {
            let names: Vec<String> = self
                .rules
                .inline_names(place)
                .into_iter()
                .map(str::to_owned)
                .collect();
            return self.hoist(node, place, &names);
        }
        match node.types.as_slice() {
            [] if !node.is_object() => Ok(Ty::Json),
            [JsonType::Array] => match &node.items {
                None => Ok(Ty::JsonArray),
                Some(items) if items.is_any() => Ok(Ty::JsonArray),
                Some(items) => Ok(Ty::Array(Box::new(self.ty(items, &format!("{place}[]"))))),
            },
            [] | [JsonType::Object] => match &node.additional {
                Additional::Any => Ok(Ty::JsonObject),
                Additional::Schema(value) if value.is_any() => Ok(Ty::JsonObject),
                Additional::Schema(value) => {
                    Ok(Ty::Map(Box::new(self.ty(value, &format!("{place}{{}}")))))
                }
                // An object that may hold nothing is a type with members: `hoisted` says so.
                Additional::Forbidden => Ok(Ty::JsonObject),
            },
            types => types.first().and_then(plain).ok_or_else(|| {
                let expected = "a schema that says more than `null`";
                Unsupported::new(node, expected, "`type: null` alone")
            }),
        }
    }

    /// Returns the type as which a rule reads a node.
    fn ruled(&self, node: &SchemaNode, place: &str) -> Option<Ty> {
        // For a schema that is only a reference, the rule of the definition holds.
        if node.reference.is_some() && node.unsupported.is_none() {
            return None;
        }
        let is_bare = node.is_object() && !has_members(node);
        let shape = self.rules.shape(place, |shape| match shape {
            ShapeAs::Object | ShapeAs::Json => true,
            ShapeAs::Map => is_bare,
            ShapeAs::OpenEnum(_) => false,
        });
        Some(match shape? {
            // The rule says that it is kept as it is spelled, and the schema what it may be.
            ShapeAs::Object if is_other(node) => Ty::Json,
            ShapeAs::Object => Ty::JsonObject,
            ShapeAs::Json => Ty::Json,
            ShapeAs::Map => Ty::Map(Box::new(Ty::Json)),
            ShapeAs::OpenEnum(_) => return None,
        })
    }
}

/// Returns whether a node says of itself that its value need not be an object.
fn is_other(node: &SchemaNode) -> bool {
    let has_others = |kinds: &[JsonType]| kinds.iter().any(|kind| *kind != JsonType::Object);
    has_others(&node.types) || node.any_of.iter().any(is_other)
}

/// Returns the type of a value of one kind of JSON, with nothing else said of it; `null` has none.
fn plain(kind: &JsonType) -> Option<Ty> {
    match kind {
        JsonType::String => Some(Ty::String),
        JsonType::Boolean => Some(Ty::Boolean),
        JsonType::Integer => Some(Ty::Integer),
        JsonType::Number => Some(Ty::Number),
        JsonType::Object => Some(Ty::JsonObject),
        JsonType::Array => Some(Ty::JsonArray),
        JsonType::Null => None,
    }
}

/// Returns the types that a node lists, `null` not among them.
fn scalars(node: &SchemaNode) -> Result<Vec<Ty>, Unsupported> {
    let all: Option<Vec<Ty>> = node.types.iter().map(plain).collect();
    all.ok_or_else(|| {
        let expected = "a list of types, `null` beside one other at most";
        Unsupported::new(node, expected, format!("{:?}", node.types))
    })
}

/// Returns the number of lists, maps and `null`s around a value.
fn wraps(mut ty: &Ty) -> usize {
    let mut wraps = 0;
    while let Ty::Nullable(inner) | Ty::Array(inner) | Ty::Map(inner) = ty {
        wraps += 1;
        ty = inner;
    }
    wraps
}

/// Returns whether an object needs a type of its own.
fn has_members(node: &SchemaNode) -> bool {
    !node.properties.is_empty()
        || !node.required.is_empty()
        || node.additional == Additional::Forbidden
}

/// `null` beside something else.
fn is_nullable(node: &SchemaNode) -> bool {
    let admits = |node: &SchemaNode| node.types.contains(&JsonType::Null);
    let of_types = node.types.len() > 1 && admits(node);
    of_types || (node.any_of.iter().any(admits) && !node.any_of.iter().all(is_null))
}

pub(super) fn is_null(node: &SchemaNode) -> bool {
    node.types == [JsonType::Null]
}

/// Returns the type of a constant's value. A struct has no field for it: its reader checks the constant, its writer writes it.
pub(super) fn constant(value: &Value) -> Option<Ty> {
    match value {
        Value::String(_) => Some(Ty::String),
        Value::Bool(_) => Some(Ty::Boolean),
        Value::Number(number) if number.is_i64() => Some(Ty::Integer),
        // The generated code spells the constant as the schema does, and `-32603.0` is not an integer of Rust.
        Value::Number(_) => Some(Ty::Number),
        _ => None,
    }
}

/// Returns a nullable node without `null`.
fn without_null(node: &SchemaNode) -> SchemaNode {
    let mut inner = node.clone();
    inner.types.retain(|ty| *ty != JsonType::Null);
    inner.any_of.retain(|node| !is_null(node));
    for choice in &mut inner.any_of {
        choice.types.retain(|ty| *ty != JsonType::Null);
    }
    match inner.any_of.as_slice() {
        [only] => only.clone(),
        _ => inner,
    }
}
