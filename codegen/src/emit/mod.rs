//! From a model to the files of a crate.
//!
//! One small generator per kind of item; this module puts their output into files by area.
//! To add one: a module here, a call in `area_item` or `area_wire`, a golden in `tests/`.

mod fields;
mod imports;
mod items;
mod messages;
mod methods;
mod once;
mod pieces;
mod scaffold;
mod services;
mod structs;
mod ty;
mod unions;

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use proc_macro2::TokenStream;
use quote::quote;

use crate::format;
use mcp_revisions_schema::docs::TypeDocs;
use mcp_revisions_schema::model::{Model, Shape, Ty, TypeDef};
use mcp_revisions_schema::naming::{OTHER, pascal_case};
use mcp_revisions_schema::{Error, Markdown};

pub(crate) use imports::named;
pub(crate) use items::{doc, inner_doc};
pub use once::{Once, Set};
pub use pieces::{Piece, Pieces, pieces};
pub use scaffold::reexport as reexport_files;
pub(crate) use scaffold::{COMMAND, fragment, header_of, lines, rendered};
pub use scaffold::{CrateFacts, ExtensionFacts, Reused};
use ty::rust_type;
pub(crate) use ty::{assign, in_box, optional};

/// The files of a crate, by path below its root.
pub type CrateFiles = SortedMap<String, String>;

/// Emits the crate of one revision or extension; the types in `shared` are those of another crate, and re-exported. Fails for
/// tokens that do not parse, and templates that do not render.
pub fn crate_files(
    model: &Model,
    pieces: &Pieces,
    shared: &SortedSet<&str>,
    docs: &TypeDocs,
    facts: &CrateFacts,
) -> Result<CrateFiles, Error> {
    let reused = facts.extension.iter().flat_map(|of| &of.reused);
    let reused: SortedSet<&str> = (reused.flat_map(|one| &one.types))
        .map(String::as_str)
        .collect();
    let is_own = |name: &str| !shared.contains(name) && !reused.contains(name);
    let own = pieces.keys().map(String::as_str);
    let root = |_: &str| "crate".to_owned();
    let mut files = Sources {
        header: scaffold::header(facts),
        below: String::new(),
        pieces,
        own: own.filter(|name| is_own(name)).collect(),
        home: &root,
        files: CrateFiles::new(),
    };
    let areas = files.areas()?;
    let about = &scaffold::ABOUT_METHODS.into();
    // An extension has its own messages and types alone: the others are in the tables of its revision.
    let listed = |name: &str| facts.extension.is_none() || !shared.contains(name);
    files.add("methods.rs", None, about, methods::tables(model, listed))?;
    let body = services::services(model, docs, facts);
    files.add("services.rs", None, &scaffold::ABOUT_SERVICES.into(), body)?;
    (files.files).extend(scaffold::files(facts, model, &areas, shared)?);
    Ok(files.files)
}

/// Emits the crate of all types that several revisions share; `of` gives what was emitted for a revision. Fails for tokens that
/// do not parse, and templates that do not render.
pub fn shared_files<'p>(
    once: &Once,
    of: impl Fn(&str) -> Option<&'p Pieces>,
) -> Result<CrateFiles, Error> {
    let header = header_of(COMMAND, "spec/");
    let mut all = CrateFiles::new();
    for set in once.sets() {
        let latest = set.revisions.last().copied().unwrap_or_default();
        let Some(pieces) = of(latest) else { continue };
        let homes = once.of(latest);
        let home = |name: &str| match homes.get(name) {
            Some(module) => format!("crate::{module}"),
            None => "crate".to_owned(),
        };
        let mut files = Sources {
            header: header.clone(),
            below: format!("{}/", set.module),
            pieces,
            own: set.types.iter().map(String::as_str).collect(),
            home: &home,
            files: CrateFiles::new(),
        };
        let areas = files.areas()?;
        let text = format::rust(scaffold::shared_modules(&set, &areas), &set.module)?;
        files.files.insert(
            format!("src/{}/mod.rs", set.module),
            format!("{header}{text}"),
        );
        all.extend(files.files);
    }
    all.extend(scaffold::shared(once, &header)?);
    Ok(all)
}

/// The source files of a crate, or of a module of it, with what each imports.
struct Sources<'p> {
    header: String,
    /// The folder below `src/`, with a slash at its end; empty for the root.
    below: String,
    pieces: &'p Pieces,
    /// The types that the files are of.
    own: SortedSet<&'p str>,
    /// The module that has a type, as a path.
    home: &'p dyn Fn(&str) -> String,
    files: CrateFiles,
}

impl<'p> Sources<'p> {
    fn add(
        &mut self,
        name: &str,
        area: Option<&str>,
        about: &Markdown,
        body: TokenStream,
    ) -> Result<(), Error> {
        let path = format!("src/{}{name}", self.below);
        let body = format::parsed(body, &path)?;
        // The types of a file need no import in it.
        let here = |name: &str| {
            let piece = self.pieces.get(name)?;
            let is_here = area == Some(&piece.area) && self.own.contains(name);
            (!is_here).then(|| (self.home)(name))
        };
        let imports = imports::imports(here, |name| self.pieces.contains_key(name), &body);
        let about = inner_doc(about);
        let text = format::below(quote!(#about #imports), body, &path)?;
        self.files.insert(path, format!("{}{text}", self.header));
        Ok(())
    }

    /// Adds the files of some types, and the module of those that read and write them; returns their names.
    fn areas(&mut self) -> Result<SortedSet<String>, Error> {
        let mut areas: SortedMap<&str, Vec<(&str, &Piece)>> = SortedMap::new();
        for name in &self.own {
            if let Some(piece) = self.pieces.get(*name) {
                areas.entry(&piece.area).or_default().push((name, piece));
            }
        }
        for (area, pieces) in &areas {
            let items = pieces.iter().map(|(_, piece)| &piece.item);
            let (file, about) = (format!("{area}.rs"), scaffold::about_area(area));
            self.add(&file, Some(area), &about, quote!(#(#items)*))?;
            let wire = pieces.iter().map(|(_, piece)| &piece.wire);
            let bridged: Vec<_> = pieces
                .iter()
                .filter(|(_, piece)| !piece.wire.is_empty())
                .map(|(name, _)| ty::ident(name))
                .collect();
            let bridge =
                (!bridged.is_empty()).then(|| quote!(mcp_wire::serde_bridge!(#(#bridged),*);));
            let opening = Markdown::from("Reading and writing the types of ");
            let about = opening.then(Markdown::code(area)).then(".");
            let body = quote!(#(#wire)* #bridge);
            self.add(&format!("wire/{area}.rs"), None, &about, body)?;
        }
        let area_names: SortedSet<String> = areas.keys().map(|area| (*area).to_owned()).collect();
        let path = format!("src/{}wire/mod.rs", self.below);
        let text = format::rust(scaffold::wire_modules(&area_names), &path)?;
        self.files.insert(path, format!("{}{text}", self.header));
        Ok(area_names)
    }
}

/// Returns a type, with its constructor and conversions.
fn area_item(
    model: &Model,
    def: &TypeDef,
    items: &SortedMap<String, TokenStream>,
    docs: &TypeDocs,
) -> TokenStream {
    let item = items.get(&def.name);
    match &def.shape {
        Shape::Object(object) => {
            let constructor = structs::constructor(model, def, object);
            let flags = structs::flags(def, object, docs);
            quote!(#item #constructor #flags)
        }
        Shape::Newtype(ty) => {
            let (ways, _) = structs::newtype(def, ty);
            quote!(#item #ways)
        }
        Shape::StringEnum(_) | Shape::OpenEnum(_) => quote!(#item),
        Shape::Union(union) => unions::item(model, def, union, docs),
        Shape::Alias(ty) => alias_of(def, ty, docs),
    }
}

/// Another name for `target`, and what is declared beside it.
fn alias(
    def: &TypeDef,
    target: &TokenStream,
    beside: &TokenStream,
    docs: &TypeDocs,
) -> TokenStream {
    let attributes = doc(&docs.ty(def));
    let name = ty::ident(&def.name);
    quote!(#(#attributes)* pub type #name = #target; #beside)
}

fn alias_of(def: &TypeDef, ty: &Ty, docs: &TypeDocs) -> TokenStream {
    match ty::runtime_path(ty) {
        // The hand-written type goes by the same name: it is that type.
        Some(path) if path.ends_with(&format!("::{}", def.name)) => {
            let path = rust_type(&Ty::Runtime(path, Vec::new()));
            quote!(#[doc(inline)] pub use #path;)
        }
        _ => alias(def, &rust_type(ty), &TokenStream::new(), docs),
    }
}

fn area_wire(model: &Model, def: &TypeDef) -> TokenStream {
    match &def.shape {
        Shape::Object(object) => structs::wire(model, def, object),
        Shape::Newtype(ty) => structs::newtype(def, ty).1,
        Shape::StringEnum(choices) | Shape::OpenEnum(choices) => {
            let (name, other) = (ty::ident(&def.name), ty::ident(OTHER));
            let open = matches!(def.shape, Shape::OpenEnum(_)).then(|| quote!(open #other));
            let variants = choices.iter().map(|choice| ty::ident(&pascal_case(choice)));
            quote!(mcp_wire::strings! { #name #open { #(#variants #choices;)* } })
        }
        Shape::Union(union) => unions::wire(def, union),
        Shape::Alias(_) => TokenStream::new(),
    }
}
