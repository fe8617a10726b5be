//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::UnknownMessage;

use crate::{DoneNotification, LogNotification};

/// `ServerNotification`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerNotification {
    /// `LogNotification`, which has no doc line yet.
    Log(LogNotification),
    /// `DoneNotification`, which has no doc line yet.
    Done(DoneNotification),
    /// A method that this revision does not name, with its params unread.
    Unknown(UnknownMessage),
}
