//! Definitions that end in no type, because they end in themselves.

use std::collections::{BTreeMap, BTreeSet};

use super::cycles;
use super::opaque::opaque;
use crate::Error;
use crate::decision::Scope;
use crate::model::{Built, Model, Shape, Ty, TypeDef};

/// How many names may lie between a type and what it stands for.
const MAX_ALIASES: usize = 64;

/// Refuses aliases and unions that stand for no value at all, because they end in themselves.
///
/// Lists and maps of themselves end in an empty one, but Rust has no such alias: those are opaque.
pub(super) fn settle(built: &mut Built, file: &str, scope: &Scope) -> Result<(), Error> {
    let mut errors = Vec::new();
    let names: Vec<String> = built.model.types.keys().cloned().collect();
    for name in names {
        let (found, ends) = match followed(&built.model, &name) {
            Followed::Type => continue,
            Followed::Circle { found, ends } => (found, ends),
        };
        if ends {
            let open = format!("expected a definition that ends in a type, found {found}");
            opaque(built, scope, &name, Ty::Json, open);
        } else if let Some(def) = built.model.get(&name) {
            errors.push(endless(file, &def.at(), &found));
        }
    }
    Error::check(std::mem::take(&mut errors))?;
    // Now that aliases end: a union that is a variant of itself.
    let variants: BTreeMap<String, BTreeSet<String>> = (built.model.types.iter())
        .filter_map(|(name, def)| match &def.shape {
            Shape::Union(_) => Some((name.clone(), built.model.held(&def.shape))),
            _ => None,
        })
        .collect();
    for group in cycles(&variants) {
        let first = group
            .iter()
            .filter_map(|name| built.model.get(name))
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

/// Where an alias leads.
enum Followed {
    /// To something else than an alias.
    Type,
    /// To itself, or nowhere near; `ends` if some finite value is that.
    Circle { found: String, ends: bool },
}

fn followed(model: &Model, name: &str) -> Followed {
    let mut path = vec![name];
    let mut wrapped = false;
    let start = name;
    let mut shape = model.shape(name);
    while let Some(Shape::Alias(ty)) = shape
        && let Some(name) = ty.named()
    {
        wrapped |= has_list(ty);
        if name == start {
            return Followed::Circle {
                found: format!("an alias cycle: {} -> {name}", path.join(" -> ")),
                ends: wrapped,
            };
        }
        // A circle further on is told where it is.
        if path.contains(&name) {
            break;
        }
        if path.len() > MAX_ALIASES {
            let first = path[..4].join(" -> ");
            return Followed::Circle {
                found: format!("more than {MAX_ALIASES} aliases of each other: {first} -> ..."),
                ends: true,
            };
        }
        path.push(name);
        shape = model.shape(name);
    }
    Followed::Type
}

fn has_list(ty: &Ty) -> bool {
    match ty {
        Ty::Array(_) | Ty::Map(_) => true,
        Ty::Nullable(inner) => has_list(inner),
        _ => false,
    }
}

fn endless(file: &str, place: &str, found: &str) -> Error {
    Error::schema(
        file,
        place,
        "a definition that ends in a type",
        found,
        "mend one of them with an erratum, or read it as opaque JSON in spec/shapes.toml",
    )
}
