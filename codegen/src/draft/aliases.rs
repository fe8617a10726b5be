//! Definitions that end in no type, because they end in themselves.

use std::collections::{BTreeMap, BTreeSet};

use super::{Def, Draft, Shape, Ty, cycles};
use crate::Error;
use crate::schema::schema_error;

/// How many names may lie between a type and what it stands for.
const MAX_ALIASES: usize = 64;

/// Refuses aliases and unions that stand for no value at all, because they end in themselves.
pub(super) fn check(draft: &Draft, file: &str) -> Result<(), Error> {
    let mut errors = Vec::new();
    for def in draft.types.values() {
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
                match draft.get(name) {
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
    let variants: BTreeMap<String, BTreeSet<String>> = (draft.types.iter())
        .filter_map(|(name, def)| match &def.shape {
            Shape::Union(_) => Some((name.clone(), draft.held(&def.shape))),
            _ => None,
        })
        .collect();
    for group in cycles(&variants) {
        let first = group
            .iter()
            .filter_map(|name| draft.get(name))
            .map(Def::at)
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
