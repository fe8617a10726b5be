//! Rust types of model types.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse_str;

use crate::Error;
use crate::model::{Model, Presence, Shape, Ty};

/// An identifier that is known to be one: names are checked before emission starts.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Refuses names that are no Rust identifiers, or that would hide one of the prelude.
pub(super) fn check_names(model: &Model) -> Result<(), Error> {
    const TAKEN: &[&str] = &[
        "Box",
        "Clone",
        "Copy",
        "Debug",
        "Decode",
        "Default",
        "Encode",
        "Eq",
        "Err",
        "Extra",
        "Fault",
        "From",
        "Hash",
        "Into",
        "Map",
        "None",
        "Ok",
        "Option",
        "PartialEq",
        "Reader",
        "Result",
        "Some",
        "String",
        "ToString",
        "TryFrom",
        "Vec",
        "Writer",
    ];
    let mut errors = Vec::new();
    let mut refuse = |place: &str, name: &str, rule: &str| {
        errors.push(Error::Schema {
            file: "the model".into(),
            pointer: place.into(),
            expected: "a name that Rust takes and that hides nothing of its prelude".into(),
            found: format!("`{name}`").into(),
            help: format!("add {rule} to spec/names.toml").into(),
        });
    };
    for def in model.types.values() {
        if parse_str::<Ident>(&def.name).is_err() || TAKEN.contains(&def.name.as_str()) {
            refuse(&def.places.join(", "), &def.name, "a line of [types]");
        }
        match &def.shape {
            Shape::Object(object) => {
                for member in &object.members {
                    let fixed = matches!(member.presence, Presence::Constant(_));
                    let taken = member.field == "extra" || member.field == "new";
                    if !fixed && (taken || parse_str::<Ident>(&member.field).is_err()) {
                        let place = format!("{}.{}", def.doc_key, member.wire);
                        refuse(&place, &member.field, "a line of [members]");
                    }
                }
            }
            Shape::Union(union) => {
                let mut names: Vec<&str> = union
                    .variants
                    .iter()
                    .map(|variant| variant.name.as_str())
                    .collect();
                names.sort_unstable();
                let twice = names
                    .windows(2)
                    .find(|pair| pair[0] == pair[1])
                    .map(|pair| pair[0]);
                let odd = names
                    .iter()
                    .copied()
                    .find(|name| parse_str::<Ident>(name).is_err());
                if let Some(name) = twice.or(odd) {
                    refuse(
                        &def.places.join(", "),
                        name,
                        "names for its variants' types",
                    );
                }
            }
            _ => {}
        }
    }
    Error::check(errors)
}

/// The Rust type of a value.
pub(super) fn rust_type(ty: &Ty) -> TokenStream {
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
    if value.to_string() == name.to_string() {
        quote!(#name)
    } else {
        quote!(#name: #value)
    }
}
