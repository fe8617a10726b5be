//! String enums: their strings, and their reading and writing.

use proc_macro2::TokenStream;
use quote::quote;

use super::ty::ident;
use mcp_schema::model::TypeDef;
use mcp_schema::naming::pascal_case;

/// Reading and writing of a string enum, as a table of its variants.
pub(super) fn wire(def: &TypeDef, choices: &[String]) -> TokenStream {
    let name = ident(&def.name);
    let variants = choices.iter().map(|choice| ident(&pascal_case(choice)));
    quote!(mcp_wire::strings! { #name { #(#variants #choices;)* } })
}
