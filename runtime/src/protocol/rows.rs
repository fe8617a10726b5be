//! Rows of the tables of methods.

use mcp_protocol::Revision;
use mcp_wire::{Direction, MethodInfo, MethodKind};

use super::tasks::{Form, TASK_ID};

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

/// The member of a request's params that says what it is about, which the header `Mcp-Name` repeats.
pub(crate) fn named_by(revision: Revision, method: &str) -> Option<&'static str> {
    let (sender, kind) = (Direction::ClientToServer, MethodKind::Request);
    match find_method(revision, method, sender, kind) {
        Some(row) => row.named_by,
        None => (Form::of(revision)? == Form::Extension && Form::Extension.has(method))
            .then_some(TASK_ID),
    }
}
