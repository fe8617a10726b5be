//! Bounds the notifications that wait for handlers: those of a faster sender are dropped.

use std::sync::Arc;

use mcp_wire::Json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Limits;

/// What a notification takes up besides its params.
const EACH: usize = 1 << 10;

/// Room for the notifications that handlers are at, as for the requests of a peer ([`Limits::max_pending_bytes`]).
#[derive(Debug)]
pub(super) struct Room(Arc<Semaphore>);

impl Room {
    pub(super) fn of(limits: &Limits) -> Self {
        let bytes = limits.max_pending_bytes.min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(bytes)))
    }

    /// Room for one more, until what this gives is dropped; `None` if there is none.
    pub(super) fn take(&self, params: &Json) -> Option<OwnedSemaphorePermit> {
        let bytes = params.text().len().saturating_add(EACH);
        let bytes = u32::try_from(bytes).ok()?;
        Arc::clone(&self.0).try_acquire_many_owned(bytes).ok()
    }
}
