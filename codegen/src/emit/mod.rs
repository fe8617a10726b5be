//! From a model to the files of a crate.
//!
//! One small generator per kind of item; this module puts their output into files by area.
//! To add one: a module here, a call in `area_items` or `area_wire`, a golden in `tests/`.

mod enums;
mod fields;
mod imports;
mod items;
mod methods;
mod scaffold;
mod services;
mod structs;
mod ty;
mod unions;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;
use syn::Item;

use crate::format;
use mcp_schema::Error;
use mcp_schema::docs::TypeDocs;
use mcp_schema::model::{Model, Shape, Ty, TypeDef};

pub(crate) use imports::named;
pub use scaffold::CrateFacts;
pub(crate) use scaffold::template;
use ty::rust_type;

/// The files of a crate, by path below its root.
pub type CrateFiles = BTreeMap<String, String>;

/// Emits the crate of one revision.
///
/// # Errors
/// Names that Rust does not take, with the rule that settles them, and failures of typify and syn.
pub fn crate_files(
    model: &Model,
    docs: &TypeDocs,
    facts: &CrateFacts,
) -> Result<CrateFiles, Error> {
    ty::check_names(model, &facts.source)?;
    let items = items::items(model, docs)?;
    let mut areas: BTreeMap<&str, Vec<&TypeDef>> = BTreeMap::new();
    for def in model.types.values() {
        areas.entry(&def.area).or_default().push(def);
    }
    let header = scaffold::header(facts);
    let mut files = CrateFiles::new();
    let mut add = |path: String, area: Option<&str>, about: &str, body: TokenStream| {
        let body = format::parsed(body, &path)?;
        let imports = imports::imports(model, &body, area);
        let text = format::below(quote!(#![doc = #about] #imports), body, &path)?;
        files.insert(path, format!("{header}{text}"));
        Ok::<(), Error>(())
    };
    for (area, defs) in &areas {
        let about = scaffold::about_area(area);
        let body = area_items(model, defs, &items, docs)?;
        add(format!("src/{area}.rs"), Some(area), &about, body)?;
        let about = scaffold::about_wire(area);
        let body = area_wire(defs);
        add(format!("src/wire/{area}.rs"), None, &about, body)?;
    }
    let (impls, tables) = (methods::impls(model), methods::tables(model));
    add(
        "src/methods.rs".to_owned(),
        None,
        scaffold::ABOUT_METHODS,
        quote!(#tables #impls),
    )?;
    add(
        "src/services.rs".to_owned(),
        None,
        scaffold::ABOUT_SERVICES,
        services::services(model, docs, facts),
    )?;
    let names: BTreeSet<&str> = areas.keys().copied().collect();
    let path = "src/wire/mod.rs".to_owned();
    let text = format::rust(scaffold::wire_modules(&names), &path)?;
    files.insert(path, format!("{header}{text}"));
    files.insert(
        "src/lib.rs".to_owned(),
        scaffold::lib(facts, model, &names)?,
    );
    files.insert("Cargo.toml".to_owned(), scaffold::manifest(facts)?);
    files.insert("README.md".to_owned(), scaffold::readme(facts, model)?);
    Ok(files)
}

/// The files of a crate that re-exports another one.
///
/// # Errors
/// A template that does not render.
pub fn reexport_files(facts: &CrateFacts, of: &CrateFacts) -> Result<CrateFiles, Error> {
    scaffold::reexport(facts, of)
}

/// The types of an area, each with its constructor and conversions.
fn area_items(
    model: &Model,
    defs: &[&TypeDef],
    items: &BTreeMap<String, Item>,
    docs: &TypeDocs,
) -> Result<TokenStream, Error> {
    let mut body = TokenStream::new();
    for def in defs {
        let item = items.get(&def.name);
        body.extend(match &def.shape {
            Shape::Object(object) => {
                let constructor = structs::constructor(model, def, object);
                quote!(#item #constructor)
            }
            Shape::Newtype(ty) => {
                let (ways, _) = structs::newtype(def, ty);
                quote!(#item #ways)
            }
            Shape::StringEnum(choices) => {
                let ways = enums::ways(def, choices);
                quote!(#item #ways)
            }
            Shape::Union(union) => unions::item(model, def, union, docs),
            Shape::Alias(ty) => alias(def, ty, docs),
        });
    }
    Ok(body)
}

fn alias(def: &TypeDef, ty: &Ty, docs: &TypeDocs) -> TokenStream {
    let attributes = items::doc(&docs.of(def).ty);
    let name = ty::ident(&def.name);
    match ty::runtime_path(ty) {
        // The hand-written type goes by the same name: it is that type.
        Some(path) if path.ends_with(&format!("::{}", def.name)) => {
            let path = rust_type(&Ty::Runtime(path, Vec::new()));
            quote!(#[doc(inline)] pub use #path;)
        }
        _ => {
            let target = rust_type(ty);
            quote!(#(#attributes)* pub type #name = #target;)
        }
    }
}

/// Reading and writing of the types of an area.
fn area_wire(defs: &[&TypeDef]) -> TokenStream {
    let mut body = TokenStream::new();
    let mut bridged = Vec::new();
    for def in defs {
        body.extend(match &def.shape {
            Shape::Object(object) => structs::wire(def, object),
            Shape::Newtype(ty) => structs::newtype(def, ty).1,
            Shape::StringEnum(choices) => enums::wire(def, choices),
            Shape::Union(union) => unions::wire(def, union),
            Shape::Alias(_) => continue,
        });
        bridged.push(ty::ident(&def.name));
    }
    if !bridged.is_empty() {
        body.extend(quote!(mcp_wire::serde_bridge!(#(#bridged),*);));
    }
    body
}
