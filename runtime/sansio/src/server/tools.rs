//! Tools that only run as tasks, for clients without them.

use mcp_revisions_core::{Revision, methods};
use mcp_wire::Json;

use super::Server;
use crate::tasks::plain::{has_core_tasks, plain_tools};

impl Server {
    /// Returns the application's answer to `tools/list` for a client without the tasks of its revision: a tool that only runs
    /// as a task is a tool like any other where the server runs tasks for that client, or never offered any.
    pub(crate) fn with_plain_tools(&self, method: &str, result: Json, peer: Revision) -> Json {
        let loses_tasks = || has_core_tasks(self.app()) && !has_core_tasks(peer);
        if method != methods::TOOLS_LIST || !loses_tasks() {
            return result;
        }
        let path = ["tasks", "requests", "tools", "call"];
        let is_plain = !self.declares(&path) || self.runs_tasks();
        let plain = is_plain.then(|| plain_tools(&result)).flatten();
        plain.unwrap_or(result)
    }
}
