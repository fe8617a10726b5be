//! Types of log.

use mcp_wire::{BareOf, Extra, Map, NoParams};

/// `DoneNotification`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
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

impl mcp_wire::Notification for DoneNotification {
    const METHOD: &'static str = "notifications/done";
    type Params = NoParams;
}

/// `LogNotification`, which has no doc line yet.
pub type LogNotification = BareOf<LogMethod>;

mcp_wire::method! {
    LogMethod "notifications/log" required LogParams
}

/// `LogParams`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
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
