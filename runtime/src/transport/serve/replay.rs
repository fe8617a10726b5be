//! Messages on the streams of a session, kept for a client whose connection broke and that resumes.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::server::Owner;

/// Where an event stands: on which stream of its session, and how many came before it there.
///
/// As text it is the `id` of a server-sent event. Stream 0 is the one that a GET opens; its events belong to no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The stream.
    pub stream: u64,
    /// Its place there; 0 is the event that a stream begins with, and holds nothing.
    pub place: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.place)
    }
}

/// A text that is the id of no event here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no id of an event of this server: two numbers with a hyphen between them")]
pub struct NoEventId;

impl FromStr for EventId {
    type Err = NoEventId;

    fn from_str(text: &str) -> Result<Self, NoEventId> {
        let (stream, place) = text.split_once('-').ok_or(NoEventId)?;
        let number = |text: &str| text.parse().map_err(|_| NoEventId);
        Ok(Self {
            stream: number(stream)?,
            place: number(place)?,
        })
    }
}

/// An event that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEvent {
    /// Where it stands.
    pub id: EventId,
    /// The message.
    pub text: String,
    /// Whether the stream ends with it.
    pub last: bool,
}

/// Where the events of sessions are kept, so that a client whose connection broke can have them again.
///
/// Bounded: a client that resumes after an event that is gone gets an error.
pub trait EventStore: Send + Sync + 'static {
    /// A session was opened by this owner: what is kept of it may count against the owner's share.
    fn opened(&self, session: &str, owner: &Owner) {
        let _ = (session, owner);
    }

    /// Keeps an event of a session. Places of a stream come in order, without a gap.
    fn keep(&self, session: &str, event: KeptEvent);

    /// Returns the events of a stream after this one, in order; `None` if some of them are gone.
    fn after(&self, session: &str, event: EventId) -> Option<Vec<KeptEvent>>;

    /// Removes the events of a session that is over.
    fn forget(&self, session: &str);
}

/// Keeps events in memory: the last ones of each session, within the bytes of its owner and of all sessions.
#[derive(Debug)]
pub struct MemoryEvents {
    session_bytes: usize,
    owner_bytes: usize,
    all_bytes: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: usize,
    sessions: HashMap<String, Events>,
    /// The bytes of each owner that is known.
    owners: HashMap<Owner, usize>,
}

#[derive(Debug, Default)]
struct Events {
    owner: Owner,
    bytes: usize,
    events: VecDeque<KeptEvent>,
    /// The last place of each stream of which something is gone.
    gone: HashMap<u64, u64>,
}

/// What an event costs beside its bytes.
const EVENT_BYTES: usize = 128;

impl Default for MemoryEvents {
    /// 256 KiB per session, 16 MiB per owner, 64 MiB in all.
    fn default() -> Self {
        Self::new(256 << 10, 64 << 20)
    }
}

impl MemoryEvents {
    /// Creates a store with a maximum of bytes per session, and for all of them; the sessions of one owner get a quarter of all.
    #[must_use]
    pub fn new(session_bytes: usize, all_bytes: usize) -> Self {
        Self {
            session_bytes,
            owner_bytes: (all_bytes / 4).max(session_bytes),
            all_bytes,
            kept: Mutex::default(),
        }
    }

    /// Returns the number of bytes that are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.kept().bytes
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cost(event: &KeptEvent) -> usize {
    event.text.len() + EVENT_BYTES
}

impl EventStore for MemoryEvents {
    fn opened(&self, session: &str, owner: &Owner) {
        let mut kept = self.kept();
        let one = kept.sessions.entry(session.to_owned()).or_default();
        one.owner = owner.clone();
    }

    fn keep(&self, session: &str, event: KeptEvent) {
        let mut kept = self.kept();
        let Kept {
            bytes,
            sessions,
            owners,
        } = &mut *kept;
        let new = cost(&event);
        let one = sessions.entry(session.to_owned()).or_default();
        let mut unshared = 0;
        // Owners that nobody can tell apart have no share.
        let (owned, share) = match one.owner {
            Owner::Unknown => (&mut unshared, usize::MAX),
            _ => (
                owners.entry(one.owner.clone()).or_default(),
                self.owner_bytes,
            ),
        };
        let is_full = |of_session: usize, of_owner: usize, of_all: usize| {
            of_session + new > self.session_bytes
                || of_owner.saturating_add(new) > share
                || of_all + new > self.all_bytes
        };
        // The oldest of its own session go first; if others fill the room, this one is not kept.
        while is_full(one.bytes, *owned, *bytes)
            && let Some(old) = one.events.pop_front()
        {
            let old_cost = cost(&old);
            one.bytes -= old_cost;
            *owned = owned.saturating_sub(old_cost);
            *bytes -= old_cost;
            one.lose(old.id);
        }
        if is_full(one.bytes, *owned, *bytes) {
            return one.lose(event.id);
        }
        one.bytes += new;
        *owned += new;
        *bytes += new;
        one.events.push_back(event);
    }

    fn after(&self, session: &str, event: EventId) -> Option<Vec<KeptEvent>> {
        let kept = self.kept();
        let Some(one) = kept.sessions.get(session) else {
            return Some(Vec::new());
        };
        if one
            .gone
            .get(&event.stream)
            .is_some_and(|&gone| gone > event.place)
        {
            return None;
        }
        let is_behind =
            |kept: &&KeptEvent| kept.id.stream == event.stream && kept.id.place > event.place;
        Some(one.events.iter().filter(is_behind).cloned().collect())
    }

    fn forget(&self, session: &str) {
        let mut kept = self.kept();
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
}

/// Streams of a session of which it is known that something is gone; those that ended longest ago are forgotten first.
const GONE: usize = 1_000;

impl Events {
    fn lose(&mut self, id: EventId) {
        let gone = self.gone.entry(id.stream).or_default();
        *gone = id.place.max(*gone);
        if self.gone.len() > GONE
            && let Some(oldest) = self.gone.keys().copied().filter(|&stream| stream > 0).min()
        {
            self.gone.remove(&oldest);
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

    fn places(store: &MemoryEvents, session: &str, stream: u64, place: u64) -> Option<Vec<u64>> {
        let events = store.after(session, EventId { stream, place })?;
        Some(events.iter().map(|event| event.id.place).collect())
    }

    #[test]
    fn a_stream_has_its_own_events_behind_a_place_and_no_others() {
        let store = MemoryEvents::default();
        for (stream, place) in [(1, 1), (2, 1), (1, 2), (1, 3)] {
            store.keep("s", event(stream, place, "x"));
        }
        store.keep("t", event(1, 1, "y"));
        assert_eq!(places(&store, "s", 1, 1), Some(vec![2, 3]));
        assert_eq!(places(&store, "s", 1, 0), Some(vec![1, 2, 3]));
        assert_eq!(places(&store, "s", 3, 0), Some(Vec::new()));
        assert_eq!(places(&store, "t", 1, 0), Some(vec![1]));
        store.forget("s");
        assert_eq!(store.bytes(), "y".len() + EVENT_BYTES);
    }

    #[test]
    fn the_oldest_go_and_a_gap_is_never_passed_over() {
        let text = "x".repeat(100);
        let cost = text.len() + EVENT_BYTES;
        let store = MemoryEvents::new(3 * cost, 4 * cost);
        for place in 1..=5 {
            store.keep("s", event(1, place, &text));
        }
        assert_eq!(store.bytes(), 3 * cost);
        assert_eq!(places(&store, "s", 1, 1), None);
        assert_eq!(places(&store, "s", 1, 2), Some(vec![3, 4, 5]));
        // What all sessions take has an end too, and each pays for itself.
        for place in 1..=3 {
            store.keep("t", event(1, place, &text));
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
        let store = MemoryEvents::new(2 * cost, 8 * cost);
        let (greedy, other) = (Owner::Principal("g".into()), Owner::Principal("o".into()));
        for session in 0..10 {
            let session = session.to_string();
            store.opened(&session, &greedy);
            store.keep(&session, event(1, 1, &text));
        }
        assert_eq!(store.bytes(), 2 * cost);
        assert_eq!(
            (places(&store, "1", 1, 0), places(&store, "2", 1, 0)),
            (Some(vec![1]), None)
        );
        store.opened("other", &other);
        store.keep("other", event(1, 1, &text));
        assert_eq!(places(&store, "other", 1, 0), Some(vec![1]));
        store.forget("0");
        store.keep("2", event(1, 2, &text));
        assert_eq!(places(&store, "2", 1, 1), Some(vec![2]));
    }

    #[test]
    fn ids_are_read_as_they_are_written() {
        let id = EventId {
            stream: 7,
            place: 12,
        };
        assert_eq!(id.to_string().parse(), Ok(id));
        for wrong in [
            "",
            "7",
            "7-",
            "-7",
            "a-1",
            "1-2-3",
            "99999999999999999999-1",
        ] {
            assert_eq!(wrong.parse::<EventId>(), Err(NoEventId), "{wrong}");
        }
    }
}
