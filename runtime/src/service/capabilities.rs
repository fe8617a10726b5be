//! The capabilities that follow from the handlers of an application.

use mcp_revisions_core::Revision;
use mcp_wire::{Direction, Json, Map, MethodKind};

/// Returns the requests from one side that a capability of the other promises to answer, by capability: `tools` or
/// `resources.subscribe`.
pub(super) fn promised(
    revision: Revision,
    sender: Direction,
) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut promised: Vec<(&str, Vec<_>)> = Vec::new();
    for row in revision.methods() {
        if let Some(capability) = row.capability
            && row.direction == sender
            && row.kind != MethodKind::Notification
        {
            match promised.iter_mut().find(|(known, _)| *known == capability) {
                Some((_, methods)) => methods.push(row.name),
                None => promised.push((capability, vec![row.name])),
            }
        }
    }
    promised
}

/// Returns the capabilities of a server that handles these requests: handlers log by their context, and one that listens to
/// subscriptions delivers the changes of all that is listed.
pub(super) fn of_server(revision: Revision, implemented: &[&str]) -> Json {
    let declared = declared(revision, Direction::ClientToServer, implemented);
    let mut all: Map<Map<bool>> = declared.read().unwrap_or_default();
    if implemented.contains(&mcp_revisions_core::methods::SUBSCRIPTIONS_LISTEN) {
        for (capability, part) in [
            ("tools", "listChanged"),
            ("prompts", "listChanged"),
            ("resources", "listChanged"),
            ("resources", "subscribe"),
        ] {
            if let Some(parts) = all.get_mut(capability) {
                parts.insert(part, true);
            }
        }
    }
    if !all.contains_key("logging") {
        all.insert("logging", Map::new());
    }
    Json::of(&all)
}

/// Returns the capabilities of a peer that has implemented these requests from the other side.
pub(super) fn declared(revision: Revision, sender: Direction, implemented: &[&str]) -> Json {
    let mut all: Map<Map<bool>> = Map::new();
    for (capability, methods) in promised(revision, sender) {
        if !methods.iter().any(|method| implemented.contains(method)) {
            continue;
        }
        let (capability, part) = match capability.split_once('.') {
            Some((capability, part)) => (capability, Some(part)),
            None => (capability, None),
        };
        if !all.contains_key(capability) {
            all.insert(capability, Map::new());
        }
        if let (Some(parts), Some(part)) = (all.get_mut(capability), part) {
            parts.insert(part, true);
        }
    }
    Json::of(&all)
}
