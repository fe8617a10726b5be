//! The parts of every message beside its own members: `_meta` keys and HTTP headers.

use mcp_revisions_core::{Lifecycle, ProtocolHeader, Revision, headers::named_by};
use mcp_wire::{
    Json,
    meta::{self, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROGRESS_TOKEN, PROTOCOL_VERSION},
};

use crate::translate::no_params;

/// The sender's version, identity and capabilities in a request of the per-request lifecycle.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Json,
    pub(crate) info: Option<Json>,
    pub(crate) log_level: Option<String>,
}

/// Returns params with the claim and the progress token of their request: the claim's keys replace those of the application.
pub(crate) fn stamped(
    params: Option<Json>,
    claim: Option<Claim>,
    progress_token: Option<i64>,
) -> Option<Json> {
    if claim.is_none() && progress_token.is_none() {
        return params;
    }
    let stamped = meta::edit(&params.unwrap_or_else(no_params), |meta| {
        if let Some(Claim {
            revision,
            capabilities,
            info,
            log_level,
        }) = claim
        {
            meta.insert(PROTOCOL_VERSION, Json::of(revision.protocol_version()));
            meta.insert(CLIENT_CAPABILITIES, capabilities);
            if let Some(info) = info {
                meta.insert(CLIENT_INFO, info);
            }
            match log_level {
                Some(level) => meta.insert(LOG_LEVEL, Json::of(level.as_str())),
                None => meta.remove(LOG_LEVEL),
            };
        }
        if let Some(token) = progress_token
            && !meta.contains_key(PROGRESS_TOKEN)
        {
            meta.insert(PROGRESS_TOKEN, Json::from(token));
        }
    });
    Some(stamped)
}

/// Takes a log level out of the `_meta` of an application's params: how it is asked for depends on the server.
pub(crate) fn take_log_level(params: Option<Json>) -> (Option<Json>, Option<String>) {
    let said = |params: &&Json| may_name(params, LOG_LEVEL);
    let meta = params.as_ref().filter(said).and_then(|it| it.get("_meta"));
    let level = meta.and_then(|meta| meta.read_member(LOG_LEVEL));
    match (params, level) {
        (Some(params), Some(level)) => {
            let params = meta::edit(&params, |meta| {
                meta.remove(LOG_LEVEL);
            });
            (Some(params), Some(level))
        }
        (params, _) => (params, None),
    }
}

/// Returns the application's own progress token, if its params name one.
pub(crate) fn progress_token(params: Option<&Json>) -> Option<Json> {
    let said = |params: &&Json| may_name(params, PROGRESS_TOKEN);
    params.filter(said)?.get("_meta")?.get(PROGRESS_TOKEN)
}

/// Returns the headers of a POST.
pub(crate) fn headers(
    revision: Revision,
    session: Option<&str>,
    settled: bool,
    method: Option<&str>,
    params: Option<&Json>,
) -> Vec<(String, String)> {
    let mut headers = vec![
        ("Content-Type".to_owned(), "application/json".to_owned()),
        (
            "Accept".to_owned(),
            "application/json, text/event-stream".to_owned(),
        ),
    ];
    let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
    match revision.lifecycle() {
        Lifecycle::PerRequest => {
            add(
                "MCP-Protocol-Version",
                revision.protocol_version().to_owned(),
            );
            if let Some(method) = method {
                // A method that no header can hold is none that a server has: framed, it ends no line.
                add(
                    "Mcp-Method",
                    mcp_revisions_core::headers::encoded(method).into_owned(),
                );
                if let Some(name) = name_of(revision, method, params) {
                    add(
                        "Mcp-Name",
                        mcp_revisions_core::headers::encoded(&name).into_owned(),
                    );
                }
            }
        }
        Lifecycle::Handshake => {
            if settled && revision.has_header(ProtocolHeader::McpProtocolVersion) {
                add(
                    "MCP-Protocol-Version",
                    revision.protocol_version().to_owned(),
                );
            }
            if let Some(session) = session {
                add("Mcp-Session-Id", session.to_owned());
            }
        }
    }
    headers
}

/// Returns the value of the header `Mcp-Name`.
fn name_of(revision: Revision, method: &str, params: Option<&Json>) -> Option<String> {
    let member = named_by(revision, method)?;
    params?.read_member(member)
}

/// Returns whether an object may name a key somewhere: false only if its text has neither the key nor an escape.
pub(crate) fn may_name(object: &Json, key: &str) -> bool {
    object.text().contains(key) || object.text().contains('\\')
}
