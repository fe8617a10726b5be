//! The backplane of one process: events within a budget of bytes, and messages by calling their receiver.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::receivers::Receivers;
use super::{Backplane, EventId, KeptEvent, Receiver, ReplicaTarget, Reply, SessionRecord};
use crate::transport::panics::lock;
use mcp_revisions_sansio::server::{MemoryTasks, Owner, TaskStore};

/// The backplane of one process; clones are one.
///
/// It keeps the last events of each session, within the bytes of its owner and of all sessions, and tasks within those of
/// [`MemoryTasks`](crate::sansio::server::MemoryTasks). Records of sessions are kept only if several services have joined it.
#[derive(Clone)]
pub struct Memory(Arc<SharedMemory>);

struct SharedMemory {
    session_bytes: usize,
    owner_bytes: usize,
    all_bytes: usize,
    kept: Mutex<StoredSessions>,
    receivers: Receivers,
}

mcp_wire::debug_struct!([] Memory, "Memory", self, "bytes": self.bytes());

#[derive(Default)]
struct StoredSessions {
    bytes: usize,
    sessions: HashMap<String, StoredEvents>,
    /// The bytes of each owner that is known.
    owners: HashMap<Owner, usize>,
    records: HashMap<String, (SessionRecord, Instant)>,
    tasks: Arc<MemoryTasks>,
}

#[derive(Debug)]
struct StoredEvents {
    owner: Owner,
    bytes: usize,
    events: VecDeque<KeptEvent>,
}

/// Number of bytes of an event beside its own.
const EVENT_BYTES: usize = 128;

impl Default for Memory {
    /// 256 KiB of events per session, 16 MiB per owner, 64 MiB in all.
    fn default() -> Self {
        Self::with_event_bytes(256 << 10, 64 << 20)
    }
}

impl Memory {
    /// Creates a backplane that keeps 256 KiB of events per session, 16 MiB per owner, and 64 MiB in all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a backplane with a maximum of bytes of events per session, and for all of them; the sessions of one owner
    /// get a quarter of all.
    #[must_use]
    pub fn with_event_bytes(session: usize, all: usize) -> Self {
        Self(Arc::new(SharedMemory {
            session_bytes: session,
            owner_bytes: (all / 4).max(session),
            all_bytes: all,
            kept: Mutex::default(),
            receivers: Receivers::default(),
        }))
    }

    /// Returns the number of bytes of events that are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        lock(&self.0.kept).bytes
    }

    fn ended(&self, session: &str) {
        let mut kept = lock(&self.0.kept);
        kept.records.remove(session);
        let Some(one) = kept.sessions.remove(session) else {
            return;
        };
        kept.bytes -= one.bytes;
        if let Some(owned) = kept.owners.get_mut(&one.owner) {
            *owned = owned.saturating_sub(one.bytes);
            if *owned == 0 {
                kept.owners.remove(&one.owner);
            }
        }
    }

    fn events(&self, session: &str, event: EventId) -> Option<Vec<KeptEvent>> {
        let kept = lock(&self.0.kept);
        let Some(one) = kept.sessions.get(session) else {
            return Some(Vec::new());
        };
        event.without_gaps(one.events.iter().cloned())
    }
}

/// Returns a reply that is ready at once.
fn at_once<T: Send + 'static>(value: T) -> Reply<T> {
    Box::pin(std::future::ready(Ok(value)))
}

fn cost(event: &KeptEvent) -> usize {
    event.text.len() + EVENT_BYTES
}

impl Backplane for Memory {
    fn join(&self, receiver: Weak<dyn Receiver>) -> Arc<str> {
        self.0.receivers.join(receiver)
    }

    fn leave(&self, address: &str) -> Reply<()> {
        self.0.receivers.remove(address);
        at_once(())
    }

    fn send(&self, to: ReplicaTarget<'_>, message: Vec<u8>) -> Reply<bool> {
        let receivers = self.0.receivers.of(to);
        for receiver in &receivers {
            receiver.receive(&message);
        }
        at_once(!receivers.is_empty())
    }

    fn save(
        &self,
        session: &str,
        record: &SessionRecord,
        of: Option<&str>,
        keep: Duration,
    ) -> Reply<bool> {
        let mut kept = lock(&self.0.kept);
        let now = Instant::now();
        let before = kept.records.get(session).filter(|(_, until)| *until > now);
        let is_of = before.map(|(record, _)| record.home.as_str()) == of;
        if let Some(until) = now.checked_add(keep).filter(|_| is_of) {
            // No replica ends the records whose home is gone, so that they expire here.
            if kept.records.len() == kept.records.capacity() {
                kept.records.retain(|_, (_, until)| *until > now);
            }
            (kept.records).insert(session.to_owned(), (record.clone(), until));
        }
        at_once(is_of)
    }

    fn find(&self, session: &str) -> Reply<Option<SessionRecord>> {
        let kept = lock(&self.0.kept);
        let record = kept
            .records
            .get(session)
            .filter(|(_, until)| *until > Instant::now());
        at_once(record.map(|(record, _)| record.clone()))
    }

    fn end(&self, session: &str) -> Reply<()> {
        self.ended(session);
        at_once(())
    }

    fn append(&self, session: &str, owner: &Owner, event: KeptEvent) {
        let mut kept = lock(&self.0.kept);
        let StoredSessions {
            bytes,
            sessions,
            owners,
            ..
        } = &mut *kept;
        let new = cost(&event);
        let one = sessions
            .entry(session.to_owned())
            .or_insert_with(|| StoredEvents::of(owner.clone()));
        let mut unshared = 0;
        // Clients without a known owner are not told apart, and have no share.
        let (owned, share) = match one.owner {
            Owner::Unknown => (&mut unshared, usize::MAX),
            _ => (
                owners.entry(one.owner.clone()).or_default(),
                self.0.owner_bytes,
            ),
        };
        let is_full = |of_session: usize, of_owner: usize, of_all: usize| {
            of_session + new > self.0.session_bytes
                || of_owner.saturating_add(new) > share
                || of_all + new > self.0.all_bytes
        };
        // The oldest of its own session go first; if others fill the room, this one is not kept.
        while is_full(one.bytes, *owned, *bytes)
            && let Some(old) = one.events.pop_front()
        {
            let old_cost = cost(&old);
            one.bytes -= old_cost;
            *owned = owned.saturating_sub(old_cost);
            *bytes -= old_cost;
        }
        if is_full(one.bytes, *owned, *bytes) {
            return;
        }
        one.bytes += new;
        *owned += new;
        *bytes += new;
        one.events.push_back(event);
    }

    fn after(&self, session: &str, event: EventId) -> Reply<Option<Vec<KeptEvent>>> {
        at_once(self.events(session, event))
    }

    fn tasks(&self) -> Arc<dyn TaskStore> {
        Arc::<MemoryTasks>::clone(&lock(&self.0.kept).tasks)
    }

    fn is_shared(&self) -> bool {
        self.0.receivers.are_several()
    }
}

impl StoredEvents {
    fn of(owner: Owner) -> Self {
        Self {
            owner,
            bytes: 0,
            events: VecDeque::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    fn event(stream: u64, place: u64, text: &str) -> KeptEvent {
        KeptEvent {
            id: EventId { stream, place },
            text: text.to_owned(),
            last: false,
        }
    }

    fn places(store: &Memory, session: &str, stream: u64, place: u64) -> Option<Vec<u64>> {
        let events = store.events(session, EventId { stream, place })?;
        Some(events.iter().map(|event| event.id.place).collect())
    }

    #[test]
    fn a_stream_has_its_own_events_behind_a_place_and_no_others() {
        let store = Memory::default();
        for (stream, place) in [(1, 1), (2, 1), (1, 2), (1, 3)] {
            store.append("s", &Owner::Unknown, event(stream, place, "x"));
        }
        store.append("t", &Owner::Unknown, event(1, 1, "y"));
        assert_eq!(places(&store, "s", 1, 1), Some(vec![2, 3]));
        assert_eq!(places(&store, "s", 1, 0), Some(vec![1, 2, 3]));
        assert_eq!(places(&store, "s", 3, 0), Some(Vec::new()));
        assert_eq!(places(&store, "t", 1, 0), Some(vec![1]));
        store.ended("s");
        assert_eq!(store.bytes(), "y".len() + EVENT_BYTES);
    }

    #[test]
    fn as_many_events_are_kept_by_default_as_the_docs_say() {
        let (store, text) = (Memory::default(), "x".repeat(1024 - EVENT_BYTES));
        for place in 1..=257 {
            store.append("s", &Owner::Unknown, event(1, place, &text));
        }
        assert_eq!(store.bytes(), 256 << 10);
        // Each session has one event more than it keeps, and each owner one session more.
        let (store, text) = (Memory::default(), "x".repeat((64 << 10) - EVENT_BYTES));
        let of_owner = |name: &str| {
            let owner = Owner::Principal(name.into());
            for session in 0..=64 {
                for place in 1..=5 {
                    store.append(&format!("{name} {session}"), &owner, event(1, place, &text));
                }
            }
            store.bytes()
        };
        let kept = ["0", "1", "2", "3", "4"].map(of_owner);
        assert_eq!(kept, [16, 32, 48, 64, 64].map(|mib| mib << 20));
    }

    #[test]
    fn the_oldest_go_and_a_gap_is_never_passed_over() {
        let text = "x".repeat(100);
        let cost = text.len() + EVENT_BYTES;
        let store = Memory::with_event_bytes(3 * cost, 4 * cost);
        for place in 1..=5 {
            store.append("s", &Owner::Unknown, event(1, place, &text));
        }
        assert_eq!(store.bytes(), 3 * cost);
        assert_eq!(places(&store, "s", 1, 1), None);
        assert_eq!(places(&store, "s", 1, 2), Some(vec![3, 4, 5]));
        // What all sessions take has an end too, and each pays for itself.
        for place in 1..=3 {
            store.append("t", &Owner::Unknown, event(1, place, &text));
        }
        assert_eq!(
            (store.bytes(), places(&store, "s", 1, 2)),
            (4 * cost, Some(vec![3, 4, 5]))
        );
        assert_eq!(
            (places(&store, "t", 1, 0), places(&store, "t", 1, 2)),
            (None, Some(vec![3]))
        );
    }

    #[test]
    fn sessions_of_one_owner_leave_room_for_those_of_another() {
        let text = "x".repeat(100);
        let cost = text.len() + EVENT_BYTES;
        let store = Memory::with_event_bytes(2 * cost, 8 * cost);
        let (greedy, other) = (Owner::Principal("g".into()), Owner::Principal("o".into()));
        for session in 0..10 {
            let session = session.to_string();
            store.append(&session, &greedy, event(1, 1, &text));
        }
        assert_eq!(store.bytes(), 2 * cost);
        assert_eq!(
            (places(&store, "1", 1, 0), places(&store, "2", 1, 0)),
            (Some(vec![1]), Some(Vec::new()))
        );
        store.append("other", &other, event(1, 1, &text));
        assert_eq!(places(&store, "other", 1, 0), Some(vec![1]));
        store.ended("0");
        store.append("2", &greedy, event(1, 2, &text));
        assert_eq!(places(&store, "2", 1, 1), Some(vec![2]));
        // The first was not kept.
        assert_eq!(places(&store, "2", 1, 0), None);
    }
}
