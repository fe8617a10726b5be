//! The checks of a server's offer: its lists page by page, one read, and the call that the user names.

use std::collections::BTreeSet;

use mcp_lock::{LISTS, ListingFault, OfferList, read_lists};
use mcp_revisions::sansio::params::{Learned, PREFIX, text_of};
use mcp_revisions_core::errors::{HEADER_MISMATCH, RESOURCE_NOT_FOUND};
use mcp_revisions_core::headers::encoded;
use mcp_revisions_core::{ErrorObject, Json, Lifecycle, ProtocolRule, Revision, methods};
use serde_json::{Value, json};

use super::link::{LIMIT, ServerReply, shown};
use super::state::{Conversation, Probe, ProbeMessage, ReadPage};

/// A cursor that no server has made.
const NO_CURSOR: &str = "mcp-rev-no-such-cursor";
/// A resource that no server has.
pub(super) const NO_RESOURCE: &str = "mcp-rev-probe:no-such-resource";

/// Checks the offer of a server in a conversation. Returns the id of the last event on a stream, if events have ids.
pub(super) async fn run(
    probe: &mut Probe,
    conversation: &Conversation,
    capabilities: &Json,
) -> Option<String> {
    let mut last_event = None;
    for list in &LISTS {
        if capabilities.get(list.capability).is_some() {
            declared(probe, conversation, list, &mut last_event).await;
        } else {
            undeclared(probe, conversation, list).await;
        }
    }
    invalid_cursor(probe, conversation, capabilities).await;
    tools(probe, conversation);
    resources(probe, conversation, capabilities).await;
    call(probe, conversation).await;
    last_event
}

/// Returns the entries of a list in a revision.
fn entries(probe: &Probe, revision: Revision, method: &str) -> Vec<Value> {
    let of_list = |page: &&ReadPage| page.method == method && page.revision == revision;
    let pages = probe.pages.iter().filter(of_list);
    let all = pages.filter_map(|page| page.result.get(page.member)?.read::<Vec<Json>>().ok());
    all.flatten()
        .filter_map(|entry| serde_json::from_str(entry.text()).ok())
        .collect()
}

/// Reads a list to its end.
async fn declared(
    probe: &mut Probe,
    conversation: &Conversation,
    list: &'static OfferList,
    last_event: &mut Option<String>,
) {
    let only = Json::from(json!({ list.capability: {} }));
    let mut pages = Vec::new();
    let listed = read_lists(&only, async |method, params: Option<Json>| {
        // The capability has two lists.
        if method != list.method {
            return Ok(None);
        }
        let given = params.map_or(json!({}), |params| {
            serde_json::from_str(params.text()).unwrap_or_default()
        });
        let reply = probe.ask(conversation, method, given).await;
        if reply.last_event.is_some() {
            last_event.clone_from(&reply.last_event);
        }
        let Some(result) = reply.result().map(Json::from) else {
            return Err(reply);
        };
        pages.push(result.clone());
        Ok(Some(result))
    });
    match listed.await.map_err(|error| error.why) {
        Ok(_) => {}
        Err(ListingFault::Endless(why)) => {
            probe.report("cursor", conversation.revision, list.method, why)
        }
        Err(ListingFault::Request(reply)) => {
            // Templates have no capability of their own.
            let is_templates = list.method == methods::RESOURCES_TEMPLATES_LIST;
            if !(is_templates && reply.code() == Some(ErrorObject::METHOD_NOT_FOUND)) {
                let found = format!("it is declared; the answer: {}", reply.line());
                let place = format!("{}: {}", list.capability, list.method);
                capability(probe, conversation, list, place, found);
            }
            return;
        }
    }
    scopes(probe, conversation, list, &pages);
    probe.pages.extend(pages.into_iter().map(|result| ReadPage {
        revision: conversation.revision,
        method: list.method,
        member: list.member,
        result,
    }));
}

/// Asks for a page by a cursor that the server has not made.
async fn invalid_cursor(probe: &mut Probe, conversation: &Conversation, capabilities: &Json) {
    let declared = |list: &&OfferList| capabilities.get(list.capability).is_some();
    let Some(list) = LISTS.iter().find(declared) else {
        return;
    };
    let cursor = json!({ "cursor": NO_CURSOR });
    let message = ProbeMessage::new(conversation.revision, list.method, cursor).faulty();
    let reply = probe.send(conversation, message).await;
    if reply.code() != Some(ErrorObject::INVALID_PARAMS) && reply.failure.is_none() {
        probe.report(
            "invalid-cursor",
            conversation.revision,
            list.method,
            reply.line(),
        );
    }
}

/// Compares the `cacheScope` of the pages of a list.
fn scopes(probe: &mut Probe, conversation: &Conversation, list: &OfferList, pages: &[Json]) {
    let all: BTreeSet<String> = pages
        .iter()
        .filter_map(|page| Some(page.get("cacheScope")?.text().to_owned()))
        .collect();
    if all.len() > 1 {
        let found = Vec::from_iter(all).join(", ");
        probe.report("page-scope", conversation.revision, list.method, found);
    }
}

/// Asks for a list whose capability is not declared.
async fn undeclared(probe: &mut Probe, conversation: &Conversation, list: &OfferList) {
    let message = ProbeMessage::new(conversation.revision, list.method, json!({})).faulty();
    let reply = probe.send(conversation, message).await;
    let entries = reply
        .result()
        .and_then(|mut result| match result[list.member].take() {
            Value::Array(entries) => Some(entries.len()),
            _ => None,
        });
    if let Some(count) = entries.filter(|count| *count > 0) {
        let found = format!("it is not declared, and the list has {count} entries");
        let place = format!("{}: {}", list.capability, list.method);
        capability(probe, conversation, list, place, found);
    }
}

/// Reports a capability, with the page of its feature.
fn capability(
    probe: &mut Probe,
    conversation: &Conversation,
    list: &OfferList,
    place: String,
    found: String,
) {
    let before = probe.findings.len();
    probe.report("capability", conversation.revision, place, found);
    if let Some(finding) = probe.findings.get_mut(before)
        && let Some(page) = &mut finding.check.page
    {
        *page = page.replace("{capability}", list.capability);
    }
}

/// Looks at the names and the header annotations of tools.
fn tools(probe: &mut Probe, conversation: &Conversation) {
    let mut names = BTreeSet::new();
    for tool in entries(probe, conversation.revision, methods::TOOLS_LIST) {
        let Some(name) = tool.get("name").and_then(Value::as_str) else {
            continue;
        };
        let place = format!("tool {}", shown(name));
        let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if name.is_empty() || name.len() > 128 || !name.bytes().all(is_sound) {
            let found = format!("a name of {} bytes: {:?}", name.len(), shown(name));
            probe.report("tool-name", conversation.revision, place.clone(), found);
        }
        if !names.insert(name.to_owned()) {
            let found = "several tools have this name";
            probe.report("tool-name", conversation.revision, place.clone(), found);
        }
        if probe.is_http()
            && conversation
                .revision
                .has_rule(ProtocolRule::ParameterHeaderName)
        {
            for why in header_parameters(&tool).1 {
                probe.report(
                    "parameter-header",
                    conversation.revision,
                    place.clone(),
                    why,
                );
            }
        }
    }
}

/// Returns the parameters of a tool that headers repeat, and the mistakes in their annotations.
fn header_parameters(tool: &Value) -> (Learned, Vec<String>) {
    let mut learned = Learned::within(LIMIT);
    let (_, faults) = learned.learn(&Json::from(json!({ "tools": [tool] })));
    (learned, faults)
}

/// Keeps a result for the forecast.
fn keep(probe: &mut Probe, revision: Revision, method: &'static str, reply: &ServerReply) {
    probe.pages.extend(reply.result().map(|result| ReadPage {
        revision,
        method,
        member: "",
        result: result.into(),
    }));
}

/// Reads the first resource, and one that is not there.
async fn resources(probe: &mut Probe, conversation: &Conversation, capabilities: &Json) {
    if capabilities.get("resources").is_none() {
        return;
    }
    let revision = conversation.revision;
    let listed = entries(probe, revision, methods::RESOURCES_LIST);
    let uri = listed.first().and_then(|it| it.get("uri")?.as_str());
    if let Some(uri) = uri {
        let params = json!({ "uri": uri });
        let asking = probe.ask(conversation, methods::RESOURCES_READ, params);
        let reply = asking.await;
        keep(probe, revision, methods::RESOURCES_READ, &reply);
    }
    let params = json!({ "uri": NO_RESOURCE });
    let reply = probe
        .send(
            conversation,
            ProbeMessage::new(revision, methods::RESOURCES_READ, params),
        )
        .await;
    let expected = match revision.lifecycle() {
        Lifecycle::Handshake => RESOURCE_NOT_FOUND,
        Lifecycle::PerRequest => ErrorObject::INVALID_PARAMS,
    };
    // A server may have a resource of any URI.
    let has_contents = reply.result().is_some_and(|result| {
        let contents = result["contents"].as_array();
        contents.is_some_and(|contents| !contents.is_empty())
    });
    let found = match reply.result() {
        Some(_) => "a result with empty `contents`".to_owned(),
        None => reply.line(),
    };
    let is_answered = reply.failure.is_none();
    if !has_contents && is_answered && reply.code() != Some(expected) {
        probe.report("no-resource", revision, methods::RESOURCES_READ, found);
    }
}

/// Makes the call that the user names, once; over HTTP with a wrong header first, if the tool has headers.
async fn call(probe: &mut Probe, conversation: &Conversation) {
    if probe.is_discovered && conversation.revision.lifecycle() == Lifecycle::Handshake {
        return;
    }
    let Some(call) = probe.call.take() else {
        return;
    };
    let revision = conversation.revision;
    let listed = entries(probe, revision, methods::TOOLS_LIST);
    let mut tools = listed.into_iter();
    let found = tools.find(|tool| tool["name"] == *call.tool);
    let tool = found.unwrap_or_default();
    let params = json!({ "name": call.tool, "arguments": call.arguments });
    let message = || ProbeMessage::new(revision, methods::TOOLS_CALL, params.clone());
    let mut headers = Vec::<(String, Option<String>)>::new();
    if probe.is_http() && revision.has_rule(ProtocolRule::ParameterHeaderName) {
        let (learned, arguments) = (header_parameters(&tool).0, call.arguments.clone().into());
        headers.extend(learned.of(&call.tool).iter().filter_map(|param| {
            let value = encoded(&text_of(param.find(&arguments)?)).into_owned();
            Some((format!("{PREFIX}{}", param.name), Some(value)))
        }));
    }
    let place = format!("tools/call {}", shown(&call.tool));
    if let Some((header, _)) = headers.first() {
        let wrong = message().with(header, Some("mcp-rev-another"));
        let reply = probe.send(conversation, wrong).await;
        if !reply.is_error(HEADER_MISMATCH, 400) {
            let place = format!("{place}, another {header} than the body has");
            probe.report("header-mismatch", revision, place, reply.line());
            // It has run: what has an effect is sent once.
            return;
        }
    }
    let mut message = message();
    message.headers = headers;
    let reply = probe.send(conversation, message).await;
    keep(probe, revision, methods::TOOLS_CALL, &reply);
    probe
        .facts
        .push(format!("{revision}: {place} has {}", outcome(&reply)));
    let result = reply.result().unwrap_or_default();
    let is_complete = result.get("content").is_some() && result["isError"] != true;
    let has_schema = tool.get("outputSchema").is_some();
    if is_complete && has_schema && result.get("structuredContent").is_none() {
        let found = "`outputSchema`, and a result without `structuredContent`";
        probe.report("structured-result", revision, place, found);
    }
}

fn outcome(reply: &ServerReply) -> String {
    match reply.result() {
        Some(result) if result["isError"] == true => {
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            format!("failed: {:?}", shown(text))
        }
        _ => reply.line(),
    }
}
