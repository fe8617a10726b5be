//! Structs, newtypes and string enums, made by typify from schemas lowered for it.
//!
//! A lowered schema says nothing that typify would have to decide: members and choices carry neutral names,
//! everything that is no plain string or boolean is a reference that a replacement answers with the
//! type, unions and constants are gone. What comes back is parsed and dressed in our derives and docs.

use std::collections::BTreeMap;

use schemars::schema::Schema;
use serde_json::{Map, Value, json};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Fields, File, Item, Path, parse_quote, parse2};
use typify::{TypeSpace, TypeSpaceSettings};

use super::fields::{fields_of, is_default};
use super::ty::{field_type, ident};
use mcp_schema::Error;
use mcp_schema::docs::TypeDocs;
use mcp_schema::model::{Member, Model, Object, Presence, Rest, Shape, Ty, TypeDef};

/// The item of every struct, newtype and string enum, by Rust name.
pub(super) fn items(model: &Model, docs: &TypeDocs) -> Result<BTreeMap<String, Item>, Error> {
    let mut lowered = Lowered::default();
    let mut plain: BTreeMap<String, &TypeDef> = BTreeMap::new();
    for (index, def) in model.types.values().enumerate() {
        // typify gets to see neutral names, so that none of its own naming rules bites.
        let key = format!("Type{index}");
        let schema = match &def.shape {
            Shape::Object(object) => lowered.object(object),
            Shape::StringEnum(choices) => {
                let names: Vec<String> = (0..choices.len()).map(|at| format!("V{at:05}")).collect();
                json!({ "type": "string", "enum": names })
            }
            Shape::Newtype(ty) => lowered.value(ty, false),
            Shape::Union(_) | Shape::Alias(_) => continue,
        };
        lowered.definitions.insert(key.clone(), schema);
        plain.insert(key, def);
    }
    let file = lowered.run()?;
    let mut items = BTreeMap::new();
    for item in file.items {
        let name = match &item {
            Item::Struct(item) => item.ident.to_string(),
            Item::Enum(item) => item.ident.to_string(),
            _ => continue,
        };
        if let Some(def) = plain.get(&name) {
            items.insert(def.name.clone(), dress(item, def, docs)?);
        }
    }
    for def in plain.values() {
        if !items.contains_key(&def.name) {
            return Err(failed(&format!("it made no type of `{}`", def.name)));
        }
    }
    Ok(items)
}

/// Schemas for typify, and the types that stand behind its references.
#[derive(Default)]
struct Lowered {
    definitions: Map<String, Value>,
    /// The name of the replacement of each Rust type.
    replacements: BTreeMap<String, String>,
}

impl Lowered {
    fn object(&mut self, object: &Object) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (at, member) in fields_of(object).enumerate() {
            properties.insert(neutral(at), self.value(&member.ty, member.boxed));
            if member.presence == Presence::Required {
                required.push(neutral(at));
            }
        }
        let rest = match &object.rest {
            Rest::Open => Some(Ty::Map(Box::new(Ty::Json))),
            Rest::Typed(ty) => Some(Ty::Map(Box::new(ty.clone()))),
            Rest::Closed => None,
        };
        if let Some(rest) = rest {
            let rest = match rest {
                // What no revision names goes by the name that says so.
                Ty::Map(value) if *value == Ty::Json => self.replaced("Extra".to_owned()),
                rest => self.value(&rest, false),
            };
            properties.insert("extra".to_owned(), rest);
            required.push("extra".to_owned());
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    fn value(&mut self, ty: &Ty, boxed: bool) -> Value {
        match ty {
            Ty::String if !boxed => json!({ "type": "string" }),
            Ty::Boolean if !boxed => json!({ "type": "boolean" }),
            ty => self.replaced(field_type(ty, boxed).to_string()),
        }
    }

    /// A reference that is answered with a Rust type.
    fn replaced(&mut self, rust: String) -> Value {
        let next = format!("Replaced{}", self.replacements.len());
        let name = self.replacements.entry(rust).or_insert(next);
        json!({ "$ref": format!("#/definitions/{name}") })
    }

    fn run(mut self) -> Result<File, Error> {
        let mut settings = TypeSpaceSettings::default();
        for (rust, name) in &self.replacements {
            settings.with_replacement(name, rust, std::iter::empty());
            self.definitions.insert(name.clone(), json!({}));
        }
        let definitions: BTreeMap<String, Schema> =
            serde_json::from_value(Value::Object(self.definitions))
                .map_err(|error| failed(&error.to_string()))?;
        let mut space = TypeSpace::new(&settings);
        space
            .add_ref_types(definitions)
            .map_err(|error| failed(&error.to_string()))?;
        parse2(space.to_stream()).map_err(|error| failed(&error.to_string()))
    }
}

/// Names, docs and derives of our own; typify's shapes and types.
fn dress(item: Item, def: &TypeDef, docs: &TypeDocs) -> Result<Item, Error> {
    let mut item = item;
    ShortPaths.visit_item_mut(&mut item);
    let lines = docs.of(def);
    match &mut item {
        Item::Struct(item) => {
            item.ident = ident(&def.name);
            item.attrs = doc(&lines.ty);
            item.attrs.push(match &def.shape {
                Shape::Object(object) if is_default(object) => {
                    parse_quote!(#[derive(Debug, Clone, PartialEq, Default)])
                }
                Shape::Newtype(Ty::String) => {
                    parse_quote!(#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)])
                }
                _ => parse_quote!(#[derive(Debug, Clone, PartialEq)]),
            });
            if let (Fields::Named(fields), Shape::Object(object)) = (&mut item.fields, &def.shape) {
                let members: BTreeMap<String, &Member> = fields_of(object)
                    .enumerate()
                    .map(|(at, member)| (neutral(at), member))
                    .collect();
                for field in &mut fields.named {
                    let name = field
                        .ident
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default();
                    match members.get(&name) {
                        Some(member) => {
                            field.ident = Some(ident(&member.field));
                            field.attrs = doc(lines.member(&member.wire));
                        }
                        None if name == "extra" => field.attrs = doc(EXTRA),
                        None => return Err(failed(&format!("it renamed a field to `{name}`"))),
                    }
                }
                let (rest, named): (Vec<_>, Vec<_>) = std::mem::take(&mut fields.named)
                    .into_iter()
                    .partition(|field| field.ident.as_ref().is_some_and(|name| name == "extra"));
                fields.named = named.into_iter().chain(rest).collect();
            }
        }
        Item::Enum(item) => {
            item.ident = ident(&def.name);
            item.attrs = doc(&lines.ty);
            item.attrs
                .push(parse_quote!(#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]));
            let Shape::StringEnum(choices) = &def.shape else {
                return Err(failed(&format!("it made an enum of `{}`", def.name)));
            };
            if item.variants.len() != choices.len() {
                return Err(failed(&format!("it lost a choice of `{}`", def.name)));
            }
            for (variant, choice) in item.variants.iter_mut().zip(choices) {
                variant.ident = ident(&mcp_schema::naming::pascal_case(choice));
                variant.attrs = doc(&format!("`{choice}`"));
            }
        }
        _ => {}
    }
    Ok(item)
}

/// The name by which typify knows a field: in order, and nothing to it that it could change.
fn neutral(at: usize) -> String {
    format!("field{at:03}")
}

/// The line of the field that keeps unknown members.
const EXTRA: &str = "Members that this revision does not name, in the order in which they stood.";

/// `///` lines; a blank line between paragraphs.
pub(super) fn doc(text: &str) -> Vec<Attribute> {
    // A lone carriage return would end the comment, and what turns the text around is refused by rustc.
    let turns = |letter: char| matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.replace("\r\n", "\n")
        .replace(turns, "")
        .split(['\n', '\r'])
        .map(|line| {
            let line = if line.is_empty() {
                String::new()
            } else {
                format!(" {line}")
            };
            parse_quote!(#[doc = #line])
        })
        .collect()
}

/// Leaves out the paths of what the prelude holds: `::std::option::Option` is `Option`.
struct ShortPaths;

impl VisitMut for ShortPaths {
    fn visit_path_mut(&mut self, path: &mut Path) {
        let first = path
            .segments
            .first()
            .map(|segment| segment.ident.to_string());
        if path.leading_colon.is_some()
            && first.as_deref() == Some("std")
            && let Some(last) = path.segments.last().cloned()
        {
            path.leading_colon = None;
            path.segments = std::iter::once(last).collect();
        }
        visit_mut::visit_path_mut(self, path);
    }
}

fn failed(problem: &str) -> Error {
    Error::Emit {
        step: "typify",
        problem: problem.into(),
    }
}
