//! The store of tasks: the seam that replicas share.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp_wire::ErrorObject;

use super::record::{Task, TaskCount};
use crate::errors::{self, Refusal};
use crate::time::now_ms;

/// The work of a store, which may take time.
pub type Stored<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why a store did not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskStoreError {
    /// Too many tasks are kept, of all clients or of this one, or they take up too many bytes.
    #[error("too many tasks are kept: wait until some have expired")]
    Full,
    /// The task has changed since it was read, or is gone.
    #[error("the task changes too often: try again")]
    Changed,
    /// The store cannot be reached; the text says why.
    #[error("the store of tasks cannot be reached: {0}: try again in a second")]
    Away(String),
}

impl From<TaskStoreError> for Box<Refusal> {
    fn from(why: TaskStoreError) -> Self {
        let refusal = errors::internal(&why.to_string());
        let is_away = matches!(why, TaskStoreError::Away(_));
        let status = if is_away { 503 } else { refusal.status };
        Self::new(Refusal { status, ..*refusal })
    }
}

impl From<TaskStoreError> for ErrorObject {
    fn from(why: TaskStoreError) -> Self {
        Box::<Refusal>::from(why).error
    }
}

/// A store of tasks. It holds them until they expire, within its own limits. Replicas that share one serve each other's tasks.
pub trait TaskStore: Send + Sync + 'static {
    /// Adds a new task.
    fn insert(&self, task: Task) -> Stored<'_, Result<(), TaskStoreError>>;

    /// Returns a task, or `None` if there is none of this id.
    fn get<'a>(&'a self, id: &'a str) -> Stored<'a, Result<Option<Task>, TaskStoreError>>;

    /// Replaces the version of a task before this one. Its owner, share, creation and expiry stay as they were.
    fn replace(&self, task: Task) -> Stored<'_, Result<(), TaskStoreError>>;

    /// Removes a task.
    fn remove<'a>(&'a self, id: &'a str) -> Stored<'a, Result<(), TaskStoreError>>;

    /// Returns the tasks of an owner in the order of their creation and ids, after this creation time and id, `most` at most.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(TaskCount, &'a str)>,
        most: usize,
    ) -> Stored<'a, Result<Vec<Task>, TaskStoreError>>;
}

/// A store in the memory of the process. It holds a maximum number of tasks and of bytes, of which one share may take a quarter.
#[derive(Debug)]
pub struct MemoryTasks {
    most: usize,
    most_bytes: usize,
    kept: Mutex<StoredTasks>,
}

#[derive(Debug, Default)]
struct StoredTasks {
    tasks: HashMap<String, Task>,
    all: StoreUsage,
    shares: HashMap<String, StoreUsage>,
}

/// The room that tasks take up.
#[derive(Debug, Clone, Copy, Default)]
struct StoreUsage {
    number: usize,
    bytes: usize,
}

impl Default for MemoryTasks {
    /// 10,000 tasks and 64 MiB.
    fn default() -> Self {
        Self::new(bounds::TASKS, bounds::BYTES)
    }
}

impl MemoryTasks {
    /// Creates a store of at most so many tasks and bytes.
    #[must_use]
    pub fn new(most: usize, most_bytes: usize) -> Self {
        Self {
            most,
            most_bytes,
            kept: Mutex::default(),
        }
    }

    /// Returns the number of tasks that are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().tasks.len()
    }

    /// Returns whether no task is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes that the tasks take up.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lock().all.bytes
    }

    fn lock(&self) -> MutexGuard<'_, StoredTasks> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a task in its place, if it fits in there beside the others.
    fn put(&self, kept: &mut StoredTasks, task: Task) -> Result<(), TaskStoreError> {
        let before = kept.tasks.get(&task.id).map(Task::bytes);
        let bytes = task.bytes();
        let after = |taken: StoreUsage| StoreUsage {
            number: taken.number + usize::from(before.is_none()),
            bytes: taken.bytes - before.unwrap_or(0) + bytes,
        };
        let all = after(kept.all);
        let share = after(kept.shares.get(&task.share).copied().unwrap_or_default());
        // A task that takes up less than before always fits.
        let grows = before.is_none_or(|before| bytes > before);
        let fits = |taken: StoreUsage, part: usize| {
            taken.number <= (self.most / part).max(1) && taken.bytes <= self.most_bytes / part
        };
        if grows && !(fits(all, 1) && fits(share, bounds::SHARE)) {
            return Err(TaskStoreError::Full);
        }
        kept.all = all;
        kept.shares.insert(task.share.clone(), share);
        kept.tasks.insert(task.id.clone(), task);
        Ok(())
    }
}

impl StoredTasks {
    fn remove(&mut self, id: &str) {
        let Some(task) = self.tasks.remove(id) else {
            return;
        };
        let bytes = task.bytes();
        self.all.number -= 1;
        self.all.bytes -= bytes;
        if let Entry::Occupied(mut share) = self.shares.entry(task.share) {
            let taken = share.get_mut();
            taken.number -= 1;
            taken.bytes -= bytes;
            if taken.number == 0 {
                share.remove();
            }
        }
    }

    /// Removes the tasks that have expired. Returns whether there were any.
    fn drop_expired(&mut self, now_ms: i64) -> bool {
        let tasks = self.tasks.values();
        let expired: Vec<String> = tasks
            .filter(|task| task.is_expired(now_ms))
            .map(|task| task.id.clone())
            .collect();
        for id in &expired {
            self.remove(id);
        }
        !expired.is_empty()
    }
}

/// The bounds of a store.
pub mod bounds {
    /// Tasks of a store.
    pub const TASKS: usize = 10_000;
    /// Bytes of all of them.
    pub const BYTES: usize = 64 << 20;
    /// The part of the store that one share may take: one in so many.
    pub const SHARE: usize = 4;
}

impl TaskStore for MemoryTasks {
    fn insert(&self, task: Task) -> Stored<'_, Result<(), TaskStoreError>> {
        let mut kept = self.lock();
        let put = if kept.tasks.contains_key(&task.id) {
            Err(TaskStoreError::Changed)
        } else {
            match self.put(&mut kept, task.clone()) {
                // Tasks of a server that has ended are removed by no other.
                Err(TaskStoreError::Full) if kept.drop_expired(now_ms()) => {
                    self.put(&mut kept, task)
                }
                put => put,
            }
        };
        Box::pin(ready(put))
    }

    fn get<'a>(&'a self, id: &'a str) -> Stored<'a, Result<Option<Task>, TaskStoreError>> {
        let task = self.lock().tasks.get(id).cloned();
        Box::pin(ready(Ok(task)))
    }

    fn replace(&self, task: Task) -> Stored<'_, Result<(), TaskStoreError>> {
        let mut kept = self.lock();
        let is_next = |before: &Task| before.version.0.checked_add(1) == Some(task.version.0);
        let put = if kept.tasks.get(&task.id).is_some_and(is_next) {
            self.put(&mut kept, task)
        } else {
            Err(TaskStoreError::Changed)
        };
        Box::pin(ready(put))
    }

    fn remove<'a>(&'a self, id: &'a str) -> Stored<'a, Result<(), TaskStoreError>> {
        self.lock().remove(id);
        Box::pin(ready(Ok(())))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(TaskCount, &'a str)>,
        most: usize,
    ) -> Stored<'a, Result<Vec<Task>, TaskStoreError>> {
        let kept = self.lock();
        let place = |task: &Task| (task.created_ms, task.id.clone());
        let is_after =
            |task: &&Task| after.is_none_or(|after| (task.created_ms, task.id.as_str()) > after);
        let of_owner = kept
            .tasks
            .values()
            .filter(|task| task.owner.as_deref() == Some(owner));
        let mut tasks: Vec<&Task> = of_owner.filter(is_after).collect();
        tasks.sort_by_key(|task| place(task));
        let page = tasks.into_iter().take(most).cloned().collect();
        Box::pin(ready(Ok(page)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::TaskStatus;

    fn task(id: &str, created_ms: i64) -> Task {
        Task {
            id: id.to_owned(),
            owner: None,
            share: String::new(),
            home: None,
            version: TaskCount(0),
            status: TaskStatus::Working,
            message: None,
            created_ms: TaskCount(created_ms),
            updated_ms: TaskCount(created_ms),
            ttl_ms: TaskCount(60_000),
            poll_interval_ms: TaskCount(1_000),
            method: "tools/call".to_owned(),
            questions: Vec::new(),
            answers: Vec::new(),
            result: None,
            error: None,
        }
    }

    #[test]
    fn tasks_that_a_server_left_behind_make_room_once_they_have_expired() {
        let store = MemoryTasks::new(1, 1 << 20);
        let now = now_ms();
        assert_eq!(at_once(store.insert(task("left", now - 70_000))), Ok(()));
        assert_eq!(at_once(store.insert(task("next", now))), Ok(()));
        assert_eq!(at_once(store.get("left")), Ok(None));
        let full = at_once(store.insert(task("third", now)));
        assert_eq!(full, Err(TaskStoreError::Full));
        assert_eq!(at_once(store.remove("next")), Ok(()));
        assert_eq!((store.len(), store.bytes()), (0, 0));
    }

    /// Returns the answer of a store in memory, which never waits.
    fn at_once<T>(answer: impl Future<Output = T>) -> T {
        let mut answer = std::pin::pin!(answer);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match answer.as_mut().poll(&mut context) {
            std::task::Poll::Ready(answer) => answer,
            std::task::Poll::Pending => unreachable!("a store in memory waits for nothing"),
        }
    }
}
