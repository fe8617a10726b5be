//! Tools whose calls become tasks.

use mcp_revisions_core::Latest;

use super::{LastAdded, Router, Tool};
use crate::service::McpServer;
use mcp_revisions_sansio::server::{TaskOptions, TaskSupport};

/// The way in which calls of a tool become tasks.
#[derive(Clone, Copy)]
pub(super) struct AsTask {
    support: TaskSupport,
    /// Set if they do before the handler runs.
    at_once: bool,
}

impl AsTask {
    /// Returns whether calls become tasks before the handler runs.
    pub(super) fn is_at_once(self) -> bool {
        self.at_once
    }
}

/// Returns the options of the tasks that calls of these tools become, if some do.
pub(super) fn of(tools: &[Tool]) -> Option<TaskOptions> {
    let mut tasks = None;
    for tool in tools {
        if let Some(AsTask { support, .. }) = tool.task {
            let options: TaskOptions = tasks.take().unwrap_or_default();
            tasks = Some(options.with_tool(&tool.tool.name, support));
        }
    }
    let plain = tools
        .iter()
        .filter(|tool| tool.task.is_none())
        .map(|tool| tool.tool.name.clone());
    tasks.map(|tasks| tasks.with_plain_tools(plain.collect()))
}

/// Returns the server with these tasks.
pub(super) fn with(server: McpServer<Latest>, tasks: Option<TaskOptions>) -> McpServer<Latest> {
    match tasks {
        Some(tasks) => server.with_tasks(tasks),
        None => server,
    }
}

impl Router {
    /// Runs the tool that this follows as a task, for clients that have tasks: they are answered at once, and fetch the
    /// result later. The calls of other clients wait for it. Progress with a message, requests to the client and
    /// cancellation work as in any tool.
    ///
    /// ```
    /// # use mcp_revisions::Latest;
    /// # use mcp_revisions::service::{RequestContext, Router};
    /// async fn build(cx: RequestContext<Latest>) -> &'static str {
    ///     cx.progress_with(1, None, "compiling").await;
    ///     "built"
    /// }
    ///
    /// let router = Router::new().tool("build", "Builds it all.", build).as_task();
    /// # let _ = router;
    /// ```
    pub fn as_task(self) -> Self {
        self.task(TaskSupport::Optional, true, "as_task")
    }

    /// Runs the tool that this follows as a task, and refuses it to clients without tasks.
    pub fn only_as_task(self) -> Self {
        self.task(TaskSupport::Required, true, "only_as_task")
    }

    /// Lets the handler of the tool that this follows decide: its call becomes a task with
    /// [`RequestContext::start_task`](crate::service::RequestContext::start_task), for example once it knows enough.
    pub fn may_start_task(self, support: TaskSupport) -> Self {
        self.task(support, false, "may_start_task")
    }

    fn task(mut self, support: TaskSupport, at_once: bool, called: &str) -> Self {
        if self.follows(LastAdded::Tool, called, "a tool")
            && let Some(tool) = self.tools.all.last_mut()
        {
            tool.task = Some(AsTask { support, at_once });
        }
        self
    }
}
