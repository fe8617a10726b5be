//! A loss as a row of JSON, the same in every output.

use mcp_revisions_core::{Loss, Severity};
use mcp_wire::{Json, Map};

/// The most characters of a value that a row shows.
const SHOWN: usize = 200;

/// Returns the row: pointer, conversion step, rule, severity, and what happened to the value; for a part that is not valid also
/// its text and the list entry that it is of.
pub(crate) fn row(loss: &Loss) -> Map<Json> {
    let members = [
        ("pointer", Json::of(&loss.pointer())),
        ("step", Json::of(loss.step)),
        ("rule", Json::of(loss.rule())),
        ("severity", Json::of(loss.severity().as_str())),
        ("change", Json::of(loss.change.as_str())),
    ];
    let mut row: Map<Json> = members.into_iter().collect();
    if loss.severity() == Severity::Invalid {
        if let Some(part) = loss.part() {
            row.insert("part", Json::of(part));
        }
        if let Some(value) = loss.value() {
            let shown: String = value.text().chars().take(SHOWN).collect();
            row.insert("value", Json::of(&*shown));
        }
    }
    row
}
