//! A server that runs no tasks: none of its calls becomes one, and a request about one is that of no method.

use mcp_revisions_core::Revision;
use mcp_wire::{Json, Peeked};

use crate::errors::Refusal;
use crate::server::Server;
use crate::{Caller, Connection};
use served::{ServedTasks, TaskWanted};
#[doc(hidden)]
pub use {NoTaskStore as TaskStore, NoTasks as MemoryTasks};

/// The tasks that a server runs, and a call that may become one: there are none.
pub(crate) mod served {
    /// The tasks that a server runs: none.
    #[derive(Debug, Clone, Default)]
    pub(crate) struct ServedTasks {}

    /// The task that the client of a call takes in the place of its result: no client is given one.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) enum TaskWanted {}
}

/// Tasks of servers, as transports run them: there are none.
pub mod driver {}

/// The store of the tasks of a server, which runs none.
#[doc(hidden)]
pub trait NoTaskStore: Send + Sync {}

/// A store of no tasks.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct NoTasks {}

impl NoTaskStore for NoTasks {}

impl Server {
    /// Returns whether the runtime makes tasks of calls.
    pub(crate) fn runs_tasks(&self) -> bool {
        let ServedTasks {} = self.tasks;
        false
    }

    /// Returns whether the runtime makes tasks of the calls of a client of this revision.
    pub(crate) fn runs_tasks_for(&self, _peer: Revision) -> bool {
        false
    }

    /// Returns the tools of a `tools/list` as they are.
    pub(crate) fn with_task_support(&self, result: Json, _peer: Revision) -> Json {
        result
    }
}

impl Connection<Server> {
    /// Returns `None`: no request about tasks is handed on as it is.
    pub(crate) fn task_request(
        &self,
        _message: &Peeked<'_>,
        _peer: Revision,
    ) -> Option<Result<(), Box<Refusal>>> {
        None
    }

    /// Returns nothing: a stream tells of no tasks.
    pub(crate) fn tasks_followed(
        &self,
        _message: &Peeked<'_>,
        _method: &str,
        _peer: Revision,
        _caller: &Caller,
    ) -> Result<Vec<String>, Box<Refusal>> {
        Ok(Vec::new())
    }

    /// Returns `None`: a call becomes no task.
    pub(crate) fn task_wanted(
        &self,
        _message: &Peeked<'_>,
        _method: &str,
        _peer: Revision,
        _caller: &Caller,
    ) -> Result<Option<TaskWanted>, Box<Refusal>> {
        Ok(None)
    }
}

/// Returns the params of an acknowledgement as they are.
pub(crate) fn with_task_ids(params: &Json, _ids: &[String]) -> Json {
    params.clone()
}

/// Returns the filter of a stream as it is.
pub(crate) fn without_task_ids(wanted: &Json) -> Json {
    wanted.clone()
}
