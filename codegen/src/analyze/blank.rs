//! What reading starts from: a value that allocates nothing, and the variant that it has in each union.

use std::collections::BTreeMap;

use crate::Error;
use crate::model::{Model, Presence, Shape, Ty, TypeDef, Union};
use crate::schema::schema_error;

/// The variant of each union's blank, by Rust name and index; an open union starts as the unknown one.
///
/// `file` is the schema.
///
/// # Errors
/// Types that no value can have, since each value would hold another one.
pub(crate) fn variants(model: &Model, file: &str) -> Result<BTreeMap<String, usize>, Error> {
    let ranks = ranks(model);
    let endless = model
        .types
        .values()
        .filter(|def| !ranks.contains_key(&*def.name));
    Error::check(endless.map(|def| refuse(def, file)).collect())?;
    let unions = model.types.values().filter_map(|def| match &def.shape {
        Shape::Union(union) => Some((def.name.clone(), start(union, &ranks)?)),
        _ => None,
    });
    Ok(unions.collect())
}

fn refuse(def: &TypeDef, file: &str) -> Error {
    schema_error(
        file,
        &def.at(),
        "a type that some finite JSON can have",
        "one whose every value holds another of it",
        "make a member on the way optional with an erratum",
    )
}

/// The variant that is the least to make: no box, then few steps.
fn start(union: &Union, ranks: &BTreeMap<&str, usize>) -> Option<usize> {
    let variants = union.variants.iter().enumerate();
    let cost = |ty: &Ty| match ty {
        Ty::Named(name) => ranks.get(name.as_str()).copied(),
        _ => Some(0),
    };
    let made = variants.filter_map(|(at, variant)| Some((variant.boxed, cost(&variant.ty)?, at)));
    made.min().map(|(_, _, at)| at)
}

/// In how many steps a blank of each type is made; a type that no value can have is not there.
fn ranks(model: &Model) -> BTreeMap<&str, usize> {
    let mut ranks = BTreeMap::new();
    for rank in 0.. {
        let can_be = |ty: &Ty| match ty {
            Ty::Named(name) => ranks.contains_key(name.as_str()),
            _ => true,
        };
        let made = |def: &TypeDef| match &def.shape {
            Shape::Object(object) => (object.members.iter())
                .all(|member| member.presence != Presence::Required || can_be(&member.ty)),
            Shape::Union(union) => {
                union.open || union.variants.iter().any(|variant| can_be(&variant.ty))
            }
            Shape::Newtype(ty) | Shape::Alias(ty) => can_be(ty),
            Shape::StringEnum(_) => true,
        };
        let next: Vec<&str> = (model.types.values())
            .filter(|def| !ranks.contains_key(&*def.name) && made(def))
            .map(|def| def.name.as_str())
            .collect();
        if next.is_empty() {
            break;
        }
        ranks.extend(next.into_iter().map(|name| (name, rank)));
    }
    ranks
}
