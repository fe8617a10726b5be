//! Structs, newtypes and string enums: typify derives the fields of each from schemas lowered for it.
//!
//! In a lowered schema, members and choices have neutral names, unions and constants are left out, and every type other
//! than a string or a boolean is a reference that a replacement resolves. typify therefore invents no name.
//! The emitter writes the items of typify's type space with the names, docs and derives of the model.

use std::fmt::Display;

use mcp_revisions_schema::sorted::SortedMap;

use proc_macro2::TokenStream;
use quote::quote;
use schemars::schema::Schema;
use serde_json::{Map, Value, json};
use typify::{TypeDetails, TypeId, TypeSpace, TypeSpaceSettings};

use super::fields::{fields_of, is_default};
use super::messages::Messages;
use super::ty::{field_type, ident};
use mcp_revisions_schema::docs::TypeDocs;
use mcp_revisions_schema::model::{Model, ObjectShape, Presence, Rest, Shape, Ty, TypeDef};
use mcp_revisions_schema::naming::{OTHER, pascal_case};
use mcp_revisions_schema::{Error, Markdown};

/// Emits the item of every struct, newtype and string enum, by Rust name; messages that are aliases have none.
pub(super) fn items(
    model: &Model,
    docs: &TypeDocs,
    messages: &Messages,
) -> Result<SortedMap<String, TokenStream>, Error> {
    let mut lowered = Lowered::default();
    let mut plain: SortedMap<String, &TypeDef> = SortedMap::new();
    for (index, def) in model.types.values().enumerate() {
        if messages.get(def).is_some() {
            continue;
        }
        // A neutral name keeps typify from applying its own naming rules.
        let key = format!("Type{index}");
        let schema = match &def.shape {
            Shape::Object(object) => lowered.object(object),
            Shape::StringEnum(choices) | Shape::OpenEnum(choices) => {
                let names: Vec<String> = (0..choices.len()).map(|at| format!("V{at:05}")).collect();
                json!({ "type": "string", "enum": names })
            }
            Shape::Newtype(ty) => lowered.value(ty, false),
            Shape::Union(_) | Shape::Alias(_) => continue,
        };
        lowered.definitions.insert(key.clone(), schema);
        plain.insert(key, def);
    }
    let space = lowered.run()?;
    let mut items = SortedMap::new();
    for made in space.iter_types() {
        if let Some(def) = plain.get(&made.name()) {
            let item = item(&space, &made.details(), def, docs)?;
            items.insert(def.name.clone(), item);
        }
    }
    match plain.values().find(|def| !items.contains_key(&def.name)) {
        Some(def) => Err(failed(format!("it made no type of `{}`", def.name))),
        None => Ok(items),
    }
}

/// Schemas for typify, and the Rust types that replace its references.
#[derive(Default)]
struct Lowered {
    definitions: Map<String, Value>,
    /// The name of the replacement of each Rust type.
    replacements: SortedMap<String, String>,
}

impl Lowered {
    fn object(&mut self, object: &ObjectShape) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (at, member) in fields_of(object).enumerate() {
            properties.insert(neutral(at), self.value(&member.ty, member.boxed));
            if member.presence == Presence::Required {
                required.push(neutral(at));
            }
        }
        let rest = match &object.rest {
            Rest::Closed => None,
            Rest::Typed(ty) if *ty != Ty::Json => {
                Some(self.value(&Ty::Map(Box::new(ty.clone())), false))
            }
            // Members that no revision names are of one type.
            Rest::Open | Rest::Typed(_) => Some(self.reference_to("Extra".to_owned())),
        };
        if let Some(rest) = rest {
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
            ty => self.reference_to(field_type(ty, boxed).to_string()),
        }
    }

    /// Returns a reference that typify replaces by a Rust type.
    fn reference_to(&mut self, rust: String) -> Value {
        let next = format!("Replaced{}", self.replacements.len());
        let name = self.replacements.entry(rust).or_insert(next);
        json!({ "$ref": format!("#/definitions/{name}") })
    }

    fn run(mut self) -> Result<TypeSpace, Error> {
        let mut settings = TypeSpaceSettings::default();
        for (rust, name) in &self.replacements {
            settings.with_replacement(name, rust, std::iter::empty());
            self.definitions.insert(name.clone(), json!({}));
        }
        let definitions: SortedMap<String, Schema> =
            serde_json::from_value(Value::Object(self.definitions)).map_err(failed)?;
        let mut space = TypeSpace::new(&settings);
        space.add_ref_types(definitions).map_err(failed)?;
        Ok(space)
    }
}

/// Emits a type of the space with names, docs and derives of the model.
fn item(
    space: &TypeSpace,
    made: &TypeDetails<'_>,
    def: &TypeDef,
    docs: &TypeDocs,
) -> Result<TokenStream, Error> {
    let name = ident(&def.name);
    let about = doc(&docs.ty(def));
    Ok(match (made, &def.shape) {
        (TypeDetails::Struct(made), Shape::Object(object)) => {
            let types: SortedMap<&str, TypeId> = made.properties().collect();
            let type_of = |name: &str| match types.get(name) {
                Some(id) => rust_type(space, id),
                None => Err(failed(format!("it lost a field of `{}`", def.name))),
            };
            let mut fields = Vec::new();
            for (at, member) in fields_of(object).enumerate() {
                let (about, ty) = (doc(&docs.member(def, &member.wire)), type_of(&neutral(at))?);
                let field = ident(&member.field);
                fields.push(quote!(#(#about)* pub #field: #ty));
            }
            if object.rest != Rest::Closed {
                let (about, ty) = (doc(&EXTRA.into()), type_of("extra")?);
                fields.push(quote!(#(#about)* pub extra: #ty));
            }
            let default = is_default(object).then(|| quote!(, Default));
            quote! {
                #(#about)*
                #[derive(Clone, PartialEq, Eq #default)]
                pub struct #name { #(#fields,)* }
            }
        }
        (TypeDetails::Newtype(made), Shape::Newtype(ty)) => {
            let ordered = (*ty == Ty::String).then(|| quote!(, Hash, PartialOrd, Ord));
            let ty = rust_type(space, &made.inner())?;
            quote! {
                #(#about)*
                #[derive(Debug, Clone, PartialEq, Eq #ordered)]
                pub struct #name(pub #ty);
            }
        }
        (TypeDetails::Enum(made), Shape::StringEnum(choices) | Shape::OpenEnum(choices))
            if made.variants().count() == choices.len() =>
        {
            let variants = choices.iter().map(|choice| {
                let (about, variant) = (doc(&Markdown::code(choice)), ident(&pascal_case(choice)));
                quote!(#(#about)* #variant)
            });
            let (compared, other) = if matches!(def.shape, Shape::OpenEnum(_)) {
                let (about, other) = (doc(&ANOTHER.into()), ident(OTHER));
                (quote!(), quote!(#(#about)* #other(String)))
            } else {
                (quote!(, Copy, PartialEq, Eq, Hash), quote!())
            };
            quote! {
                #(#about)*
                #[derive(Debug, Clone #compared)]
                pub enum #name { #(#variants,)* #other }
            }
        }
        _ => return Err(failed(format!("it made something else of `{}`", def.name))),
    })
}

/// Returns a type of the space as the prelude names it: `::std::option::Option` is `Option`.
fn rust_type(space: &TypeSpace, id: &TypeId) -> Result<TokenStream, Error> {
    let ty = space.get_type(id).map_err(failed)?;
    Ok(match ty.details() {
        TypeDetails::Option(inner) => {
            let inner = rust_type(space, &inner)?;
            quote!(Option<#inner>)
        }
        TypeDetails::String => quote!(String),
        _ => ty.ident(),
    })
}

/// Returns the name of a field for typify, which keeps its order and has nothing that typify would change.
fn neutral(at: usize) -> String {
    format!("field{at:03}")
}

/// The doc line of the field that keeps unknown members.
const EXTRA: &str = "Members that this revision does not name, in the order in which they stood.";

/// The doc line of the variant that keeps a string without a name.
const ANOTHER: &str = "A string that this revision does not name, as it stood.";

/// Returns the `///` lines of a text, with an empty one between paragraphs.
pub(crate) fn doc(text: &Markdown) -> Vec<TokenStream> {
    let lines = doc_lines(text);
    lines.iter().map(|line| quote!(#[doc = #line])).collect()
}

/// Returns the `//!` lines of a text.
pub(crate) fn inner_doc(text: &Markdown) -> TokenStream {
    let lines = doc_lines(text);
    quote!(#(#![doc = #lines])*)
}

fn doc_lines(text: &Markdown) -> Vec<String> {
    let line = |line: &str| match line {
        "" => String::new(),
        line => format!(" {line}"),
    };
    text.as_str().split('\n').map(line).collect()
}

fn failed(problem: impl Display) -> Error {
    Error::defect("typify", problem)
}
