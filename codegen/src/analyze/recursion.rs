//! Types that contain themselves: aliases that never end are refused, values are put into a `Box`.

use std::collections::{BTreeMap, BTreeSet};

use crate::Error;
use crate::model::{Model, Shape, Ty, TypeDef};
use crate::schema::schema_error;

/// How many names may lie between a type and what it stands for.
const MAX_ALIASES: usize = 64;

/// Refuses aliases and unions that stand for no value at all, because they end in themselves.
pub(crate) fn check_aliases(model: &Model, file: &str) -> Result<(), Error> {
    let mut errors = Vec::new();
    for def in model.types.values() {
        let mut path = vec![def.name.as_str()];
        let mut shape = &def.shape;
        // Lists and maps of itself end in an empty one, but Rust has no such alias either.
        while let Shape::Alias(ty) = shape
            && let Some(name) = named(ty)
        {
            let found = if path.contains(&name) {
                format!("an alias cycle: {} -> {name}", path.join(" -> "))
            } else if path.len() > MAX_ALIASES {
                let first = path[..4].join(" -> ");
                format!("more than {MAX_ALIASES} aliases of each other: {first} -> ...")
            } else {
                path.push(name);
                match model.get(name) {
                    Some(next) => shape = &next.shape,
                    None => break,
                }
                continue;
            };
            errors.push(endless(file, &def.at(), &found));
            break;
        }
    }
    Error::check(std::mem::take(&mut errors))?;
    // Now that aliases end: a union that is a variant of itself.
    let variants: BTreeMap<String, BTreeSet<String>> = (model.types.iter())
        .filter_map(|(name, def)| match &def.shape {
            Shape::Union(_) => Some((name.clone(), held(model, &def.shape))),
            _ => None,
        })
        .collect();
    for group in cycles(&variants) {
        let first = group
            .iter()
            .filter_map(|name| model.get(name))
            .map(TypeDef::at)
            .min();
        let found = format!(
            "a union that holds itself as a variant: {}",
            group.join(", ")
        );
        errors.push(endless(file, &first.unwrap_or_default(), &found));
    }
    Error::check(errors)
}

fn endless(file: &str, place: &str, found: &str) -> Error {
    schema_error(
        file,
        place,
        "a definition that ends in a type",
        found,
        "mend one of them with an erratum, or read it as opaque JSON in spec/shapes.toml",
    )
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
    // What lies in one cycle holds itself through every other type of that cycle.
    let mut cycle_of: BTreeMap<String, usize> = BTreeMap::new();
    for (number, group) in cycles(&edges).into_iter().enumerate() {
        cycle_of.extend(group.into_iter().map(|name| (name, number)));
    }
    let mut boxes: Vec<(String, usize)> = Vec::new();
    for def in model.types.values() {
        let Some(cycle) = cycle_of.get(&def.name) else {
            continue;
        };
        let types: Vec<&Ty> = match &def.shape {
            Shape::Object(object) => object.members.iter().map(|member| &member.ty).collect(),
            Shape::Union(union) => union.variants.iter().map(|variant| &variant.ty).collect(),
            _ => continue,
        };
        for (index, ty) in types.into_iter().enumerate() {
            let held = by_value(model.resolve(ty));
            if held.and_then(|name| cycle_of.get(name)) == Some(cycle) {
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
fn by_value(ty: &Ty) -> Option<&String> {
    match ty {
        Ty::Named(name) => Some(name),
        Ty::Nullable(inner) => by_value(inner),
        _ => None,
    }
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
        .filter_map(|ty| by_value(model.resolve(ty)).cloned())
        .collect()
}

/// The groups of types that hold each other, and the types that hold themselves: Tarjan's strongly
/// connected components, without recursion, since a schema may chain as many types as it likes.
fn cycles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let names: Vec<&String> = edges.keys().collect();
    let number: BTreeMap<&String, usize> = (names.iter().enumerate())
        .map(|(index, name)| (*name, index))
        .collect();
    let targets: Vec<Vec<usize>> = (edges.values())
        .map(|held| {
            held.iter()
                .filter_map(|name| number.get(name).copied())
                .collect()
        })
        .collect();
    let count = names.len();
    let (mut order, mut low) = (vec![usize::MAX; count], vec![0; count]);
    let (mut on_stack, mut stack) = (vec![false; count], Vec::new());
    let mut groups = Vec::new();
    let mut next = 0;
    for root in 0..count {
        // Each step: a type, and how many of its targets are done.
        let mut path = vec![(root, 0)];
        if order[root] != usize::MAX {
            continue;
        }
        while let Some((at, done)) = path.pop() {
            if done == 0 {
                order[at] = next;
                low[at] = next;
                next += 1;
                stack.push(at);
                on_stack[at] = true;
            } else {
                low[at] = low[at].min(low[targets[at][done - 1]]);
            }
            let unseen = (done..targets[at].len()).find(|index| {
                let target = targets[at][*index];
                if order[target] != usize::MAX && on_stack[target] {
                    low[at] = low[at].min(order[target]);
                }
                order[target] == usize::MAX
            });
            if let Some(index) = unseen {
                path.push((at, index + 1));
                path.push((targets[at][index], 0));
                continue;
            }
            if low[at] != order[at] {
                continue;
            }
            let start = stack
                .iter()
                .rposition(|member| *member == at)
                .unwrap_or_default();
            let group = stack.split_off(start);
            group.iter().for_each(|member| on_stack[*member] = false);
            if group.len() > 1 || targets[at].contains(&at) {
                groups.push(group.iter().map(|member| names[*member].clone()).collect());
            }
        }
    }
    groups
}
