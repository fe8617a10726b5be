//! Types of echo.

use mcp_wire::{BareOf, Extra, Map, NoParams};

/// `EchoParams`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
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
pub type EchoRequest = BareOf<EchoMethod>;

mcp_wire::method! {
    EchoMethod "echo/say" required EchoParams => EchoResult
}

/// `EchoResult`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
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
#[derive(Clone, PartialEq, Eq, Default)]
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

impl mcp_wire::Notification for TickNotification {
    const METHOD: &'static str = "notifications/echo/tick";
    type Params = NoParams;
}
