//! Types of log.

use mcp_wire::{Extra, Map};

/// `DoneNotification`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DoneNotification {
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl DoneNotification {
    /// Creates an empty value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// `LogNotification`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct LogNotification {
    /// No doc line yet.
    pub params: LogParams,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl LogNotification {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(params: impl Into<LogParams>) -> Self {
        Self {
            params: params.into(),
            extra: Map::new(),
        }
    }
}

/// `LogParams`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct LogParams {
    /// No doc line yet.
    pub text: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl LogParams {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            extra: Map::new(),
        }
    }
}
