//! The status of a task.

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// The client gave it up.
    Cancelled,
    /// The handler gave a result, which may be one that tells of an error.
    Completed,
    /// The handler gave an error of the protocol.
    Failed,
    /// The handler waits for its client.
    InputRequired,
    /// The handler works on it.
    Working,
}

mcp_wire::strings! {
    TaskStatus {
        Cancelled "cancelled";
        Completed "completed";
        Failed "failed";
        InputRequired "input_required";
        Working "working";
    }
}

impl TaskStatus {
    /// Returns whether the status is final.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}
