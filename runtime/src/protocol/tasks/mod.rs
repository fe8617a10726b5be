//! Tasks in both of their forms, and what both roles do of them.
//!
//! A request that takes long is answered at once by a task, and its client fetches the result later. The protocol has
//! that twice: as [`Form::Core`], where the client asks for a task, and as [`Form::Extension`], where the server decides.
//! A [`Task`] is kept in the application's revision by a [`TaskStore`]; each of its readers gets it converted.

pub(crate) mod client;
mod options;
mod record;
pub(crate) mod server;
mod store;

use mcp_protocol::extensions::tasks as extension;
use mcp_protocol::{Lifecycle, Revision};
use mcp_wire::{Direction, Json, MethodKind, Notification, Request};

use super::json::{declares, object, with_members};
use super::revisions::find_method;
use crate::methods;

pub use options::{TaskOptions, TaskSupport};
pub use record::{Count, Task, TaskAnswer, TaskQuestion, TaskStatus};
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub(crate) use record::{millis, now_ms};
#[cfg(feature = "redis")]
pub(crate) use store::bounds as store_bounds;
pub use store::{MemoryTasks, Stored, TaskStore, TaskStoreError};

/// The extension, as capabilities name it.
pub(crate) const EXTENSION: &str = extension::IDENTIFIER;
/// The method of the extension that answers what a task wants to know.
pub(crate) const TASKS_UPDATE: &str = extension::UpdateTaskRequest::METHOD;
/// The notification of the extension that tells how a task is.
pub(crate) const NOTIFICATIONS_TASKS: &str = extension::TaskStatusNotification::METHOD;
/// The key of `_meta` that names the task of a message in [`Form::Core`].
pub(crate) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The `resultType` of an answer that is a task.
pub(crate) const RESULT_TYPE: &str = "task";
/// The member of the params of each request about one task, which the header `Mcp-Name` repeats.
pub(crate) const TASK_ID: &str = "taskId";

/// The member of what a stream is for that asks for notifications of tasks, by the extension.
pub(crate) const TASK_IDS: &str = "taskIds";

/// Which tasks a peer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Those of its revision: the client asks for a task, and waits for `tasks/result`.
    Core,
    /// Those of the extension: the server decides, and `tasks/get` has the result.
    Extension,
}

impl Form {
    /// Returns the form that a revision has; its peers need not have said that they can do it.
    pub(crate) fn of(revision: Revision) -> Option<Self> {
        let (sender, kind) = (Direction::ClientToServer, MethodKind::Request);
        if find_method(revision, methods::TASKS_RESULT, sender, kind).is_some() {
            return Some(Self::Core);
        }
        (revision.lifecycle() == Lifecycle::PerRequest).then_some(Self::Extension)
    }

    /// Whether it has a method of this name.
    pub(crate) fn has(self, method: &str) -> bool {
        match method {
            methods::TASKS_GET | methods::TASKS_CANCEL => true,
            methods::TASKS_RESULT | methods::TASKS_LIST => self == Self::Core,
            TASKS_UPDATE => self == Self::Extension,
            _ => false,
        }
    }
}

/// The task that the client of a call takes in the place of its result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TaskWanted {
    pub(crate) form: Form,
    /// How long it is to be kept, in milliseconds, if its client says so.
    pub(crate) ttl: Option<u64>,
}

/// Whether capabilities declare the extension.
pub(crate) fn declares_extension(capabilities: &Json) -> bool {
    declares(capabilities, &["extensions", EXTENSION])
}

/// `{"extensions": {"io.modelcontextprotocol/tasks": {}}}`
pub(crate) fn extension_capability() -> Json {
    object([("extensions", object([(EXTENSION, object([]))]))])
}

/// The tools of a list that only run as tasks, as tools like any other; `None` if there are none.
pub(super) fn plain_tools(result: &Json) -> Option<Json> {
    if !result.text().contains("\"taskSupport\"") {
        return None;
    }
    let tools: Vec<Json> = result.read_member("tools")?;
    let plain = tools.into_iter().map(|tool| {
        let support = tool.get("execution").and_then(|it| it.get("taskSupport"));
        match support.and_then(|it| it.read::<String>().ok()).as_deref() {
            Some("required") => with_members(&tool, &[("execution", None)]),
            _ => tool,
        }
    });
    let plain = Json::of(&plain.collect::<Vec<_>>());
    Some(with_members(result, &[("tools", Some(plain))]))
}
