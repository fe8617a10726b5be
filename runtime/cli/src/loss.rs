//! A loss as a row of JSON, the same in every output.

use mcp_protocol::Loss;
use mcp_wire::{Json, Map};

/// Returns the row: pointer, conversion step, rule, severity, and what happened to the value.
pub(crate) fn row(loss: &Loss) -> Map<Json> {
    let members = [
        ("pointer", Json::of(&loss.pointer())),
        ("step", Json::of(loss.step)),
        ("rule", Json::of(loss.rule())),
        ("severity", Json::of(loss.kind().as_str())),
        ("change", Json::of(loss.change.as_str())),
    ];
    members.into_iter().collect()
}
