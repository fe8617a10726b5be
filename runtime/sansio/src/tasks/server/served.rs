//! The tasks that a server runs, and a call that may become one.

use std::sync::Arc;

use mcp_revisions_core::Revision;

use super::options::TaskOptions;
use crate::Caller;
use crate::tasks::form::Form;

/// The tasks that a server runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServedTasks {
    /// `None` if it runs none.
    pub(crate) options: Option<TaskOptions>,
    /// Set if the application has tasks of its own, for clients of its revision.
    pub(crate) has_own: bool,
}

/// The task that the client of a call takes in the place of its result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskWanted {
    /// In which of its forms.
    pub form: Form,
    /// Time to keep it, in milliseconds, if its client names one.
    pub ttl: Option<u64>,
}

/// A call that may become a task, and who made it.
pub struct StartingTask {
    /// The task that its client takes.
    pub wanted: TaskWanted,
    /// The revision that the client speaks.
    pub revision: Revision,
    /// The client that made the call.
    pub caller: Arc<Caller>,
    /// The method of the call.
    pub method: &'static str,
    /// Keeps the connection in use for as long as it is there.
    pub in_use: Arc<()>,
}

impl StartingTask {
    /// Returns whether the client asked for a task, and takes nothing else.
    pub fn asks(&self) -> bool {
        self.wanted.form == Form::Core
    }
}
