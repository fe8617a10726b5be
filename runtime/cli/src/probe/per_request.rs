//! The checks of a server in the per-request lifecycle: its messages over any transport, and its HTTP.

use std::time::Duration;

use mcp_revisions_core::errors::{HEADER_MISMATCH, UNSUPPORTED_PROTOCOL_VERSION};
use mcp_revisions_core::headers::{METHOD, NAME, PROTOCOL_VERSION, named_by};
use mcp_revisions_core::{ErrorObject, Json, Lifecycle, Revision, methods};
use serde_json::{Value, json};

use super::link::{ProbeLink, shown};
use super::offers::NO_RESOURCE;
use super::revisions::{UNKNOWN, capabilities};
use super::state::{Conversation, Probe, ProbeMessage};
use super::{offers, origins};

/// Time that a server has to end after its input.
const PROMPT: Duration = Duration::from_secs(5);
/// A method that no revision has.
const NO_METHOD: &str = "mcp-rev/no-such-method";
/// A tool and a prompt that no server has.
const NO_NAME: &str = "mcp-rev-no-such-name";

/// Checks a server that has answered `server/discover` with this result.
pub(super) async fn run(probe: &mut Probe, conversation: &Conversation, result: &Value) {
    let revision = conversation.revision;
    let capabilities = capabilities(result);
    offers::run(probe, conversation, &capabilities).await;
    versions(probe, conversation).await;
    let message = ProbeMessage {
        lacks_capabilities: true,
        is_sound: false,
        ..ProbeMessage::new(revision, methods::SERVER_DISCOVER, json!({}))
    };
    let reply = probe.send(conversation, message).await;
    if !reply.is_error(ErrorObject::INVALID_PARAMS, 400) {
        let place = "a request without capabilities in `_meta`";
        probe.report("required-meta", revision, place, reply.line());
    }
    let message = ProbeMessage::new(revision, NO_METHOD, json!({})).faulty();
    let reply = probe.send(conversation, message).await;
    if probe.is_http() && !reply.is_error(ErrorObject::METHOD_NOT_FOUND, 404) {
        probe.report("unknown-method", revision, NO_METHOD, reply.line());
    }
    if let ProbeLink::Stdio(stdio) = &mut probe.link {
        match stdio.end().await {
            Some(took) if took <= PROMPT => {}
            _ => {
                let found = format!("it had not ended {} s later", PROMPT.as_secs());
                probe.report("end", revision, "the end of standard input", found);
            }
        }
        return;
    }
    if probe.is_http() {
        mismatches(probe, conversation, &capabilities).await;
        verbs(probe, conversation).await;
        origins::run(probe, conversation, methods::SERVER_DISCOVER).await;
        origins::cors(probe, conversation).await;
    }
}

/// Sends a version that no revision has.
async fn versions(probe: &mut Probe, conversation: &Conversation) {
    let mut message = ProbeMessage::new(conversation.revision, methods::SERVER_DISCOVER, json!({}));
    (message.version, message.is_sound) = (UNKNOWN, false);
    let reply = probe.send(conversation, message).await;
    let error = reply.error().unwrap_or_default();
    let supported = error.get("data").and_then(|data| data.get("supported"));
    let is_right = reply.is_error(UNSUPPORTED_PROTOCOL_VERSION, 400);
    if !is_right || !supported.is_some_and(Value::is_array) {
        let place = format!("the version {UNKNOWN}");
        let found = if is_right {
            format!("{}, without `data.supported`", reply.line())
        } else {
            reply.line()
        };
        probe.report("unsupported-version", conversation.revision, place, found);
    }
}

/// Sends headers that differ from the body.
async fn mismatches(probe: &mut Probe, conversation: &Conversation, capabilities: &Json) {
    let revision = conversation.revision;
    let discover = || ProbeMessage::new(revision, methods::SERVER_DISCOVER, json!({}));
    let mut tried = vec![
        (
            discover().with(METHOD, Some(methods::TOOLS_LIST)),
            "another `Mcp-Method`".to_owned(),
        ),
        (discover().with(METHOD, None), "no `Mcp-Method`".to_owned()),
        (
            discover().with(PROTOCOL_VERSION, Some(UNKNOWN)),
            "another `MCP-Protocol-Version`".to_owned(),
        ),
    ];
    // Nothing has these names: a server that does not compare runs nothing.
    for (capability, method, name) in [
        ("prompts", methods::PROMPTS_GET, NO_NAME),
        ("tools", methods::TOOLS_CALL, NO_NAME),
        ("resources", methods::RESOURCES_READ, NO_RESOURCE),
    ] {
        if let Some(member) = named_by(revision, method)
            && capabilities.get(capability).is_some()
        {
            let message = ProbeMessage::new(revision, method, json!({ member: name }));
            let place = format!("{method}, another `Mcp-Name`");
            tried.push((message.with(NAME, Some("another")), place));
        }
    }
    for (message, place) in tried {
        let reply = probe.send(conversation, message).await;
        if !reply.is_error(HEADER_MISMATCH, 400) && reply.failure.is_none() {
            let place = format!("{place} than the body has");
            probe.report("header-mismatch", revision, place, reply.line());
        }
    }
}

/// Sends GET and DELETE to a server without a handshake.
async fn verbs(probe: &mut Probe, conversation: &Conversation) {
    if speaks_handshake(probe) {
        return;
    }
    for verb in ["GET", "DELETE"] {
        let version = (
            PROTOCOL_VERSION.to_owned(),
            conversation.revision.protocol_version().to_owned(),
        );
        let accept = ("Accept".to_owned(), "text/event-stream".to_owned());
        let reply = probe.http(verb, vec![version, accept]).await;
        probe.report_status("other-verbs", conversation.revision, verb, (405, &reply));
    }
}

fn speaks_handshake(probe: &Probe) -> bool {
    probe
        .spoken()
        .any(|it| it.lifecycle() == Lifecycle::Handshake)
}

/// Checks the error that answered `initialize`, once all trials are made, if the server has no handshake.
pub(super) fn refused_initialize(probe: &mut Probe) {
    let spoken: Vec<Revision> = probe.spoken().collect();
    let Some(latest) = spoken.last().copied().filter(|_| !speaks_handshake(probe)) else {
        return;
    };
    let trial = probe
        .trials
        .iter()
        .find(|trial| trial.method == methods::INITIALIZE);
    let Some(detail) = trial.map(|trial| trial.detail.clone()) else {
        return;
    };
    if !spoken
        .iter()
        .any(|one| detail.contains(one.protocol_version()))
    {
        let found = shown(&detail);
        probe.report("initialize-refused", latest, methods::INITIALIZE, found);
    }
}
