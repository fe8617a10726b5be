//! From schema nodes to types: every definition becomes one, and so does every inline schema that needs a name.

mod choice;
mod object;

use std::collections::BTreeMap;

use serde_json::Value;

use super::flatten::flatten;
use super::{Shape, Ty, TypeDef, naming};
use crate::Error;
use crate::model::naming::pascal_case;
use crate::rules::{Rules, ShapeAs};
use crate::schema::{Additional, JsonType, Node, Schema, schema_error};

/// How many generics may be written in each other: readers, and the stack of a Rust parser, have an end.
const MAX_WRAPS: usize = 16;

/// How deep inline schemas may be nested.
const MAX_DEPTH: usize = 64;

/// What a schema is made of.
pub(super) struct Built {
    /// The types, by Rust name; plans, boxes and areas are filled in later.
    pub(super) types: BTreeMap<String, TypeDef>,
    /// The schema's own prose, by `Type` or `Type.member`.
    pub(super) prose: BTreeMap<String, String>,
}

/// Makes the types of a schema; `prose` is what the schema says of itself, by JSON pointer.
pub(super) fn build(
    schema: &Schema,
    rules: &Rules,
    prose: &BTreeMap<String, String>,
) -> Result<Built, Error> {
    let mut builder = Builder {
        schema,
        rules,
        upstream: prose,
        types: BTreeMap::new(),
        prose: BTreeMap::new(),
        depth: 0,
    };
    let mut errors = Vec::new();
    for (definition, node) in &schema.definitions {
        if let Err(error) = builder.definition(definition, node) {
            errors.push(error);
        }
    }
    Error::check(errors)?;
    Ok(Built {
        types: builder.types,
        prose: builder.prose,
    })
}

struct Builder<'s> {
    schema: &'s Schema,
    rules: &'s Rules,
    upstream: &'s BTreeMap<String, String>,
    types: BTreeMap<String, TypeDef>,
    prose: BTreeMap<String, String>,
    depth: usize,
}

impl Builder<'_> {
    fn definition(&mut self, definition: &str, node: &Node) -> Result<(), Error> {
        self.keep_prose(node, definition.to_owned());
        let shape = match self.rules.runtime(definition) {
            Some(runtime) => {
                let mut scalars = self.scalars(node)?;
                scalars.sort();
                let mut stands_for: Vec<Ty> = runtime
                    .stands_for
                    .iter()
                    .map(|scalar| scalar.ty())
                    .collect();
                stands_for.sort();
                if scalars != stands_for {
                    let problem = format!(
                        "it stands for {stands_for:?}, and {}#{} says {scalars:?}",
                        self.schema.file, node.pointer
                    );
                    return Err(self.rules.runtime_error(definition, &problem));
                }
                if syn::parse_str::<syn::Path>(&runtime.path).is_err() {
                    let problem = format!("`{}` is no path of a Rust type", runtime.path);
                    return Err(self.rules.runtime_error(definition, &problem));
                }
                Shape::Alias(Ty::Runtime(runtime.path.clone(), scalars))
            }
            None => self.shape(node, definition)?,
        };
        let name = self.rust_name(definition);
        let new = TypeDef {
            name: name.clone(),
            definition: Some(definition.to_owned()),
            places: vec![definition.to_owned()],
            doc_key: definition.to_owned(),
            area: String::new(),
            deprecated: node.deprecated,
            shape,
        };
        if let Some(old) = self.types.get_mut(&name) {
            // An inline schema of the same name and shape was here first.
            if old.definition.is_none() && old.shape == new.shape {
                old.definition = new.definition;
                old.places.insert(0, definition.to_owned());
                return Ok(());
            }
            let places = old.places.join(", ");
            return Err(self.name_taken(node, &name, &places));
        }
        self.types.insert(name, new);
        Ok(())
    }

    fn keep_prose(&mut self, node: &Node, key: String) {
        if let Some(text) = self.upstream.get(&node.pointer) {
            self.prose.entry(key).or_insert_with(|| text.clone());
        }
    }

    /// The Rust name of a definition or of an inline schema's definition-like name.
    fn rust_name(&self, definition: &str) -> String {
        match self.rules.type_name(definition) {
            Some(name) => name.to_owned(),
            None => naming::type_name(definition),
        }
    }

    /// What the node at a place is; `place` doubles as the key of its docs.
    fn shape(&mut self, node: &Node, place: &str) -> Result<Shape, Error> {
        if let Some(shape) = self.ruled(node, place) {
            return Ok(Shape::Alias(shape));
        }
        if let Some(target) = &node.reference {
            return Ok(Shape::Alias(Ty::Named(self.rust_name(target))));
        }
        if !node.all_of.is_empty() {
            let node = flatten(self.schema, node)?;
            return self.shape(&node, place);
        }
        if !node.any_of.is_empty() && !is_nullable(node) {
            return self.union(node, place);
        }
        if let Some(choices) = self.choices(node)? {
            return Ok(Shape::StringEnum(choices));
        }
        if node.types.len() > 1 && !is_nullable(node) {
            return self.scalar_union(node, place);
        }
        if node.is_object() && has_members(node) {
            return self.object(node, place).map(Shape::Object);
        }
        let ty = self.ty(node, place)?;
        Ok(match ty {
            Ty::String | Ty::Boolean | Ty::Integer | Ty::Number => Shape::Newtype(ty),
            ty => Shape::Alias(ty),
        })
    }

    /// What a value at a place is; an inline schema that needs a name is hoisted.
    fn ty(&mut self, node: &Node, place: &str) -> Result<Ty, Error> {
        if self.depth > MAX_DEPTH {
            return Err(self.error(
                node,
                "inline schemas that are at most 64 deep",
                "deeper ones",
                "give the inner ones definitions of their own",
            ));
        }
        self.depth += 1;
        let ty = self.ty_inner(node, place);
        self.depth -= 1;
        let ty = ty?;
        if wraps(&ty) > MAX_WRAPS {
            return Err(self.error(
                node,
                &format!("at most {MAX_WRAPS} lists, maps and `null`s around one value"),
                "more",
                "give the inner ones definitions of their own",
            ));
        }
        Ok(ty)
    }

    fn ty_inner(&mut self, node: &Node, place: &str) -> Result<Ty, Error> {
        if let Some(ty) = self.ruled(node, place) {
            return Ok(ty);
        }
        if let Some(target) = &node.reference {
            return Ok(Ty::Named(self.rust_name(target)));
        }
        if is_nullable(node) {
            return Ok(Ty::Nullable(Box::new(self.ty(&without_null(node), place)?)));
        }
        if let Some(value) = &node.constant
            && !value.is_string()
        {
            return Err(self.error(
                node,
                "a constant that is a string, or that of a required member",
                &value.to_string(),
                "replace the constant by its type with an erratum",
            ));
        }
        let hoisted = !node.all_of.is_empty()
            || !node.any_of.is_empty()
            || node.types.len() > 1
            || node.choices.is_some()
            || matches!(node.constant, Some(Value::String(_)))
            || (node.is_object() && has_members(node));
        if hoisted {
            return self.hoist(node, place);
        }
        match node.types.as_slice() {
            [] if !node.is_object() => Ok(Ty::Json),
            [JsonType::String] => Ok(Ty::String),
            [JsonType::Boolean] => Ok(Ty::Boolean),
            [JsonType::Integer] => Ok(Ty::Integer),
            [JsonType::Number] => Ok(Ty::Number),
            [JsonType::Array] => match &node.items {
                None => Ok(Ty::JsonArray),
                Some(items) if items.is_any() => Ok(Ty::JsonArray),
                Some(items) => Ok(Ty::Array(Box::new(self.ty(items, &format!("{place}[]"))?))),
            },
            [] | [JsonType::Object] => match &node.additional {
                Additional::Any => Ok(Ty::JsonObject),
                Additional::Schema(value) => {
                    Ok(Ty::Map(Box::new(self.ty(value, &format!("{place}{{}}"))?)))
                }
                // An object that may hold nothing is a type with members: `hoisted` says so.
                Additional::Forbidden => Ok(Ty::JsonObject),
            },
            _ => Err(self.error(
                node,
                "a schema that says more than `null`",
                "`type: null` alone",
                "mend it with an erratum",
            )),
        }
    }

    /// Gives an inline schema a name: the rule's, or the one of its place.
    fn hoist(&mut self, node: &Node, place: &str) -> Result<Ty, Error> {
        let doc_key = match self.rules.inline_name(place) {
            Some(name) => name.to_owned(),
            None => hoisted_name(place),
        };
        let name = self.rust_name(&doc_key);
        self.keep_prose(node, doc_key.clone());
        let shape = match self.shape(node, &doc_key)? {
            // What turns out to be no type of its own needs no name either.
            Shape::Alias(ty) => return Ok(ty),
            shape => shape,
        };
        match self.types.get_mut(&name) {
            Some(old) if old.shape == shape => old.places.push(place.to_owned()),
            Some(old) => {
                let places = old.places.join(", ");
                return Err(self.name_taken(node, &name, &places));
            }
            None => {
                // A definition of that name, not read yet, must turn out the same: `definition` checks it.
                let new = TypeDef {
                    name: name.clone(),
                    definition: None,
                    places: vec![place.to_owned()],
                    doc_key,
                    area: String::new(),
                    deprecated: node.deprecated,
                    shape,
                };
                self.types.insert(name.clone(), new);
            }
        }
        Ok(Ty::Named(name))
    }

    fn ruled(&self, node: &Node, place: &str) -> Option<Ty> {
        // Where a schema is a reference, the rule of the definition holds.
        if node.reference.is_some() {
            return None;
        }
        let bare = node.is_object() && !has_members(node);
        Some(match self.rules.shape(place, bare)? {
            ShapeAs::Object => Ty::JsonObject,
            ShapeAs::Json => Ty::Json,
            ShapeAs::Map => Ty::Map(Box::new(Ty::Json)),
        })
    }

    fn name_taken(&self, node: &Node, name: &str, places: &str) -> Error {
        self.error(
            node,
            &format!("a schema equal to the one at {places}, since both are called `{name}`"),
            "a different one",
            "give one of them another name in spec/names.toml ([[inline]] or [types])",
        )
    }

    fn error(&self, node: &Node, expected: &str, found: &str, help: &str) -> Error {
        schema_error(&self.schema.file, &node.pointer, expected, found, help)
    }
}

/// `Tool.annotations` is called `ToolAnnotations`; a list or a map of a member adds nothing.
fn hoisted_name(place: &str) -> String {
    let bare = place.replace("[]", "").replace("{}", "");
    match bare.split_once('.') {
        Some((owner, member)) => format!("{owner}{}", pascal_case(member)),
        None if place.ends_with("[]") => format!("{bare}Item"),
        None => format!("{bare}Value"),
    }
}

/// How many lists, maps and `null`s stand around a value.
fn wraps(mut ty: &Ty) -> usize {
    let mut wraps = 0;
    while let Ty::Nullable(inner) | Ty::Array(inner) | Ty::Map(inner) = ty {
        wraps += 1;
        ty = inner;
    }
    wraps
}

/// Whether an object needs a type of its own.
fn has_members(node: &Node) -> bool {
    !node.properties.is_empty()
        || !node.required.is_empty()
        || node.additional == Additional::Forbidden
}

/// `null` beside something else.
fn is_nullable(node: &Node) -> bool {
    let admits = |node: &Node| node.types.contains(&JsonType::Null);
    let of_types = node.types.len() > 1 && admits(node);
    of_types || (node.any_of.iter().any(admits) && !node.any_of.iter().all(is_null))
}

fn is_null(node: &Node) -> bool {
    node.types == [JsonType::Null]
}

/// What a nullable node is where it is not `null`.
fn without_null(node: &Node) -> Node {
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
