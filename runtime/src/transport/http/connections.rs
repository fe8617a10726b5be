//! The open connections of a listener, and those of them that make room for others: where nothing is at work but streams that
//! wait for changes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, OwnedSemaphorePermit};

use crate::serve::Permit;
use crate::transport::panics::lock;
use mcp_revisions_sansio::driver::Numbered;
use mcp_revisions_sansio::server::Owner;

/// The open connections of a listener. A call counts itself without their lock; who makes room for another connection looks
/// through them all.
#[derive(Default)]
pub(super) struct Connections {
    entries: Mutex<Numbered<u64, ConnectionEntry>>,
    /// The last number of a connection, and the last turn.
    last_number: AtomicU64,
}

struct ConnectionEntry {
    owner: Owner,
    room: ConnectionRoom,
    activity: Arc<Activity>,
}

/// What a connection does, which its calls tell.
struct Activity {
    /// Number of calls that are at work.
    calls: AtomicUsize,
    /// The turn in which the connection goes once it has no calls.
    turn: AtomicU64,
    evicted: Notify,
}

/// The room that a connection takes up among all, and in the share of its owner.
pub(super) struct ConnectionRoom {
    pub(super) all: OwnedSemaphorePermit,
    pub(super) share: Permit,
}

impl Connections {
    pub(super) fn open(self: &Arc<Self>, owner: Owner, room: ConnectionRoom) -> OpenConnection {
        let number = self.next_number();
        let activity = Arc::new(Activity {
            calls: AtomicUsize::new(0),
            turn: AtomicU64::new(number),
            evicted: Notify::new(),
        });
        let entry = ConnectionEntry {
            owner,
            room,
            activity: Arc::clone(&activity),
        };
        lock(&self.entries).insert(number, entry);
        OpenConnection {
            all: Arc::clone(self),
            number,
            activity,
        }
    }

    fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Closes the longest idle connection of an owner, and returns its room; `None` if all of them have calls at work.
    pub(super) fn evict_of(&self, owner: &Owner) -> Option<ConnectionRoom> {
        let mut entries = lock(&self.entries);
        let idle = idle(&entries).filter(|(_, entry)| entry.owner == *owner);
        let (number, _) =
            idle.min_by_key(|(_, entry)| entry.activity.turn.load(Ordering::Relaxed))?;
        let number = *number;
        let entry = entries.remove(&number)?;
        entry.activity.evicted.notify_one();
        Some(entry.room)
    }

    /// Closes the longest idle connection of the owner that has most of them, and returns its room.
    pub(super) fn evict(&self) -> Option<ConnectionRoom> {
        let mut of_owner = HashMap::<Owner, usize>::new();
        for (_, entry) in idle(&lock(&self.entries)) {
            match of_owner.get_mut(&entry.owner) {
                Some(count) => *count += 1,
                None => drop(of_owner.insert(entry.owner.clone(), 1)),
            }
        }
        let (largest, _) = of_owner.into_iter().max_by_key(|(_, count)| *count)?;
        self.evict_of(&largest)
    }
}

/// Returns the connections that have no call at work.
fn idle(
    entries: &Numbered<u64, ConnectionEntry>,
) -> impl Iterator<Item = (&u64, &ConnectionEntry)> {
    let is_idle = |entry: &ConnectionEntry| entry.activity.calls.load(Ordering::Acquire) == 0;
    entries.iter().filter(move |(_, entry)| is_idle(entry))
}

/// An open connection; dropping it gives its room back.
pub(super) struct OpenConnection {
    all: Arc<Connections>,
    number: u64,
    activity: Arc<Activity>,
}

impl OpenConnection {
    /// Waits until the connection has to make room.
    pub(super) async fn evicted(&self) {
        self.activity.evicted.notified().await;
    }

    /// Begins a call: the connection stays until what this returns is dropped.
    pub(super) fn begin_call(self: &Arc<Self>) -> CallOfConnection {
        self.activity.calls.fetch_add(1, Ordering::AcqRel);
        CallOfConnection(Arc::clone(self))
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        // Its room is given back without the lock.
        let entry = lock(&self.all.entries).remove(&self.number);
        drop(entry);
    }
}

/// A call that is at work on a connection.
pub(super) struct CallOfConnection(Arc<OpenConnection>);

impl Drop for CallOfConnection {
    fn drop(&mut self) {
        let OpenConnection { all, activity, .. } = &*self.0;
        activity.turn.store(all.next_number(), Ordering::Relaxed);
        activity.calls.fetch_sub(1, Ordering::AcqRel);
    }
}
