//! Conversions that nothing is done by: of types that both revisions of a pair share.

use mcp_schema::sorted::{SortedMap, SortedSet};

use mcp_schema::shims::exact::{largest, target};
use mcp_schema::shims::plan::{Arm, Body, Conversion, End, Missing, PairPlan, Source, Transfer};

/// Takes the conversions of `shared` types out of a plan, and the calls of them; returns the types, by Rust name, that
/// they were of, on the way up and on the way down.
///
/// A conversion of a shared type stays where a rule or a hook does something to its values.
pub(super) fn reduce(plan: &mut PairPlan, shared: &SortedSet<&str>) -> [SortedSet<String>; 2] {
    let take = |conversions: &mut Vec<Conversion>| {
        let own = (conversions.iter())
            .filter(|one| one.exact && one.from == one.to && is_identity(&one.body))
            .filter_map(|one| match &one.from {
                End::Type(name) if shared.contains(name.as_str()) => Some(name.clone()),
                _ => None,
            })
            .collect();
        let called: SortedMap<String, Vec<(End, End)>> = (conversions.iter_mut())
            .filter(|one| one.from == one.to)
            .map(|one| {
                let all = transfers(&mut one.body).into_iter();
                let called = all.filter_map(|transfer| target(transfer)).collect();
                (one.from.name().to_owned(), called)
            })
            .collect();
        // What holds a type that something is done to is not moved as a whole.
        let same = largest(own, |name, same| {
            let is_moved = |(from, to): &(End, End)| {
                from == to && matches!(from, End::Type(name) if same.contains(name))
            };
            called[name].iter().all(is_moved)
        });
        let is_same = |end: &End| matches!(end, End::Type(name) if same.contains(name));
        conversions.retain(|one| one.from != one.to || !is_same(&one.from));
        for one in conversions {
            for transfer in transfers(&mut one.body) {
                *transfer = without(transfer, &is_same);
            }
        }
        same
    };
    [&mut plan.up, &mut plan.down].map(take)
}

fn transfers(body: &mut Body) -> Vec<&mut Transfer> {
    match body {
        Body::Object(plan) => (plan.fields.iter_mut())
            .flat_map(|field| match &mut field.source {
                Source::Same(same) => {
                    vec![
                        Some(&mut same.transfer),
                        same.missing.as_mut().and_then(empty),
                    ]
                }
                Source::Reread(recast) | Source::Lost(recast) => {
                    vec![recast.missing.as_mut().and_then(empty)]
                }
                Source::Fill(missing) => vec![empty(missing)],
                _ => Vec::new(),
            })
            .flatten()
            .collect(),
        Body::Union(arms) => (arms.iter_mut())
            .filter_map(|arm| match &mut arm.arm {
                Arm::Same(becomes) => Some(&mut becomes.transfer),
                _ => None,
            })
            .collect(),
        Body::IntoVariant(becomes) => vec![&mut becomes.transfer],
        Body::Split(plan) => (plan.arms.iter_mut())
            .map(|(_, becomes)| &mut becomes.transfer)
            .collect(),
        Body::Strings(_) | Body::Custom(_) | Body::Reread | Body::Reject { .. } => Vec::new(),
    }
}

fn empty(missing: &mut Missing) -> Option<&mut Transfer> {
    missing.empty.as_mut()
}

/// Whether a conversion of a shared type puts each member and variant where it was.
fn is_identity(body: &Body) -> bool {
    match body {
        Body::Object(plan) => plan.fields.iter().all(|target| match &target.source {
            Source::Same(same) => {
                same.field == target.field && same.summon.is_none() && !same.prune
            }
            _ => false,
        }),
        Body::Union(arms) => arms.iter().all(|plan| match &plan.arm {
            Arm::Same(becomes) => becomes.variant.as_ref() == Some(&plan.variant),
            _ => false,
        }),
        Body::Strings(_) => true,
        _ => false,
    }
}

/// A transfer in which values of shared types are only moved, and with them what holds nothing else.
fn without(transfer: &Transfer, is_same: &impl Fn(&End) -> bool) -> Transfer {
    let within =
        |inner: &Transfer, around: fn(Box<Transfer>) -> Transfer| match without(inner, is_same) {
            Transfer::Move => Transfer::Move,
            inner => around(Box::new(inner)),
        };
    match transfer {
        Transfer::Call { from, to } if from == to && is_same(from) => Transfer::Move,
        Transfer::List(inner) => within(inner, Transfer::List),
        Transfer::Map(inner) => within(inner, Transfer::Map),
        Transfer::Nullable(inner) => within(inner, Transfer::Nullable),
        // `null` comes to be possible: the type is another one.
        Transfer::OrNull(inner) => Transfer::OrNull(Box::new(without(inner, is_same))),
        Transfer::Call { .. } | Transfer::Move | Transfer::Widen => transfer.clone(),
    }
}
