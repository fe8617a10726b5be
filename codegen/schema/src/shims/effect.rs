//! The effects of conversions beside a value, found by striking out those that can lose something, and those that can stop.

use crate::sorted::{SortedMap, SortedSet};

use super::plan::{
    Arm, Body, Conversion, Effect, End, Held, Hook, Missing, ObjectPlan, Source, Transfer, may_stop,
};
use super::rules::Action;
use crate::model::Rest;

/// Marks the conversions of one direction.
pub(super) fn mark(conversions: &mut [Conversion]) {
    let places: SortedMap<_, _> = conversions.iter().map(ends).zip(0..).collect();
    let calls = conversions.iter().map(|one| {
        let called = one.body.transfers().into_iter().filter_map(target);
        called.map(|ends| places.get(&ends).copied()).collect()
    });
    let calls: Vec<Vec<Option<usize>>> = calls.collect();
    // A conversion can come to all that the conversions can that it calls.
    let closed = |those: fn(&Body, &End) -> bool| {
        let all = conversions.iter().enumerate();
        let those = all.filter(|(_, one)| those(&one.body, &one.from));
        largest(those.map(|(at, _)| at).collect(), |at, set| {
            let holds = |called: &Option<usize>| called.is_some_and(|called| set.contains(&called));
            calls[*at].iter().all(holds)
        })
    };
    let (exact, lossy) = (closed(is_plain), closed(goes_on));
    for (at, one) in conversions.iter_mut().enumerate() {
        one.effect = match at {
            at if exact.contains(&at) => Effect::Exact,
            at if lossy.contains(&at) => Effect::Lossy,
            _ => Effect::Fallible,
        };
    }
}

fn ends(one: &Conversion) -> (End, End) {
    (one.from.clone(), one.to.clone())
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

/// Returns whether the conversion itself can neither lose nor stop.
fn is_plain(body: &Body, from: &End) -> bool {
    match body {
        Body::Object(plan) => {
            // The target keeps all that the source has.
            let ends = (&plan.rest.from, &plan.rest.to);
            let keeps_rest = match ends {
                (_, Rest::Open) | (Rest::Closed, Rest::Closed) => true,
                // A member that joins the others has to be one of their type.
                _ => plan.rest.transfer.is_some() && plan.dropped.is_empty(),
            };
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
                        field.was.is_none()
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

/// Returns whether the conversion itself always gives a value.
fn goes_on(body: &Body, from: &End) -> bool {
    match body {
        // Opaque text may hold what no map can.
        Body::Object(plan) => *from != End::Opaque && gives(plan),
        Body::Union(arms) => arms.iter().all(|arm| match &arm.arm {
            Arm::Same(_) => true,
            Arm::Custom(hook) => !hook.stops(),
            Arm::RequiresState { .. } | Arm::Reject { .. } => false,
        }),
        Body::Strings(plans) => plans.iter().all(|plan| plan.rejected.is_none()),
        Body::IntoVariant(_) | Body::Split(_) => true,
        Body::Custom(hook) => !hook.stops(),
        Body::Reread | Body::Reject { .. } => false,
    }
}

/// Returns whether an object always comes of an object.
fn gives(plan: &ObjectPlan) -> bool {
    let fills =
        |missing: &Missing| matches!(&missing.action, Action::Custom(path) if !may_stop(path));
    let gives = |source: &Source| match source {
        Source::Same(same) => {
            (same.missing.iter()).all(|missing| missing.empty.is_some() || fills(missing))
        }
        Source::Fill(missing) => fills(missing),
        Source::Custom { hook, .. } | Source::Derived(hook) => !hook.stops(),
        Source::Claim { .. } | Source::Adopt(_) | Source::Session(_) => true,
        Source::Reread(_) | Source::Lost(_) | Source::Constant(_) => false,
    };
    let stops = |action: &Action| match action {
        Action::Custom(path) => may_stop(path),
        action => action.stops() || matches!(action, Action::Only(_)),
    };
    !plan.before.iter().chain(&plan.after).any(Hook::stops)
        && (plan.fields.iter()).all(|field| {
            let left_out = matches!(&field.source, Source::Reread(_) | Source::Lost(_));
            gives(&field.source) || left_out && field.optional
        })
        && !plan.dropped.iter().any(|plan| stops(&plan.action))
        && (plan.settled.iter())
            .all(|plan| plan.rule.is_some() && matches!(plan.from, Held::Field { .. }))
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
