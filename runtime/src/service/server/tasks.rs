//! Tasks of a server. Feature `ext-tasks`.

use mcp_revisions_core::Spoken;
pub use mcp_revisions_sansio::server::{TaskOptions, TaskSupport};

use super::McpServer;

impl<App: Spoken> McpServer<App> {
    /// Lets calls of tools become tasks: for clients that can fetch the result later, in either form that the protocol has.
    ///
    /// The handlers of these tools call [`start_task`](super::RequestContext::start_task); those of a [`Router`](crate::service::Router) are
    /// registered with [`as_task`](crate::service::Router::as_task), and need no options.
    pub fn with_tasks(mut self, tasks: TaskOptions) -> Self {
        self.server = self.server.with_tasks(tasks);
        self
    }
}
