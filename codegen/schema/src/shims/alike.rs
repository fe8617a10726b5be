//! Types that two revisions have exactly alike, and that no method reaches: what reads in the one reads in the other.

use std::collections::BTreeSet;

use super::plan::{Conversion, End};
use crate::model::{Member, Model, Object, Shape, Ty, TypeDef};

/// The Rust names of all definitions that are alike and lack a conversion on some way.
pub(super) fn unreached(
    [old, new]: [&Model; 2],
    [up, down]: [&[Conversion]; 2],
) -> BTreeSet<String> {
    let both = |name: &str| -> bool {
        let is_it = |one: &Conversion| one.from == End::Type(name.to_owned());
        up.iter().any(is_it) && down.iter().any(is_it)
    };
    let definitions = |name: &String| {
        let is_definition =
            |model: &Model| model.get(name).is_some_and(|it| it.definition.is_some());
        is_definition(old) && is_definition(new)
    };
    let alike = alike(old, new).into_iter();
    alike
        .filter(|name| definitions(name) && !both(name))
        .collect()
}

/// JSON-RPC's members that say how the rest is read: params by the method, a result or an error by what it answers.
const DECIDING: [&str; 3] = ["code", "method", "result"];

/// The names of all types that are the same, with all that they hold.
fn alike(old: &Model, new: &Model) -> BTreeSet<String> {
    let same = |(name, def): (&String, &TypeDef)| {
        let other = new.get(name)?;
        let decided = |it: &Member| DECIDING.contains(&it.wire.as_str());
        let by_method = matches!(&def.shape, Shape::Object(it) if it.members.iter().any(decided));
        (!by_method && is_same(&def.shape, &other.shape)).then(|| name.clone())
    };
    let mut alike: BTreeSet<String> = old.types.iter().filter_map(same).collect();
    // A type is no more alike than those that it holds.
    loop {
        let holds_other = |name: &String| {
            let shapes = [old, new].map(|model| model.get(name).map(|def| &def.shape));
            let mut held = shapes.into_iter().flatten().flat_map(held);
            held.any(|name| !alike.contains(name))
        };
        let gone: Vec<String> = alike
            .iter()
            .filter(|name| holds_other(name))
            .cloned()
            .collect();
        if gone.is_empty() {
            return alike;
        }
        alike.retain(|name| !gone.contains(name));
    }
}

/// Whether two shapes are the same, by the names of the types that they hold.
fn is_same(one: &Shape, other: &Shape) -> bool {
    let (Shape::Object(one), Shape::Object(other)) = (one, other) else {
        return one == other;
    };
    let Object { members, rest } = one;
    let told = |object: &Object| -> Vec<_> {
        let members = object.members.iter();
        members
            .map(|it| {
                let presence = (it.wire.clone(), it.presence.clone());
                (presence, it.ty.clone(), it.constraints.clone())
            })
            .collect()
    };
    rest == &other.rest && members.len() == other.members.len() && told(one) == told(other)
}

/// The names of the types that a shape holds.
fn held(shape: &Shape) -> Vec<&String> {
    let mut held = Vec::new();
    match shape {
        Shape::Object(object) => {
            for member in &object.members {
                named(&member.ty, &mut held);
            }
        }
        Shape::Union(union) => {
            for variant in &union.variants {
                named(&variant.ty, &mut held);
            }
        }
        Shape::StringEnum(_) => {}
        Shape::Newtype(ty) | Shape::Alias(ty) => named(ty, &mut held),
    }
    held
}

fn named<'t>(ty: &'t Ty, held: &mut Vec<&'t String>) {
    match ty {
        Ty::Named(name) => held.push(name),
        Ty::Nullable(inner) | Ty::Array(inner) | Ty::Map(inner) => named(inner, held),
        Ty::Runtime(_, inner) => inner.iter().for_each(|ty| named(ty, held)),
        Ty::String
        | Ty::Boolean
        | Ty::Integer
        | Ty::Number
        | Ty::Json
        | Ty::JsonObject
        | Ty::JsonArray => {}
    }
}
