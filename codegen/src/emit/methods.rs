//! The method table of a revision, and what ties each method to its params and result.

use mcp_revisions_schema::sorted::SortedMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::messages::Messages;
use super::ty::{ident, optional, params_type, rust_type};
use mcp_revisions_schema::model::{Model, ModelMethod, Shape, Ty};
use mcp_revisions_schema::spec::methods::CapabilityPartRow;

/// `impl Request` and `impl Notification` for each message that is a type of its own, by its name.
pub(super) fn ties(model: &Model, messages: &Messages) -> SortedMap<String, TokenStream> {
    // `ping` goes both ways, but it is one type.
    let own = |method: &&ModelMethod| {
        model
            .get(&method.message)
            .is_some_and(|def| messages.get(def).is_none())
    };
    let ties = model.methods.iter().rev().filter(own).map(|method| {
        let name = &method.name;
        let message = ident(&method.message);
        let params = params_type(method);
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

/// Returns the static tables: methods and types, of the messages and types that are `listed`.
pub(super) fn tables(model: &Model, listed: impl Fn(&str) -> bool) -> TokenStream {
    let methods = model
        .methods
        .iter()
        .filter(|method| listed(&method.message));
    let rows = methods.map(|method| row(model, method));
    let types = model
        .types
        .values()
        .filter(|def| listed(&def.name))
        .map(|def| {
            let (ty, name) = (ident(&def.name), &def.doc_key);
            match &def.definition {
                Some(_) => quote!(#ty #name of;),
                None => quote!(#ty #name inline;),
            }
        });
    quote! {
        mcp_wire::methods! { #(#rows)* }
        mcp_wire::types! { #(#types)* }
    }
}

fn row(model: &Model, method: &ModelMethod) -> TokenStream {
    let ModelMethod {
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
    let direction = ident(&format!("{direction:?}"));
    let kind = ident(&format!("{kind:?}"));
    let message = schema_name(model, message);
    // A field that would say nothing is left out.
    let with_params = params
        .as_ref()
        .map(|ty| type_name(model, ty))
        .map(|params| quote!(, params: Some(#params)));
    let required = params_required.then(|| quote!(, params_required: true));
    let with_result = result
        .as_ref()
        .map(|ty| type_name(model, ty))
        .map(|result| quote!(, result: Some(#result)));
    let asks = input_required.then(|| quote!(, input_required: true));
    let named_by = (named_by.as_ref()).map(|member| quote!(, named_by: Some(#member)));
    let capability = (capability.as_ref()).map(|name| quote!(, capability: Some(#name)));
    let parts = capability_parts.iter().map(|part| {
        let CapabilityPartRow {
            name,
            member,
            value,
        } = part;
        let value = optional(value.as_ref());
        quote!(mcp_wire::CapabilityPart { name: #name, member: #member, value: #value })
    });
    let parts = (!capability_parts.is_empty()).then(|| quote!(, capability_parts: &[#(#parts),*]));
    quote! {
        #name #direction #kind {
            message: #message #with_params #required #with_result #asks #named_by #capability #parts
        };
    }
}

/// Returns the name under which `TYPES` lists a type.
fn schema_name(model: &Model, name: &str) -> String {
    model
        .get(name)
        .map_or_else(|| name.to_owned(), |def| def.doc_key.clone())
}

fn type_name(model: &Model, ty: &Ty) -> String {
    match ty {
        Ty::Named(name) => match model.shape(name) {
            // An alias of a type that the table lists is that type.
            Some(Shape::Alias(target @ Ty::Named(_))) => type_name(model, target),
            _ => schema_name(model, name),
        },
        ty => rust_type(ty).to_string(),
    }
}
