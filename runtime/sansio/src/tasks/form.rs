//! The two forms of tasks, and how their messages name them.

use mcp_revisions_core::extensions::tasks as extension;
use mcp_revisions_core::{Lifecycle, Revision, RevisionSet};
use mcp_wire::{Direction, Json, MethodKind, Notification, Request};

use super::plain::has_core_tasks;
use crate::json::{declares, with_members};
use crate::translate::no_params;
use mcp_revisions_core::methods;
use mcp_revisions_core::translate::find_method;

/// The extension, as capabilities name it.
pub(crate) const EXTENSION: &str = extension::IDENTIFIER;
/// The method of the extension that answers what a task wants to know.
pub const TASKS_UPDATE: &str = extension::UpdateTaskRequest::METHOD;
/// The notification of the extension that tells how a task is.
pub const NOTIFICATIONS_TASKS: &str = extension::TaskStatusNotification::METHOD;
/// The key of `_meta` that names the task of a message in [`Form::Core`].
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The `resultType` of an answer that is a task.
pub const RESULT_TYPE: &str = "task";

/// The form of a peer's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Those of its revision: the client asks for a task, and waits for `tasks/result`.
    Core,
    /// Those of the extension: the server decides, and `tasks/get` has the result.
    Extension,
}

impl Form {
    /// Returns the form that a revision has; its peers need not have said that they can do it.
    pub fn of(revision: Revision) -> Option<Self> {
        if has_core_tasks(revision) {
            return Some(Self::Core);
        }
        (revision.lifecycle() == Lifecycle::PerRequest).then_some(Self::Extension)
    }

    /// Returns whether this form of tasks has a method of this name.
    pub fn has(self, method: &str) -> bool {
        match method {
            methods::TASKS_GET | methods::TASKS_CANCEL => true,
            methods::TASKS_RESULT | methods::TASKS_LIST => self == Self::Core,
            TASKS_UPDATE => self == Self::Extension,
            _ => false,
        }
    }
}

/// Returns the negotiated revisions whose core has the messages of the extension: they took it back, and their peers declare no
/// extension.
pub(crate) fn revisions_with_extension() -> RevisionSet {
    let (sender, kind) = (Direction::ClientToServer, MethodKind::Request);
    let has = |revision: &Revision| find_method(*revision, TASKS_UPDATE, sender, kind).is_some();
    (Revision::NEGOTIATED.iter().copied()).filter(has).collect()
}

/// Returns whether capabilities declare the extension.
pub(crate) fn declares_extension(capabilities: &Json) -> bool {
    declares(capabilities, &["extensions", EXTENSION])
}

/// Returns capabilities that declare the extension.
pub(crate) fn with_extension(capabilities: &Json) -> Json {
    let extensions = capabilities.get("extensions").unwrap_or_else(no_params);
    let extensions = with_members(&extensions, &[(EXTENSION, Some(no_params()))]);
    with_members(capabilities, &[("extensions", Some(extensions))])
}

/// Returns capabilities that do not declare the extension.
pub(crate) fn without_extension(capabilities: &Json) -> Json {
    if !declares_extension(capabilities) {
        return capabilities.clone();
    }
    let others = capabilities
        .get("extensions")
        .map(|extensions| with_members(&extensions, &[(EXTENSION, None)]))
        .filter(|others| others.text() != "{}");
    with_members(capabilities, &[("extensions", others)])
}
