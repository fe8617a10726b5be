//! Definitions that end in no type, because they end in themselves.

use crate::sorted::{SortedMap, SortedSet};

use super::cycles;
use super::opaque::opaque;
use crate::Error;
use crate::decision::Scope;
use crate::model::{BuiltModel, Model, Shape, Ty, TypeDef};

/// Maximum number of names between a type and its target.
const MAX_ALIASES: usize = 64;

/// Refuses aliases and unions that stand for no value at all, because they end in themselves.
///
/// Lists and maps of themselves end in an empty one, but Rust has no such alias: those are opaque.
pub(super) fn settle(built: &mut BuiltModel, file: &str, scope: &Scope) -> Result<(), Error> {
    let mut errors = Vec::new();
    let names: Vec<String> = built.model.types.keys().cloned().collect();
    for name in names {
        let Some((found, ends)) = circle(&built.model, &name) else {
            continue;
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
    let variants: SortedMap<String, SortedSet<String>> = (built.model.types.iter())
        .filter_map(|(name, def)| match &def.shape {
            Shape::Union(_) => Some((name.clone(), built.model.types_by_value(&def.shape))),
            _ => None,
        })
        .collect();
    for group in cycles(&variants) {
        let defs = group.iter().filter_map(|name| built.model.get(name));
        let first = defs.map(TypeDef::at).min();
        let found = format!(
            "a union that holds itself as a variant: {}",
            group.join(", ")
        );
        errors.push(endless(file, &first.unwrap_or_default(), &found));
    }
    Error::check(errors)
}

/// Returns the cycle of an alias that ends in no type, in words, and whether some finite value fits it.
fn circle(model: &Model, name: &str) -> Option<(String, bool)> {
    let mut path = vec![name];
    let mut wrapped = false;
    let start = name;
    let mut shape = model.shape(name);
    while let Some(Shape::Alias(ty)) = shape
        && let Some(name) = ty.named()
    {
        wrapped |= has_list(ty);
        if name == start {
            let found = format!("an alias cycle: {} -> {name}", path.join(" -> "));
            return Some((found, wrapped));
        }
        // A circle further on is told where it is.
        if path.contains(&name) {
            break;
        }
        if path.len() > MAX_ALIASES {
            let first = path[..4].join(" -> ");
            let found = format!("more than {MAX_ALIASES} aliases of each other: {first} -> ...");
            return Some((found, true));
        }
        path.push(name);
        shape = model.shape(name);
    }
    None
}

fn has_list(ty: &Ty) -> bool {
    match ty {
        Ty::Array(_) | Ty::Map(_) => true,
        Ty::Nullable(inner) => has_list(inner),
        _ => false,
    }
}

fn endless(file: &str, place: &str, found: &str) -> Error {
    let expected = "a definition that ends in a type";
    let help = "mend one of them with an erratum, or read it as opaque JSON in spec/shapes.toml";
    Error::schema(file, place, expected, found, help)
}
