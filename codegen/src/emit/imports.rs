//! The `use` lines of a file: what its tokens name, and no more.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::visit::{self, Visit};
use syn::{File, Macro, Path, UsePath};

use super::ty::ident;
use mcp_revisions_schema::naming::taken::WIRE;

/// Returns the names at the start of the paths of some items.
pub(crate) fn named(body: &File) -> SortedSet<String> {
    let mut named = Named::default();
    named.visit_file(body);
    named.0
}

/// Returns the imports for `body`: `home` is the module of a type that needs one, `is_type` whether a name is a type at all.
pub(super) fn imports(
    home: impl Fn(&str) -> Option<String>,
    is_type: impl Fn(&str) -> bool,
    body: &File,
) -> TokenStream {
    let mut wire = Vec::new();
    let mut types: SortedMap<String, Vec<Ident>> = SortedMap::new();
    for name in named(body) {
        if let Some(home) = home(&name) {
            types.entry(home).or_default().push(ident(&name));
        } else if !is_type(&name) && WIRE.contains(&name.as_str()) {
            wire.push(ident(&name));
        }
    }
    let wire = (!wire.is_empty()).then(|| quote!(use mcp_wire::{#(#wire),*};));
    let uses = types.into_iter().map(|(home, types)| {
        let path: TokenStream = home.parse().unwrap_or_default();
        quote!(use #path::{#(#types),*};)
    });
    quote!(#wire #(#uses)*)
}

/// The names at the start of paths; those inside macros too.
#[derive(Default)]
struct Named(SortedSet<String>);

impl Named {
    /// The lines of a table within a macro begin with fields and variants: those name no type.
    fn tokens(&mut self, tokens: TokenStream, depth: usize) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) if depth != 1 => {
                    self.0.insert(name.to_string());
                }
                TokenTree::Group(group) => self.tokens(group.stream(), depth + 1),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Named {
    fn visit_path(&mut self, path: &'ast Path) {
        if let Some(first) = path.segments.first() {
            self.0.insert(first.ident.to_string());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.tokens(call.tokens.clone(), 0);
    }

    fn visit_use_path(&mut self, _: &'ast UsePath) {}
}
