//! Rust types of model types.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse_str;

use mcp_revisions_schema::model::{ModelMethod, Ty};

/// Returns an identifier that is known to be one: a model has no other names.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Returns the path of the hand-written type that a type is, where it is one.
pub(super) fn runtime_path(ty: &Ty) -> Option<String> {
    Some(match ty {
        Ty::Json => "mcp_wire::Json".to_owned(),
        Ty::JsonObject => "mcp_wire::JsonObject".to_owned(),
        Ty::JsonArray => "mcp_wire::JsonArray".to_owned(),
        Ty::Runtime(path, _) => path.clone(),
        _ => return None,
    })
}

/// Returns the Rust type of a value.
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
                "a runtime type in spec/names.toml is not a path"
            )),
        },
    }
}

/// Returns the Rust type of the params of a method.
pub(super) fn params_type(method: &ModelMethod) -> TokenStream {
    match &method.params {
        Some(ty) => rust_type(ty),
        None => quote!(NoParams),
    }
}

/// Returns the Rust type of a field: boxed where the model says so.
pub(super) fn field_type(ty: &Ty, boxed: bool) -> TokenStream {
    let inner = rust_type(ty);
    if boxed { quote!(Box<#inner>) } else { inner }
}

/// Returns a value in its box, where it has one.
pub(crate) fn in_box(value: TokenStream, boxed: bool) -> TokenStream {
    if boxed {
        quote!(Box::new(#value))
    } else {
        value
    }
}

/// `Some` of a value, or `None`.
pub(crate) fn optional(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}

/// Returns the type of the argument of a constructor or setter, and the expression that makes the field of it.
pub(super) fn argument(name: &Ident, ty: &Ty, boxed: bool) -> (TokenStream, TokenStream) {
    let plain = rust_type(ty);
    let (argument, value) = match ty {
        Ty::Boolean | Ty::Array(_) | Ty::Map(_) | Ty::Nullable(_) => (plain, quote!(#name)),
        _ => (quote!(impl Into<#plain>), quote!(#name.into())),
    };
    (argument, in_box(value, boxed))
}

/// `field: value` in a struct literal; `field` alone where the value goes by its name.
pub(crate) fn assign(name: &Ident, value: &TokenStream) -> TokenStream {
    if *name == value.to_string() {
        quote!(#name)
    } else {
        quote!(#name: #value)
    }
}
