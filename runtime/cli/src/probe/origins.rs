//! The checks against other origins: DNS rebinding, and clients in browsers.

use std::net::IpAddr;

use mcp_revisions_core::headers::{METHOD, NAME, PROTOCOL_VERSION, SESSION_ID};
use mcp_revisions_core::{ProtocolHeader, methods};
use serde_json::json;

use super::link::ProbeLink;
use super::state::{Conversation, Probe, ProbeMessage};

/// A host that no server has, and its origin.
const FOREIGN_HOST: &str = "mcp-rev-probe.invalid";
const FOREIGN_ORIGIN: &str = "http://mcp-rev-probe.invalid";

/// Sends a request as a page of another origin would: on this machine also by a name that leads here only now.
pub(super) async fn run(probe: &mut Probe, conversation: &Conversation, method: &'static str) {
    let message = || {
        ProbeMessage::new(conversation.revision, method, json!({}))
            .with("Origin", Some(FOREIGN_ORIGIN))
    };
    if is_local(probe) {
        let rebound = message().with("Host", Some(FOREIGN_HOST));
        let reply = probe.send(conversation, rebound).await;
        if reply.result().is_some() {
            let place = format!("Origin: {FOREIGN_ORIGIN}, Host: {FOREIGN_HOST}");
            probe.report("rebinding", conversation.revision, place, reply.line());
            return;
        }
    }
    let reply = probe.send(conversation, message()).await;
    if reply.result().is_some() {
        let place = format!("Origin: {FOREIGN_ORIGIN}");
        probe.report("origin", conversation.revision, place, reply.line());
    }
}

/// Returns whether the server is on this machine, where rebinding reaches it.
fn is_local(probe: &Probe) -> bool {
    let ProbeLink::Http(http) = &probe.link else {
        return false;
    };
    let authority = http.url.split('/').nth(2).unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Asks whether a browser may send the headers of the protocol; a server that allows no other origin has no clients there.
pub(super) async fn cors(probe: &mut Probe, conversation: &Conversation) {
    let revision = conversation.revision;
    let mut wanted = vec!["content-type"];
    for (header, name) in [
        (ProtocolHeader::McpProtocolVersion, PROTOCOL_VERSION),
        (ProtocolHeader::McpSessionId, SESSION_ID),
        (ProtocolHeader::McpMethod, METHOD),
        (ProtocolHeader::McpName, NAME),
    ] {
        let is_of_session =
            header == ProtocolHeader::McpSessionId && conversation.session.is_none();
        if revision.has_header(header) && !is_of_session {
            wanted.push(name);
        }
    }
    let asked = wanted.join(", ").to_ascii_lowercase();
    let headers = [
        ("Origin", "https://browser.example"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", asked.as_str()),
    ];
    let owned = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let reply = probe.http("OPTIONS", owned.collect()).await;
    if reply.header("access-control-allow-origin").is_none() || !reply.is_success() {
        let fact = format!("{revision}: clients in browsers are not allowed (no CORS)");
        probe.facts.push(fact);
        return;
    }
    let allowed = reply
        .header("access-control-allow-headers")
        .unwrap_or_default();
    let allows = |name: &&&str| {
        let mut all = allowed.split(',').map(str::trim);
        !all.any(|one| one == "*" || one.eq_ignore_ascii_case(name))
    };
    let missing: Vec<&str> = wanted.iter().filter(allows).copied().collect();
    if !missing.is_empty() {
        let found = format!(
            "`Access-Control-Allow-Headers` lacks {}",
            missing.join(", ")
        );
        probe.report("cors", revision, "OPTIONS", found);
        return;
    }
    if conversation.session.is_none() {
        return;
    }
    let ping = ProbeMessage::new(revision, methods::PING, json!({}));
    let reply = probe
        .send(
            conversation,
            ping.with("Origin", Some("https://browser.example")),
        )
        .await;
    let exposed = reply
        .header("access-control-expose-headers")
        .unwrap_or_default();
    let is_exposed = exposed
        .split(',')
        .any(|one| one.trim() == "*" || one.trim().eq_ignore_ascii_case(SESSION_ID));
    if reply.result().is_some() && !is_exposed {
        let found = "`Access-Control-Expose-Headers` lacks Mcp-Session-Id";
        probe.report("cors", revision, "POST", found);
    }
}
