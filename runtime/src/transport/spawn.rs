//! Tasks, each behind a box: tokio's code for a task is compiled once for all of them, instead of once for each, and for each
//! of its two schedulers.

use std::pin::Pin;

use tokio::task::JoinHandle;

/// Returns work that is known by its result only.
pub(crate) fn boxed<T>(
    work: impl Future<Output = T> + Send + 'static,
) -> Pin<Box<dyn Future<Output = T> + Send>> {
    Box::pin(work)
}

/// Starts a task in the runtime that the caller is in.
pub(crate) fn spawn<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    tokio::spawn(boxed(work))
}

/// Starts a task, unless the caller is in no runtime: then nothing runs any more that the task is for.
#[allow(dead_code, reason = "a client has no such work")]
pub(crate) fn spawn_if_possible(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(boxed(work));
    }
}
