//! Tasks, each behind a box: tokio's code for a task is compiled once for all of them, instead of once for each, and for each
//! of its two schedulers.
//!
//! Each crate that awaits an unboxed future compiles its code again. A function that is not inlined and boxes its future
//! prevents that: this crate compiles what the future awaits, once.

use std::pin::Pin;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Work that is known by its result only.
#[doc(hidden)]
pub type Boxed<'w, T> = Pin<Box<dyn Future<Output = T> + Send + 'w>>;

/// Returns work that is known by its result only.
#[doc(hidden)]
pub fn boxed<'w, T>(work: impl Future<Output = T> + Send + 'w) -> Boxed<'w, T> {
    Box::pin(work)
}

/// Runs work until `stop` is ready, of whichever type that is: the work gets a signal of one type, and ends in its own time.
#[doc(hidden)]
pub async fn until<'w, T>(
    stop: impl Future<Output = ()>,
    work: impl FnOnce(Boxed<'static, ()>) -> Boxed<'w, T>,
) -> T {
    let (tell, told) = oneshot::channel();
    let mut work = work(boxed(async {
        // A sender that is gone has not said it.
        if told.await.is_err() {
            std::future::pending().await
        }
    }));
    tokio::select! {
        () = stop => {}
        done = &mut work => return done,
    }
    let _ = tell.send(());
    work.await
}

/// A time that no process lives to see.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Returns the time so long after another. A duration without limit leads to a time that never comes.
pub(crate) fn later(start: Instant, time: Duration) -> Instant {
    start + time.min(NEVER)
}

/// Starts a task in the runtime that the caller is in.
pub(crate) fn spawn<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    tokio::spawn(boxed(work))
}

/// Checks that the caller is in a runtime, without which there are no tasks. Returns an error that says what to do, if there is
/// no runtime.
pub(crate) fn in_runtime() -> std::io::Result<()> {
    tokio::runtime::Handle::try_current().map(drop).map_err(|_| {
        std::io::Error::other(
            "a client runs in a tokio runtime, and there is none here: connect in an `async` function under \
             `#[tokio::main]`, or enter a runtime with `Runtime::enter`",
        )
    })
}

/// Starts a task, unless the caller is in no runtime: then nothing runs any more that the task is for.
pub(crate) fn spawn_if_possible(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(boxed(work));
    }
}
