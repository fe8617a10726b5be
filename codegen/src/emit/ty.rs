//! Rust types of model types.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse_str;

use mcp_schema::Error;
use mcp_schema::model::{Model, Presence, Rest, Shape, Ty, TypeDef, Union};
use mcp_schema::naming::taken::{TAKEN, WIRE};
use mcp_schema::naming::{is_identifier, pascal_case};

/// An identifier that is known to be one: names are checked before emission starts.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Refuses names that are no Rust identifiers, or that would hide another name of the generated code;
/// `file` is the schema.
pub(super) fn check_names(model: &Model, file: &str) -> Result<(), Error> {
    let mut errors = Vec::new();
    let mut refuse = |place: &str, name: &str, help: &str| {
        errors.push(Error::Schema {
            file: file.into(),
            pointer: place.into(),
            expected: "a name that Rust takes, and that stands for nothing else in generated code"
                .into(),
            found: format!("`{name}`").into(),
            help: help.into(),
        });
    };
    for def in model.types.values() {
        let name = def.name.as_str();
        let taken = TAKEN.contains(&name) || (WIRE.contains(&name) && !may_be_called(model, def));
        if taken || !is_identifier(name) {
            let help = "add a line of [types] to spec/names.toml";
            refuse(&def.at(), name, help);
        }
        match &def.shape {
            Shape::Object(object) => {
                for member in &object.members {
                    let fixed = matches!(member.presence, Presence::Constant(_));
                    let taken = member.field == "extra" || member.field == "new";
                    if !fixed && (taken || !is_identifier(&member.field)) {
                        let place = format!("{}.{}", def.doc_key, member.wire);
                        let help = format!("add {place:?} to [members] in spec/names.toml");
                        refuse(&place, &member.field, &help);
                    }
                }
            }
            Shape::Union(union) => {
                let mut names: Vec<&str> = (union.variants.iter())
                    .map(|variant| variant.name.as_str())
                    .collect();
                if union.open {
                    names.push(Union::UNKNOWN);
                }
                names.sort_unstable();
                let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
                let odd = names.iter().find(|name| !is_identifier(name));
                if let Some(name) = twice.map(|pair| pair[0]).or(odd.copied()) {
                    let help = "rename the type of that variant in spec/names.toml ([types])";
                    refuse(&def.at(), name, help);
                }
            }
            Shape::StringEnum(choices) => {
                for choice in choices {
                    let name = pascal_case(choice);
                    if name == "ALL" || !is_identifier(&name) {
                        let help = "turn the enumeration into a plain string with an erratum";
                        refuse(&def.at(), &name, help);
                    }
                }
            }
            Shape::Newtype(_) | Shape::Alias(_) => {}
        }
    }
    Error::check(errors)
}

/// Whether a definition may go by the name of a hand-written type: it is that type, or an alias
/// of something else in a model that has no use for that type.
fn may_be_called(model: &Model, def: &TypeDef) -> bool {
    let Shape::Alias(ty) = &def.shape else {
        return false;
    };
    let is_it = |ty: &Ty| {
        runtime_path(ty).is_some_and(|path| path.rsplit("::").next() == Some(def.name.as_str()))
    };
    let opaque = ["Json", "JsonArray", "JsonObject"].contains(&def.name.as_str());
    is_it(ty) || (opaque && !held(model).any(is_it))
}

/// Every type that a type of the model holds, at any depth.
fn held(model: &Model) -> impl Iterator<Item = &Ty> {
    let mut open: Vec<&Ty> = Vec::new();
    for def in model.types.values() {
        match &def.shape {
            Shape::Object(object) => {
                open.extend(object.members.iter().map(|member| &member.ty));
                if let Rest::Typed(ty) = &object.rest {
                    open.push(ty);
                }
            }
            Shape::Union(union) => open.extend(union.variants.iter().map(|variant| &variant.ty)),
            Shape::Newtype(ty) | Shape::Alias(ty) => open.push(ty),
            Shape::StringEnum(_) => {}
        }
    }
    std::iter::from_fn(move || {
        let ty = open.pop()?;
        if let Ty::Nullable(inner) | Ty::Array(inner) | Ty::Map(inner) = ty {
            open.push(inner);
        }
        Some(ty)
    })
}

/// The path of the hand-written type that a type is, where it is one.
pub(super) fn runtime_path(ty: &Ty) -> Option<String> {
    Some(match ty {
        Ty::Json => "mcp_wire::Json".to_owned(),
        Ty::JsonObject => "mcp_wire::JsonObject".to_owned(),
        Ty::JsonArray => "mcp_wire::JsonArray".to_owned(),
        Ty::Runtime(path, _) => path.clone(),
        _ => return None,
    })
}

/// The Rust type of a value.
pub(crate) fn rust_type(ty: &Ty) -> TokenStream {
    match ty {
        Ty::String => quote!(String),
        Ty::Boolean => quote!(bool),
        Ty::Integer => quote!(Integer),
        Ty::Number => quote!(Number),
        Ty::Json => quote!(Json),
        Ty::JsonObject => quote!(JsonObject),
        Ty::JsonArray => quote!(JsonArray),
        Ty::Nullable(inner) => {
            let inner = rust_type(inner);
            quote!(Option<#inner>)
        }
        Ty::Array(item) => {
            let item = rust_type(item);
            quote!(Vec<#item>)
        }
        Ty::Map(value) => {
            let value = rust_type(value);
            quote!(Map<#value>)
        }
        Ty::Named(name) => {
            let name = ident(name);
            quote!(#name)
        }
        Ty::Runtime(path, _) => match parse_str::<syn::Path>(path) {
            Ok(path) => quote!(#path),
            // Checked where the rule was read; a bad one shows as what it is.
            Err(_) => quote!(compile_error!(
                "a runtime type in spec/names.toml is no path"
            )),
        },
    }
}

/// The Rust type of a field: boxed where the model says so.
pub(super) fn field_type(ty: &Ty, boxed: bool) -> TokenStream {
    let inner = rust_type(ty);
    if boxed { quote!(Box<#inner>) } else { inner }
}

/// What a constructor or setter takes for a value, and how it becomes the field.
pub(super) fn argument(name: &Ident, ty: &Ty, boxed: bool) -> (TokenStream, TokenStream) {
    let plain = rust_type(ty);
    let (argument, value) = match ty {
        Ty::Boolean | Ty::Array(_) | Ty::Map(_) | Ty::Nullable(_) => (plain, quote!(#name)),
        _ => (quote!(impl Into<#plain>), quote!(#name.into())),
    };
    let value = if boxed {
        quote!(Box::new(#value))
    } else {
        value
    };
    (argument, value)
}

/// `field: value` in a struct literal; `field` alone where the value goes by its name.
pub(super) fn assign(name: &Ident, value: &TokenStream) -> TokenStream {
    if *name == value.to_string() {
        quote!(#name)
    } else {
        quote!(#name: #value)
    }
}
