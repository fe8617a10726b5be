//! The checks that each reply to a sound request goes through.

use mcp_revisions_core::errors::{RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED};
use mcp_revisions_core::{Lifecycle, MessageKind, ProtocolHeader, peek};
use serde_json::Value;

use super::link::{ServerReply, shown};
use super::state::{Conversation, Probe};
use crate::message::as_message;
use crate::report::CheckVerdict;

/// Checks the reply to a sound request.
pub(super) fn reply(
    probe: &mut Probe,
    conversation: &Conversation,
    method: &str,
    reply: &ServerReply,
) {
    let revision = conversation.revision;
    let Some(text) = &reply.text else { return };
    response_id(probe, conversation, method, text, reply.id);
    for checked in as_message(revision, Some(method), text) {
        if let CheckVerdict::Refused(diagnostic) = checked.verdict {
            let place = format!("{}{}", checked.read_as, diagnostic.pointer);
            probe.report("result", revision, place, shown(&diagnostic.message));
        }
    }
    if probe.is_http() && reply.is_success() {
        let kind = reply.header("content-type").unwrap_or("none");
        let is_known = ["application/json", "text/event-stream"]
            .iter()
            .any(|known| kind.trim().to_ascii_lowercase().starts_with(known));
        if !is_known {
            let found = format!("`Content-Type: {}`", shown(kind));
            probe.report("content-type", revision, method, found);
        }
        if reply.is_stream && reply.header("x-accel-buffering").is_none() {
            let found = "a stream of events without that header";
            probe.report("buffering", revision, "streams", found);
        }
        if reply.header("mcp-session-id").is_some() && is_only_per_request(probe, conversation) {
            let found = "the response sets `Mcp-Session-Id`";
            probe.report("session-in-request", revision, method, found);
        }
    }
    if revision.lifecycle() == Lifecycle::PerRequest {
        for other in &reply.others {
            let asked = peek(other.as_bytes());
            if let Ok(asked) = asked.as_ref()
                && asked.kind == MessageKind::Request
            {
                let name = asked.method.as_deref().unwrap_or_default();
                let found = format!("the request `{}`", shown(name));
                probe.report("server-request", revision, method, found);
            }
        }
        if let Some(code) = reply.code()
            && [RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED].contains(&code)
        {
            let found = format!("the error {code}");
            probe.report("withdrawn-code", revision, method, found);
        }
    }
}

/// Returns whether the server has no handshake, as far as is known.
fn is_only_per_request(probe: &Probe, conversation: &Conversation) -> bool {
    !conversation
        .revision
        .has_header(ProtocolHeader::McpSessionId)
        && !probe
            .spoken()
            .any(|it| it.lifecycle() == Lifecycle::Handshake)
}

/// Compares the id of a response with that of its request. An error may lack it where its request could not be read.
fn response_id(probe: &mut Probe, conversation: &Conversation, method: &str, text: &str, id: i64) {
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    match message.get("id") {
        Some(found) if *found == id => {}
        None | Some(Value::Null) if message.get("error").is_some() => {}
        found => {
            let own = found.map_or("no id".to_owned(), Value::to_string);
            let found = format!("the id {}, where the request has {id}", shown(&own));
            probe.report("response", conversation.revision, method, found);
        }
    }
}
