//! The rows of methods in the tables of revisions.

use mcp_revisions_tables::{Extension, Revision};
use mcp_wire::{Direction, MethodInfo, MethodKind};

/// Returns the name of a method as the tables have it; `None` if no revision has one of that name, in any direction.
pub fn known_method(method: &str) -> Option<&'static str> {
    let tables = Revision::CONVERTED.iter();
    let mut rows = tables.flat_map(|revision| revision.methods());
    rows.find(|row| row.name == method).map(|row| row.name)
}

/// Returns the identifier of the extension of a method that peers of a revision cannot have, since only the other lifecycle does.
pub(crate) fn extension_of_others(revision: Revision, method: &str) -> Option<&'static str> {
    let mut others = Extension::ALL.iter().filter(|one| !one.is_for(revision));
    let found = others.find(|one| one.methods.iter().any(|row| row.name == method));
    found.map(|one| one.identifier)
}

/// Returns whether a revision has a method of that name, in any direction.
pub fn has_method(revision: Revision, method: &str) -> bool {
    revision.methods().iter().any(|row| row.name == method)
}

/// Returns the row of a method in the table of a revision.
pub fn find_method(
    revision: Revision,
    name: &str,
    direction: Direction,
    kind: MethodKind,
) -> Option<&'static MethodInfo> {
    let rows = revision.methods();
    rows.iter()
        .find(|row| row.direction == direction && row.kind == kind && row.name == name)
}
