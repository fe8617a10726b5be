//! The first words with a server: which revision it speaks, and what it is.

use std::sync::Arc;

use mcp_revisions::RevisionSet;
use mcp_revisions::client_transport::{Handle, Incoming, NotConnected, drive};
use mcp_revisions::sansio::client::{Client, Failure, Options, ServerFacts};
use mcp_revisions::sansio::server::Caller;
use mcp_wire::{EXCERPT, peek, printable};
use serde_json::Value;

use super::asked::BridgedRequest;
use super::listeners::Listeners;
use super::proxied::Proxied;
use crate::Error;
use crate::identity;
use crate::settings::BridgeSettings;
use crate::sign_in;

/// Returns the options of a connection to a server, on behalf of a client.
pub(super) fn options(
    settings: &BridgeSettings,
    caller: &Caller,
    revisions: RevisionSet,
) -> Options {
    let profile = identity::profile(caller, settings.client_info.as_ref());
    Options::new(settings.upstream.channel(), profile)
        .with_unknown_fields(settings.policy)
        .with_revisions(revisions)
        .with_own_revision(caller.revision)
        .with_start_timeout(settings.start_timeout)
        .with_other_methods()
        .with_tasks_on_request()
}

/// Connects to the server, and asks it which revision it speaks.
pub(super) async fn connect(
    settings: &Arc<BridgeSettings>,
    client: Client,
    listeners: Listeners,
) -> Result<(Handle<BridgedRequest>, ServerFacts), Error> {
    let transport = settings
        .upstream
        .connect()
        .await
        .map_err(|why| settings.unusable(&why))?;
    let proxied = Proxied::new(listeners, Arc::clone(settings));
    let handle = drive(client, transport, proxied);
    match handle.connect().await {
        Ok(facts) => Ok((handle, facts)),
        Err(unconnected) => {
            let _ = handle.close().await;
            let failure = unconnected.failure.as_deref();
            Err(match failure.and_then(sign_in::needed) {
                Some(needed) => Error::SignIn {
                    name: settings.server_name().to_owned(),
                    needed: Box::new(needed),
                },
                None => settings.unusable(&cause(&unconnected)),
            })
        }
    }
}

/// Describes, for people, why the server cannot be used.
fn cause(unconnected: &NotConnected) -> String {
    let NotConnected { why, last, failure } = unconnected;
    let incoming = last.as_ref();
    let failure = failure.as_deref();
    let tried = failure.map_or(String::new(), Failure::tried);
    match failure.map(Failure::reason) {
        // The mistake in its answer says more than the answer, and the versions that it speaks more than a later refusal.
        Some(Failure::InvalidResult(_) | Failure::NotStarted(_)) => why.clone(),
        Some(Failure::NoCommonRevision(versions)) if !versions.is_empty() => why.clone(),
        Some(_) => match incoming.and_then(seen) {
            Some(seen) => format!("{seen}{tried}"),
            None => why.clone(),
        },
        None => match incoming {
            Some(Incoming::Message { text, .. }) => {
                let text = String::from_utf8_lossy(text);
                let excerpt: String = printable(text.trim()).chars().take(EXCERPT).collect();
                format!("{why}; the last line that it wrote: {excerpt}")
            }
            incoming => incoming.and_then(seen).unwrap_or_else(|| why.clone()),
        },
    }
}

/// Describes, for people, how the server failed last.
fn seen(last: &Incoming) -> Option<String> {
    match last {
        Incoming::Answered {
            status,
            body: Some(body),
            ..
        } => speaks(body).or_else(|| no_message(*status, body)),
        Incoming::Message { text, .. } => speaks(text),
        Incoming::Failed { why, .. } => Some(why.clone()),
        _ => None,
    }
}

/// Returns what a message says of why nothing came of it: an error, or revisions that are not wanted.
fn speaks(text: &[u8]) -> Option<String> {
    let seen = peek(text).ok()?;
    let Some(error) = seen.error else {
        let result: Value = serde_json::from_str(seen.result?.text()).ok()?;
        let spoken =
            named(&result["supportedVersions"]).or_else(|| named(&result["protocolVersion"]))?;
        return Some(format!(
            "it speaks {spoken}, and none of that is wanted: choose another revision for the server"
        ));
    };
    let error: Value = serde_json::from_str(error.text()).ok()?;
    let (code, message) = (&error["code"], error["message"].as_str()?);
    let excerpt: String = message.chars().take(EXCERPT).collect();
    let spoken = named(&error["data"]["supported"])
        .map_or(String::new(), |spoken| format!("; it speaks {spoken}"));
    Some(format!("it refused with error {code}: {excerpt:?}{spoken}"))
}

/// Revisions as a server names them: one, or a list.
fn named(spoken: &Value) -> Option<String> {
    let names: Vec<&str> = match spoken {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let joined = names.join(", ");
    let excerpt: String = printable(&joined).chars().take(EXCERPT).collect();
    (!excerpt.is_empty()).then_some(excerpt)
}

/// Returns the text of an HTTP response without a JSON-RPC message, for an error.
fn no_message(status: u16, body: &[u8]) -> Option<String> {
    if peek(body).is_ok() || (body.is_empty() && (200..300).contains(&status)) {
        return None;
    }
    let hint = match status {
        403 => ": pass credentials in a header",
        404 | 405 => ": check the path of the URL",
        _ => "",
    };
    let text = String::from_utf8_lossy(body);
    let excerpt: String = text.trim().chars().take(EXCERPT).collect();
    let body = if excerpt.is_empty() {
        String::new()
    } else {
        format!("; the body is not a message of MCP: {excerpt:?}")
    };
    Some(format!("it answered with HTTP status {status}{hint}{body}"))
}
