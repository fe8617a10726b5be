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
