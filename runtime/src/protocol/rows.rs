//! Rows of the tables of methods.

use mcp_registry::Revision;
use mcp_wire::{Direction, MethodInfo, MethodKind};

/// The row of a method in the table of a revision.
#[must_use]
pub fn find_method(
    revision: Revision,
    name: &str,
    direction: Direction,
    kind: MethodKind,
) -> Option<&'static MethodInfo> {
    let rows = revision.methods();
    rows.iter()
        .find(|row| row.name == name && row.direction == direction && row.kind == kind)
}

/// Whether a revision answers a client's request of that method with `input_required` where it wants to know more.
pub(crate) fn may_ask_back(revision: Revision, method: &str) -> bool {
    let (sender, kind) = (Direction::ClientToServer, MethodKind::Request);
    find_method(revision, method, sender, kind).is_some_and(|row| row.input_required)
}

/// The member of a request's params that says what it is about, which the header `Mcp-Name` repeats.
pub(crate) fn named_by(revision: Revision, method: &str) -> Option<&'static str> {
    find_method(
        revision,
        method,
        Direction::ClientToServer,
        MethodKind::Request,
    )?
    .named_by
}
