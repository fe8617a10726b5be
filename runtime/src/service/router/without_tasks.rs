//! Tools of a server without tasks: no call becomes one.

use mcp_revisions_core::Latest;

use super::Tool;
use crate::service::McpServer;

/// The way in which calls of a tool become tasks: they never do.
#[derive(Clone, Copy)]
pub(super) enum AsTask {}

impl AsTask {
    /// Returns whether calls become tasks before the handler runs.
    pub(super) fn is_at_once(self) -> bool {
        match self {}
    }
}

/// Returns the options of the tasks that calls of these tools become: none do.
pub(super) fn of(_tools: &[Tool]) -> Option<AsTask> {
    None
}

pub(super) fn with(server: McpServer<Latest>, _tasks: Option<AsTask>) -> McpServer<Latest> {
    server
}
