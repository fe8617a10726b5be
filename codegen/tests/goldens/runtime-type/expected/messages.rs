//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Cancel`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Cancel {
    /// No doc line yet.
    pub id: RequestId,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Cancel {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(id: impl Into<RequestId>) -> Self {
        Self {
            id: id.into(),
            extra: Map::new(),
        }
    }
}

#[doc(inline)]
pub use mcp_wire::RequestId;
