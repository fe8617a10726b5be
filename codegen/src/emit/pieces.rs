//! What is generated of each type, before it is put into files: by this, types of several revisions are the same or not.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use mcp_revisions_schema::Error;
use mcp_revisions_schema::docs::TypeDocs;
use mcp_revisions_schema::model::{Model, TypeDef};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

use super::messages::Messages;
use super::{alias, area_item, area_wire, items, methods};

/// What is generated of one type.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The file that holds it, without its ending.
    pub area: String,
    /// The item, with its constructor and conversions, and what ties a message to its method.
    pub item: TokenStream,
    /// Reading and writing; empty for an alias.
    pub wire: TokenStream,
    /// The types of the model that any of it names.
    pub names: SortedSet<String>,
    /// All of it as text, without the link to the page of one revision.
    pub text: String,
}

impl Piece {
    /// Returns whether the type is one of mcp-wire under its own name.
    pub(super) fn is_of_wire(&self) -> bool {
        self.text.replace(' ', "").contains("pubusemcp_wire::")
    }
}

/// What is generated of each type of a revision, by Rust name.
pub type Pieces = SortedMap<String, Piece>;

/// Emits each type of a model by itself. Returns the errors of typify and syn.
pub fn pieces(model: &Model, docs: &TypeDocs) -> Result<Pieces, Error> {
    let messages = Messages::of(model);
    let items = items::items(model, docs, &messages)?;
    let mut ties = methods::ties(model, &messages);
    let mut piece = |def: &TypeDef| {
        let (item, wire) = match messages.get(def) {
            Some((target, method)) => (alias(def, target, method, docs), TokenStream::new()),
            None => (area_item(model, def, &items, docs), area_wire(model, def)),
        };
        let tie = ties.remove(&def.name);
        let item = quote!(#item #tie);
        let all = quote!(#item #wire);
        let mut names = SortedSet::new();
        collect(all.clone(), model, &mut names);
        let text = format!("{} {all}", def.area);
        // The line of the link is a fact of the revision, too: an inline schema has none.
        let text = match docs.reference(def) {
            Some(line) => {
                let lines = items::doc(&line);
                text.replace(&format!("{} ", quote!(#(#lines)*)), "")
            }
            None => text,
        };
        Piece {
            area: def.area.clone(),
            item,
            wire,
            names,
            text,
        }
    };
    Ok((model.types.values())
        .map(|def| (def.name.clone(), piece(def)))
        .collect())
}

/// Adds the types of the model that tokens name.
fn collect(tokens: TokenStream, model: &Model, names: &mut SortedSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                if model.get(&name).is_some() {
                    names.insert(name);
                }
            }
            TokenTree::Group(group) => collect(group.stream(), model, names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
