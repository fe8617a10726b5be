//! What endpoints ask of two revisions, and of one.

use mcp_registry::{Era, Revision};

pub(crate) use mcp_registry::Spoken;

/// Whether nothing has to be converted between two revisions.
#[must_use]
pub(crate) fn same(one: Revision, other: Revision) -> bool {
    one.same_types(other)
}

/// Whether the revision is one of the handshake era.
#[must_use]
pub(crate) fn is_legacy(revision: Revision) -> bool {
    revision.era() == Era::Handshake
}
