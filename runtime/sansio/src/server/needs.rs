//! Needs of a server that no conversion satisfies: the adapter, and the rule that names it.

use mcp_convert::Rule;
use mcp_convert::dynamic::Pair;
use mcp_revisions_core::values::TABLES;
use mcp_revisions_core::{Adapter, RequiresState, Revision};

use crate::{Fate, NeedsAdapter};

/// Returns the latest pair that hands a method to an adapter, and the rule that says so.
fn handed(adapter: Adapter, method: &str) -> Option<(&'static Pair, &'static Rule)> {
    let mut newest_first = TABLES.pairs.iter().rev();
    newest_first.find_map(|pair| Some((pair, pair.hands_to(adapter, method)?)))
}

/// Makes the need of a method for an adapter, by the rule of the step between the lifecycles.
pub(crate) fn needs_state(adapter: Adapter, method: &str) -> RequiresState {
    let handed = handed(adapter, method);
    RequiresState {
        adapter,
        rule: handed.map_or(Rule::UNDECIDED.id(), |(_, rule)| rule.id()),
        step: handed.map_or("", |(pair, _)| pair.up_step),
        pointer: String::new(),
    }
}

/// Returns the same for a message to a client of the per-request lifecycle.
pub(crate) fn needs(adapter: Adapter, method: &str) -> Fate {
    let peer = handed(adapter, method)
        .and_then(|(pair, _)| pair.new.parse().ok())
        .unwrap_or(Revision::LATEST);
    Fate::NeedsAdapter(NeedsAdapter::new(
        &needs_state(adapter, method),
        method,
        peer,
    ))
}
