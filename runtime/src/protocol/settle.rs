//! Which revision a message is in: the ladder, rung by rung, as one pure function.
//!
//! A claim in `_meta` comes first, then `initialize`, the session, the header, and at last the newest revision without one.
//! Nothing is inferred for a modern request from an earlier one: the session is not even looked at.

use mcp_registry::{Era, ProtocolHeader, ProtocolRule, Revision};
use mcp_wire::{Direction, MethodInfo, MethodKind};

use crate::errors::{self, Refusal};
use crate::headers::Headers;
use crate::meta;
use crate::protocol::revisions::RevisionSet;
use mcp_wire::{MessageKind, Peeked, Raw};

/// What is known when a message comes, beside the message.
#[derive(Debug, Clone, Copy, Default)]
pub struct Circumstances<'a> {
    /// The headers of its POST; `None` where there are none, as on stdio.
    pub headers: Option<&'a Headers<'a>>,
    /// The revision that `initialize` settled, if it did.
    pub session: Option<Revision>,
    /// What the server is willing to serve.
    pub served: RevisionSet,
}

/// What a message is, to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// A message of this revision.
    Speaks(Revision),
    /// `initialize`: the revision is settled by its params.
    Initialize,
    /// A batch of messages of this revision; each goes through [`settle_element`].
    Batch(Revision),
}

/// Settles the revision of a message.
///
/// # Errors
/// What the message is to be answered with, if it is a request.
pub fn settle(message: &Peeked<'_>, around: &Circumstances<'_>) -> Result<Settled, Box<Refusal>> {
    match message.kind {
        MessageKind::Batch => settle_batch(around),
        MessageKind::Request => settle_request(message, around),
        MessageKind::Notification | MessageKind::Response | MessageKind::Error => {
            settle_unanswered(message, around)
        }
    }
}

/// Whether a GET or DELETE is an operation on a session, rather than to be answered with status 405.
#[must_use]
pub fn takes_session_operations(served: RevisionSet) -> bool {
    served.has(Era::Handshake)
}

/// Whether a message says nothing of its revision by itself, so that it takes a session to settle it.
///
/// `has_session`: whether its POST names one.
#[must_use]
pub fn needs_session(message: &Peeked<'_>, headers: &Headers<'_>, has_session: bool) -> bool {
    let is_modern = |wire: &str| {
        Revision::from_wire(wire).is_some_and(|revision| revision.era() == Era::PerRequest)
    };
    let header = headers.protocol_version;
    match message.kind {
        // It opens a session of its own, wherever it is said.
        MessageKind::Request if message.method.as_deref() == Some("initialize") => false,
        MessageKind::Request => match message.meta.protocol_version.map(Raw::as_str) {
            // A claim stands for itself; that of a handshake revision inside a session is the session's.
            Some(claim) => {
                has_session
                    && claim.is_some_and(|claim| {
                        Revision::from_wire(&claim).is_some() && !is_modern(&claim)
                    })
            }
            // A modern request that forgot its claim is told so.
            None => has_session || !header.is_some_and(is_modern),
        },
        MessageKind::Notification | MessageKind::Response | MessageKind::Error => {
            !header.is_some_and(is_modern)
        }
        MessageKind::Batch => true,
    }
}

/// Settles a message inside a batch of a revision.
///
/// # Errors
/// A message that may not be in one: `initialize`, and whatever claims a revision.
pub fn settle_element(message: &Peeked<'_>, revision: Revision) -> Result<Settled, Box<Refusal>> {
    if message.kind == MessageKind::Batch {
        return Err(errors::invalid_request("a batch inside a batch"));
    }
    if message.meta.protocol_version.is_some() {
        return Err(errors::invalid_request(
            "a request that claims a revision in `_meta` comes alone, never in a batch",
        ));
    }
    if message.kind == MessageKind::Request && message.method.as_deref() == Some("initialize") {
        return Err(errors::invalid_request(
            "`initialize` comes alone, never in a batch",
        ));
    }
    Ok(Settled::Speaks(revision))
}

fn settle_batch(around: &Circumstances<'_>) -> Result<Settled, Box<Refusal>> {
    let names_modern = header_version(around)
        .flatten()
        .is_some_and(|version| version.era() == Era::PerRequest);
    match settle_legacy(around, None)? {
        Some(revision) if revision.has_rule(ProtocolRule::Batch) && !names_modern => {
            Ok(Settled::Batch(revision))
        }
        _ => Err(errors::invalid_request(&format!(
            "a batch is for sessions of revision {} alone",
            batching()
        ))),
    }
}

/// The revisions that have batches, for people.
fn batching() -> String {
    let all = Revision::NEGOTIATED.iter().copied();
    let batching = all.filter(|revision| revision.has_rule(ProtocolRule::Batch));
    batching.map(Revision::wire).collect::<Vec<_>>().join(", ")
}

fn settle_request(
    message: &Peeked<'_>,
    around: &Circumstances<'_>,
) -> Result<Settled, Box<Refusal>> {
    let served = around.served;
    if let Some(claim) = message.meta.protocol_version {
        return settle_claim(message, claim, around);
    }
    let method = message.method.as_deref().unwrap_or_default();
    if method == "initialize" {
        return match served.has(Era::Handshake) {
            true => Ok(Settled::Initialize),
            false => Err(errors::unsupported_version(&requested(message), served)),
        };
    }
    if let Some(version) = header_version(around)
        && version
            .is_some_and(|version| version.era() == Era::PerRequest && served.contains(version))
    {
        return Err(errors::missing_meta(meta::PROTOCOL_VERSION, served));
    }
    match settle_legacy(around, None)? {
        Some(revision) => Ok(Settled::Speaks(revision)),
        None => Err(errors::missing_meta(meta::PROTOCOL_VERSION, served)),
    }
}

/// A request that claims a revision: the body decides, the headers have to agree.
fn settle_claim(
    message: &Peeked<'_>,
    claim: Raw<'_>,
    around: &Circumstances<'_>,
) -> Result<Settled, Box<Refusal>> {
    let served = around.served;
    let claim = claim
        .as_str()
        .ok_or_else(|| errors::missing_meta(meta::PROTOCOL_VERSION, served))?;
    let revision = Revision::from_wire(&claim);
    if let Some(revision) = revision.filter(|revision| revision.era() == Era::Handshake)
        && served.contains(revision)
    {
        return match message.method.as_deref() {
            Some("initialize") => Ok(Settled::Initialize),
            _ => Ok(Settled::Speaks(around.session.unwrap_or(revision))),
        };
    }
    if !served.has(Era::PerRequest) {
        return Err(errors::unsupported_by_legacy(&claim, served));
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
    let method = message.method.as_deref().unwrap_or_default();
    if find_method(
        revision,
        method,
        Direction::ClientToServer,
        MethodKind::Request,
    )
    .is_none()
    {
        return Err(errors::method_not_found(method, Era::PerRequest));
    }
    Ok(Settled::Speaks(revision))
}

/// A notification or an answer: nobody waits for an error, so whatever can be settled is.
fn settle_unanswered(
    message: &Peeked<'_>,
    around: &Circumstances<'_>,
) -> Result<Settled, Box<Refusal>> {
    let served = around.served;
    let claim = message.meta.protocol_version.and_then(Raw::as_str);
    if let Some(claim) = claim {
        let revision = Revision::from_wire(&claim).filter(|&revision| served.contains(revision));
        return match revision {
            Some(revision) => Ok(Settled::Speaks(revision)),
            None => Err(errors::unsupported_version(&claim, served)),
        };
    }
    if let Some(Some(version)) = header_version(around)
        && version.era() == Era::PerRequest
        && served.contains(version)
    {
        return Ok(Settled::Speaks(version));
    }
    let modern = served.newest(Era::PerRequest);
    match settle_legacy(around, modern)? {
        Some(revision) => Ok(Settled::Speaks(revision)),
        None => Err(errors::missing_meta(meta::PROTOCOL_VERSION, served)),
    }
}

/// The session's revision, else the header's, else the newest that has no such header, else what else there is; `None`
/// if nothing is served.
fn settle_legacy(
    around: &Circumstances<'_>,
    otherwise: Option<Revision>,
) -> Result<Option<Revision>, Box<Refusal>> {
    let served = around.served;
    let named = match header_version(around) {
        Some(Some(version)) if served.contains(version) => Some(version),
        Some(_) => {
            let text = around.headers.and_then(|headers| headers.protocol_version);
            let text = text.unwrap_or_default();
            return Err(match served.has(Era::PerRequest) {
                true => errors::unsupported_version(text, served),
                false => errors::unsupported_by_legacy(text, served),
            });
        }
        None => None,
    };
    let legacy =
        |revision: &Revision| served.contains(*revision) && revision.era() == Era::Handshake;
    // Who sends no header is of a revision without it; and on stdio there are none to send.
    let headless = |revision: &Revision| !revision.has_header(ProtocolHeader::McpProtocolVersion);
    let named = named.filter(legacy);
    let found = around
        .session
        .or(named)
        .or_else(|| served.iter().filter(headless).find(legacy));
    Ok(found
        .or_else(|| served.newest(Era::Handshake))
        .or(otherwise))
}

/// The revision of the header: `Some(None)` if it names none that is known.
fn header_version(around: &Circumstances<'_>) -> Option<Option<Revision>> {
    around.headers?.protocol_version.map(Revision::from_wire)
}

/// What `initialize` asks for.
fn requested(message: &Peeked<'_>) -> String {
    let params = message
        .params
        .and_then(|params| mcp_wire::from_str::<mcp_wire::JsonObject>(params.text()).ok());
    let version = params.and_then(|params| params.get("protocolVersion"));
    version
        .and_then(|version| version.as_str().map(String::from))
        .unwrap_or_default()
}

/// The row of a method in the table of a revision.
#[must_use]
pub fn find_method(
    revision: Revision,
    name: &str,
    direction: Direction,
    kind: MethodKind,
) -> Option<&'static MethodInfo> {
    let rows = revision.methods();
    rows.iter()
        .find(|row| row.name == name && row.direction == direction && row.kind == kind)
}

/// The member of a request's params that says what it is about, which the header `Mcp-Name` repeats.
pub(crate) fn named_by(revision: Revision, method: &str) -> Option<&'static str> {
    find_method(
        revision,
        method,
        Direction::ClientToServer,
        MethodKind::Request,
    )?
    .named_by
}
