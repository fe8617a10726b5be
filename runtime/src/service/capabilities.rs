//! Which capabilities the handlers of an application stand for.

use std::collections::BTreeMap;

use mcp_protocol::Revision;
use mcp_wire::{Direction, Json, Map, MethodKind};

/// The requests from one side that a capability of the other promises to answer, by capability: `tools` or
/// `resources.subscribe`.
pub(super) fn promised(
    revision: Revision,
    sender: Direction,
) -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut promised: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in revision.methods() {
        if let Some(capability) = row.capability
            && row.direction == sender
            && row.kind != MethodKind::Notification
        {
            promised.entry(capability).or_default().push(row.name);
        }
    }
    promised
}

/// The capabilities of a peer that has implemented these requests from the other side.
pub(super) fn declared(revision: Revision, sender: Direction, implemented: &[&str]) -> Json {
    let mut all: BTreeMap<&str, Map<bool>> = BTreeMap::new();
    for (capability, methods) in promised(revision, sender) {
        if !methods.iter().any(|method| implemented.contains(method)) {
            continue;
        }
        match capability.split_once('.') {
            Some((capability, part)) => {
                all.entry(capability).or_default().insert(part, true);
            }
            None => {
                all.entry(capability).or_default();
            }
        }
    }
    Json::of(&Map::from_iter(all))
}
