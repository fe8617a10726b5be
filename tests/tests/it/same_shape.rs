//! Where two revisions say the same of a type, their crates have the same Rust: names, fields, their order, constructors.

use mcp_codegen::generate::revision_crate;
use std::collections::BTreeMap;

use mcp_revisions_schema::model::{ObjectShape, Shape, TypeDef};
use mcp_revisions_schema::{Models, RevisionModel};
use quote::ToTokens;

/// The items of a crate by the type that they belong to, as tokens without their docs.
type Items = BTreeMap<String, Vec<String>>;

/// The models, and what was emitted from them.
fn emitted<'m>(models: &'m Models<'_>) -> Vec<(&'m RevisionModel<'m>, Items)> {
    let mut all = Vec::new();
    for of in &models.revisions {
        let made = revision_crate(models, &of.revision.id).unwrap();
        // A crate that re-exports another one has that one's items.
        if made.reexports.is_some() {
            continue;
        }
        let mut items = Items::new();
        for (path, text) in &made.files {
            if path.ends_with(".rs") {
                let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
                file.items
                    .into_iter()
                    .for_each(|item| collect(item, &mut items));
            }
        }
        // In which file an item stands is not part of its shape.
        items.values_mut().for_each(|tokens| tokens.sort());
        all.push((of, items));
    }
    all
}

fn collect(item: syn::Item, items: &mut Items) {
    let (name, tokens) = match item {
        syn::Item::Struct(mut item) => {
            bare(&mut item.attrs);
            item.fields
                .iter_mut()
                .for_each(|field| bare(&mut field.attrs));
            (item.ident.to_string(), item.to_token_stream())
        }
        syn::Item::Enum(mut item) => {
            bare(&mut item.attrs);
            item.variants
                .iter_mut()
                .for_each(|variant| bare(&mut variant.attrs));
            (item.ident.to_string(), item.to_token_stream())
        }
        syn::Item::Type(mut item) => {
            bare(&mut item.attrs);
            (item.ident.to_string(), item.to_token_stream())
        }
        syn::Item::Use(item) if matches!(item.vis, syn::Visibility::Public(_)) => {
            return reexports(&item.tree, &mut Vec::new(), items);
        }
        // What answers a request is a fact of its method, not of its type.
        syn::Item::Impl(item) if is_of_method(&item) => return,
        // The table of a struct's members begins with its name.
        syn::Item::Macro(item) if item.mac.path.segments.last().unwrap().ident == "record" => {
            let tokens = item.mac.tokens;
            let name = tokens.clone().into_iter().next();
            (
                name.map(|name| name.to_string()).unwrap_or_default(),
                tokens,
            )
        }
        syn::Item::Impl(mut item) => {
            bare(&mut item.attrs);
            for inner in &mut item.items {
                if let syn::ImplItem::Fn(function) = inner {
                    bare(&mut function.attrs);
                }
            }
            let name = item.self_ty.to_token_stream().to_string();
            (name, item.to_token_stream())
        }
        _ => return,
    };
    items.entry(name).or_default().push(tokens.to_string());
}

/// A type of a hand-written crate is re-exported under its own name.
fn reexports(tree: &syn::UseTree, path: &mut Vec<String>, items: &mut Items) {
    match tree {
        syn::UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            reexports(&inner.tree, path, items);
            path.pop();
        }
        syn::UseTree::Name(name) => {
            let name = name.ident.to_string();
            let whole = format!("use {}::{name}", path.join("::"));
            items.entry(name).or_default().push(whole);
        }
        syn::UseTree::Group(group) => {
            let inner = group.items.iter();
            inner.for_each(|tree| reexports(tree, path, items));
        }
        syn::UseTree::Rename(_) | syn::UseTree::Glob(_) => {}
    }
}

fn is_of_method(item: &syn::ItemImpl) -> bool {
    let last = item
        .trait_
        .as_ref()
        .and_then(|(path, _)| path.segments.last());
    last.is_some_and(|last| last.ident == "Request" || last.ident == "Notification")
}

fn bare(attributes: &mut Vec<syn::Attribute>) {
    attributes.retain(|attribute| !attribute.path().is_ident("doc"));
}

/// The definition of the schema, or the place of an inline schema, that is a type of both revisions.
fn shared<'m>(
    old: &'m RevisionModel<'_>,
    new: &'m RevisionModel<'_>,
) -> Vec<(&'m TypeDef, &'m TypeDef)> {
    let mut pairs: Vec<(&TypeDef, &TypeDef)> = Vec::new();
    for def in old.model.types.values() {
        let twin = match &def.definition {
            Some(definition) => new.model.definition(definition),
            None => new.model.types.values().find(|other| {
                other.definition.is_none()
                    && other.places.iter().any(|place| def.places.contains(place))
            }),
        };
        pairs.extend(twin.map(|twin| (def, twin)));
    }
    pairs
}

#[test]
fn equal_types_are_equal_rust() {
    let models = crate::specs::models();
    let all = emitted(models);
    let (mut equal, mut different) = (0, 0);
    for (index, (old, old_items)) in all.iter().enumerate() {
        for (new, new_items) in &all[index + 1..] {
            let between = format!("{} and {}", old.revision.id, new.revision.id);
            for (a, b) in shared(old, new) {
                if a.shape != b.shape || a.deprecated != b.deprecated {
                    different += usize::from(old_items.get(&a.name) != new_items.get(&b.name));
                    continue;
                }
                assert_eq!(a.name, b.name, "{between}: one shape, two names");
                let name = a.name.as_str();
                let (old, new) = (old_items.get(name), new_items.get(name));
                assert!(old.is_some(), "{between}: {name} is not in the crate");
                assert_eq!(
                    old, new,
                    "{between}: {name} is the same on the wire, but not in Rust"
                );
                equal += 1;
            }
        }
    }
    println!("{equal} pairs of equal types, {different} of different ones");
    assert!(
        equal > 500,
        "only {equal} pairs of equal types: is there still something to compare?"
    );
    assert!(
        different > 100,
        "only {different} pairs of different types: does the comparison see anything?"
    );
}

#[test]
fn members_that_stay_keep_their_fields_and_their_order() {
    let models = crate::specs::models();
    let mut compared = 0;
    for pair in models.revisions.windows(2) {
        let [old, new] = pair else { continue };
        for (a, b) in shared(old, new) {
            let (Shape::Object(left), Shape::Object(right)) = (&a.shape, &b.shape) else {
                continue;
            };
            let between = format!("{} of {} and {}", a.name, old.revision.id, new.revision.id);
            assert_eq!(a.name, b.name, "{between}");
            assert_eq!(kept(left, right), kept(right, left), "{between}");
            compared += 1;
        }
    }
    assert!(compared > 300, "only {compared} pairs of objects");
}

/// Wire name and field of the members that another object has as well, in order.
fn kept<'o>(object: &'o ObjectShape, other: &ObjectShape) -> Vec<(&'o str, &'o str)> {
    let is_kept = |wire: &str| other.members.iter().any(|member| member.wire == wire);
    object
        .members
        .iter()
        .filter(|member| is_kept(&member.wire))
        .map(|member| (member.wire.as_str(), member.field.as_str()))
        .collect()
}
