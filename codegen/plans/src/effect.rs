//! The effects of conversions beside a value, found by striking out those that can lose something, and those that can stop.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use super::plan::{
    AlternativesPlan, Arm, ConversionBody, Effect, HookCall, Missing, ObjectPlan, PairEnd,
    PlannedConversion, SourceValue, Transfer, ValueSource, may_stop,
};
use super::rules::Action;
use mcp_revisions_schema::model::Rest;

/// Marks the conversions of one direction.
pub(super) fn mark(conversions: &mut [PlannedConversion]) {
    let places: SortedMap<_, _> = conversions.iter().map(ends).zip(0..).collect();
    let calls: Vec<Vec<Option<usize>>> = conversions
        .iter()
        .map(|one| {
            let called = one.body.transfers().into_iter().filter_map(target);
            called.map(|ends| places.get(&ends).copied()).collect()
        })
        .collect();
    // A conversion can come to all that the conversions can that it calls.
    let closed = |those: fn(&ConversionBody, &PairEnd) -> bool| {
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

fn ends(one: &PlannedConversion) -> (PairEnd, PairEnd) {
    (one.from.clone(), one.to.clone())
}

/// Returns the largest part of a set whose members all hold, given the others of that part.
pub fn largest<T: Ord + Clone>(
    mut set: SortedSet<T>,
    holds: impl Fn(&T, &SortedSet<T>) -> bool,
) -> SortedSet<T> {
    loop {
        let gone: Vec<T> = set
            .iter()
            .filter(|one| !holds(one, &set))
            .cloned()
            .collect();
        if gone.is_empty() {
            return set;
        }
        set.retain(|one| !gone.contains(one));
    }
}

/// Returns whether the conversion itself can neither lose nor stop.
fn is_plain(body: &ConversionBody, from: &PairEnd) -> bool {
    match body {
        ConversionBody::Object(plan) => {
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
                && plan.moves.is_none()
                && keeps_rest
                && plan.dropped.iter().all(|plan| plan.action == Action::Pass)
                // Opaque text may hold what no map can.
                && *from != PairEnd::Opaque
                && plan.fields.iter().all(|field| match &field.source {
                    ValueSource::Same(same) => {
                        field.was.is_none()
                            && same.missing.is_none()
                            && same.implied.is_none()
                            && same.null.is_none()
                            && same.filter.is_none()
                    }
                    _ => false,
                })
        }
        ConversionBody::Union(arms) => arms.iter().all(|arm| matches!(arm.arm, Arm::Same(_))),
        ConversionBody::Strings(plans) => plans.iter().all(|plan| plan.rejected.is_none()),
        ConversionBody::IntoVariant(_) | ConversionBody::Split(_) | ConversionBody::Text => true,
        ConversionBody::Custom(_) | ConversionBody::Reread | ConversionBody::Reject { .. } => false,
    }
}

/// Returns whether the conversion itself always gives a value.
fn goes_on(body: &ConversionBody, from: &PairEnd) -> bool {
    match body {
        // Opaque text may hold what no map can.
        ConversionBody::Object(plan) => *from != PairEnd::Opaque && gives(plan),
        ConversionBody::Union(arms) => arms.iter().all(|arm| match &arm.arm {
            Arm::Same(_) => true,
            Arm::Custom(hook) => !hook.stops(),
            Arm::RequiresState { .. } | Arm::Reject { .. } => false,
        }),
        ConversionBody::Strings(plans) => plans.iter().all(|plan| plan.rejected.is_none()),
        ConversionBody::IntoVariant(_) | ConversionBody::Split(_) | ConversionBody::Text => true,
        ConversionBody::Custom(hook) => !hook.stops(),
        ConversionBody::Reread | ConversionBody::Reject { .. } => false,
    }
}

/// Returns whether an object always comes of an object.
fn gives(plan: &ObjectPlan) -> bool {
    let fills =
        |missing: &Missing| matches!(&missing.action, Action::Custom(path) if !may_stop(path));
    let gives = |source: &ValueSource| match source {
        ValueSource::Same(same) => {
            (same.missing.iter()).all(|missing| missing.empty.is_some() || fills(missing))
        }
        ValueSource::Fill(missing) => fills(missing),
        ValueSource::Custom { hook, .. } | ValueSource::Derived(hook) => !hook.stops(),
        ValueSource::Claim { .. } | ValueSource::Adopt(_) | ValueSource::Session(_) => true,
        ValueSource::Reread(_) | ValueSource::Lost(_) | ValueSource::Constant(_) => false,
    };
    let stops = |action: &Action| match action {
        Action::Custom(path) => may_stop(path),
        action => action.stops() || matches!(action, Action::Only(_)),
    };
    let mut spread = plan.spread().iter().flat_map(AlternativesPlan::held_values);
    !plan.before.iter().chain(&plan.after).any(HookCall::stops)
        && spread.all(|held| held.absent.is_none())
        && (plan.fields.iter()).all(|field| {
            let left_out = matches!(&field.source, ValueSource::Reread(_) | ValueSource::Lost(_));
            gives(&field.source) || left_out && field.optional
        })
        && !plan.dropped.iter().any(|plan| stops(&plan.action))
        && (plan.settled.iter())
            .all(|plan| plan.rule.is_some() && matches!(plan.from, SourceValue::Field { .. }))
}

/// Returns the conversion that a transfer ends in.
pub fn target(transfer: &Transfer) -> Option<(PairEnd, PairEnd)> {
    match transfer {
        Transfer::Call { from, to } => Some((from.clone(), to.clone())),
        Transfer::List(inner)
        | Transfer::Map(inner)
        | Transfer::Nullable(inner)
        | Transfer::OrNull(inner) => target(inner),
        Transfer::Move | Transfer::Widen => None,
    }
}
