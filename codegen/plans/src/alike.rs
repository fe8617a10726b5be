//! Types that two revisions have exactly alike, and that no method reaches: what reads in the one reads in the other.

use mcp_revisions_schema::sorted::SortedSet;

use super::effect::largest;
use super::plan::{PairEnd, PlannedConversion};
use mcp_revisions_schema::model::{Member, Model, Shape, Ty, TypeDef};

/// Returns the Rust names of all definitions that are alike and lack a conversion on some way.
pub(super) fn unreached(
    [old, new]: [&Model; 2],
    [up, down]: [&[PlannedConversion]; 2],
) -> SortedSet<String> {
    let converted = [up, down].map(|way| -> SortedSet<&str> {
        let named = way
            .iter()
            .map(|one| &one.from)
            .filter(|end| matches!(end, PairEnd::Type(_)));
        named.map(PairEnd::name).collect()
    });
    let both = |name: &str| converted.iter().all(|names| names.contains(name));
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

/// Returns the names of all types that are the same, with all that they hold.
fn alike(old: &Model, new: &Model) -> SortedSet<String> {
    let same = |(name, def): &(String, TypeDef)| {
        let other = new.get(name)?;
        let decided = |it: &Member| DECIDING.contains(&it.wire.as_str());
        let by_method = matches!(&def.shape, Shape::Object(it) if it.members.iter().any(decided));
        (!by_method && is_same(&def.shape, &other.shape)).then(|| name.clone())
    };
    let alike = old.types.iter().filter_map(same).collect();
    // A type differs if one that it holds differs.
    largest(alike, |name, alike| {
        let shapes = [old, new].map(|model| model.shape(name));
        let held = shapes.into_iter().flatten().flat_map(Shape::holds);
        held.filter_map(Ty::named).all(|name| alike.contains(name))
    })
}

/// Returns whether two shapes are the same, by the names of the types that they hold.
fn is_same(one: &Shape, other: &Shape) -> bool {
    let (Shape::Object(one), Shape::Object(other)) = (one, other) else {
        return one == other;
    };
    let same = |(one, other): (&Member, &Member)| {
        one.wire == other.wire
            && one.presence == other.presence
            && one.ty == other.ty
            && one.constraints == other.constraints
    };
    one.rest == other.rest
        && one.members.len() == other.members.len()
        && one.members.iter().zip(&other.members).all(same)
}
