//! The state that a server needs where no conversion says so: the adapter, and the rule that names it.

use mcp_convert::Rule;
use mcp_revisions_core::{Adapter, RequiresState, values::TABLES};

/// Returns the need of a method for an adapter, by the rule of the latest step that has one.
pub(crate) fn needs_state(adapter: Adapter, method: &str) -> RequiresState {
    let mut latest_first = TABLES.pairs.iter().rev();
    let ruled = latest_first.find_map(|pair| Some((pair, pair.hands_to(adapter, method)?)));
    RequiresState {
        adapter,
        rule: ruled.map_or(Rule::UNDECIDED.id(), |(_, rule)| rule.id()),
        step: ruled.map_or("", |(pair, _)| pair.up_step),
        pointer: String::new(),
    }
}
