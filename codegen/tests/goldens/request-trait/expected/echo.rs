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
    /// Creates a value with its fields.
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
    /// Creates a value with its fields.
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
    /// Creates a value with its fields.
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
    /// Creates an empty value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
