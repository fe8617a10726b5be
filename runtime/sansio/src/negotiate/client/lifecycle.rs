//! The revision that a client tries, and the meaning of each answer of the server, as pure functions.
//!
//! The first message is of the client's own revision: `initialize`, or the probe `server/discover`. Every per-request server
//! answers the probe; a handshake server answers with some error, with silence, or by ending. No single error code decides:
//! after any answer that settles no revision, the next step of the [`ladder`] follows.

use mcp_revisions_core::{Revision, RevisionSet};
use mcp_wire::{ErrorObject, Json, MessageKind, Peeked};

use crate::ask::outcome;
use crate::errors::{HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION};
use crate::negotiate::client::statuses::is_evidence;

/// The response to the probe.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// Its status over HTTP; `None` over stdio.
    pub status: Option<u16>,
    /// The message in it; `None` if its body holds none.
    pub message: Option<&'a Peeked<'a>>,
}

/// The meaning of the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeOutcome {
    /// A `DiscoverResult`: a server of the per-request lifecycle that speaks these versions.
    PerRequest(Vec<String>),
    /// An error that only servers of the per-request lifecycle send, with the versions that it names.
    PerRequestError(Vec<String>),
    /// A server of the handshake lifecycle.
    Handshake,
    /// Status 404 with error -32601, as a server of the per-request lifecycle answers a method that it does not have, and as
    /// gateways before servers of the handshake lifecycle do.
    NoSuchMethod,
    /// Nothing: who may not ask, or asks a broken server, learns nothing of its lifecycle.
    Nothing,
}

/// The codes that only a server of the per-request lifecycle sends.
const PER_REQUEST_ERRORS: [i64; 3] = [
    HEADER_MISMATCH,
    MISSING_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
];

/// Returns whether a message is an error that only a server of the per-request lifecycle sends.
#[must_use]
pub fn is_per_request_error(message: &Peeked<'_>) -> bool {
    let error = outcome(message)
        .err()
        .filter(|_| message.kind == MessageKind::Error);
    let code = error.and_then(|error| error.code.as_i64());
    code.is_some_and(|code| PER_REQUEST_ERRORS.contains(&code))
}

/// Judges the answer to a probe.
#[must_use]
pub fn judge(Evidence { status, message }: Evidence<'_>) -> ProbeOutcome {
    match (status, message) {
        (Some(status), _) if !is_evidence(status) => ProbeOutcome::Nothing,
        (_, Some(message)) => judge_message(status, message),
        (_, None) => ProbeOutcome::Handshake,
    }
}

fn judge_message(status: Option<u16>, message: &Peeked<'_>) -> ProbeOutcome {
    match (message.kind, outcome(message)) {
        (MessageKind::Response, Ok(result)) => match discovered(&result) {
            Some(versions) => ProbeOutcome::PerRequest(versions),
            None => ProbeOutcome::Handshake,
        },
        (MessageKind::Error, Err(error)) if is_per_request_error(message) => {
            ProbeOutcome::PerRequestError(supported(&error))
        }
        (MessageKind::Error, Err(error))
            if status == Some(404)
                && error.code.as_i64() == Some(ErrorObject::METHOD_NOT_FOUND) =>
        {
            ProbeOutcome::NoSuchMethod
        }
        _ => ProbeOutcome::Handshake,
    }
}

/// Returns the versions of a `DiscoverResult`; `None` if it is not one.
fn discovered(result: &Json) -> Option<Vec<String>> {
    result.read_member("supportedVersions")
}

/// Returns the versions that an error names; empty if it names none.
#[must_use]
pub fn supported(error: &ErrorObject) -> Vec<String> {
    let versions = error.data.as_ref();
    versions
        .and_then(|data| data.read_member("supported"))
        .unwrap_or_default()
}

/// Returns revisions in the order in which a client of the revision `own` prefers them: its own, newer ones of its lifecycle,
/// older ones, and those of the other lifecycle; the nearest first in each group.
#[must_use]
pub fn order(own: Revision, ours: RevisionSet) -> Vec<Revision> {
    let between = |one: Revision| {
        let (low, high) = (one.min(own), one.max(own));
        let all = Revision::NEGOTIATED.iter();
        all.filter(|&&it| low < it && it < high).count()
    };
    let mut order: Vec<Revision> = ours.iter().collect();
    order.sort_by_key(|&one| {
        let is_across = one.lifecycle() != own.lifecycle();
        (is_across, one < own, one != own, between(one))
    });
    order
}

/// Returns the revisions whose first messages a server is sent, one after the other until one settles the revision: that of
/// `first`, the nearest of the other lifecycle, whose servers may tell all that they speak, and the others in their order.
#[must_use]
pub fn ladder(own: Revision, first: Revision, ours: RevisionSet) -> Vec<Revision> {
    let mut steps = order(own, ours);
    let is_across = |step: &Revision| step.lifecycle() != first.lifecycle();
    let across = steps.iter().copied().find(is_across);
    steps.sort_by_key(|step| (*step != first, Some(*step) != across));
    steps
}

/// Returns the revision that a client of the revision `own` prefers among those that a server names.
#[must_use]
pub fn choose(supported: &[String], own: Revision, ours: RevisionSet) -> Option<Revision> {
    let is_common = |revision: &Revision| {
        supported
            .iter()
            .any(|wire| wire == revision.protocol_version())
    };
    order(own, ours).into_iter().find(is_common)
}
