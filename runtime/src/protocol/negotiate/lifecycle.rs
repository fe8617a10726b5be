//! How a client finds a server's lifecycle: what each answer to the probe says, as a pure function.
//!
//! The probe is `server/discover`, written in the latest per-request revision that the client speaks.
//! Every per-request server answers it; a handshake server answers with some error, with silence, or by ending.
//! No single error code decides: an answer that is not recognised as per-request means handshake.

use mcp_protocol::{Lifecycle, Revision};
use mcp_wire::{ErrorObject, Json, MessageKind, Peeked};

use crate::RevisionSet;
use crate::errors::{HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION};
use crate::protocol::ask::outcome;
use crate::protocol::client::Channel;
use crate::protocol::negotiate::statuses::is_evidence;

/// What was seen after the probe was sent.
#[derive(Debug, Clone, Copy)]
pub enum Evidence<'a> {
    /// An answer: over HTTP with its status, and without a message if the body holds none.
    Answer {
        /// The status of the answer; none over stdio.
        status: Option<u16>,
        /// The message in it.
        message: Option<&'a Peeked<'a>>,
    },
    /// Nothing came in time.
    Silence(Channel),
    /// The server ended, or could not be reached.
    Ended(Channel),
}

/// What the evidence says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A `DiscoverResult`: a server of the per-request lifecycle that speaks these versions.
    PerRequest(Vec<String>),
    /// An error that only servers of the per-request lifecycle send, with the versions that it names.
    PerRequestError(Vec<String>),
    /// A server of the handshake lifecycle.
    Handshake,
    /// Nothing: who may not ask, or asks a broken server, learns nothing of its lifecycle.
    Nothing,
}

/// The codes that only a server of the per-request lifecycle sends.
pub const PER_REQUEST_ERRORS: [i64; 3] = [
    HEADER_MISMATCH,
    MISSING_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
];

/// Judges the answer to a probe.
#[must_use]
pub fn judge(evidence: Evidence<'_>) -> Finding {
    match evidence {
        // Over stdio a handshake server may drop or die of a request before `initialize`; a network may do both at any time.
        Evidence::Silence(Channel::Stdio) | Evidence::Ended(Channel::Stdio) => Finding::Handshake,
        Evidence::Silence(Channel::Http) | Evidence::Ended(Channel::Http) => Finding::Nothing,
        Evidence::Answer {
            status: Some(status),
            ..
        } if !is_evidence(status) => Finding::Nothing,
        Evidence::Answer {
            status,
            message: Some(message),
        } => judge_message(status, message),
        Evidence::Answer { message: None, .. } => Finding::Handshake,
    }
}

fn judge_message(status: Option<u16>, message: &Peeked<'_>) -> Finding {
    match (message.kind, outcome(message)) {
        (MessageKind::Response, Ok(result)) => match discovered(&result) {
            Some(versions) => Finding::PerRequest(versions),
            None => Finding::Handshake,
        },
        (MessageKind::Error, Err(error)) => match error.code.as_i64() {
            Some(code) if PER_REQUEST_ERRORS.contains(&code) => {
                Finding::PerRequestError(supported(&error))
            }
            // A handshake server has no page at all, or a session to miss: only a per-request one says this.
            Some(ErrorObject::METHOD_NOT_FOUND) if status == Some(404) => {
                Finding::PerRequestError(Vec::new())
            }
            _ => Finding::Handshake,
        },
        _ => Finding::Handshake,
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

/// Returns the revision to speak with a server of these versions: the latest per-request one, else the latest with a handshake.
#[must_use]
pub fn choose(supported: &[String], ours: RevisionSet) -> Option<Revision> {
    let common = |lifecycle: Lifecycle| {
        let is_common = |revision: &Revision| {
            revision.lifecycle() == lifecycle
                && supported
                    .iter()
                    .any(|wire| wire == revision.protocol_version())
        };
        ours.iter().find(is_common)
    };
    common(Lifecycle::PerRequest).or_else(|| common(Lifecycle::Handshake))
}
