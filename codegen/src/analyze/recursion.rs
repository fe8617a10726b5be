//! Types that contain themselves: aliases that never end are refused, values are put into a `Box`.

use std::collections::{BTreeMap, BTreeSet};

use crate::Error;
use crate::model::{Model, Shape, Ty};
use crate::schema::schema_error;

/// Refuses alias cycles, which stand for no value at all.
pub(crate) fn check_aliases(model: &Model, file: &str) -> Result<(), Error> {
    let mut errors = Vec::new();
    for def in model.types.values() {
        let mut path = vec![def.name.as_str()];
        let mut shape = &def.shape;
        // Lists and maps of itself end in an empty one, but Rust has no such alias either.
        while let Shape::Alias(ty) = shape
            && let Some(name) = named(ty)
        {
            if path.contains(&name) {
                path.push(name);
                errors.push(schema_error(
                    file,
                    &def.places.join(", "),
                    "a definition that ends in a type",
                    &format!("an alias cycle: {}", path.join(" -> ")),
                    "mend one of them with an erratum, or read it as opaque JSON in spec/shapes.toml",
                ));
                break;
            }
            path.push(name);
            match model.get(name) {
                Some(next) => shape = &next.shape,
                None => break,
            }
        }
    }
    Error::check(errors)
}

fn named(ty: &Ty) -> Option<&str> {
    match ty {
        Ty::Named(name) => Some(name),
        Ty::Array(inner) | Ty::Map(inner) | Ty::Nullable(inner) => named(inner),
        _ => None,
    }
}

/// Boxes each member and variant through which a type holds itself by value.
pub(crate) fn box_cycles(model: &mut Model) {
    let edges: BTreeMap<String, BTreeSet<String>> = (model.types.values())
        .map(|def| (def.name.clone(), held(model, &def.shape)))
        .collect();
    let cyclic: BTreeMap<&String, BTreeSet<&String>> = edges
        .keys()
        .map(|name| (name, reachable(&edges, name)))
        .collect();
    let loops_back = |owner: &String, ty: &Ty| {
        direct(model_types(ty), &edges).any(|target| {
            target == owner
                || cyclic
                    .get(target)
                    .is_some_and(|reached| reached.contains(owner))
        })
    };
    let mut boxes: Vec<(String, usize)> = Vec::new();
    for def in model.types.values() {
        let types: Vec<&Ty> = match &def.shape {
            Shape::Object(object) => object.members.iter().map(|member| &member.ty).collect(),
            Shape::Union(union) => union.variants.iter().map(|variant| &variant.ty).collect(),
            _ => continue,
        };
        for (index, ty) in types.into_iter().enumerate() {
            let resolved = model.resolve(ty);
            if loops_back(&def.name, resolved) {
                boxes.push((def.name.clone(), index));
            }
        }
    }
    for (name, index) in boxes {
        match model.types.get_mut(&name).map(|def| &mut def.shape) {
            Some(Shape::Object(object)) => object.members[index].boxed = true,
            Some(Shape::Union(union)) => union.variants[index].boxed = true,
            _ => {}
        }
    }
}

/// The type held by value, if any: what lies behind a list or a map is on the heap already.
fn model_types(ty: &Ty) -> Option<&String> {
    match ty {
        Ty::Named(name) => Some(name),
        Ty::Nullable(inner) => model_types(inner),
        _ => None,
    }
}

fn direct<'e>(
    name: Option<&'e String>,
    edges: &'e BTreeMap<String, BTreeSet<String>>,
) -> impl Iterator<Item = &'e String> {
    name.into_iter().filter(|name| edges.contains_key(*name))
}

fn held(model: &Model, shape: &Shape) -> BTreeSet<String> {
    let types: Vec<&Ty> = match shape {
        Shape::Object(object) => object.members.iter().map(|member| &member.ty).collect(),
        Shape::Union(union) => union.variants.iter().map(|variant| &variant.ty).collect(),
        Shape::Newtype(ty) | Shape::Alias(ty) => vec![ty],
        Shape::StringEnum(_) => Vec::new(),
    };
    types
        .into_iter()
        .filter_map(|ty| model_types(model.resolve(ty)).cloned())
        .collect()
}

fn reachable<'e>(
    edges: &'e BTreeMap<String, BTreeSet<String>>,
    from: &'e String,
) -> BTreeSet<&'e String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        for target in edges.get(name).into_iter().flatten() {
            if reached.insert(target) {
                open.push(target);
            }
        }
    }
    reached
}
