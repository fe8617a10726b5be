//! What the decisions between adjacent revisions come to, one by one, on messages written by hand.

use mcp_revisions_core::Revision::{
    V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28,
};
use mcp_revisions_core::{
    Adapter, Change, Context, Loss, Outcome, Part, Revision, Session, Severity, Subject,
    UnknownFields,
};
use mcp_tests::text;
use mcp_wire::{ErrorObject, Json, JsonObject};

/// Converts a text of a type under the strict policy, without a session.
fn of_type(name: &str, from: Revision, to: Revision, text: &str) -> Outcome<String> {
    under(UnknownFields::Drop, name, from, to, text)
}

fn under(
    policy: UnknownFields,
    name: &str,
    from: Revision,
    to: Revision,
    text: &str,
) -> Outcome<String> {
    convert(Subject::Type(name), from, to, text, Context::new(policy))
}

fn convert(
    subject: Subject<'_>,
    from: Revision,
    to: Revision,
    text: &str,
    cx: Context,
) -> Outcome<String> {
    match mcp_revisions_core::values::convert(subject, from, to, text, cx) {
        Ok(outcome) => outcome.map(Json::into_text),
        Err(failure) => panic!("{failure}: {text}"),
    }
}

/// The value, with the rule, place, kind and change of each loss.
#[track_caller]
fn says(outcome: &Outcome<String>, expected: &str, losses: &[(&str, &str, Severity, Change)]) {
    let value = match outcome {
        Outcome::Exact(value) | Outcome::Reversible(value, _) | Outcome::Lossy(value, _) => value,
        stopped => panic!("{stopped:?}"),
    };
    assert!(text::same(value, expected), "{value}\nexpected {expected}");
    let pointers: Vec<String> = outcome.losses().iter().map(Loss::pointer).collect();
    let found: Vec<_> = (outcome.losses().iter().zip(&pointers))
        .map(|(loss, pointer)| (loss.rule(), pointer.as_str(), loss.severity(), loss.change))
        .collect();
    assert_eq!(found, losses);
}

#[track_caller]
fn rejected(outcome: &Outcome<String>, code: i64) {
    match outcome {
        Outcome::Rejected(rejected) => assert_eq!(rejected.error.code, code, "{rejected}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn dropped(outcome: &Outcome<String>, rule: &str) {
    match outcome {
        Outcome::Dropped(dropped) => assert_eq!(dropped.rule, rule),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn needs(outcome: &Outcome<String>, adapter: Adapter) {
    match outcome {
        Outcome::RequiresState(needs) => assert_eq!(needs.adapter, adapter),
        other => panic!("{other:?}"),
    }
}

use Change::{Added, Carried, InSession, Removed, Replaced, Reshaped};
use Severity::{Cosmetic, Interaction, Safety, Semantic};

mod blocks;
mod elicitation;
mod errors;
mod peers;
mod requests;
mod results;
mod structured;
mod tools;
mod unknown;
