//! The identity and the capabilities of a client, in its own words and in those of its server.

use std::sync::Arc;

use mcp_revisions::sansio::client::{Profile, ServerFacts};
use mcp_revisions::sansio::server::Caller;
use mcp_revisions_core::extensions::tasks;
use mcp_revisions_core::{Failure, Lifecycle, Outcome, Revision};
use mcp_wire::{Direction, Json, JsonObject, Map, meta};
use serde_json::{Value, json};

/// The capabilities that are sent for a client which has not sent any: all that it may turn out to have.
const ANY: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

/// Returns a client of which nothing is known.
pub(crate) fn anyone() -> Caller {
    anyone_of(Revision::LATEST)
}

/// Returns a client of which nothing is known but its revision.
pub(crate) fn anyone_of(revision: Revision) -> Caller {
    Caller {
        capabilities: Json::from_text(ANY).ok(),
        ..Caller::unknown(revision)
    }
}

/// Returns a client as it is introduced to its server: one that has not said what it can do may turn out to have anything.
pub(crate) fn introduced(caller: Arc<Caller>) -> Arc<Caller> {
    match caller.capabilities {
        Some(_) => caller,
        None => Arc::new(anyone_of(caller.revision)),
    }
}

/// Returns the identity and capabilities of a client for its server: in its own words, which a server of its revision is sent as they
/// are.
///
/// `info` takes the place of its name.
pub(crate) fn profile(caller: &Caller, info: Option<&Json>) -> Profile {
    let is_readable = |part: Result<Option<Outcome<Json>>, Failure>| matches!(part, Ok(Some(_)));
    let (latest, said, capabilities) = (Revision::LATEST, &caller.info, &caller.capabilities);
    let said = (said.clone()).filter(|_| is_readable(caller.info_in(latest)));
    let capabilities =
        (capabilities.clone()).filter(|_| is_readable(caller.capabilities_in(latest)));
    let nothing = || JsonObject::new().into();
    Profile::new(
        &info.cloned().or(said).unwrap_or_else(bridge),
        &capabilities.unwrap_or_else(nothing),
    )
    .in_words_of(caller.revision)
}

/// Returns the bridge as `Implementation`, for a peer that does not name itself.
pub(crate) fn bridge() -> Json {
    Json::from(json!({ "name": "mcp-bridge", "version": env!("CARGO_PKG_VERSION") }))
}

/// Members of the result of `initialize` or `server/discover` that are about the exchange, and not about the server.
const OWN_MEMBERS: [&str; 6] = [
    "protocolVersion",
    "supportedVersions",
    "resultType",
    "ttlMs",
    "cacheScope",
    "instructions",
];

/// Returns the profile of the bridge for clients: that of its server, in the server's own words.
pub(crate) fn introduction(facts: ServerFacts) -> Profile {
    let result = facts.result.map(|result| result.read::<Map<Json>>());
    let mut members = result.and_then(Result::ok).unwrap_or_default();
    let meta = members.get("_meta").cloned();
    let named = meta.and_then(|meta| JsonObject::try_from(meta).ok()?.get(meta::SERVER_INFO));
    let info = members.remove("serverInfo").or_else(|| named.clone());
    let capabilities = members.remove("capabilities");
    // The endpoint says these itself.
    for own in OWN_MEMBERS {
        members.remove(own);
    }
    // A `_meta` that is now empty is left out, as its client left it out.
    if let Some(meta) = members.remove("_meta") {
        let rest = meta::without(
            &Json::of(&Map::from_iter([("_meta", meta)])),
            meta::SERVER_INFO,
        );
        let stays = |meta: &Json| named.is_none() || !is_empty(meta);
        members.extend(rest.get("_meta").filter(stays).map(|meta| ("_meta", meta)));
    }
    // An identity that cannot be read in its own revision is passed to no server.
    let readable = info.filter(|_| facts.info.is_some());
    let is_nameless = readable.is_none();
    let info = readable.unwrap_or_else(bridge);
    let capabilities = match capabilities.filter(|_| facts.capabilities.is_some()) {
        Some(capabilities) => capabilities,
        None => JsonObject::new().into(),
    };
    let profile = Profile::new(&info, &capabilities)
        .in_words_of(facts.revision)
        .with_members(members);
    let profile = if is_nameless {
        profile.nameless()
    } else {
        profile
    };
    match facts.instructions {
        Some(instructions) => profile.with_instructions(instructions),
        None => profile,
    }
}

/// Returns whether a value is an object without members.
fn is_empty(value: &Json) -> bool {
    value
        .read::<Map<Json>>()
        .is_ok_and(|members| members.is_empty())
}

/// Returns whether a server has tasks: those of its revision for tools, or those of the extension.
pub(crate) fn has_tasks(facts: &ServerFacts) -> bool {
    let result: Value = (facts.result.as_ref())
        .and_then(|result| serde_json::from_str(result.text()).ok())
        .unwrap_or_default();
    let capabilities = &result["capabilities"];
    match facts.revision.lifecycle() {
        Lifecycle::Handshake => !capabilities["tasks"]["requests"]["tools"]["call"].is_null(),
        Lifecycle::PerRequest => !capabilities["extensions"][tasks::IDENTIFIER].is_null(),
    }
}

/// Returns whether a client declares the tasks of the extension.
pub(crate) fn takes_tasks(caller: &Caller) -> bool {
    let capabilities = caller.capabilities.as_ref();
    let declared: Value = capabilities
        .and_then(|it| serde_json::from_str(it.text()).ok())
        .unwrap_or_default();
    is_per_request(caller) && !declared["extensions"][tasks::IDENTIFIER].is_null()
}

/// Returns the key of clients that the server cannot tell apart.
pub(crate) fn key(caller: &Caller, is_named: bool) -> String {
    let text = |part: &Option<Json>| part.as_ref().map_or("", Json::text).to_owned();
    let Caller {
        revision,
        info,
        capabilities,
    } = caller;
    let info = if is_named { text(info) } else { String::new() };
    format!("{revision} {info} {}", text(capabilities))
}

/// Returns whether a client speaks a revision of the per-request lifecycle.
pub(crate) fn is_per_request(caller: &Caller) -> bool {
    caller.revision.lifecycle() == Lifecycle::PerRequest
}

/// Returns whether a client can be asked anything, and only in the result of a call.
pub(crate) fn is_asked_in_results(caller: &Caller) -> bool {
    is_per_request(caller)
        && Revision::NEGOTIATED.iter().any(|revision| {
            let rows = revision.methods().iter();
            let mut asked = rows.filter(|row| row.direction == Direction::ServerToClient);
            asked.any(|row| row.capability.is_some_and(|needed| caller.can(needed)))
        })
}

/// Returns whether a method may be answered by a question.
pub(crate) fn may_ask(method: &str) -> bool {
    let mut rows = Revision::LATEST.methods().iter();
    rows.any(|row| row.name == method && row.input_required)
}
