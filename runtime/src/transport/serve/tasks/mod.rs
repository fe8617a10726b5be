//! The tasks of a server around its handlers: a call becomes a task, and goes on after its answer.
//!
//! The truth of a task stands in its [`TaskStore`]; a change wakes those who wait for it, here and at other replicas.

mod listening;
mod replicas;
mod requests;
mod running;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use mcp_revisions_core::{Lifecycle, Revision};
use mcp_wire::{ErrorObject, Json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(crate) use running::Running;
use running::watched;

use super::{AnyHandler, AppFuture, HandlerFuture, Peer, Replicas, Session, is_unguessable};
use crate::transport::panics::{caught, lock};
use crate::transport::spawn::{Boxed, boxed, later, spawn, spawn_if_possible};
use mcp_revisions_core::methods;
use mcp_revisions_sansio::driver::server::tasks::{
    Form, StartingTask, Task, TaskCount, TaskOptions, TaskStore, TaskStoreError, has_own_tasks,
    notified, task_created, task_options,
};
use mcp_revisions_sansio::driver::{millis, now_ms, unguessable};
use mcp_revisions_sansio::errors::{self, Refusal};
use mcp_revisions_sansio::server::MemoryTasks;
use mcp_revisions_sansio::server::{Owner, Server};
use mcp_revisions_sansio::{Caller, Event, Fate, TaskStatus};

/// Maximum number of times that a change is tried again after another one came before it.
const TRIES: usize = 32;

/// The tasks of a server, and those that are at work in this process, around its handlers.
pub(crate) struct Tasks {
    options: TaskOptions,
    store: Arc<dyn TaskStore>,
    handler: Arc<dyn AnyHandler>,
    /// The replicas that share the store, where there may be some.
    replicas: Option<Replicas>,
    running: Mutex<HashMap<String, Arc<Running>>>,
    /// Wakes those who wait for changes of a task.
    changed: Mutex<HashMap<String, watch::Sender<()>>>,
    /// Questions that clients are being asked by a request, by task and key.
    asking: Mutex<HashSet<(String, String)>>,
}

/// A call whose handler may answer it with a task.
#[derive(Clone)]
pub(super) struct Taskable {
    tasks: Arc<Tasks>,
    running: Arc<OnceLock<Arc<Running>>>,
}

impl Taskable {
    /// Returns the task that the call has become.
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

    /// Acknowledges the stream that a call opens, with the tasks that it tells of from now on.
    pub(super) async fn acknowledge(&self, peer: &Peer, params: Option<&Json>) -> Fate {
        listening::acknowledge(&self.tasks, peer, params).await
    }
}

/// Returns the handlers of a server, and around them its tasks if it has any.
pub(crate) fn with_tasks(
    handler: Arc<dyn AnyHandler>,
    server: &Arc<Server>,
    replicas: Option<Replicas>,
) -> Arc<dyn AnyHandler> {
    let Some(options) = task_options(server).cloned() else {
        return handler;
    };
    let shared = replicas.as_ref().map(|it| it.backplane.tasks());
    let store = options.store.clone().or(shared);
    Arc::new(Tasks {
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
    fn call(self: Arc<Self>, request: Event, mut peer: Peer) -> HandlerFuture {
        let server = Arc::clone(&peer.server);
        let has_tasks = |revision| server.tasks_for(revision).is_some();
        let call = match request {
            Event::Request(call) if has_tasks(call.revision) => call,
            Event::CustomRequest(call)
                if Form::of(call.revision).is_some_and(|form| form.has(&call.method))
                    && has_tasks(call.revision) =>
            {
                return Box::pin(async move {
                    let (driver, token) = (Arc::clone(&peer.driver), peer.token);
                    let served = self.serve(call, peer).await;
                    served.map_err(|refusal| driver.refused(token, *refusal))
                });
            }
            other => return Arc::clone(&self.handler).call(other, peer),
        };
        peer.task = Some(Taskable {
            tasks: Arc::clone(&self),
            running: Arc::default(),
        });
        let listens = call.method == methods::SUBSCRIPTIONS_LISTEN;
        let handler = Arc::clone(&self.handler);
        let handled = caught(handler.call(Event::Request(call), peer.clone()));
        Box::pin(async move {
            // Handlers with tasks of their own do not know that this client asked for one.
            if has_own_tasks(&server) {
                start_if_asked(&peer).await?;
            }
            match handled.await {
                Err(error) if listens => listening::without_handler(&peer, error).await,
                result => finished(&peer, result).await,
            }
        })
    }

    fn application(self: Arc<Self>, caller: Arc<Caller>, session: Session) -> AppFuture {
        Arc::clone(&self.handler).application(caller, session)
    }

    fn note(&self, event: Event, session: Session) {
        self.handler.note(event, session);
    }

    /// Gives up the tasks that end with a session.
    fn session_ended(self: Arc<Self>, session: &Session) {
        let is_of = |running: &Running| {
            running.is_of_session && Weak::ptr_eq(&running.driver, &session.driver)
        };
        let ended: Vec<String> = (lock(&self.running).values())
            .filter(|running| is_of(running))
            .map(|running| running.id.clone())
            .collect();
        for id in ended {
            if let Some(running) = lock(&self.running).remove(&id) {
                running.abort();
            }
            let tasks = Arc::clone(&self);
            spawn_if_possible(async move {
                let _ = tasks.store.remove(&id).await;
                tasks.announce(&id);
            });
        }
    }

    fn has_tasks(&self) -> bool {
        !lock(&self.running).is_empty()
    }

    fn end_tasks(self: Arc<Self>, error: ErrorObject) -> Boxed<'static, ()> {
        boxed(async move {
            let running: Vec<_> = lock(&self.running).values().cloned().collect();
            let mut ends = JoinSet::new();
            for task in running {
                task.abort();
                let error = Err(error.clone());
                ends.spawn(async move { task.finish(error).await });
            }
            while ends.join_next().await.is_some() {}
        })
    }

    fn takes(&self, message: &[u8]) -> bool {
        let changed = self.replicas.as_ref().and_then(|it| it.changed(message));
        changed.inspect(|task| self.wake(task)).is_some()
    }
}

/// Answers a call with a task if its client asked for one, unless it has one.
async fn start_if_asked(peer: &Peer) -> Result<(), ErrorObject> {
    let starting = || peer.driver.starting(peer.token);
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

/// A task whose call is not answered with it yet: it is removed if that call ends before.
struct UnstartedTask {
    tasks: Arc<Tasks>,
    id: Option<String>,
}

impl Drop for UnstartedTask {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        lock(&self.tasks.running).remove(&id);
        let tasks = Arc::clone(&self.tasks);
        spawn_if_possible(async move {
            let _ = tasks.store.remove(&id).await;
        });
    }
}

impl Tasks {
    /// Makes a task of a call and answers the call with it; `None` if its client takes none, or a client that asked for
    /// none finds no room for one: then the client waits.
    pub(crate) async fn start(
        self: &Arc<Self>,
        peer: &Peer,
    ) -> Result<Option<Arc<Running>>, ErrorObject> {
        let gone = || errors::internal("the client is gone").error;
        let Some(StartingTask {
            wanted,
            revision,
            caller,
            method,
            in_use,
        }) = peer.driver.starting(peer.token)
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
            home: (self.replicas.as_ref()).map(|replicas| replicas.address.to_string()),
            version: TaskCount(0),
            status: TaskStatus::Working,
            message: None,
            created_ms: TaskCount(now),
            updated_ms: TaskCount(now),
            ttl_ms: TaskCount(millis(ttl)),
            poll_interval_ms: TaskCount(millis(options.poll_interval)),
            method: method.to_owned(),
            questions: Vec::new(),
            answers: Vec::new(),
            result: None,
            error: None,
        };
        let mut unstarted = UnstartedTask {
            tasks: Arc::clone(self),
            id: Some(id.clone()),
        };
        match self.store.insert(task.clone()).await {
            Ok(()) => {}
            // Its client asked for no task.
            Err(_) if wanted.form == Form::Extension => return Ok(None),
            Err(why) => return Err(why.into()),
        }
        let is_of_session = (task.owner.as_deref()).is_some_and(|owner| owner.starts_with(SESSION));
        let running = Arc::new(Running {
            id: id.clone(),
            form: wanted.form,
            peer: revision,
            caller,
            tasks: Arc::downgrade(self),
            server: Arc::clone(&peer.server),
            driver: Arc::downgrade(&peer.driver),
            is_of_session,
            _in_use: is_of_session.then_some(in_use),
            last_question: AtomicU64::new(0),
            work: Mutex::default(),
        });
        lock(&self.running).insert(id.clone(), Arc::clone(&running));
        spawn(watched(
            Arc::downgrade(self),
            id.clone(),
            later(Instant::now(), ttl),
        ));
        let created = task_created(&task, wanted.form);
        let begun = peer.driver.begin_task(peer.token, created).await;
        let work = begun.ok_or_else(gone)?;
        unstarted.id = None;
        *lock(&running.work) = work;
        Ok(Some(running))
    }

    /// Returns a task that its client may use: any other is none.
    async fn find(&self, id: &str, owner: Option<&str>) -> Result<Task, Box<Refusal>> {
        // A text that cannot be the id of a task is asked of no store.
        let found = if is_unguessable(id) {
            self.store.get(id).await?
        } else {
            None
        };
        let now = now_ms();
        let is_open = |task: &Task| {
            let is_owned = task.owner.as_deref().is_none_or(|of| Some(of) == owner);
            is_owned && !task.is_expired(now)
        };
        let none = || errors::invalid_params("no such task: it has expired, or never was");
        let mut task = found.filter(is_open).ok_or_else(none)?;
        self.fail_orphans(std::slice::from_mut(&mut task)).await?;
        Ok(task)
    }

    /// Ends the tasks of these that no replica works on any more.
    async fn fail_orphans(&self, tasks: &mut [Task]) -> Result<(), Box<Refusal>> {
        let Some(replicas) = &self.replicas else {
            return Ok(());
        };
        let mut looked: HashMap<String, bool> = HashMap::new();
        for task in tasks {
            let home = task.home.as_deref().unwrap_or(&replicas.address);
            if task.status.is_terminal() || *home == *replicas.address {
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
    async fn change<T: Send>(
        &self,
        id: &str,
        mut change: impl FnMut(&mut Task) -> Option<T> + Send,
    ) -> Result<Option<(Task, T)>, TaskStoreError> {
        let mut done = None;
        let mut change = |task: &mut Task| {
            done = change(task);
            done.is_some()
        };
        let changed = self.change_if(id, &mut change).await?;
        Ok(changed.zip(done))
    }

    /// Does the same where a change says whether it is one.
    async fn change_if(
        &self,
        id: &str,
        change: &mut (dyn FnMut(&mut Task) -> bool + Send),
    ) -> Result<Option<Task>, TaskStoreError> {
        for _ in 0..TRIES {
            let Some(mut task) = self.store.get(id).await? else {
                return Ok(None);
            };
            let before = task.status;
            if !change(&mut task) {
                return Ok(None);
            }
            task.version.0 += 1;
            task.updated_ms = TaskCount(now_ms());
            match self.store.replace(task.clone()).await {
                Ok(()) => {
                    self.tell(&task, before);
                    return Ok(Some(task));
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
        let running = lock(&self.running).get(&task.id).cloned();
        if let Some(running) = running.filter(|running| running.form == Form::Core)
            && task.status != before
            && let Some(driver) = running.driver.upgrade()
        {
            driver.notify_of_task(&notified(task));
        }
    }

    /// Wakes those who wait here for a task.
    fn wake(&self, id: &str) {
        if let Some(changed) = lock(&self.changed).get(id) {
            changed.send_replace(());
        }
    }

    /// Wakes with the next change of a task.
    fn subscribe(&self, id: &str) -> watch::Receiver<()> {
        let mut changed = lock(&self.changed);
        if changed.len() == changed.capacity() {
            changed.retain(|_, changed| changed.receiver_count() > 0);
        }
        changed.entry(id.to_owned()).or_default().subscribe()
    }
}

/// Waits for a change of a task, or as long as a client does: what another replica says of it may be lost.
async fn wait(mut changed: watch::Receiver<()>, interval: Duration) {
    // The sender is there as long as somebody waits.
    let _ = tokio::time::timeout(interval, changed.changed()).await;
}

/// The beginning of an owner that is a session.
const SESSION: &str = "session:";

/// Returns the owner of a peer's tasks: its principal, or its session; `None` if neither is known.
fn owner_of(peer: &Peer, revision: Revision) -> Option<String> {
    if let Some(principal) = peer.driver.principal_of(peer.token) {
        return Some(format!("principal:{principal}"));
    }
    if revision.lifecycle() != Lifecycle::Handshake || !peer.driver.has_session() {
        return None;
    }
    let id = peer
        .header(mcp_revisions_core::headers::SESSION_ID)
        .unwrap_or_default();
    Some(format!("{SESSION}{id}"))
}

/// Returns the address whose share a task without an owner takes.
fn address_of(peer: &Peer) -> String {
    match peer.driver.owner() {
        Owner::Address(address) => format!("address:{address}"),
        _ => String::new(),
    }
}
