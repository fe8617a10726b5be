//! The options of a client that takes tasks.

use mcp_revisions_core::RevisionSet;

use crate::client::Options;

impl Options {
    /// Takes tasks in the place of results: declares the extension to servers of a per-request revision, asks others for a
    /// task where a tool runs no other way, and looks at a task until the call has its result.
    pub fn with_tasks(mut self) -> Self {
        self.takes_tasks = true;
        self.declares_tasks = true;
        self
    }

    /// Takes tasks as [`with_tasks`](Self::with_tasks) does, but declares the extension only in requests
    /// [that prefer a task](crate::OutgoingRequest::with_task_preferred), and again in one that the server refuses without it:
    /// a server may run a tool as a task that sends progress otherwise.
    pub fn with_tasks_on_request(mut self) -> Self {
        self.takes_tasks = true;
        self
    }

    /// Sets the revisions whose core has the messages of the extension, so that no client declares it to their servers
    /// [default: those whose schema has them].
    #[doc(hidden)]
    pub fn with_extension_in_core(mut self, revisions: RevisionSet) -> Self {
        self.core_revisions = revisions;
        self
    }
}
