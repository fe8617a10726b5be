//! Conversions that nothing is done by: of types that both revisions of a pair share.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use mcp_revisions_plans::effect::{largest, target};
use mcp_revisions_plans::plan::{
    Arm, ConversionBody, Effect, PairEnd, PlannedConversion, Transfer, ValueSource,
};

/// Returns the types, by Rust name, that both ends of a way have as one and that are moved as a whole; `shared` are those
/// that both ends have as one.
///
/// A conversion of a shared type stays where a rule or a hook does something to its values.
pub(super) fn moved(
    conversions: &[PlannedConversion],
    shared: &SortedSet<&str>,
) -> SortedSet<String> {
    let same = |one: &&PlannedConversion| one.from == one.to;
    let own = (conversions.iter().filter(same))
        .filter(|one| one.effect == Effect::Exact && is_identity(&one.body))
        .filter(|one| shared.contains(one.from.name()) && matches!(one.from, PairEnd::Type(_)))
        .map(|one| one.from.name().to_owned());
    let bodies: SortedMap<&str, &ConversionBody> = (conversions.iter().filter(same))
        .map(|one| (one.from.name(), &one.body))
        .collect();
    // What holds a type that something is done to is not moved as a whole.
    largest(own.collect(), |name, moved| {
        let body = bodies.get(name.as_str());
        let mut called = body.into_iter().flat_map(|body| body.transfers());
        called.all(|transfer| target(transfer).is_none_or(|(from, to)| is_moved(&from, &to, moved)))
    })
}

/// Returns whether nothing is done by the conversion between two ends.
pub(super) fn is_moved(from: &PairEnd, to: &PairEnd, moved: &SortedSet<String>) -> bool {
    from == to && matches!(from, PairEnd::Type(name) if moved.contains(name))
}

/// Returns whether a conversion of a shared type puts each member and variant where it was.
fn is_identity(body: &ConversionBody) -> bool {
    match body {
        ConversionBody::Object(plan) => plan.fields.iter().all(|target| match &target.source {
            ValueSource::Same(same) => {
                same.field == target.field && same.summon.is_none() && !same.prune
            }
            _ => false,
        }),
        ConversionBody::Union(arms) => arms.iter().all(|plan| match &plan.arm {
            Arm::Same(becomes) => becomes.variant.as_ref() == Some(&plan.variant),
            _ => false,
        }),
        ConversionBody::Strings(_) | ConversionBody::Text => true,
        _ => false,
    }
}

/// Returns a transfer in which values of such types are only moved, and with them what holds nothing else.
pub(super) fn reduced(transfer: &Transfer, moved: &SortedSet<String>) -> Transfer {
    let within = |inner: &Transfer, around: fn(Box<Transfer>) -> Transfer| {
        reduced(inner, moved).within(around)
    };
    match transfer {
        Transfer::Call { from, to } if is_moved(from, to, moved) => Transfer::Move,
        Transfer::List(inner) => within(inner, Transfer::List),
        Transfer::Map(inner) => within(inner, Transfer::Map),
        Transfer::Nullable(inner) => within(inner, Transfer::Nullable),
        // `null` comes to be possible: the type is another one.
        Transfer::OrNull(inner) => Transfer::OrNull(Box::new(reduced(inner, moved))),
        Transfer::Call { .. } | Transfer::Move | Transfer::Widen => transfer.clone(),
    }
}
