//! The open connections of a listener, and those of them that make room for others: where nothing is at work but streams that
//! wait for changes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, OwnedSemaphorePermit};

use crate::serve::Permit;
use crate::transport::panics::lock;
use mcp_revisions_sansio::driver::Numbered;
use mcp_revisions_sansio::server::Owner;

/// The open connections of a listener.
#[derive(Default)]
pub(super) struct Connections {
    table: Mutex<ConnectionTable>,
}

#[derive(Default)]
struct ConnectionTable {
    entries: Numbered<u64, ConnectionEntry>,
    /// The idle connections of each owner, by the turn in which they go.
    idle: HashMap<Owner, BTreeMap<u64, u64>>,
    last_number: u64,
}

struct ConnectionEntry {
    owner: Owner,
    /// The turn in which it goes; `None` while a call is at work.
    turn: Option<u64>,
    /// Number of calls that are at work.
    calls: usize,
    room: ConnectionRoom,
    evicted: Arc<Notify>,
}

/// The room that a connection takes up among all, and in the share of its owner.
pub(super) struct ConnectionRoom {
    pub(super) all: OwnedSemaphorePermit,
    pub(super) share: Permit,
}

impl ConnectionTable {
    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Puts a connection last among the idle ones of its owner, or takes it out of them while it has calls.
    fn set_turn(&mut self, number: u64) {
        let turn = self.next_number();
        let Some(entry) = self.entries.get_mut(&number) else {
            return;
        };
        let next = (entry.calls == 0).then_some(turn);
        let before = std::mem::replace(&mut entry.turn, next);
        let owner = entry.owner.clone();
        let idle = self.idle.entry(owner.clone()).or_default();
        before.map(|before| idle.remove(&before));
        next.map(|next| idle.insert(next, number));
        if idle.is_empty() {
            self.idle.remove(&owner);
        }
    }

    fn remove(&mut self, number: u64) -> Option<ConnectionEntry> {
        let entry = self.entries.remove(&number)?;
        if let (Some(turn), Some(idle)) = (entry.turn, self.idle.get_mut(&entry.owner)) {
            idle.remove(&turn);
            if idle.is_empty() {
                self.idle.remove(&entry.owner);
            }
        }
        Some(entry)
    }

    /// Closes the longest idle connection of an owner, and returns its room.
    fn evict(&mut self, owner: &Owner) -> Option<ConnectionRoom> {
        let (_, number) = self.idle.get(owner)?.first_key_value()?;
        let entry = self.remove(*number)?;
        entry.evicted.notify_one();
        Some(entry.room)
    }
}

impl Connections {
    pub(super) fn open(self: &Arc<Self>, owner: Owner, room: ConnectionRoom) -> OpenConnection {
        let evicted = Arc::new(Notify::new());
        let mut table = lock(&self.table);
        let number = table.next_number();
        let entry = ConnectionEntry {
            owner,
            turn: None,
            calls: 0,
            room,
            evicted: Arc::clone(&evicted),
        };
        table.entries.insert(number, entry);
        table.set_turn(number);
        OpenConnection {
            all: Arc::clone(self),
            number,
            evicted,
        }
    }

    /// Closes the longest idle connection of an owner, and returns its room; `None` if all of them have calls at work.
    pub(super) fn evict_of(&self, owner: &Owner) -> Option<ConnectionRoom> {
        lock(&self.table).evict(owner)
    }

    /// Closes the longest idle connection of the owner that has most of them, and returns its room.
    pub(super) fn evict(&self) -> Option<ConnectionRoom> {
        let mut table = lock(&self.table);
        let owners = table.idle.iter();
        let (owner, _) = owners.max_by_key(|(_, idle)| idle.len())?;
        let largest = owner.clone();
        table.evict(&largest)
    }
}

/// An open connection; dropping it gives its room back.
pub(super) struct OpenConnection {
    all: Arc<Connections>,
    number: u64,
    evicted: Arc<Notify>,
}

impl OpenConnection {
    /// Waits until the connection has to make room.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// Begins a call: the connection stays until what this returns is dropped.
    pub(super) fn begin_call(self: &Arc<Self>) -> CallOfConnection {
        let mut table = lock(&self.all.table);
        if let Some(entry) = table.entries.get_mut(&self.number) {
            entry.calls += 1;
        }
        table.set_turn(self.number);
        CallOfConnection(Arc::clone(self))
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        // Its room is given back without the lock.
        let entry = lock(&self.all.table).remove(self.number);
        drop(entry);
    }
}

/// A call that is at work on a connection.
pub(super) struct CallOfConnection(Arc<OpenConnection>);

impl Drop for CallOfConnection {
    fn drop(&mut self) {
        let OpenConnection { all, number, .. } = &*self.0;
        let mut table = lock(&all.table);
        if let Some(entry) = table.entries.get_mut(number) {
            entry.calls = entry.calls.saturating_sub(1);
        }
        table.set_turn(*number);
    }
}
