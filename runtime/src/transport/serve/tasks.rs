//! Tasks at work: a call that became one goes on here after its answer, and requests about tasks are answered.
//!
//! What is true of a task stands in its [`TaskStore`]; a change wakes those who wait for it, here and at other replicas.

mod listening;

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use mcp_protocol::{Lifecycle, Revision};
use mcp_wire::{ErrorObject, Json, Kind, Map};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

use super::{AnyHandler, HandlerFuture, Lane, Peer, Session};
use crate::errors;
use crate::methods;
use crate::protocol::input_required::allowed;
use crate::protocol::json::member;
use crate::protocol::server::Server;
use crate::protocol::tasks::server::{Starting, notified};
use crate::protocol::tasks::{
    Count, Form, MemoryTasks, RELATED_TASK, TASK_ID, TASKS_UPDATE, Task, TaskAnswer, TaskOptions,
    TaskQuestion, TaskStatus, TaskStore, TaskStoreError, millis, now_ms,
};
use crate::protocol::translate::{is_unguessable, no_params, unguessable};
use crate::protocol::{
    Caller, CustomNotification, CustomRequest, Fate, IncomingRequest, Notification, To,
};
use crate::transport::panics::caught;

/// Tasks of one page of a list.
const PAGE: usize = 100;
/// How often a change is tried again that another one came before.
const TRIES: usize = 32;
/// How long a result waits for a store that cannot be reached, before that is tried again.
const AWAY: Duration = Duration::from_secs(1);

/// The tasks of a server, and those that are at work in this process, around its handlers.
pub(crate) struct Tasks {
    server: Arc<Server>,
    options: TaskOptions,
    store: Arc<dyn TaskStore>,
    handler: Arc<dyn AnyHandler>,
    /// The replicas that share the store, where there may be some.
    replicas: Option<Arc<dyn Replicas>>,
    running: Mutex<HashMap<String, Arc<Running>>>,
    /// Wakes those who wait for changes of a task.
    changed: Mutex<HashMap<String, watch::Sender<()>>>,
    /// Questions that clients are being asked by a request, by task and key.
    asking: Mutex<HashSet<(String, String)>>,
}

/// The replicas of a server, as its tasks know them.
pub(crate) trait Replicas: Send + Sync {
    /// Returns the address of this one.
    fn address(&self) -> &str;

    /// Returns the store that they share.
    fn store(&self) -> Arc<dyn TaskStore>;

    /// Tells the others that a task has changed.
    fn tell(&self, task: &str);

    /// Returns whether the replica at an address is gone, and what ran on it with it.
    fn is_gone<'a>(&'a self, address: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;
}

/// A task whose handler is at work in this process.
pub(crate) struct Running {
    id: String,
    form: Form,
    peer: Revision,
    caller: Arc<Caller>,
    tasks: Weak<Tasks>,
    /// The session that it was begun in.
    lane: Weak<Lane>,
    /// Whether it ends with that session.
    is_of_session: bool,
    last_question: AtomicU64,
    work: Mutex<Option<AbortHandle>>,
}

/// A call whose handler may answer it with a task.
#[derive(Clone)]
pub(super) struct Taskable {
    tasks: Arc<Tasks>,
    running: Arc<OnceLock<Arc<Running>>>,
}

impl Taskable {
    /// The task that the call has become.
    pub(super) fn running(&self) -> Option<&Arc<Running>> {
        self.running.get()
    }

    /// Answers the call of this peer with a task, and returns whether it has one now.
    pub(super) async fn start(&self, peer: &Peer) -> Result<bool, ErrorObject> {
        if self.running.get().is_some() {
            return Ok(true);
        }
        match self.tasks.start(peer).await? {
            Some(running) => Ok(self.running.set(running).is_ok()),
            None => Ok(false),
        }
    }
}

impl Taskable {
    /// Acknowledges the stream that a call opens, with the tasks that it tells of from now on.
    pub(super) async fn acknowledge(&self, peer: &Peer, params: Option<&Json>) -> Fate {
        listening::acknowledge(&self.tasks, peer, params).await
    }
}

/// Returns the handlers of a server, and around them its tasks if it has any.
pub(crate) fn with_tasks(
    handler: Arc<dyn AnyHandler>,
    server: &Arc<Server>,
    replicas: Option<Arc<dyn Replicas>>,
) -> Arc<dyn AnyHandler> {
    let Some(options) = server.tasks.clone() else {
        return handler;
    };
    let shared = replicas.as_ref().map(|replicas| replicas.store());
    let store = options.store.clone().or(shared);
    Arc::new(Tasks {
        server: Arc::clone(server),
        store: store.unwrap_or_else(|| Arc::new(MemoryTasks::default())),
        options,
        handler,
        replicas,
        running: Mutex::default(),
        changed: Mutex::default(),
        asking: Mutex::default(),
    })
}

impl AnyHandler for Tasks {
    fn call(self: Arc<Self>, call: IncomingRequest, mut peer: Peer) -> HandlerFuture {
        if self.server.tasks_for(call.peer).is_none() {
            return Arc::clone(&self.handler).call(call, peer);
        }
        peer.task = Some(Taskable {
            tasks: Arc::clone(&self),
            running: Arc::default(),
        });
        let listens = call.method == methods::SUBSCRIPTIONS_LISTEN;
        let handled = caught(Arc::clone(&self.handler).call(call, peer.clone()));
        Box::pin(async move {
            // Handlers with tasks of their own do not know that this client asked for one.
            if self.server.has_own_tasks {
                start_if_asked(&peer).await?;
            }
            match handled.await {
                Err(error) if listens => listening::without_handler(&peer, error).await,
                result => finished(&peer, result).await,
            }
        })
    }

    fn custom_request(self: Arc<Self>, call: CustomRequest, peer: Peer) -> HandlerFuture {
        let is_of_tasks = Form::of(call.peer).is_some_and(|form| form.has(&call.method));
        match is_of_tasks && self.server.tasks_for(call.peer).is_some() {
            true => Box::pin(self.serve(call, peer)),
            false => Arc::clone(&self.handler).custom_request(call, peer),
        }
    }

    fn custom_notification(&self, notice: CustomNotification, session: Session) {
        self.handler.custom_notification(notice, session);
    }

    fn notice(&self, notice: Notification, session: Session) {
        self.handler.notice(notice, session);
    }

    fn on_initialized(&self, session: Session) {
        self.handler.on_initialized(session);
    }

    /// Gives up the tasks that end with a session.
    fn session_ended(self: Arc<Self>, session: &Session) {
        let is_of =
            |running: &Running| running.is_of_session && Weak::ptr_eq(&running.lane, &session.line);
        let ended: Vec<String> = (self.running().values())
            .filter(|running| is_of(running))
            .map(|running| running.id.clone())
            .collect();
        for id in ended {
            if let Some(running) = self.running().remove(&id) {
                running.abort();
            }
            let tasks = Arc::clone(&self);
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(async move {
                    let _ = tasks.store.remove(&id).await;
                    tasks.announce(&id);
                });
            }
        }
    }

    #[cfg(feature = "server-http")]
    fn task_changed(&self, task: &str) {
        self.wake(task);
    }
}

/// Answers a call with a task if its client asked for one, unless it has one.
async fn start_if_asked(peer: &Peer) -> Result<(), ErrorObject> {
    let starting = || peer.line.starting(peer.token);
    if peer.task().is_none() && starting().is_some_and(|starting| starting.asks()) {
        peer.start_task().await?;
    }
    Ok(())
}

/// Takes note of a handler's result, and returns the answer to its call: a task that is over if the client asked for a
/// task and the handler made none.
async fn finished(peer: &Peer, result: Result<Json, ErrorObject>) -> Result<Json, ErrorObject> {
    start_if_asked(peer).await?;
    if let Some(task) = peer.task() {
        task.finish(result.clone()).await;
    }
    // After a task this is for nobody: it was the answer.
    result
}

impl Tasks {
    /// Makes a task of a call and answers the call with it; `None` if its client takes none, or a client that asked for
    /// none finds no room for one: then the client waits.
    pub(crate) async fn start(
        self: &Arc<Self>,
        peer: &Peer,
    ) -> Result<Option<Arc<Running>>, ErrorObject> {
        let gone = || errors::internal("the client is gone").error;
        let Some(Starting {
            wanted,
            peer: revision,
            caller,
            method,
        }) = peer.line.starting(peer.token)
        else {
            return Ok(None);
        };
        let options = &self.options;
        let no_id = || errors::internal("no randomness for the id of a task").error;
        let id = unguessable().ok_or_else(no_id)?.to_string();
        let owner = owner_of(peer, revision);
        let (now, ttl) = (now_ms(), options.ttl_for(wanted.ttl));
        let task = Task {
            id: id.clone(),
            share: owner.clone().unwrap_or_else(|| address_of(peer)),
            owner,
            home: (self.replicas.as_ref()).map(|replicas| replicas.address().to_owned()),
            version: Count(0),
            status: TaskStatus::Working,
            message: None,
            created_ms: Count(now),
            updated_ms: Count(now),
            ttl_ms: Count(millis(ttl)),
            poll_interval_ms: Count(millis(options.poll_interval)),
            method: method.to_owned(),
            questions: Vec::new(),
            answers: Vec::new(),
            result: None,
            error: None,
        };
        match self.store.insert(task.clone()).await {
            Ok(()) => {}
            // Its client asked for no task.
            Err(_) if wanted.form == Form::Extension => return Ok(None),
            Err(why) => return Err(why.into()),
        }
        let running = Arc::new(Running {
            id: id.clone(),
            form: wanted.form,
            peer: revision,
            caller,
            tasks: Arc::downgrade(self),
            lane: Arc::downgrade(&peer.line),
            is_of_session: (task.owner.as_deref()).is_some_and(|owner| owner.starts_with(SESSION)),
            last_question: AtomicU64::new(0),
            work: Mutex::default(),
        });
        self.running().insert(id.clone(), Arc::clone(&running));
        tokio::spawn(watched(
            Arc::downgrade(self),
            id.clone(),
            Instant::now() + ttl,
        ));
        let created = Server::task_created(&task, wanted.form);
        let Some(work) = peer.line.begin_task(peer.token, created).await else {
            self.running().remove(&id);
            let _ = self.store.remove(&id).await;
            return Err(gone());
        };
        *running.work.lock().unwrap_or_else(PoisonError::into_inner) = work;
        Ok(Some(running))
    }

    /// Answers a request about tasks, in the words of its client.
    pub(crate) async fn serve(
        self: Arc<Self>,
        call: CustomRequest,
        peer: Peer,
    ) -> Result<Json, ErrorObject> {
        let owner = owner_of(&peer, call.peer);
        if call.method == methods::TASKS_LIST {
            return self.list(owner, &call.params).await;
        }
        let id = member(&call.params, TASK_ID).and_then(|id| id.read::<String>().ok());
        let id = id.ok_or_else(|| errors::invalid_params("`taskId` is required").error)?;
        // Whose task it is, is asked before anything else.
        let task = self.find(&id, owner.as_deref()).await?;
        let form = Form::of(call.peer).unwrap_or(Form::Extension);
        match call.method.as_str() {
            methods::TASKS_GET => Ok(self.server.task_state(&task, form, call.peer)),
            methods::TASKS_CANCEL => self.cancel(&task, form).await,
            methods::TASKS_RESULT => self.result(&id, &call, &peer).await,
            TASKS_UPDATE => self.update(&task, &call).await,
            other => Err(errors::method_not_found(other, call.peer.lifecycle()).error),
        }
    }

    async fn list(&self, owner: Option<String>, params: &Json) -> Result<Json, ErrorObject> {
        let invalid = || errors::invalid_params("`cursor` is none of this list").error;
        let cursor = member(params, "cursor").map(|cursor| cursor.read::<String>());
        let cursor = cursor.transpose().map_err(|_| invalid())?;
        let after = match &cursor {
            Some(cursor) => {
                let (created, id) = cursor.split_once('-').ok_or_else(invalid)?;
                Some((Count(created.parse().map_err(|_| invalid())?), id))
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
        let shown = tasks.iter().filter(|task| !task.is_expired(now));
        let shown: Vec<Json> = shown.map(|task| Json::of(&notified(task))).collect();
        let mut result = Map::from_iter([("tasks", Json::of(&shown))]);
        if let Some(next) = next {
            result.insert("nextCursor", Json::of(&next));
        }
        Ok(Json::of(&result))
    }

    async fn cancel(&self, task: &Task, form: Form) -> Result<Json, ErrorObject> {
        let cancelled = self.change(&task.id, |task| {
            if task.status.is_terminal() {
                return None;
            }
            task.status = TaskStatus::Cancelled;
            task.message = Some("cancelled by its client".to_owned());
            task.questions.clear();
            task.answers.clear();
            Some(())
        });
        let cancelled = cancelled.await?;
        if cancelled.is_some()
            && let Some(running) = self.running().remove(&task.id)
        {
            running.abort();
        }
        match (form, cancelled) {
            (Form::Extension, _) => Ok(acknowledged()),
            (Form::Core, Some((task, ()))) => Ok(Json::of(&notified(&task))),
            (Form::Core, None) => {
                let why = "cannot cancel the task: it has ended already";
                Err(errors::invalid_params(why).error)
            }
        }
    }

    /// Waits for the outcome of a task; its client is asked meanwhile what the handler wants to know.
    async fn result(
        self: &Arc<Self>,
        id: &str,
        call: &CustomRequest,
        peer: &Peer,
    ) -> Result<Json, ErrorObject> {
        let related = Json::of(&Map::from_iter([(TASK_ID, Json::of(id))]));
        let interval = self.options.poll_interval;
        let mut asks = JoinSet::new();
        loop {
            let changed = self.subscribe(id);
            let task = self.find(id, owner_of(peer, call.peer).as_deref()).await?;
            if task.status.is_terminal() {
                let result = self.server.task_outcome(&task, call.peer)?;
                let text = crate::meta::with(result.text(), RELATED_TASK, &related);
                return Ok(Json::from_text(&text).unwrap_or(result));
            }
            for question in task.questions {
                let key = (id.to_owned(), question.key.clone());
                if self.asking().insert(key.clone()) {
                    let asked = Asking {
                        tasks: Arc::clone(self),
                        key,
                    };
                    asks.spawn(asked.ask(question, peer.clone(), related.clone()));
                }
            }
            wait(changed, interval).await;
            while asks.try_join_next().is_some() {}
        }
    }

    async fn update(&self, task: &Task, call: &CustomRequest) -> Result<Json, ErrorObject> {
        let responses = member(&call.params, "inputResponses");
        let responses = responses.and_then(|it| it.read::<Map<Json>>().ok());
        let missing = || errors::invalid_params("`inputResponses` is required: an object").error;
        let responses = responses.ok_or_else(missing)?;
        let mut answers = Vec::new();
        // Others are of no question, or were answered before.
        for question in &task.questions {
            if let Some(answer) = responses.get(&question.key) {
                let answer = self.server.task_answer(question, answer, call.peer)?;
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
    ) -> Result<(), ErrorObject> {
        let taken = self.change(id, |task| {
            for (key, answer) in &answers {
                if task.take_question(key) {
                    let (result, error) = match answer.clone() {
                        Ok(result) => (Some(result), None),
                        Err(error) => (None, Some(error)),
                    };
                    let key = key.clone();
                    task.answers.push(TaskAnswer { key, result, error });
                }
            }
            Some(())
        });
        taken.await?;
        Ok(())
    }

    /// A task that its client may use: any other is none.
    async fn find(&self, id: &str, owner: Option<&str>) -> Result<Task, ErrorObject> {
        // What cannot be the id of a task is asked of no store.
        let found = match is_unguessable(id) {
            true => self.store.get(id).await?,
            false => None,
        };
        let now = now_ms();
        let is_open = |task: &Task| {
            let is_owned = task.owner.as_deref().is_none_or(|of| Some(of) == owner);
            is_owned && !task.is_expired(now)
        };
        let none = || errors::invalid_params("no such task: it has expired, or never was").error;
        let mut task = found.filter(is_open).ok_or_else(none)?;
        self.fail_orphans(std::slice::from_mut(&mut task)).await?;
        Ok(task)
    }

    /// Ends the tasks of these that no replica works on any more.
    async fn fail_orphans(&self, tasks: &mut [Task]) -> Result<(), ErrorObject> {
        let Some(replicas) = &self.replicas else {
            return Ok(());
        };
        let mut looked: HashMap<String, bool> = HashMap::new();
        for task in tasks {
            let home = task.home.as_deref().unwrap_or(replicas.address());
            if task.status.is_terminal() || home == replicas.address() {
                continue;
            }
            let is_gone = match looked.get(home) {
                Some(is_gone) => *is_gone,
                None => replicas.is_gone(home).await,
            };
            looked.insert(home.to_owned(), is_gone);
            if is_gone {
                let gone = Err(errors::replica_gone().error);
                let failed = self.change(&task.id, |task| task.end(&gone)).await?;
                if let Some((failed, ())) = failed {
                    *task = failed;
                }
            }
        }
        Ok(())
    }

    /// Changes a task, and wakes those who wait for that; `None` if there is none, or nothing to change.
    async fn change<T>(
        &self,
        id: &str,
        mut change: impl FnMut(&mut Task) -> Option<T>,
    ) -> Result<Option<(Task, T)>, TaskStoreError> {
        for _ in 0..TRIES {
            let Some(mut task) = self.store.get(id).await? else {
                return Ok(None);
            };
            let before = task.status;
            let Some(done) = change(&mut task) else {
                return Ok(None);
            };
            task.version.0 += 1;
            task.updated_ms = Count(now_ms());
            match self.store.replace(task.clone()).await {
                Ok(()) => {
                    self.tell(&task, before);
                    return Ok(Some((task, done)));
                }
                Err(TaskStoreError::Changed) => tokio::task::yield_now().await,
                Err(why) => return Err(why),
            }
        }
        Err(TaskStoreError::Changed)
    }

    /// Wakes those who wait for a task, here and at other replicas.
    fn announce(&self, id: &str) {
        self.wake(id);
        if let Some(replicas) = &self.replicas {
            replicas.tell(id);
        }
    }

    /// Tells those who wait for a task that it has changed, and the client of its session that its status has.
    fn tell(&self, task: &Task, before: TaskStatus) {
        self.announce(&task.id);
        let running = self.running().get(&task.id).cloned();
        if let Some(running) = running.filter(|running| running.form == Form::Core)
            && task.status != before
            && let Some(lane) = running.lane.upgrade()
        {
            lane.notify_of_task(&notified(task));
        }
    }

    /// Wakes those who wait here for a task.
    fn wake(&self, id: &str) {
        if let Some(changed) = self.changed().get(id) {
            changed.send_replace(());
        }
    }

    /// Wakes with the next change of a task.
    fn subscribe(&self, id: &str) -> watch::Receiver<()> {
        let mut changed = self.changed();
        if changed.len() == changed.capacity() {
            changed.retain(|_, changed| changed.receiver_count() > 0);
        }
        let changed = changed.entry(id.to_owned());
        changed.or_default().subscribe()
    }

    fn changed(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<()>>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asking(&self) -> MutexGuard<'_, HashSet<(String, String)>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        let params = params.cloned().unwrap_or_else(no_params);
        allowed(&self.caller, method, &params)?;
        let question = TaskQuestion {
            key: format!("q{}", self.last_question.fetch_add(1, Ordering::Relaxed)),
            method: method.to_owned(),
            params,
        };
        // What the client cannot be asked is refused here, where the handler can help it.
        tasks.server.task_question(&question, self.peer)?;
        let limits = *tasks.server.limits();
        let key = question.key.clone();
        let asked = tasks.change(&self.id, |task| {
            if task.status.is_terminal() || task.questions.len() >= limits.max_input_requests {
                return None;
            }
            task.questions.push(question.clone());
            task.status = TaskStatus::InputRequired;
            Some(())
        });
        let too_many = || {
            let why = errors::too_many_questions(
                limits.max_input_requests + 1,
                limits.max_input_requests,
            );
            errors::internal(&why).error
        };
        asked.await?.ok_or_else(too_many)?;
        let mut withdrawn = Withdrawn {
            tasks: Weak::clone(&self.tasks),
            task: self.id.clone(),
            key: Some(key.clone()),
        };
        let until = Instant::now() + limits.client_response_timeout;
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
        let message = params.and_then(|params| member(params, "message"));
        let message = message.and_then(|message| message.read::<String>().ok());
        let is_progress = method == methods::NOTIFICATIONS_PROGRESS;
        let has_token = params.is_some_and(|params| member(params, "progressToken").is_some());
        if is_progress && let Some(message) = message {
            self.describe(message).await;
        }
        match (self.form, self.lane.upgrade()) {
            (Form::Core, Some(_)) if is_progress && !has_token => Fate::Dropped("progress-token"),
            (Form::Core, Some(lane)) => {
                let id = Json::of(&Map::from_iter([(TASK_ID, Json::of(&self.id))]));
                let text = params.map_or("{}", Json::text);
                let params = Json::from_text(&crate::meta::with(text, RELATED_TASK, &id)).ok();
                lane.notify(To::Session, method, params.as_ref())
            }
            (Form::Core, None) => Fate::Unknown,
            (Form::Extension, _) => Fate::Dropped("tasks"),
        }
    }

    /// Sets the status message of the task.
    pub(crate) async fn describe(&self, message: String) {
        let Some(tasks) = self.tasks.upgrade() else {
            return;
        };
        let said = tasks.change(&self.id, |task| {
            task.message = Some(message.clone());
            (!task.status.is_terminal()).then_some(())
        });
        // A message that finds no room is left out.
        let _ = said.await;
    }

    /// Takes note of what the handler answered.
    pub(crate) async fn finish(&self, result: Result<Json, ErrorObject>) {
        let Some(tasks) = self.tasks.upgrade() else {
            return;
        };
        let mut result = match result {
            Ok(result) if result.kind() != Kind::Object => {
                Err(errors::internal("the server gave a result that is no object").error)
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
        tasks.running().remove(&self.id);
    }

    fn abort(&self) {
        let work = self
            .work
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(work) = work {
            work.abort();
        }
    }
}

/// A question that a client is being asked by a request; it may be asked again once this is gone.
struct Asking {
    tasks: Arc<Tasks>,
    key: (String, String),
}

impl Asking {
    async fn ask(self, question: TaskQuestion, peer: Peer, related: Json) {
        let text = crate::meta::with(question.params.text(), RELATED_TASK, &related);
        let params = Json::from_text(&text).unwrap_or(question.params);
        let answer = peer.ask(&question.method, Some(&params)).await;
        if answer.is_err() && peer.line.was_closed() {
            return;
        }
        let (task, key) = &self.key;
        // The handler asks again, or fails, if the store is away.
        let _ = self.tasks.answer(task, vec![(key.clone(), answer)]).await;
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.tasks.asking().remove(&self.key);
    }
}

/// Takes back a question whose answer is not waited for any more.
struct Withdrawn {
    tasks: Weak<Tasks>,
    task: String,
    key: Option<String>,
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        let (Some(key), Some(tasks)) = (self.key.take(), self.tasks.upgrade()) else {
            return;
        };
        let task = std::mem::take(&mut self.task);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = tasks
                    .change(&task, |task| task.take_question(&key).then_some(()))
                    .await;
            });
        }
    }
}

/// Looks after a task at work until it is over: one that was cancelled elsewhere is given up, and an expired one removed.
async fn watched(tasks: Weak<Tasks>, id: String, until: Instant) {
    loop {
        let Some(here) = tasks.upgrade() else { return };
        let changed = here.subscribe(&id);
        let is_over = Instant::now() >= until;
        let is_given_up = match here.store.get(&id).await {
            Ok(found) => found.is_none_or(|task| task.status == TaskStatus::Cancelled),
            Err(_) => false,
        };
        if (is_over || is_given_up)
            && let Some(running) = here.running().remove(&id)
        {
            running.abort();
        }
        if is_over {
            let _ = here.store.remove(&id).await;
            return;
        }
        let is_running = here.running().contains_key(&id);
        let interval = here.options.poll_interval;
        drop(here);
        match is_running {
            true => tokio::select! {
                () = wait(changed, interval) => {}
                () = sleep_until(until) => {}
            },
            false => sleep_until(until).await,
        }
    }
}

/// Waits for a change of a task, or as long as a client does: what another replica says of it may be lost.
async fn wait(mut changed: watch::Receiver<()>, interval: Duration) {
    // The sender is there as long as somebody waits.
    let _ = tokio::time::timeout(interval, changed.changed()).await;
}

/// What an owner begins with that is a session.
const SESSION: &str = "session:";

/// Returns who may use the tasks of a peer: its principal, or its session; `None` if neither is known.
fn owner_of(peer: &Peer, revision: Revision) -> Option<String> {
    if let Some(principal) = peer.line.principal_of(peer.token) {
        return Some(format!("principal:{principal}"));
    }
    if revision.lifecycle() != Lifecycle::Handshake || !peer.line.has_session() {
        return None;
    }
    #[cfg(feature = "server-http")]
    let id = peer.session_id().unwrap_or_default();
    #[cfg(not(feature = "server-http"))]
    let id = "";
    Some(format!("{SESSION}{id}"))
}

/// Whose share a task takes that has no owner.
fn address_of(peer: &Peer) -> String {
    #[cfg(feature = "server-http")]
    if let crate::protocol::server::Owner::Address(address) = peer.line.owner() {
        return format!("address:{address}");
    }
    let _ = peer;
    String::new()
}

/// `{"resultType": "complete"}`
fn acknowledged() -> Json {
    Json::of(&Map::from_iter([("resultType", Json::of("complete"))]))
}
