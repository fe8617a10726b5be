//! The checks of a session of the handshake lifecycle: its messages over any transport, and its HTTP.

use mcp_revisions_core::headers::{LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID};
use mcp_revisions_core::{ProtocolHeader, Revision, methods};
use serde_json::{Value, json};

use super::link::ServerReply;
use super::revisions::{UNKNOWN, capabilities};
use super::state::{Conversation, Probe, ProbeMessage};
use super::{offers, origins};

/// The id of a session that no server has made.
const NO_SESSION: &str = "00000000-0000-4000-8000-6d63702d7265";

/// Checks a session that `initialize` has opened with this reply, and ends it. Only the latest revision that the server speaks has
/// all checks; in the others, the session is only ended.
pub(super) async fn run(
    probe: &mut Probe,
    conversation: Conversation,
    opened: &ServerReply,
    result: &Value,
    is_latest: bool,
) {
    let revision = conversation.revision;
    if !is_latest {
        if let Some(session) = &conversation.session {
            close(probe, revision, session).await;
        }
        return;
    }
    let taken = probe
        .notify(&conversation, methods::NOTIFICATIONS_INITIALIZED)
        .await;
    let is_right = taken.status.is_none_or(|status| status == 202) && taken.body.trim().is_empty();
    if probe.is_http() && !is_right {
        let place = methods::NOTIFICATIONS_INITIALIZED;
        probe.report("notification-status", revision, place, taken.line());
    }
    let mut last_event = opened.last_event.clone();
    let seen = offers::run(probe, &conversation, &capabilities(result)).await;
    last_event = seen.or(last_event);
    if !probe.is_http() {
        return;
    }
    version_header(probe, &conversation).await;
    origins::run(probe, &conversation, methods::PING).await;
    origins::cors(probe, &conversation).await;
    stream(probe, &conversation, last_event).await;
    match &conversation.session {
        None => probe.facts.push(format!("{revision}: no session ids")),
        Some(session) => sessions(probe, &conversation, session).await,
    }
}

/// Returns the headers of a request of HTTP in a session.
fn headers(conversation: &Conversation, more: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = more
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let version = conversation.revision.protocol_version();
    if conversation
        .revision
        .has_header(ProtocolHeader::McpProtocolVersion)
    {
        all.push((PROTOCOL_VERSION.to_owned(), version.to_owned()));
    }
    let session = conversation.session.as_ref();
    all.extend(session.map(|session| (SESSION_ID.to_owned(), session.clone())));
    all
}

/// Sends a version that no revision has in the header.
async fn version_header(probe: &mut Probe, conversation: &Conversation) {
    let message = ProbeMessage::new(conversation.revision, methods::PING, json!({}));
    let reply = probe
        .send(conversation, message.with(PROTOCOL_VERSION, Some(UNKNOWN)))
        .await;
    let place = format!("{PROTOCOL_VERSION}: {UNKNOWN}");
    probe.report_status(
        "version-header",
        conversation.revision,
        place,
        (400, &reply),
    );
}

/// Asks for the stream of a session, behind the last event if events have ids.
async fn stream(probe: &mut Probe, conversation: &Conversation, last_event: Option<String>) {
    let mut more = vec![("Accept", "text/event-stream")];
    more.extend(last_event.as_deref().map(|id| (LAST_EVENT_ID, id)));
    let reply = probe.http("GET", headers(conversation, &more)).await;
    let resumed = if last_event.is_some() {
        ", behind an event"
    } else {
        ""
    };
    let what = match (reply.status, reply.is_stream) {
        (Some(200), true) => "a stream of events",
        (Some(405), _) => "no stream of events",
        // Some servers send the head of the response with the first event only.
        (None, _) if reply.failure.is_some() => "no answer before an event",
        _ => {
            probe.report("get-stream", conversation.revision, "GET", reply.line());
            return;
        }
    };
    let fact = format!("{}: GET{resumed} has {what}", conversation.revision);
    probe.facts.push(fact);
}

/// Checks requests without a session, with an unknown one, and with one that has ended.
async fn sessions(probe: &mut Probe, conversation: &Conversation, session: &str) {
    let revision = conversation.revision;
    if !session.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
        let found = format!("the id {session:?}");
        probe.report("session-id", revision, methods::INITIALIZE, found);
    }
    let ping = || ProbeMessage::new(revision, methods::PING, json!({}));
    let lacking = probe
        .send(conversation, ping().with(SESSION_ID, None))
        .await;
    if !lacking.is_success() && lacking.status != Some(400) {
        let place = "a request without a session id";
        probe.report("missing-session", revision, place, lacking.line());
    }
    let unknown = ping().with(SESSION_ID, Some(NO_SESSION));
    let unknown = probe.send(conversation, unknown).await;
    let place = "a session id that is not known";
    probe.report_status("unknown-session", revision, place, (404, &unknown));
    let ended = close(probe, revision, session).await;
    match ended.status {
        Some(405) => {
            let fact = format!("{revision}: clients cannot end sessions");
            probe.facts.push(fact);
        }
        Some(200..=299) => {
            let reply = probe.send(conversation, ping().faulty()).await;
            let place = "a session after DELETE";
            probe.report_status("ended-session", revision, place, (404, &reply));
        }
        _ => probe.report("delete-session", revision, "DELETE", ended.line()),
    }
}

/// Ends a session over HTTP.
pub(super) async fn close(probe: &mut Probe, revision: Revision, session: &str) -> ServerReply {
    let conversation = Conversation {
        revision,
        session: Some(session.to_owned()),
    };
    probe.http("DELETE", headers(&conversation, &[])).await
}
