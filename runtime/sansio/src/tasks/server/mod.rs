//! A server's end of tasks: which of its calls become tasks, and what their clients get of them.

pub mod driver;
mod options;
mod record;
pub(crate) mod served;
mod store;

use std::sync::Arc;

use mcp_revisions_core::{Introductions, Revision, errors::shortened, methods};
use mcp_wire::{Json, Peeked, Raw};

use super::form::{EXTENSION, Form, declares_extension, with_extension, without_extension};
use crate::errors::{self, Refusal};
use crate::json::{object, with_members};
use crate::server::{AppProfile, Server};
use crate::translate::no_params;
use crate::{Caller, Connection};

pub use options::{TaskOptions, TaskSupport};
pub use record::{Task, TaskAnswer, TaskCount, TaskQuestion};
pub use served::{StartingTask, TaskWanted};
pub use store::bounds as store_bounds;
pub use store::{MemoryTasks, Stored, TaskStore, TaskStoreError};

/// The member of what a stream is for that asks for notifications of tasks, by the extension.
pub(crate) const TASK_IDS: &str = "taskIds";

impl Server {
    /// Lets calls of tools become tasks: declares that to every client in the words of its revision. Tools of options
    /// that were set before stay.
    pub fn with_tasks(mut self, mut tasks: TaskOptions) -> Self {
        if let Some(before) = self.tasks.options.take() {
            tasks.add_tools_of(&before);
        }
        if let Some(introductions) = &mut self.introductions {
            declare(Arc::make_mut(introductions), &tasks);
        }
        self.tasks.options = Some(tasks);
        self
    }

    /// Lets calls become tasks of these options for clients whose tasks have another form than those of the application, which
    /// makes tasks itself: clients of its revision use its own. Declares that to every client in the words of its revision.
    ///
    /// Any call may become a task: at once if its client asks for one, else when the application calls
    /// `Peer::start_task`. Its result is that of the call, so the application waits for its
    /// own task. Tools that only run as tasks are listed to clients without tasks as tools like any other.
    pub fn with_own_tasks(self, tasks: TaskOptions) -> Self {
        let mut server = self.with_tasks(tasks);
        server.tasks.has_own = true;
        server
    }

    /// Returns the tasks that the runtime makes of the calls of a client of this revision; `None` if it makes none.
    pub fn tasks_for(&self, peer: Revision) -> Option<&TaskOptions> {
        let is_own = self.tasks.has_own && peer.same_types(self.app());
        self.tasks.options.as_ref().filter(|_| !is_own)
    }

    /// Returns whether the runtime makes tasks of calls.
    pub(crate) fn runs_tasks(&self) -> bool {
        self.tasks.options.is_some()
    }

    /// Returns whether the runtime makes tasks of the calls of a client of this revision.
    pub(crate) fn runs_tasks_for(&self, peer: Revision) -> bool {
        self.tasks_for(peer).is_some()
    }

    /// Returns the support of a tool for tasks of the runtime; `None` if its calls never become one.
    fn task_support(&self, tool: &str, peer: Revision) -> Option<TaskSupport> {
        let tasks = self.tasks_for(peer)?;
        if self.tasks.has_own {
            Some(TaskSupport::Optional)
        } else {
            tasks.support(tool)
        }
    }

    /// Returns the tools of a `tools/list` for a client that asks for tasks itself: each says whether it takes one.
    pub(crate) fn with_task_support(&self, result: Json, peer: Revision) -> Json {
        if Form::of(peer) != Some(Form::Core) || self.tasks_for(peer).is_none() {
            return result;
        }
        let tools = result
            .get("tools")
            .and_then(|tools| tools.read::<Vec<Json>>().ok());
        let Some(tools) = tools else { return result };
        let marked = tools.iter().map(|tool| {
            let name = tool.read_member::<String>("name");
            match name.and_then(|name| self.task_support(&name, peer)) {
                Some(support) => {
                    let execution = object([("taskSupport", Json::of(support.name()))]);
                    with_members(tool, &[("execution", Some(execution))])
                }
                None => tool.clone(),
            }
        });
        let tools = Json::of(&marked.collect::<Vec<_>>());
        with_members(&result, &[("tools", Some(tools))])
    }
}

impl Connection<Server> {
    /// Checks whether the client may send a request about tasks, which the runtime or the application answers; `None` for any other
    /// request.
    pub(crate) fn task_request(
        &self,
        message: &Peeked<'_>,
        peer: Revision,
    ) -> Option<Result<(), Box<Refusal>>> {
        let name = message
            .method
            .as_deref()
            .filter(|name| name.starts_with("tasks/"))?;
        let form = Form::of(peer).filter(|form| form.has(name))?;
        let Some(tasks) = self.role.tasks_for(peer) else {
            // An application of the extension's own revisions may have its requests, which no table names.
            let is_own = form == Form::Extension && Form::of(self.role.app()) == Some(form);
            return (is_own && self.role.takes_others).then_some(Ok(()));
        };
        let capabilities = message.meta.client_capabilities.map(Raw::to_json);
        let takes = || takes_extension(tasks.core_revisions.contains(peer), capabilities.as_ref());
        Some(if form == Form::Core || takes() {
            Ok(())
        } else {
            Err(errors::missing_capability(&extension_capability()))
        })
    }

    /// Returns the tasks whose notifications a client wants on the stream that it opens. Fails for a client without the
    /// extension, too many tasks, and what is not a list of ids.
    pub(crate) fn tasks_followed(
        &self,
        message: &Peeked<'_>,
        method: &str,
        peer: Revision,
        caller: &Caller,
    ) -> Result<Vec<String>, Box<Refusal>> {
        let own = self.role.tasks_for(peer);
        let Some(tasks) = own.filter(|_| method == methods::SUBSCRIPTIONS_LISTEN) else {
            return Ok(Vec::new());
        };
        let wanted = message.param("notifications");
        let Some(ids) = wanted.and_then(|wanted| wanted.get(TASK_IDS)) else {
            return Ok(Vec::new());
        };
        if !takes_extension(
            tasks.core_revisions.contains(peer),
            caller.capabilities.as_ref(),
        ) {
            return Err(errors::missing_capability(&extension_capability()));
        }
        let invalid = |_| errors::invalid_params("`taskIds` holds ids of tasks");
        let mut followed: Vec<String> = ids.read().map_err(invalid)?;
        followed.sort();
        followed.dedup();
        let most = self.role.limits.max_subscriptions;
        if followed.len() > most {
            Err(errors::too_many_subscriptions(most))
        } else {
            Ok(followed)
        }
    }

    /// Returns the task that a call may become. Fails for a client that asks for the task of a tool without tasks, or for no
    /// task of a tool that runs no other way.
    pub(crate) fn task_wanted(
        &self,
        message: &Peeked<'_>,
        method: &str,
        peer: Revision,
        caller: &Caller,
    ) -> Result<Option<TaskWanted>, Box<Refusal>> {
        let own = self.role.tasks_for(peer);
        let Some(tasks) = own.filter(|_| method == methods::TOOLS_CALL) else {
            return Ok(None);
        };
        let takes = || {
            takes_extension(
                tasks.core_revisions.contains(peer),
                caller.capabilities.as_ref(),
            )
        };
        let name = message.name.and_then(Raw::as_str).unwrap_or_default();
        let support = self.role.task_support(&name, peer);
        let form = Form::of(peer);
        let refused = |why: &str| {
            let mut refusal = errors::method_not_found(&name, peer.lifecycle());
            refusal.error.message = format!("tool `{}` {why}", shortened(&name));
            Err(refusal)
        };
        let asked = || {
            let params = message
                .params
                .filter(|params| params.text().contains("\"task\""))?;
            params.to_json().get("task").filter(|task| !task.is_null())
        };
        let is_there = || !tasks.lacks(&name);
        match (form, support) {
            (Some(Form::Core), support) => match (asked(), support) {
                // The handlers refuse it as they refuse any call of a tool that is not there.
                (Some(_), None) if !is_there() => Ok(None),
                (Some(_), None) => refused("takes no task: call it without `task`"),
                (Some(asked), Some(_)) => {
                    let ttl = asked
                        .read_member::<TaskCount>("ttl")
                        .and_then(|ttl| u64::try_from(ttl.0).ok());
                    Ok(Some(TaskWanted {
                        form: Form::Core,
                        ttl,
                    }))
                }
                (None, Some(TaskSupport::Required)) => {
                    refused("runs as a task: call it with `task`")
                }
                (None, _) => Ok(None),
            },
            (_, None) => Ok(None),
            (Some(Form::Extension), Some(_)) if takes() => Ok(Some(TaskWanted {
                form: Form::Extension,
                ttl: None,
            })),
            (Some(Form::Extension), Some(TaskSupport::Required)) => {
                Err(errors::missing_capability(&extension_capability()))
            }
            (None, Some(TaskSupport::Required)) => {
                refused("runs as a task, which this revision does not have")
            }
            (_, Some(TaskSupport::Optional)) => Ok(None),
        }
    }
}

/// Returns the params of an acknowledgement, with the tasks that the stream tells of.
pub(crate) fn with_task_ids(params: &Json, ids: &[String]) -> Json {
    let agreed = params.get("notifications").filter(|_| !ids.is_empty());
    let Some(agreed) = agreed else {
        return params.clone();
    };
    let agreed = with_members(&agreed, &[(TASK_IDS, Some(Json::of(ids)))]);
    with_members(params, &[("notifications", Some(agreed))])
}

/// Returns the filter of a stream, without its tasks.
pub(crate) fn without_task_ids(wanted: &Json) -> Json {
    with_members(wanted, &[(TASK_IDS, None)])
}

/// Returns whether a client takes tasks in the form of the extension: the core of its revision has it, or its capabilities
/// declare it.
fn takes_extension(is_in_core: bool, capabilities: Option<&Json>) -> bool {
    is_in_core || capabilities.is_some_and(declares_extension)
}

impl AppProfile {
    /// Declares the tasks of these options, which are those of the application's [late](Server::late) server.
    #[must_use]
    pub fn with_tasks(mut self, tasks: &TaskOptions) -> Self {
        declare(Arc::make_mut(&mut self.introductions), tasks);
        self.has_tasks = true;
        self
    }
}

/// Declares tasks in each revision.
fn declare(introductions: &mut Introductions, tasks: &TaskOptions) {
    let is_in_core = |revision| tasks.core_revisions.contains(revision);
    introductions.change_capabilities(|revision, capabilities| {
        declared(revision, capabilities, is_in_core(revision))
    });
}

/// Capabilities of a server of a revision, with its tasks; `is_in_core` says that the core of the revision has the extension.
fn declared(revision: Revision, capabilities: &Json, is_in_core: bool) -> Json {
    let own = |name| capabilities.get(name);
    match Form::of(revision) {
        Some(Form::Core) if own("tasks").is_none() => {
            let requests = object([("tools", object([("call", no_params())]))]);
            let tasks = [
                ("list", no_params()),
                ("cancel", no_params()),
                ("requests", requests),
            ];
            let tasks = object(tasks);
            with_members(capabilities, &[("tasks", Some(tasks))])
        }
        Some(Form::Extension) if is_in_core => {
            let tasks = own("tasks").unwrap_or_else(no_params);
            with_members(&without_extension(capabilities), &[("tasks", Some(tasks))])
        }
        Some(Form::Extension) if !declares_extension(capabilities) => with_extension(capabilities),
        _ => capabilities.clone(),
    }
}

/// `{"extensions": {"io.modelcontextprotocol/tasks": {}}}`
fn extension_capability() -> Json {
    object([("extensions", object([(EXTENSION, object([]))]))])
}
