//! Panics stop nothing else: handlers that panic are answered for as those that fail, and locks are taken all the same.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use mcp_wire::ErrorObject;

use mcp_revisions_sansio::MessageLosses;

/// Returns the outcome of a handler, or an error if it panics. Its future is dropped before that.
pub(crate) async fn caught<T, F>(mut work: Pin<Box<F>>) -> Result<T, ErrorObject>
where
    F: Future<Output = Result<T, ErrorObject>> + ?Sized,
{
    poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        let failed = || Err(mcp_revisions_sansio::errors::internal("the handler failed").error);
        polled.unwrap_or_else(|_| Poll::Ready(failed()))
    })
    .await
}

/// Returns a hook that may panic: it misses that message, and nothing else fails for that.
pub(crate) fn guarded(hook: impl Fn(&MessageLosses<'_>)) -> impl Fn(&MessageLosses<'_>) {
    move |lost| {
        let _ = catch_unwind(AssertUnwindSafe(|| hook(lost)));
    }
}

/// Takes a lock, be it after a panic: nothing that is done under one here leaves it half done.
#[doc(hidden)]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
