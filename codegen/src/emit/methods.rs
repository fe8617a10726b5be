//! The method table of a revision, and what ties each method to its params and result.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::ty::{ident, rust_type};
use mcp_schema::model::{Direction, Method, MethodKind, Model, Shape, Ty};
use mcp_schema::spec::methods::CapabilityPart;

/// `impl Request` and `impl Notification` for each message type, by its name.
pub(super) fn ties(model: &Model) -> BTreeMap<String, TokenStream> {
    // `ping` goes both ways, but it is one type.
    let ties = model.methods.iter().rev().map(|method| {
        let name = &method.name;
        let message = ident(&method.message);
        let params = match &method.params {
            Some(ty) => rust_type(ty),
            None => quote!(NoParams),
        };
        let tie = match &method.result {
            Some(result) => {
                let result = rust_type(result);
                quote! {
                    impl mcp_wire::Request for #message {
                        const METHOD: &'static str = #name;
                        type Params = #params;
                        type Result = #result;
                    }
                }
            }
            None => quote! {
                impl mcp_wire::Notification for #message {
                    const METHOD: &'static str = #name;
                    type Params = #params;
                }
            },
        };
        (method.message.clone(), tie)
    });
    ties.collect()
}

/// The static tables: methods and types.
pub(super) fn tables(model: &Model) -> TokenStream {
    let rows = model.methods.iter().map(|method| row(model, method));
    let types = model.types.values().map(|def| {
        let name = &def.doc_key;
        let rust_name = &def.name;
        let ty = ident(&def.name);
        match &def.definition {
            Some(_) => quote!(TypeInfo::of::<#ty>(#name, #rust_name),),
            None => quote!(TypeInfo::inline::<#ty>(#name, #rust_name),),
        }
    });
    quote! {
        /// Every method, by direction, kind and name.
        pub static METHODS: &[MethodInfo] = &[#(#rows)*];

        /// Every definition of the schema, and every inline schema that has a type of its own.
        pub static TYPES: &[TypeInfo] = &[#(#types)*];
    }
}

fn row(model: &Model, method: &Method) -> TokenStream {
    let Method {
        name,
        direction,
        kind,
        message,
        params,
        params_required,
        result,
        input_required,
        complete: _,
        named_by,
        capability,
        capability_parts,
    } = method;
    let direction = match direction {
        Direction::ClientToServer => quote!(Direction::ClientToServer),
        Direction::ServerToClient => quote!(Direction::ServerToClient),
    };
    let kind = match kind {
        MethodKind::Request => quote!(MethodKind::Request),
        MethodKind::Notification => quote!(MethodKind::Notification),
        MethodKind::Input => quote!(MethodKind::Input),
    };
    let message = schema_name(model, message);
    let params = option(params.as_ref().map(|ty| type_name(model, ty)));
    let result = option(result.as_ref().map(|ty| type_name(model, ty)));
    let parts = capability_parts.iter().map(|part| {
        let CapabilityPart {
            name,
            member,
            value,
        } = part;
        let value = option(value.clone());
        quote!(mcp_wire::CapabilityPart { name: #name, member: #member, value: #value })
    });
    let (named_by, capability) = (option(named_by.clone()), option(capability.clone()));
    quote! {
        MethodInfo {
            name: #name,
            direction: #direction,
            kind: #kind,
            message: #message,
            params: #params,
            params_required: #params_required,
            result: #result,
            input_required: #input_required,
            named_by: #named_by,
            capability: #capability,
            capability_parts: &[#(#parts),*],
        },
    }
}

fn option(name: Option<String>) -> TokenStream {
    match name {
        Some(name) => quote!(Some(#name)),
        None => quote!(None),
    }
}

/// The name under which `TYPES` lists a type.
fn schema_name(model: &Model, name: &str) -> String {
    model
        .get(name)
        .map_or_else(|| name.to_owned(), |def| def.doc_key.clone())
}

fn type_name(model: &Model, ty: &Ty) -> String {
    match ty {
        Ty::Named(name) => match model.get(name).map(|def| &def.shape) {
            // An alias of a type that the table lists is that type.
            Some(Shape::Alias(target @ Ty::Named(_))) => type_name(model, target),
            _ => schema_name(model, name),
        },
        ty => rust_type(ty).to_string(),
    }
}
