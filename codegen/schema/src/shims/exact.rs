//! Which conversions cannot lose, need or refuse anything, found by striking out those that can.

use std::collections::BTreeMap;

use super::plan::{Arm, Body, Conversion, End, Source, Step};
use super::rules::Action;

/// Marks the conversions of one direction.
pub(super) fn mark(conversions: &mut [Conversion]) {
    let mut exact: BTreeMap<(End, End), bool> = conversions
        .iter()
        .map(|one| {
            (
                (one.from.clone(), one.to.clone()),
                is_plain(&one.body, &one.from),
            )
        })
        .collect();
    // A conversion is no better than those it calls.
    loop {
        let mut changed = false;
        for one in conversions.iter() {
            let key = (one.from.clone(), one.to.clone());
            if exact[&key]
                && !(one.body.steps().into_iter())
                    .filter_map(target)
                    .all(|called| exact.get(&called) == Some(&true))
            {
                exact.insert(key, false);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for one in conversions {
        one.exact = exact[&(one.from.clone(), one.to.clone())];
    }
}

/// Whether the conversion itself can neither lose nor stop.
fn is_plain(body: &Body, from: &End) -> bool {
    match body {
        Body::Object {
            before,
            fields,
            dropped,
            settled,
            rest,
            after,
        } => {
            before.is_empty()
                && after.is_empty()
                && settled.is_empty()
                && rest.keeps_all()
                && dropped.iter().all(|plan| plan.action == Action::Pass)
                // Opaque text may hold what no map can.
                && *from != End::Opaque
                && fields.iter().all(|field| match &field.source {
                    Source::Same { missing, implied, null, filter, .. } => {
                        missing.is_none() && implied.is_none() && null.is_none() && filter.is_none()
                    }
                    _ => false,
                })
        }
        Body::Union(arms) => arms.iter().all(|arm| matches!(arm.arm, Arm::Same { .. })),
        Body::Strings(plans) => plans.iter().all(|plan| plan.rejected.is_none()),
        Body::IntoVariant(..) => true,
        Body::Custom(_) | Body::Reread | Body::Reject { .. } => false,
    }
}

/// The conversion that a step ends in.
#[must_use]
pub fn target(step: &Step) -> Option<(End, End)> {
    match step {
        Step::Call { from, to } => Some((from.clone(), to.clone())),
        Step::List(inner) | Step::Map(inner) | Step::Nullable(inner) | Step::OrNull(inner) => {
            target(inner)
        }
        Step::Move | Step::Widen => None,
    }
}
