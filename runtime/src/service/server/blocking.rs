//! Work of a handler that blocks its thread.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_revisions_core::Spoken;
use mcp_wire::Number;
use tokio::runtime::Handle;

use super::RequestContext;
use crate::service::Error;

/// The call of work that blocks, as the work sees it.
#[derive(Debug)]
pub struct BlockingCall<App> {
    cx: RequestContext<App>,
    runtime: Handle,
    is_over: Arc<AtomicBool>,
}

impl<App> BlockingCall<App> {
    /// Returns whether the work is in vain: its client has cancelled the call, or the server ends.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Reports progress, as [`RequestContext::progress`] does.
    pub fn progress(&self, done: impl Into<Number>, total: impl Into<Number>) {
        self.runtime.block_on(self.cx.progress(done, total));
    }
}

impl<App> Deref for BlockingCall<App> {
    type Target = RequestContext<App>;

    fn deref(&self) -> &RequestContext<App> {
        &self.cx
    }
}

/// Marks the work as cancelled once the future that waits for it is dropped.
struct WorkGuard(Arc<AtomicBool>);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl<App: Spoken> RequestContext<App> {
    /// Runs work that blocks its thread, such as a query or a computation, on a thread for that. Work that looks at
    /// [`BlockingCall::is_cancelled`] can end early: a thread cannot be ended from outside.
    ///
    /// ```
    /// # use mcp_revisions::service::{Error, RequestContext};
    /// async fn count(cx: RequestContext) -> Result<u64, Error> {
    ///     cx.blocking(|call| {
    ///         let mut sum = 0;
    ///         for step in 0..100_u64 {
    ///             if call.is_cancelled() {
    ///                 break;
    ///             }
    ///             sum += step;
    ///             call.progress(step, 100_u64);
    ///         }
    ///         sum
    ///     })
    ///     .await
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the work panics.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(BlockingCall<App>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let is_over = Arc::new(AtomicBool::new(false));
        let _guard = WorkGuard(Arc::clone(&is_over));
        let call = BlockingCall {
            cx: self.clone(),
            runtime: Handle::current(),
            is_over,
        };
        let done = tokio::task::spawn_blocking(move || work(call)).await;
        done.map_err(|_| Error::internal("the handler failed"))
    }
}
