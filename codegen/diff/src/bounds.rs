//! A bound that each side spells by a keyword of its own, as one difference: `minimum` before, `exclusiveMinimum` now.

use std::borrow::Cow;

use serde_json::Value;

use super::kind::ChangeKind;
use super::site::{DifferenceDetail, SchemaDifference, SpelledBound};
use super::verdict::{DirectionVerdict, Verdicts};

/// The keywords of a lower and of an upper bound: with the bound itself, and without it.
const KEYWORDS: [[&str; 2]; 2] = [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
];

/// Returns the differences of a site, two of one bound as one.
pub(super) fn joined(findings: &[SchemaDifference]) -> Vec<Cow<'_, SchemaDifference>> {
    let mut joined: Vec<Cow<'_, SchemaDifference>> = Vec::new();
    // A site may have thousands of differences, of which a bound has at most a few.
    let mut bounds: Vec<usize> = Vec::new();
    for finding in findings {
        let pair = if is_of_bound(finding) {
            let mut known = bounds.iter();
            known.find_map(|&at| Some((at, both(&joined[at], finding)?)))
        } else {
            None
        };
        match pair {
            Some((at, detail)) => joined[at].to_mut().detail = detail,
            None => {
                if is_of_bound(finding) {
                    bounds.push(joined.len());
                }
                joined.push(Cow::Borrowed(finding));
            }
        }
    }
    joined
}

/// Returns whether a difference is of a keyword of a bound.
fn is_of_bound(finding: &SchemaDifference) -> bool {
    let DifferenceDetail::Limit(name, ..) = &finding.detail else {
        return false;
    };
    KEYWORDS.as_flattened().contains(&name.as_str())
}

/// Returns the bound that one difference takes away and the other one sets in its place.
fn both(one: &SchemaDifference, other: &SchemaDifference) -> Option<DifferenceDetail> {
    if (&one.segments, one.nodes) != (&other.segments, other.nodes)
        || [one.kind, other.kind] != [ChangeKind::ConstraintChanged; 2]
    {
        return None;
    }
    let (DifferenceDetail::Limit(name, before, after), DifferenceDetail::Limit(next, was, is)) =
        (&one.detail, &other.detail)
    else {
        return None;
    };
    let is_bound = |keywords: &[&str; 2]| {
        name != next
            && [name, next]
                .iter()
                .all(|name| keywords.contains(&name.as_str()))
    };
    KEYWORDS.iter().find(|keywords| is_bound(keywords))?;
    let spelled = |name: &String, value: &Value| (name.clone(), value.clone());
    match (before, after, was, is) {
        (Some(old), None, None, Some(new)) => Some(DifferenceDetail::Bound(
            spelled(name, old),
            spelled(next, new),
        )),
        (None, Some(new), Some(old), None) => Some(DifferenceDetail::Bound(
            spelled(next, old),
            spelled(name, new),
        )),
        _ => None,
    }
}

/// Returns the keyword that names a bound, whichever of the two spells it.
pub(super) fn name((keyword, _): &SpelledBound) -> &'static str {
    let of = KEYWORDS
        .iter()
        .find(|both| both.contains(&keyword.as_str()));
    of.map_or("minimum", |[inclusive, _]| inclusive)
}

/// Returns the verdicts of such a bound, as long as no witness says otherwise.
pub(super) fn verdicts(old: &SpelledBound, new: &SpelledBound) -> Verdicts {
    let verdict = |sender: &SpelledBound, receiver: &SpelledBound| {
        let [Some(sent), Some(taken)] = [sender, receiver].map(|(_, value)| value.as_f64()) else {
            return DirectionVerdict::CHANGED;
        };
        let further = if name(sender) == "minimum" {
            sent - taken
        } else {
            taken - sent
        };
        // What is beyond a bound is beyond it with and without the bound itself.
        let is_within = further > 0.0 || further == 0.0 && name(sender) != sender.0;
        if is_within {
            DirectionVerdict::FINE
        } else {
            DirectionVerdict::CHANGED
        }
    };
    Verdicts::of(verdict(old, new), verdict(new, old))
}
