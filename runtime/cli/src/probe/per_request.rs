//! The checks of a server in the per-request lifecycle: its messages over any transport, and its HTTP.

use std::time::Duration;

use mcp_revisions_core::errors::{HEADER_MISMATCH, UNSUPPORTED_PROTOCOL_VERSION};
use mcp_revisions_core::headers::{METHOD, NAME, PROTOCOL_VERSION};
use mcp_revisions_core::{ErrorObject, Lifecycle, Revision, methods};
use serde_json::{Value, json};

use super::link::{ProbeLink, shown};
use super::revisions::{UNKNOWN, capabilities};
use super::state::{Conversation, Probe, ProbeMessage};
use super::{offers, origins};

/// Time that a server has to end after its input.
const PROMPT: Duration = Duration::from_secs(5);
/// A method that no revision has.
const NO_METHOD: &str = "mcp-rev/no-such-method";
/// A prompt that no server has.
const NO_PROMPT: &str = "mcp-rev-no-such-prompt";

/// Looks at a server that has answered `server/discover` with this result.
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
    let mut message = ProbeMessage::new(revision, NO_METHOD, json!({}));
    message.is_sound = false;
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
        mismatches(probe, conversation, capabilities.get("prompts").is_some()).await;
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
async fn mismatches(probe: &mut Probe, conversation: &Conversation, has_prompts: bool) {
    let revision = conversation.revision;
    let discover = || ProbeMessage::new(revision, methods::SERVER_DISCOVER, json!({}));
    let get = || ProbeMessage::new(revision, methods::PROMPTS_GET, json!({ "name": NO_PROMPT }));
    let mut tried = vec![
        (
            discover().with(METHOD, Some(methods::TOOLS_LIST)),
            "another `Mcp-Method`",
        ),
        (discover().with(METHOD, None), "no `Mcp-Method`"),
        (
            discover().with(PROTOCOL_VERSION, Some(UNKNOWN)),
            "another `MCP-Protocol-Version`",
        ),
    ];
    if has_prompts {
        tried.push((get().with(NAME, Some("another")), "another `Mcp-Name`"));
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
        if reply.status != Some(405) && reply.failure.is_none() {
            probe.report("other-verbs", conversation.revision, verb, reply.line());
        }
    }
}

fn speaks_handshake(probe: &Probe) -> bool {
    probe
        .spoken()
        .any(|it| it.lifecycle() == Lifecycle::Handshake)
}

/// Tells of the error that answered `initialize`, once all trials are made, if the server has no handshake.
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
