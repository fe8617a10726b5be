//! Where a law of conversions does not hold: the whole list, each entry with its reason.
//!
//! `tests/it/shims_laws.rs` fails on a value that breaks a law and that no entry covers, and on an entry that covers none.

use mcp_registry::Policy;

use super::hops::Way;
use crate::text::Value;

/// An entry of the list: a difference that does not count.
#[derive(Debug)]
pub struct Excuse {
    /// Its name.
    pub id: &'static str,
    /// Why it does not count.
    pub reason: &'static str,
    /// Under which policy.
    pub policy: Policy,
    /// Whether it is about conversions of this way.
    pub applies: fn(&Way) -> bool,
    /// Makes what does not count equal, in the value that went and in the one that came back.
    pub level: fn(&mut Value),
}

/// Every excuse.
pub static ALL: &[Excuse] = &[
    Excuse {
        id: "empty-request-meta",
        reason: "a request of 2026-07-28 always has `_meta`; what a session put there is taken away on the way back, \
                 and nobody can tell an empty one that stood there from none",
        policy: Policy::Strict,
        applies: into_requests_that_stand_alone,
        level: without_empty_meta,
    },
    Excuse {
        id: "empty-request-meta-carried",
        reason: "the same under the policy that carries: what a session put into a request is not carried",
        policy: Policy::Carry,
        applies: into_requests_that_stand_alone,
        level: without_empty_meta,
    },
];

/// A rule that stops the way back of what came through on the way there.
#[derive(Debug)]
pub struct Stop {
    /// The rule.
    pub rule: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// Every such rule; under the strict policy only.
pub static STOPS: &[Stop] = &[Stop {
    rule: "elicitation-id",
    reason: "2026-07-28 has no id that ties a URL elicitation to its completion; only who keeps the session can say it",
}];

fn into_requests_that_stand_alone(way: &Way) -> bool {
    way.from == "2025-11-25" && way.to == "2026-07-28"
}

fn without_empty_meta(value: &mut Value) {
    if let Value::Object(members) = value {
        members.retain(|(name, value)| name != "_meta" || *value != Value::Object(Vec::new()));
    }
}
