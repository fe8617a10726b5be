//! Requests about tasks: `tasks/get`, `tasks/list`, `tasks/cancel`, `tasks/result` and `tasks/update`.

use std::sync::Arc;

use mcp_wire::{ErrorObject, Json, Map};
use tokio::task::JoinSet;

use super::{Tasks, owner_of, wait};
use crate::transport::panics::lock;
use crate::transport::serve::Peer;
use crate::transport::spawn::boxed;
use mcp_revisions_core::headers::TASK_ID;
use mcp_revisions_core::methods;
use mcp_revisions_sansio::CustomRequest;
use mcp_revisions_sansio::TaskStatus;
use mcp_revisions_sansio::driver::now_ms;
use mcp_revisions_sansio::driver::server::tasks::{
    self, Form, RELATED_TASK, TASKS_UPDATE, Task, TaskAnswer, TaskCount, TaskQuestion, notified,
};
use mcp_revisions_sansio::errors::{self, Refusal};

/// The answer to a request about tasks.
type TaskResponse = Result<Json, Box<Refusal>>;

/// Tasks of one page of a list.
const PAGE: usize = 100;

impl Tasks {
    /// Answers a request about tasks, in the words of its client.
    pub(crate) async fn serve(self: Arc<Self>, call: CustomRequest, peer: Peer) -> TaskResponse {
        let owner = owner_of(&peer, call.revision);
        if call.method == methods::TASKS_LIST {
            return self.list(owner, &call.params).await;
        }
        let id = call
            .params
            .read_member::<String>(TASK_ID)
            .ok_or_else(|| errors::invalid_params("`taskId` is required"))?;
        // The owner of the task is asked for before anything else.
        let task = self.find(&id, owner.as_deref()).await?;
        let form = Form::of(call.revision).unwrap_or(Form::Extension);
        match call.method.as_str() {
            methods::TASKS_GET => Ok(tasks::task_state(&peer.server, &task, form, call.revision)),
            methods::TASKS_CANCEL => self.cancel(&task, form).await,
            methods::TASKS_RESULT => self.result(&id, &call, &peer).await,
            TASKS_UPDATE => self.update(&task, &call, &peer).await,
            other => Err(errors::method_not_found(other, call.revision.lifecycle())),
        }
    }

    async fn list(&self, owner: Option<String>, params: &Json) -> TaskResponse {
        let invalid = || errors::invalid_params("`cursor` is none of this list");
        let cursor = params
            .get("cursor")
            .map(|cursor| cursor.read::<String>())
            .transpose()
            .map_err(|_| invalid())?;
        let after = match &cursor {
            Some(cursor) => {
                let (created, id) = cursor.split_once('-').ok_or_else(invalid)?;
                Some((TaskCount(created.parse().map_err(|_| invalid())?), id))
            }
            None => None,
        };
        // A client that cannot be told from others gets an empty list.
        let mut tasks = match &owner {
            Some(owner) => {
                let listed = self.store.list(owner, after, PAGE + 1).await;
                listed?
            }
            None => Vec::new(),
        };
        let has_more = tasks.len() > PAGE;
        tasks.truncate(PAGE);
        self.fail_orphans(&mut tasks).await?;
        let now = now_ms();
        let last = tasks.last().filter(|_| has_more);
        let next = last.map(|task| format!("{}-{}", task.created_ms.0, task.id));
        let shown: Vec<Json> = tasks
            .iter()
            .filter(|task| !task.is_expired(now))
            .map(|task| Json::of(&notified(task)))
            .collect();
        let mut result = Map::from_iter([("tasks", Json::of(&shown))]);
        if let Some(next) = next {
            result.insert("nextCursor", Json::of(&next));
        }
        Ok(Json::of(&result))
    }

    async fn cancel(&self, task: &Task, form: Form) -> TaskResponse {
        let cancelled = self
            .change(&task.id, |task| {
                if task.status.is_terminal() {
                    return None;
                }
                task.status = TaskStatus::Cancelled;
                task.message = Some("cancelled by its client".to_owned());
                task.questions.clear();
                task.answers.clear();
                Some(())
            })
            .await?;
        if cancelled.is_some()
            && let Some(running) = lock(&self.running).remove(&task.id)
        {
            running.abort();
        }
        match (form, cancelled) {
            (Form::Extension, _) => Ok(acknowledged()),
            (Form::Core, Some((task, ()))) => Ok(Json::of(&notified(&task))),
            (Form::Core, None) => {
                let why = "cannot cancel the task: it has ended already";
                Err(errors::invalid_params(why))
            }
        }
    }

    /// Waits for the outcome of a task; its client is asked meanwhile what the handler wants to know.
    async fn result(self: &Arc<Self>, id: &str, call: &CustomRequest, peer: &Peer) -> TaskResponse {
        let related = Json::of(&Map::from_iter([(TASK_ID, Json::of(id))]));
        let interval = self.options.poll_interval;
        let mut asks = JoinSet::new();
        loop {
            let changed = self.subscribe(id);
            let task = self
                .find(id, owner_of(peer, call.revision).as_deref())
                .await?;
            if task.status.is_terminal() {
                let result = tasks::task_outcome(&peer.server, &task, call.revision)?;
                return Ok(mcp_wire::meta::with(&result, RELATED_TASK, &related));
            }
            for question in task.questions {
                let key = (id.to_owned(), question.key.clone());
                if lock(&self.asking).insert(key.clone()) {
                    let asked = Asking {
                        tasks: Arc::clone(self),
                        key,
                    };
                    asks.spawn(boxed(asked.ask(question, peer.clone(), related.clone())));
                }
            }
            wait(changed, interval).await;
            while asks.try_join_next().is_some() {}
        }
    }

    async fn update(&self, task: &Task, call: &CustomRequest, peer: &Peer) -> TaskResponse {
        let responses = call.params.get("inputResponses");
        let members = responses.and_then(|it| it.read::<Map<Json>>().ok());
        let missing = || errors::invalid_params("`inputResponses` is required: an object");
        let responses = members.ok_or_else(missing)?;
        let mut answers = Vec::new();
        // Others are of no question, or were answered before.
        for question in &task.questions {
            if let Some(answer) = responses.get(&question.key) {
                let answer = tasks::task_answer(&peer.server, question, answer, call.revision)?;
                answers.push((question.key.clone(), Ok(answer)));
            }
        }
        if !answers.is_empty() {
            self.answer(&task.id, answers).await?;
        }
        Ok(acknowledged())
    }

    /// Gives the handler of a task answers to its questions, each once.
    async fn answer(
        &self,
        id: &str,
        answers: Vec<(String, Result<Json, ErrorObject>)>,
    ) -> Result<(), Box<Refusal>> {
        let taken = self.change(id, |task| {
            for (key, answer) in &answers {
                if task.take_question(key) {
                    let (result, error) = match answer.clone() {
                        Ok(result) => (Some(result), None),
                        Err(error) => (None, Some(error)),
                    };
                    task.answers.push(TaskAnswer {
                        key: key.clone(),
                        result,
                        error,
                    });
                }
            }
            Some(())
        });
        taken.await?;
        Ok(())
    }
}

/// A question that a client is being asked by a request; it may be asked again once this is gone.
struct Asking {
    tasks: Arc<Tasks>,
    key: (String, String),
}

impl Asking {
    async fn ask(self, question: TaskQuestion, peer: Peer, related: Json) {
        let params = mcp_wire::meta::with(&question.params, RELATED_TASK, &related);
        let answer = peer.ask(&question.method, Some(&params)).await;
        if answer.is_err() && peer.driver.was_closed() {
            return;
        }
        let (task, key) = &self.key;
        // The handler asks again, or fails, if the store is away.
        let _ = self.tasks.answer(task, vec![(key.clone(), answer)]).await;
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        lock(&self.tasks.asking).remove(&self.key);
    }
}

/// `{"resultType": "complete"}`
fn acknowledged() -> Json {
    Json::of(&Map::from_iter([("resultType", Json::of("complete"))]))
}
