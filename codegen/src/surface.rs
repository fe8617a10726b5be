//! The public items of the crates of released revisions, and what a generation would change of them.
//!
//! A release is published: what is written for a new revision leaves the types of those before as they are.

use mcp_revisions_schema::names::{extension_package, module, package};
use mcp_revisions_schema::sorted::SortedMap;
use mcp_revisions_schema::spec::{RevisionStage, Spec};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;

use crate::emit::CrateFiles;
use crate::format;
use crate::generate::Generated;
use mcp_revisions_schema::Error;

/// The crate of the types that several revisions have alike.
const SHARED: &str = "mcp-shared";

/// How many changed items an error names.
const NAMED: usize = 20;

/// Public items by name (`Icon`, `Icon.theme`, `Icon::new`), each with what it says.
type Surface = SortedMap<String, String>;

/// Returns the packages of the crates that hold public items of released revisions.
pub fn packages(spec: &Spec) -> Vec<String> {
    let released = released(spec).map(package);
    let extensions = released_extensions(spec);
    released
        .chain([SHARED.to_owned()])
        .chain(extensions)
        .collect()
}

/// Checks that what was made leaves the public items of released revisions as they stand.
///
/// `stands` has the files of [`packages`] by package, those of a crate that is not there yet left out. Fails for each item that
/// is gone or says something else, and each field or variant that is added, with what to do.
pub fn check(
    spec: &Spec,
    stands: &SortedMap<String, CrateFiles>,
    made: &Generated,
) -> Result<(), Error> {
    let files = made
        .crates
        .iter()
        .map(|one| (one.package.clone(), one.files.clone()));
    let made: SortedMap<String, CrateFiles> = files.collect();
    let mut changes = Vec::new();
    for id in released(spec) {
        let package = package(id);
        let is_same = |name: &str| {
            let sources = |crates: &SortedMap<String, CrateFiles>| {
                let mut files = crates.get(name).cloned().unwrap_or_default();
                files.retain(|path, _| path.ends_with(".rs"));
                files
            };
            sources(stands) == sources(&made)
        };
        if !stands.contains_key(&package) || (is_same(&package) && is_same(SHARED)) {
            continue;
        }
        let [before, after] = [surface(stands, id)?, surface(&made, id)?];
        changes.extend(differences(&package, &before, &after));
    }
    for package in released_extensions(spec) {
        let (Some(before), Some(after)) = (stands.get(&package), made.get(&package)) else {
            continue;
        };
        let mut surfaces = [Surface::new(), Surface::new()];
        for (surface, files) in surfaces.iter_mut().zip([before, after]) {
            add_folder(surface, &package, files, "src/")?;
        }
        let [mut before_items, mut after_items] = surfaces;
        before_items.extend(reexported(&package, before)?);
        let elsewhere = reexported(&package, after)?;
        // A type that another crate has now is there for users under the same name.
        before_items.retain(|name, _| !elsewhere.contains_key(owner(name)));
        after_items.extend(elsewhere);
        changes.extend(differences(&package, &before_items, &after_items));
    }
    if changes.is_empty() {
        return Ok(());
    }
    let more = changes.len().saturating_sub(NAMED);
    changes.truncate(NAMED);
    if more > 0 {
        changes.push(format!("and {more} more"));
    }
    Err(Error::usage(
        format!(
            "it would change public items of released revisions; nothing was written\n  {}",
            changes.join("\n  ")
        ),
        "a row of spec/ that is meant for a new revision says `since = \"ID\"`: without it, the row holds for every revision. Where the change is meant, for example by an erratum, run `cargo xtask generate --change-released`, and tell users of those crates",
    ))
}

/// Returns the ids of released revisions.
fn released(spec: &Spec) -> impl Iterator<Item = &str> {
    let released = spec
        .revisions
        .iter()
        .filter(|of| of.status == RevisionStage::Released);
    released.map(|of| of.id.as_str())
}

/// Returns the packages of released states of extensions.
fn released_extensions(spec: &Spec) -> impl Iterator<Item = String> {
    let released = spec
        .extensions
        .iter()
        .filter(|of| of.status() == RevisionStage::Released);
    released.map(|of| extension_package(&of.name))
}

/// Returns the names that the root of a crate re-exports from other crates.
fn reexported(package: &str, files: &CrateFiles) -> Result<Surface, Error> {
    let mut names = Surface::new();
    if let Some(root) = files.get("src/lib.rs") {
        let root = parse(package, "src/lib.rs", root)?;
        let is_module = |name: &syn::Ident| {
            let mut items = root.items.iter();
            items.any(|item| matches!(item, syn::Item::Mod(of) if of.ident == *name))
        };
        for item in &root.items {
            if let syn::Item::Use(syn::ItemUse {
                tree: syn::UseTree::Path(of),
                ..
            }) = item
                && !is_module(&of.ident)
            {
                add_item(&mut names, item);
            }
        }
    }
    Ok(names)
}

/// Returns the type or trait that an item belongs to: itself, or the one before its field, variant, function or trait.
fn owner(name: &str) -> &str {
    let of_trait = name.rsplit_once(" for ");
    let name = of_trait.map_or(name, |(_, owner)| owner);
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    name.split(|letter| !is_word(letter))
        .next()
        .unwrap_or_default()
}

/// Returns the differences between two surfaces of a crate, a line for each item.
fn differences(package: &str, before: &Surface, after: &Surface) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, was) in before {
        match after.get(name) {
            None => lines.push(format!("{package}: {name} is gone")),
            Some(is) if is != was => {
                lines.push(format!("{package}: {name} was `{was}`, and is `{is}`"));
            }
            Some(_) => {}
        }
    }
    let added = after.keys().filter(|name| {
        // A new type breaks no user of the crate; a new field or variant of a released type does.
        let owner = name.split_once('.').map(|(owner, _)| owner);
        owner.is_some_and(|owner| before.contains_key(owner)) && !before.contains_key(*name)
    });
    lines.extend(added.map(|name| format!("{package}: {name} is added")));
    lines
}

/// The files of a crate that hold no types of their own: tables, and modules.
const TABLES: [&str; 3] = ["lib.rs", "mod.rs", "methods.rs"];

/// Returns the public items of a revision's crate, those included that it re-exports.
fn surface(crates: &SortedMap<String, CrateFiles>, id: &str) -> Result<Surface, Error> {
    let mut surface = Surface::new();
    let own = package(id);
    if let Some(files) = crates.get(&own) {
        add_folder(&mut surface, &own, files, "src/")?;
    }
    let Some(shared) = crates.get(SHARED) else {
        return Ok(surface);
    };
    let Some(list) = shared.get("src/lib.rs") else {
        return Ok(surface);
    };
    for group in groups(&parse(SHARED, "src/lib.rs", list)?, &module(id)) {
        add_folder(&mut surface, SHARED, shared, &format!("src/{group}/"))?;
    }
    Ok(surface)
}

/// Returns the modules that the module of a revision re-exports whole.
fn groups(list: &syn::File, of: &str) -> Vec<String> {
    let mut groups = Vec::new();
    for item in &list.items {
        let syn::Item::Mod(syn::ItemMod {
            ident,
            content: Some((_, items)),
            ..
        }) = item
        else {
            continue;
        };
        for item in items.iter().filter(|_| ident == of) {
            if let syn::Item::Use(syn::ItemUse {
                tree: syn::UseTree::Path(root),
                ..
            }) = item
                && let syn::UseTree::Path(group) = &*root.tree
            {
                groups.push(group.ident.to_string());
            }
        }
    }
    groups
}

/// Adds the public items of the files that lie right in a folder.
fn add_folder(
    surface: &mut Surface,
    package: &str,
    files: &CrateFiles,
    folder: &str,
) -> Result<(), Error> {
    for (path, text) in files {
        let is_area = path.strip_prefix(folder).is_some_and(|name| {
            name.ends_with(".rs") && !name.contains('/') && !TABLES.contains(&name)
        });
        if is_area {
            for item in &parse(package, path, text)?.items {
                add_item(surface, item);
            }
        }
    }
    Ok(())
}

fn parse(package: &str, path: &str, text: &str) -> Result<syn::File, Error> {
    syn::parse_file(text).map_err(|cause| {
        let file = format!("{}/{package}/{path}", crate::generate::GENERATED);
        let help = "generated files are not edited: take it back from version control";
        Error::file(file, format!("it is not Rust: {cause}"), "", help)
    })
}

fn add_item(surface: &mut Surface, item: &syn::Item) {
    let is_public = |vis: &syn::Visibility| matches!(vis, syn::Visibility::Public(_));
    match item {
        syn::Item::Struct(of) if is_public(&of.vis) => {
            let name = of.ident.to_string();
            for (at, field) in of.fields.iter().enumerate() {
                let field_name = field
                    .ident
                    .as_ref()
                    .map_or_else(|| at.to_string(), ToString::to_string);
                surface.insert(format!("{name}.{field_name}"), plain(&field.ty));
            }
            let generics = plain(&of.generics);
            surface.insert(name, format!("struct{generics}"));
        }
        syn::Item::Enum(of) if is_public(&of.vis) => {
            let name = of.ident.to_string();
            for variant in &of.variants {
                surface.insert(format!("{name}.{}", variant.ident), plain(&variant.fields));
            }
            let generics = plain(&of.generics);
            surface.insert(name, format!("enum{generics}"));
        }
        syn::Item::Type(of) if is_public(&of.vis) => {
            surface.insert(of.ident.to_string(), plain(&of.ty));
        }
        syn::Item::Const(of) if is_public(&of.vis) => {
            surface.insert(of.ident.to_string(), plain(&of.ty));
        }
        syn::Item::Fn(of) if is_public(&of.vis) => {
            surface.insert(of.sig.ident.to_string(), plain(&of.sig));
        }
        syn::Item::Trait(of) if is_public(&of.vis) => {
            let name = of.ident.to_string();
            for item in &of.items {
                if let syn::TraitItem::Fn(function) = item {
                    let sig = &function.sig;
                    surface.insert(format!("{name}::{}", sig.ident), plain(sig));
                }
            }
            surface.insert(name, format!("trait{}", plain(&of.supertraits)));
        }
        syn::Item::Impl(of) => {
            let owner = plain(&of.self_ty);
            if let Some((of_trait, _)) = &of.trait_ {
                surface.insert(
                    format!("impl {} for {owner}", plain(of_trait)),
                    String::new(),
                );
            }
            for item in &of.items {
                if let syn::ImplItem::Fn(function) = item
                    && is_public(&function.vis)
                {
                    let sig = &function.sig;
                    surface.insert(format!("{owner}::{}", sig.ident), plain(sig));
                }
            }
        }
        syn::Item::Macro(of) => {
            let tokens = plain(&of.mac.tokens);
            let first = tokens.split_whitespace().next().unwrap_or_default();
            surface.insert(format!("{first}!"), tokens);
        }
        syn::Item::Use(of) if is_public(&of.vis) => add_names(surface, "use ", &of.tree),
        _ => {}
    }
}

/// Adds the names that a `use` makes public, each with its path; those of a glob are in the files that it leads to.
fn add_names(surface: &mut Surface, path: &str, tree: &syn::UseTree) {
    match tree {
        syn::UseTree::Path(of) => add_names(surface, &format!("{path}{}::", of.ident), &of.tree),
        syn::UseTree::Name(of) => {
            surface.insert(of.ident.to_string(), format!("{path}{}", of.ident));
        }
        syn::UseTree::Rename(of) => {
            surface.insert(of.rename.to_string(), format!("{path}{}", of.ident));
        }
        syn::UseTree::Group(of) => {
            for tree in &of.items {
                add_names(surface, path, tree);
            }
        }
        syn::UseTree::Glob(_) => {}
    }
}

/// Returns the text of tokens without docs and other attributes, and without the modules of paths, which may move.
fn plain(tokens: &impl ToTokens) -> String {
    format::line(without_modules(tokens.to_token_stream()))
}

fn without_modules(tokens: TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = TokenStream::new();
    let mut at = 0;
    while let Some(token) = trees.get(at) {
        let is_punct = |place: usize, wanted: char| matches!(trees.get(place), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted);
        let is_attribute = is_punct(at, '#')
            && matches!(trees.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket);
        let is_module = matches!(token, TokenTree::Ident(ident) if ident.to_string().starts_with(char::is_lowercase))
            && is_punct(at + 1, ':')
            && is_punct(at + 2, ':');
        at += match token {
            _ if is_attribute => 2,
            _ if is_module => 3,
            TokenTree::Group(group) => {
                let inner = without_modules(group.stream());
                rest.extend([TokenTree::from(Group::new(group.delimiter(), inner))]);
                1
            }
            other => {
                rest.extend([other.clone()]);
                1
            }
        };
    }
    rest
}
