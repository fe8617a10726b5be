//! Which revision a message speaks: the ladder, rung by rung, as one pure function.
//!
//! A claim in `_meta` comes first, then `initialize`, the session, the header, and at last the latest revision that had
//! no header to send. Nothing is inferred for a per-request message from an earlier one: its session is not looked at.
//! A message that says nothing by itself belongs to a session: [`Negotiation::needs_session`] tells a transport whether it
//! has to find one first.

use mcp_revisions_tables::{Lifecycle, ProtocolHeader, ProtocolRule, Revision, methods};
use mcp_wire::{MessageKind, Peeked, Raw, meta};

use crate::Headers;
use crate::RevisionSet;
use crate::errors::{self, Refusal};

/// The outcome of one look at a message for its revision, to a server of some revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Negotiation {
    stage: RevisionEvidence,
    served: RevisionSet,
}

/// The evidence for its revision that a message has by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RevisionEvidence {
    /// Its meaning does not depend on earlier messages.
    Known(NegotiatedMessage),
    /// It claims this revision, and belongs to a session if it names one.
    Claimed(Revision),
    /// It belongs to its session; outside of any it is of this revision.
    InSession(Option<Revision>),
    /// The same of a batch.
    BatchInSession(Option<Revision>),
}

/// A message whose revision is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NegotiatedMessage {
    /// A message of this revision.
    Single(Revision),
    /// `initialize`: [`negotiate_initialize`] reads the revision from its params.
    Initialize,
    /// A batch of messages of this revision; each goes through [`negotiate_element`].
    Batch(Revision),
}

/// Negotiates the revision of a message, as far as the message says it; once for each, before its session is known.
///
/// `headers` are those of its POST; `None` where there are none, as on stdio.
///
/// # Errors
/// The error to answer with, if the message is a request.
pub fn negotiate(
    message: &Peeked<'_>,
    headers: Option<&Headers<'_>>,
    served: RevisionSet,
) -> Result<Negotiation, Box<Refusal>> {
    let around = Around { headers, served };
    let stage = match message.kind {
        MessageKind::Batch => negotiate_batch(around),
        MessageKind::Request => negotiate_request(message, around),
        MessageKind::Notification | MessageKind::Response | MessageKind::Error => {
            negotiate_unanswered(message, around)
        }
    }?;
    Ok(Negotiation { stage, served })
}

impl Negotiation {
    /// Returns the kind and revision of the message in a session of this revision, or outside of any.
    ///
    /// # Errors
    /// The error to answer with, if the message is a request.
    pub fn within(self, session: Option<Revision>) -> Result<NegotiatedMessage, Box<Refusal>> {
        match self.stage {
            RevisionEvidence::Known(negotiated) => Ok(negotiated),
            RevisionEvidence::Claimed(revision) => {
                Ok(NegotiatedMessage::Single(session.unwrap_or(revision)))
            }
            RevisionEvidence::InSession(otherwise) => match session.or(otherwise) {
                Some(revision) => Ok(NegotiatedMessage::Single(revision)),
                None => Err(errors::missing_meta(meta::PROTOCOL_VERSION, self.served)),
            },
            RevisionEvidence::BatchInSession(otherwise) => match session.or(otherwise) {
                Some(revision) if revision.has_rule(ProtocolRule::Batch) => {
                    Ok(NegotiatedMessage::Batch(revision))
                }
                _ => Err(no_batch()),
            },
        }
    }

    /// Returns whether the message belongs to a session: `has_session` says whether its POST names one.
    #[must_use]
    pub fn needs_session(self, has_session: bool) -> bool {
        match self.stage {
            RevisionEvidence::Known(_) => false,
            RevisionEvidence::Claimed(_) => has_session,
            RevisionEvidence::InSession(_) | RevisionEvidence::BatchInSession(_) => true,
        }
    }
}

fn no_batch() -> Box<Refusal> {
    let has_batches = |revision: &Revision| revision.has_rule(ProtocolRule::Batch);
    let batching: RevisionSet = RevisionSet::all().iter().filter(has_batches).collect();
    errors::invalid_request(&format!("a batch is only for sessions of {batching}"))
}

/// Returns whether a GET or DELETE is an operation on a session, rather than to be answered with status 405: not to a server
/// of the per-request lifecycle, and not if the header names a revision of that.
///
/// # Errors
/// The error to answer with, if the header names a protocol version that is not served.
pub fn takes_session_operations(
    header: Option<&str>,
    served: RevisionSet,
) -> Result<bool, Box<Refusal>> {
    let named = header.map(|text| (text, Revision::from_protocol_version(text)));
    match named {
        _ if !served.has(Lifecycle::Handshake) => Ok(false),
        None => Ok(true),
        Some((_, Some(version))) if served.contains(version) => Ok(is_handshake(version)),
        Some((text, _)) => Err(errors::unsupported_version(text, served)),
    }
}

/// What is known when a message comes, beside the message and its session.
#[derive(Clone, Copy)]
struct Around<'a> {
    headers: Option<&'a Headers<'a>>,
    served: RevisionSet,
}

/// Negotiates a message inside a batch of a revision.
///
/// # Errors
/// A message that may not be in one: `initialize`, and any that claims a revision.
pub fn negotiate_element(
    message: &Peeked<'_>,
    revision: Revision,
) -> Result<NegotiatedMessage, Box<Refusal>> {
    if message.kind == MessageKind::Batch {
        return Err(errors::invalid_request("a batch inside a batch"));
    }
    if message.meta.protocol_version.is_some() {
        return Err(errors::invalid_request(
            "a request that claims a revision in `_meta` comes alone, never in a batch",
        ));
    }
    if message.kind == MessageKind::Request
        && message.method.as_deref() == Some(methods::INITIALIZE)
    {
        return Err(errors::invalid_request(
            "`initialize` comes alone, never in a batch",
        ));
    }
    Ok(NegotiatedMessage::Single(revision))
}

/// Negotiates the revision of a session that `initialize` opens: the requested one, else the latest with a handshake.
///
/// # Errors
/// The error to answer with: -32602 without a `protocolVersion`, -32022 where no handshake revision is served.
pub fn negotiate_initialize(
    message: &Peeked<'_>,
    served: RevisionSet,
) -> Result<Revision, Box<Refusal>> {
    let Some(requested) = requested_version(message) else {
        return Err(errors::invalid_params(
            "`protocolVersion` is required, and a string",
        ));
    };
    Revision::from_protocol_version(&requested)
        .filter(|revision| is_handshake(*revision) && served.contains(*revision))
        .or_else(|| served.latest(Lifecycle::Handshake))
        .ok_or_else(|| errors::unsupported_version(&requested, served))
}

/// Returns the protocol version that `initialize` requests; `None` if it is not a string.
fn requested_version(message: &Peeked<'_>) -> Option<String> {
    message.param("protocolVersion")?.read().ok()
}

fn negotiate_batch(around: Around<'_>) -> Result<RevisionEvidence, Box<Refusal>> {
    let named = header_version(around).flatten();
    let otherwise = negotiate_handshake(around, None)?;
    if named.is_none_or(is_handshake) {
        Ok(RevisionEvidence::BatchInSession(otherwise))
    } else {
        Err(no_batch())
    }
}

fn negotiate_request(
    message: &Peeked<'_>,
    around: Around<'_>,
) -> Result<RevisionEvidence, Box<Refusal>> {
    let served = around.served;
    if let Some(claim) = message.meta.protocol_version {
        return negotiate_claim(message, claim, around);
    }
    let method = message.method.as_deref().unwrap_or_default();
    if method == methods::INITIALIZE {
        return if served.has(Lifecycle::Handshake) {
            Ok(RevisionEvidence::Known(NegotiatedMessage::Initialize))
        } else {
            let requested = requested_version(message).unwrap_or_default();
            Err(errors::unsupported_version(&requested, served))
        };
    }
    // A per-request message that forgot its claim is answered so.
    if let Some(version) = header_version(around)
        && version.is_some_and(|version| !is_handshake(version) && served.contains(version))
    {
        return Err(errors::missing_meta(meta::PROTOCOL_VERSION, served));
    }
    let otherwise = negotiate_handshake(around, None)?;
    Ok(RevisionEvidence::InSession(otherwise))
}

/// Returns the evidence of a message that claims this revision: with a handshake it is its session's, if it names one.
fn of_claim(revision: Revision) -> RevisionEvidence {
    match revision.lifecycle() {
        Lifecycle::PerRequest => RevisionEvidence::Known(NegotiatedMessage::Single(revision)),
        Lifecycle::Handshake => RevisionEvidence::Claimed(revision),
    }
}

/// Decides the revision of a request that claims one: by the body, with which the headers have to agree.
fn negotiate_claim(
    message: &Peeked<'_>,
    claim: Raw<'_>,
    around: Around<'_>,
) -> Result<RevisionEvidence, Box<Refusal>> {
    let served = around.served;
    let claim = claim
        .as_str()
        .ok_or_else(|| errors::missing_meta(meta::PROTOCOL_VERSION, served))?;
    let revision = Revision::from_protocol_version(&claim);
    if let Some(revision) = revision.filter(|&it| is_handshake(it) && served.contains(it)) {
        return Ok(match message.method.as_deref() {
            Some(methods::INITIALIZE) => RevisionEvidence::Known(NegotiatedMessage::Initialize),
            _ => of_claim(revision),
        });
    }
    if !served.has(Lifecycle::PerRequest) {
        return Err(errors::unsupported_version(&claim, served));
    }
    if let Some(headers) = around.headers {
        headers.agree_with(message)?;
    }
    let Some(revision) = revision.filter(|&revision| served.contains(revision)) else {
        return Err(errors::unsupported_version(&claim, served));
    };
    if message.meta.client_capabilities.is_none() {
        return Err(errors::missing_meta(meta::CLIENT_CAPABILITIES, served));
    }
    Ok(of_claim(revision))
}

/// Negotiates a notification or a response as far as possible: no peer waits for an error about it.
fn negotiate_unanswered(
    message: &Peeked<'_>,
    around: Around<'_>,
) -> Result<RevisionEvidence, Box<Refusal>> {
    let served = around.served;
    let claim = message.meta.protocol_version.and_then(Raw::as_str);
    if let Some(claim) = claim {
        let revision =
            Revision::from_protocol_version(&claim).filter(|&revision| served.contains(revision));
        return match revision {
            Some(revision) => Ok(of_claim(revision)),
            None => Err(errors::unsupported_version(&claim, served)),
        };
    }
    if let Some(Some(version)) = header_version(around)
        && !is_handshake(version)
        && served.contains(version)
    {
        return Ok(RevisionEvidence::Known(NegotiatedMessage::Single(version)));
    }
    let otherwise = served.latest(Lifecycle::PerRequest);
    negotiate_handshake(around, otherwise).map(RevisionEvidence::InSession)
}

/// Returns the revision of a message outside of a session: that of the header, else one that has no such header, else that of what
/// else there is; `None` if nothing is served.
fn negotiate_handshake(
    around: Around<'_>,
    otherwise: Option<Revision>,
) -> Result<Option<Revision>, Box<Refusal>> {
    let served = around.served;
    let named = match header_version(around) {
        Some(Some(version)) if served.contains(version) => Some(version),
        Some(_) => {
            let named = around.headers.and_then(|headers| headers.protocol_version);
            let text = named.unwrap_or_default();
            return Err(errors::unsupported_version(text, served));
        }
        None => None,
    }
    .filter(|&revision| is_handshake(revision));
    // Who sends no header is of a revision without it; and on stdio there are none to send.
    let headless = |revision: &Revision| {
        is_handshake(*revision) && !revision.has_header(ProtocolHeader::McpProtocolVersion)
    };
    Ok(named
        .or_else(|| served.iter().find(headless))
        .or_else(|| served.latest(Lifecycle::Handshake))
        .or(otherwise))
}

/// Returns the revision of the header: `Some(None)` if it names none that is known.
fn header_version(around: Around<'_>) -> Option<Option<Revision>> {
    around
        .headers?
        .protocol_version
        .map(Revision::from_protocol_version)
}

/// Returns whether a revision is of the handshake lifecycle.
#[must_use]
pub fn is_handshake(revision: Revision) -> bool {
    revision.lifecycle() == Lifecycle::Handshake
}
