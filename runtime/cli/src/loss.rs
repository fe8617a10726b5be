//! A loss as a row of JSON, the same wherever one is told.

use mcp_registry::Loss;
use mcp_wire::{Json, Map};

/// Where it was, by which rule it was lost, how grave that is, and what became of the place.
pub(crate) fn row(loss: &Loss) -> Map<Json> {
    let members = [
        ("pointer", Json::of(&loss.pointer())),
        ("hop", Json::of(loss.hop)),
        ("rule", Json::of(loss.rule())),
        ("kind", Json::of(loss.kind().as_str())),
        ("change", Json::of(loss.change.as_str())),
    ];
    members.into_iter().collect()
}
