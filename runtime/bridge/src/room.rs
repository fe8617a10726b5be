//! Room that all clients share, and the part of each: a client whose part is taken waits, and holds up no other one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mcp_revisions::sansio::server::Owner;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// One of so many parts of a room is that of each owner.
const PARTS: usize = 4;

/// Room that all clients share.
pub(crate) struct SharedRoom {
    all: Semaphore,
    each: usize,
    /// The parts that are taken or waited for.
    owners: Mutex<HashMap<Owner, Weak<Semaphore>>>,
}

/// Taken room; dropping it gives it back.
pub(crate) struct RoomPermit<'r> {
    _all: Option<SemaphorePermit<'r>>,
    _own: Option<OwnedSemaphorePermit>,
}

impl SharedRoom {
    /// Creates room of which each owner that is known may take a quarter.
    pub(crate) fn new(all: usize) -> Self {
        Self {
            all: Semaphore::new(all),
            each: all / PARTS,
            owners: Mutex::default(),
        }
    }

    /// Waits until an owner may take so much of it, at most a quarter.
    pub(crate) async fn take(&self, owner: &Owner, amount: u32) -> RoomPermit<'_> {
        // Its own part comes first: while the owner waits for that, it takes nothing of others.
        let own = match self.part(owner) {
            Some(own) => own.acquire_many_owned(amount).await.ok(),
            None => None,
        };
        RoomPermit {
            _all: self.all.acquire_many(amount).await.ok(),
            _own: own,
        }
    }

    /// Returns the part of an owner; `None` for owners that cannot be distinguished.
    fn part(&self, owner: &Owner) -> Option<Arc<Semaphore>> {
        if *owner == Owner::Unknown {
            return None;
        }
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|_, part| part.strong_count() > 0);
        let known = owners.get(owner).and_then(Weak::upgrade);
        Some(known.unwrap_or_else(|| {
            let part = Arc::new(Semaphore::new(self.each));
            owners.insert(owner.clone(), Arc::downgrade(&part));
            part
        }))
    }
}
