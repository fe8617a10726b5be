//! The `use` lines of a file: what its tokens name, and no more.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::visit::{self, Visit};
use syn::{File, Macro, Path, UsePath};

use super::ty::ident;
use mcp_schema::model::Model;
use mcp_schema::naming::taken::WIRE;

/// The names at the start of the paths of some items.
pub(crate) fn named(body: &File) -> BTreeSet<String> {
    let mut named = Named::default();
    named.visit_file(body);
    named.0
}

/// The imports for `body`; `area` is the file's own area, whose types need none.
pub(super) fn imports(model: &Model, body: &File, area: Option<&str>) -> TokenStream {
    let named = named(body);
    let mut wire = Vec::new();
    let mut types = Vec::new();
    for name in &named {
        let def = model.get(name);
        match def {
            Some(def) if area == Some(&def.area) => {}
            Some(_) => types.push(ident(name)),
            None if WIRE.contains(&name.as_str()) => wire.push(ident(name)),
            None => {}
        }
    }
    let wire = (!wire.is_empty()).then(|| quote!(use mcp_wire::{#(#wire),*};));
    let types = match types.len() {
        0 => quote!(),
        _ => quote!(use crate::{#(#types),*};),
    };
    quote!(#wire #types)
}

/// The names at the start of paths; those inside macros too.
#[derive(Default)]
struct Named(BTreeSet<String>);

impl<'ast> Visit<'ast> for Named {
    fn visit_path(&mut self, path: &'ast Path) {
        if let Some(first) = path.segments.first() {
            self.0.insert(first.ident.to_string());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        for token in call.tokens.clone() {
            if let TokenTree::Ident(name) = token {
                self.0.insert(name.to_string());
            }
        }
    }

    fn visit_use_path(&mut self, _: &'ast UsePath) {}
}
