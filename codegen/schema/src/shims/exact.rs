//! Which conversions cannot lose, need or refuse anything, found by striking out those that can.

use crate::sorted::{SortedMap, SortedSet};

use super::plan::{Arm, Body, Conversion, End, Source, Transfer};
use super::rules::Action;
use crate::model::Rest;

/// Marks the conversions of one direction.
pub(super) fn mark(conversions: &mut [Conversion]) {
    let ends = |one: &Conversion| (one.from.clone(), one.to.clone());
    let all = conversions.iter();
    let bodies: SortedMap<_, _> = all.clone().map(|one| (ends(one), &one.body)).collect();
    let plain = all.filter(|one| is_plain(&one.body, &one.from));
    // A conversion is no better than those it calls.
    let exact = largest(plain.map(ends).collect(), |ends, exact| {
        let called = bodies[ends].transfers().into_iter().filter_map(target);
        called.into_iter().all(|called| exact.contains(&called))
    });
    for one in conversions {
        one.exact = exact.contains(&ends(one));
    }
}

/// Returns the largest part of a set whose members all hold, given the others of that part.
pub fn largest<T: Ord + Clone>(
    mut set: SortedSet<T>,
    holds: impl Fn(&T, &SortedSet<T>) -> bool,
) -> SortedSet<T> {
    loop {
        let gone = set.iter().filter(|one| !holds(one, &set));
        let gone: Vec<T> = gone.cloned().collect();
        if gone.is_empty() {
            return set;
        }
        set.retain(|one| !gone.contains(one));
    }
}

/// Whether the conversion itself can neither lose nor stop.
fn is_plain(body: &Body, from: &End) -> bool {
    match body {
        Body::Object(plan) => {
            // The target keeps all that the source has.
            let ends = (&plan.rest.from, &plan.rest.to);
            let keeps_rest = matches!(ends, (_, Rest::Open) | (Rest::Closed, Rest::Closed));
            plan.before.is_empty()
                && plan.after.is_empty()
                && plan.settled.is_empty()
                && plan.foreign.is_empty()
                && keeps_rest
                && plan.dropped.iter().all(|plan| plan.action == Action::Pass)
                // Opaque text may hold what no map can.
                && *from != End::Opaque
                && plan.fields.iter().all(|field| match &field.source {
                    Source::Same(same) => {
                        !field.renamed
                            && same.missing.is_none()
                            && same.implied.is_none()
                            && same.null.is_none()
                            && same.filter.is_none()
                    }
                    _ => false,
                })
        }
        Body::Union(arms) => arms.iter().all(|arm| matches!(arm.arm, Arm::Same(_))),
        Body::Strings(plans) => plans.iter().all(|plan| plan.rejected.is_none()),
        Body::IntoVariant(_) | Body::Split(_) => true,
        Body::Custom(_) | Body::Reread | Body::Reject { .. } => false,
    }
}

/// Returns the conversion that a transfer ends in.
#[must_use]
pub fn target(transfer: &Transfer) -> Option<(End, End)> {
    match transfer {
        Transfer::Call { from, to } => Some((from.clone(), to.clone())),
        Transfer::List(inner)
        | Transfer::Map(inner)
        | Transfer::Nullable(inner)
        | Transfer::OrNull(inner) => target(inner),
        Transfer::Move | Transfer::Widen => None,
    }
}
