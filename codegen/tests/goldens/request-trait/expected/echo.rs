//! Types of echo.

use mcp_wire::{Extra, Map};

/// `EchoParams`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct EchoParams {
    /// No doc line yet.
    pub text: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl EchoParams {
    /// One with what must be there; `with_*` sets the rest.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            extra: Map::new(),
        }
    }
}

/// `EchoRequest`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct EchoRequest {
    /// No doc line yet.
    pub params: EchoParams,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl EchoRequest {
    /// One with what must be there; `with_*` sets the rest.
    #[must_use]
    pub fn new(params: impl Into<EchoParams>) -> Self {
        Self {
            params: params.into(),
            extra: Map::new(),
        }
    }
}

/// `EchoResult`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct EchoResult {
    /// No doc line yet.
    pub text: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl EchoResult {
    /// One with what must be there; `with_*` sets the rest.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            extra: Map::new(),
        }
    }
}

/// `TickNotification`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TickNotification {
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl TickNotification {
    /// An empty one; `with_*` sets what it holds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
