//! Tasks of servers, as the transports of `mcp-revisions` run them.

use std::sync::Arc;

use mcp_revisions_core::{ConversionError, Revision, methods};
use mcp_wire::{ErrorObject, Json, Map, envelope::write, meta};

use crate::errors;
use crate::input_required::server::question_method;
use crate::json::object;
use crate::server::{Outgoing, Server};
pub use crate::tasks::form::{Form, NOTIFICATIONS_TASKS, RELATED_TASK, RESULT_TYPE, TASKS_UPDATE};
pub use crate::tasks::server::{
    StartingTask, Stored, Task, TaskAnswer, TaskCount, TaskOptions, TaskQuestion, TaskStore,
    TaskStoreError, TaskWanted, store_bounds,
};
use crate::translate::TextDirection;
use crate::{Connection, TaskStatus, Token};

/// Returns the options by which calls become tasks; `None` if none does.
#[must_use]
pub fn task_options(server: &Server) -> Option<&TaskOptions> {
    server.tasks.options.as_ref()
}

/// Returns whether the application has tasks of its own, for clients of its revision.
#[must_use]
pub fn has_own_tasks(server: &Server) -> bool {
    server.tasks.has_own
}

/// Returns the result that answers a call with a task.
pub fn task_created(task: &Task, form: Form) -> Json {
    let mut members = task.members(form);
    match form {
        Form::Core => object([("task", Json::of(&members))]),
        Form::Extension => {
            members.insert("resultType", Json::of(RESULT_TYPE));
            Json::of(&members)
        }
    }
}

/// Returns the state of a task for its client.
pub fn task_state(server: &Server, task: &Task, form: Form, peer: Revision) -> Json {
    let mut members = match form {
        Form::Core => task.members(form),
        Form::Extension => task_detail(server, task, peer),
    };
    if form == Form::Extension {
        members.insert("resultType", Json::of("complete"));
    }
    Json::of(&members)
}

/// Returns a task with its questions or its outcome, as the extension has it.
pub fn task_detail(server: &Server, task: &Task, peer: Revision) -> Map<Json> {
    let mut members = task.members(Form::Extension);
    match task.status {
        TaskStatus::InputRequired => {
            let questions = (task.questions.iter()).filter_map(|question| {
                // One that cannot be asked was refused when the handler asked it.
                let asked = task_question(server, question, peer).ok()?;
                Some((question.key.as_str(), asked))
            });
            members.insert("inputRequests", object(questions));
        }
        TaskStatus::Completed | TaskStatus::Failed => match task_outcome(server, task, peer) {
            Ok(result) => {
                members.insert("result", result);
            }
            Err(error) => {
                members.insert("status", Json::of(&TaskStatus::Failed));
                members.insert("error", Json::of(&error));
            }
        },
        TaskStatus::Working | TaskStatus::Cancelled => {}
    }
    members
}

/// Returns the outcome of a task's request, for a client of this revision.
pub fn task_outcome(server: &Server, task: &Task, peer: Revision) -> Result<Json, ErrorObject> {
    let method = known_method(&task.method);
    match (&task.result, &task.error) {
        (Some(result), _) => {
            match server
                .translator
                .result_told(TextDirection::Out, method, result, peer, None)
            {
                Ok((result, _)) => Ok(result),
                Err(ConversionError::RequiresState(_)) => {
                    let why = "the handler asked by a result in a task: ask by a request there";
                    Err(errors::internal(why).error)
                }
                Err(stopped) => Err(stopped.into_error(ErrorObject::INTERNAL_ERROR)),
            }
        }
        (None, Some(error)) => Err(server.translator.error_out(method, error.clone(), peer)),
        (None, None) => Err(errors::internal("the task was cancelled").error),
    }
}

/// Returns a question of a task as a client of this revision is asked it.
pub fn task_question(
    server: &Server,
    question: &TaskQuestion,
    peer: Revision,
) -> Result<Json, ErrorObject> {
    let TaskQuestion { method, params, .. } = question;
    let unknown = || errors::internal("a client cannot be asked this in a task").error;
    let method = question_method(method).ok_or_else(unknown)?;
    let carried = (server.translator).params_told(TextDirection::Out, method, params, peer, None);
    let (params, _) = carried.map_err(|stopped| stopped.into_error(ErrorObject::INTERNAL_ERROR))?;
    let method = Json::of(server.translator.peer_name(method, peer));
    Ok(object([("method", method), ("params", params)]))
}

/// Returns the answer of a client of this revision to a question of a task, for the handler.
pub fn task_answer(
    server: &Server,
    question: &TaskQuestion,
    answer: &Json,
    peer: Revision,
) -> Result<Json, ErrorObject> {
    let method = question_method(&question.method).unwrap_or_default();
    let carried = (server.translator)
        .answer_told(method, answer, peer)
        .map_err(|stopped| stopped.into_error(ErrorObject::INVALID_PARAMS));
    carried.map(|(answer, _)| answer)
}

/// Returns the tasks whose notifications a stream is for, and the revision of its client.
pub fn task_ids(connection: &Connection<Server>, stream: Token) -> Option<(Revision, Vec<String>)> {
    let pending = connection.state.get(stream)?;
    Some((pending.revision, pending.task_ids.clone()))
}

/// Adds these tasks to a stream, before it is acknowledged.
pub fn agree_to_tasks(connection: &mut Connection<Server>, stream: Token, ids: Vec<String>) {
    if let Some(pending) = connection.state.get_mut(stream) {
        pending.task_ids = ids;
    }
}

/// Sends a notification of a task on a stream. Returns false if the stream has ended.
pub fn tell_of_task(connection: &mut Connection<Server>, stream: Token, task: &Map<Json>) -> bool {
    let Some(pending) = connection.state.get(stream) else {
        return false;
    };
    let id = Json::of(&pending.id);
    let params = meta::with(&Json::of(task), meta::SUBSCRIPTION_ID, &id);
    let body = write::notification(NOTIFICATIONS_TASKS, Some(params.text()));
    let exchange = Some(pending.exchange);
    connection.send(Outgoing::on_its_way(exchange, body));
    true
}

/// Returns the task that a call may become, if its client takes one and does not have to retry first.
pub fn starting(connection: &Connection<Server>, call: Token) -> Option<StartingTask> {
    let pending = connection.state.get(call).filter(|it| !it.is_suspended)?;
    Some(StartingTask {
        wanted: pending.task?,
        revision: pending.revision,
        caller: Arc::clone(&pending.caller),
        method: pending.method,
        in_use: Arc::clone(&connection.state.in_use),
    })
}

/// Returns the principal of a request, if the transport knows it.
pub fn principal_of(connection: &Connection<Server>, request: Token) -> Option<String> {
    connection.state.get(request)?.principal.clone()
}

/// Answers a call with its task, in the words of its client; false if it does not wait any more, or is suspended.
pub fn answer_with_task(connection: &mut Connection<Server>, call: Token, task: Json) -> bool {
    let waits = connection
        .state
        .get(call)
        .is_some_and(|it| !it.is_suspended);
    if waits {
        connection.answer_as_is(call, Ok(task));
    }
    waits
}

/// Notifies the client of a session of a task, if its revision has a notification for that.
pub fn notify_of_task(connection: &mut Connection<Server>, members: &Map<Json>) {
    let can = |session: &crate::server::requests::OpenSession| {
        session.is_initialized && Form::of(session.revision) == Some(Form::Core)
    };
    if connection.state.session.as_deref().is_some_and(can) {
        let params = mcp_wire::to_string(members);
        let body = write::notification(methods::NOTIFICATIONS_TASKS_STATUS, Some(&params));
        connection.send(Outgoing::on_its_way(None, body));
    }
}

/// Returns the members of a notification of a task, for clients that ask for tasks themselves.
pub fn notified(task: &Task) -> Map<Json> {
    task.members(Form::Core)
}

/// Returns the method of a request that may become a task.
fn known_method(method: &str) -> &'static str {
    mcp_revisions_core::translate::known_method(method).unwrap_or(methods::TOOLS_CALL)
}
