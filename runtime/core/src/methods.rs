//! Two revisions compared, and the rows of methods in their tables.

use mcp_protocol::Revision;
use mcp_wire::{Direction, MethodInfo, MethodKind};

/// Returns whether messages of two revisions need no conversion.
#[must_use]
pub fn same(one: Revision, other: Revision) -> bool {
    one.same_types(other)
}

/// Returns the name of a method as the tables have it; `None` if no revision has one of that name, in any direction.
#[must_use]
pub fn known(method: &str) -> Option<&'static str> {
    let tables = Revision::CONVERTED.iter();
    let mut rows = tables.flat_map(|revision| revision.methods());
    rows.find(|row| row.name == method).map(|row| row.name)
}

/// Returns the row of a method in the table of a revision.
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
