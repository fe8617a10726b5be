//! A task at work: its handler asks, sends notifications and gives its result, and it ends when it expires or is cancelled.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use mcp_revisions_core::Revision;
use mcp_wire::{ErrorObject, Json, Kind, Map};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, sleep_until};

use super::{Tasks, wait};
use crate::transport::panics::lock;
use crate::transport::serve::ServerDriver;
use crate::transport::spawn::{Boxed, boxed, later, spawn_if_possible};
use mcp_revisions_core::headers::TASK_ID;
use mcp_revisions_core::methods;
use mcp_revisions_sansio::TaskStatus;
use mcp_revisions_sansio::driver::server::allowed;
use mcp_revisions_sansio::driver::server::tasks::{
    Form, RELATED_TASK, Task, TaskQuestion, TaskStoreError, task_question,
};
use mcp_revisions_sansio::driver::{no_params, too_many_questions};
use mcp_revisions_sansio::errors;
use mcp_revisions_sansio::server::Server;
use mcp_revisions_sansio::{Caller, Fate, To};

/// Time that a result waits for a store that cannot be reached, before that is tried again.
const AWAY: Duration = Duration::from_secs(1);

/// A task whose handler is at work in this process.
pub(crate) struct Running {
    pub(super) id: String,
    pub(super) form: Form,
    pub(super) peer: Revision,
    pub(super) caller: Arc<Caller>,
    pub(super) tasks: Weak<Tasks>,
    /// The server of the connection that it was begun in.
    pub(super) server: Arc<Server>,
    /// The session that it was begun in.
    pub(super) driver: Weak<ServerDriver>,
    /// Set if it ends with that session.
    pub(super) is_of_session: bool,
    /// Keeps that session in use.
    pub(super) _in_use: Option<Arc<()>>,
    pub(super) last_question: AtomicU64,
    pub(super) work: Mutex<Option<AbortHandle>>,
}

impl Running {
    /// Asks the client of the task, and waits for its answer.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Option<&Json>,
    ) -> Result<Json, ErrorObject> {
        let over = || errors::internal("the task is over").error;
        let tasks = self.tasks.upgrade().ok_or_else(over)?;
        let interval = tasks.options.poll_interval;
        let object = params.cloned().unwrap_or_else(no_params);
        allowed(&self.caller, method, &object)?;
        let question = TaskQuestion {
            key: format!("q{}", self.last_question.fetch_add(1, Ordering::Relaxed)),
            method: method.to_owned(),
            params: object,
        };
        // A question that the client cannot be asked is refused here, where the handler can help it.
        task_question(&self.server, &question, self.peer)?;
        let limits = *self.server.limits();
        let key = question.key.clone();
        let mut is_full = false;
        let asked = tasks.change(&self.id, |task| {
            is_full = task.questions.len() >= limits.max_input_requests;
            if task.status.is_terminal() || is_full {
                return None;
            }
            task.questions.push(question.clone());
            task.status = TaskStatus::InputRequired;
            Some(())
        });
        if asked.await?.is_none() {
            let most = limits.max_input_requests;
            let too_many = || errors::internal(&too_many_questions(most + 1, most)).error;
            return Err(if is_full { too_many() } else { over() });
        }
        let mut withdrawn = WithdrawnQuestion {
            tasks: Weak::clone(&self.tasks),
            task: self.id.clone(),
            key: Some(key.clone()),
        };
        let until = later(Instant::now(), limits.client_response_timeout);
        loop {
            let changed = tasks.subscribe(&self.id);
            let answered = tasks.change(&self.id, |task| task.take_answer(&key)).await;
            let answered = match answered {
                // It comes again, and the answer may have come meanwhile.
                Err(TaskStoreError::Away(_)) => None,
                answered => answered?,
            };
            if let Some((_, answer)) = answered {
                withdrawn.key = None;
                return match (answer.result, answer.error) {
                    (Some(result), _) => Ok(result),
                    (None, Some(error)) => Err(error),
                    (None, None) => Err(over()),
                };
            }
            tokio::select! {
                () = wait(changed, interval) => {}
                () = sleep_until(until) => {
                    return Err(errors::internal("the client did not answer in time").error);
                }
            }
        }
    }

    /// Sends the client of the task a notification about it, if it can get one; a progress message becomes the status message
    /// of the task.
    pub(crate) async fn notify(&self, method: &str, params: Option<&Json>) -> Fate {
        let message = params
            .and_then(|params| params.get("message"))
            .and_then(|message| message.read::<String>().ok());
        let is_progress = method == methods::NOTIFICATIONS_PROGRESS;
        let has_token = params.is_some_and(|params| params.get("progressToken").is_some());
        if is_progress && let Some(message) = message {
            self.describe(message).await;
        }
        match (self.form, self.driver.upgrade()) {
            (Form::Core, Some(_)) if is_progress && !has_token => Fate::Dropped("progress-token"),
            (Form::Core, Some(driver)) => {
                let id = Json::of(&Map::from_iter([(TASK_ID, Json::of(&self.id))]));
                let object = params.cloned().unwrap_or_else(no_params);
                let params = mcp_wire::meta::with(&object, RELATED_TASK, &id);
                driver.notify(To::Session, method, Some(&params))
            }
            (Form::Core, None) => Fate::Unknown,
            (Form::Extension, _) => Fate::Dropped("tasks"),
        }
    }

    /// Sets the status message of the task.
    #[inline(never)]
    pub(crate) fn describe(&self, message: String) -> Boxed<'_, ()> {
        boxed(async move {
            let Some(tasks) = self.tasks.upgrade() else {
                return;
            };
            let said = tasks.change(&self.id, |task| {
                task.message = Some(message.clone());
                (!task.status.is_terminal()).then_some(())
            });
            // A message that finds no room is left out.
            let _ = said.await;
        })
    }

    /// Takes note of what the handler answered.
    pub(crate) async fn finish(&self, result: Result<Json, ErrorObject>) {
        let Some(tasks) = self.tasks.upgrade() else {
            return;
        };
        let mut result = match result {
            Ok(result) if result.kind() != Kind::Object => {
                Err(errors::internal("the server returned a result that is not an object").error)
            }
            result => result,
        };
        while let Err(why) = tasks.change(&self.id, |task| task.end(&result)).await {
            match (&why, &result) {
                // Until the task expires, which ends this too.
                (TaskStoreError::Away(_), _) => sleep(AWAY).await,
                // The reason takes up little where the result finds no room.
                (_, Ok(_)) => result = Err(why.into()),
                (_, Err(_)) => break,
            }
        }
        lock(&tasks.running).remove(&self.id);
    }

    pub(super) fn abort(&self) {
        if let Some(work) = lock(&self.work).take() {
            work.abort();
        }
    }
}

/// Takes back a question whose answer is not waited for any more.
struct WithdrawnQuestion {
    tasks: Weak<Tasks>,
    task: String,
    key: Option<String>,
}

impl Drop for WithdrawnQuestion {
    fn drop(&mut self) {
        let (Some(key), Some(tasks)) = (self.key.take(), self.tasks.upgrade()) else {
            return;
        };
        let task = std::mem::take(&mut self.task);
        spawn_if_possible(async move {
            let withdraw = |task: &mut Task| task.take_question(&key).then_some(());
            let _ = tasks.change(&task, withdraw).await;
        });
    }
}

/// Looks after a task at work until it is over: one that was cancelled elsewhere is given up, and an expired one removed.
pub(super) async fn watched(tasks: Weak<Tasks>, id: String, until: Instant) {
    loop {
        let Some(here) = tasks.upgrade() else { return };
        let changed = here.subscribe(&id);
        let is_over = Instant::now() >= until;
        let is_given_up = match here.store.get(&id).await {
            Ok(found) => found.is_none_or(|task| task.status == TaskStatus::Cancelled),
            Err(_) => false,
        };
        if (is_over || is_given_up)
            && let Some(running) = lock(&here.running).remove(&id)
        {
            running.abort();
        }
        if is_over {
            let _ = here.store.remove(&id).await;
            return;
        }
        let is_running = lock(&here.running).contains_key(&id);
        let interval = here.options.poll_interval;
        drop(here);
        if is_running {
            tokio::select! {
                () = wait(changed, interval) => {}
                () = sleep_until(until) => {}
            }
        } else {
            sleep_until(until).await
        }
    }
}
