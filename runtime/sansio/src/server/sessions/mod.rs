//! Sessions by their id, for transports where one endpoint has many; bounded by count and by bytes, and by owner.
//!
//! To make room, sessions without a message after `initialize` end first, then those that are idle for longest; both are found
//! without a search. The sessions of an owner that needs room end before those of others.

mod owner;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use slab::Slab;

use crate::Limits;
use crate::errors::{self, Refusal};
pub use owner::Owner;

/// Sessions by the id that the transport minted; `T` is what the transport keeps of their connections.
///
/// Ids come from outside.
#[derive(Debug)]
pub struct Sessions<T> {
    places: HashMap<Arc<str>, usize>,
    entries: Slab<SessionEntry<T>>,
    /// The places of all, in the order in which they go.
    turns: SessionTurns,
    /// The places of each owner's, in the same order.
    owners: HashMap<Owner, SessionTurns>,
    last_turn: u64,
    bytes: usize,
    limit: usize,
    limit_bytes: usize,
    limit_owned: usize,
}

#[derive(Debug)]
struct SessionEntry<T> {
    id: Arc<str>,
    session: T,
    bytes: usize,
    owner: Owner,
    turn: SessionTurn,
    used_at: Duration,
}

/// When a session goes: those that were never used first, in the order in which they came, then the longest unused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SessionTurn {
    was_used: bool,
    number: u64,
}

/// Places of sessions by their turn.
type SessionTurns = BTreeMap<SessionTurn, usize>;

/// A session that is to be opened.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession<T> {
    /// Its id; one of the same id is replaced.
    pub id: Arc<str>,
    /// The value that is kept of it.
    pub session: T,
    /// Number of bytes that it takes up.
    pub bytes: usize,
    /// The owner.
    pub owner: Owner,
}

impl<T> NewSession<T> {
    /// Creates a session without an owner that takes up no bytes.
    pub fn new(id: impl Into<Arc<str>>, session: T) -> Self {
        Self {
            id: id.into(),
            session,
            bytes: 0,
            owner: Owner::Unknown,
        }
    }

    /// Sets the number of bytes that it takes up.
    #[must_use]
    pub fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// Sets the owner.
    #[must_use]
    pub fn with_owner(self, owner: Owner) -> Self {
        Self { owner, ..self }
    }
}

/// No session more is taken; the one that was to be opened comes back.
#[derive(Debug, thiserror::Error)]
#[error("{}", refusal.error.message)]
#[non_exhaustive]
pub struct SessionsFull<T> {
    /// The error that says which limit is reached: a number, of all sessions or of this owner's, or bytes.
    pub refusal: Box<Refusal>,
    /// The session that was to be opened.
    pub session: T,
}

/// Maximum number of sessions at work that are passed over for an idle one.
const PASSED: usize = 8;

impl<T> Sessions<T> {
    /// Creates room for [`Limits::max_sessions`], of [`Limits::max_session_bytes`] all together, and of
    /// [`Limits::max_sessions_per_owner`] for each owner that is known.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            places: HashMap::new(),
            entries: Slab::new(),
            turns: SessionTurns::new(),
            owners: HashMap::new(),
            last_turn: 0,
            bytes: 0,
            limit: limits.max_sessions,
            limit_bytes: limits.max_session_bytes,
            limit_owned: limits.max_sessions_per_owner,
        }
    }

    /// Keeps a session. What had to go for it comes back: of the same owner, as long as that has any that may go.
    ///
    /// One that was used within `spared` stays; `may_go` says of the others whether they can be ended: nothing is being
    /// worked on in them.
    ///
    /// # Errors
    /// As many are in use as are taken: no session has gone then.
    pub fn open(
        &mut self,
        new: NewSession<T>,
        now: Duration,
        spared: Duration,
        may_go: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>, SessionsFull<T>> {
        let NewSession {
            id,
            session,
            bytes,
            owner,
        } = new;
        let place = self.places.get(&id).copied();
        let mut gone: Vec<SessionEntry<T>> = Vec::from_iter(place.and_then(|it| self.remove(it)));
        let mut passed = 0;
        loop {
            let owned = self.owners.get(&owner);
            let has_too_many = owner != Owner::Unknown
                && owned.is_some_and(|owned| owned.len() >= self.limit_owned);
            let has_room =
                self.len() < self.limit && self.bytes.saturating_add(bytes) <= self.limit_bytes;
            if has_room && !has_too_many {
                break;
            }
            let own = owned.and_then(|owned| self.next(owned, spared, now));
            let next = if has_too_many {
                own
            } else {
                own.or_else(|| self.next(&self.turns, spared, now))
            };
            let Some((place, next)) = next.filter(|_| passed < PASSED) else {
                let refusal = if has_too_many {
                    errors::too_many_sessions(self.limit_owned)
                } else if self.len() < self.limit {
                    errors::too_much_in_sessions(self.limit_bytes)
                } else {
                    errors::too_many_sessions(self.limit)
                };
                for entry in gone {
                    self.insert(entry);
                }
                return Err(SessionsFull { refusal, session });
            };
            if may_go(&next.session) {
                gone.extend(self.remove(place));
            } else {
                // It is at work: that counts as use.
                passed += 1;
                self.touch(place, now);
            }
        }
        let turn = self.next_turn(false);
        self.insert(SessionEntry {
            id,
            session,
            bytes,
            owner,
            turn,
            used_at: now,
        });
        Ok(gone.into_iter().map(|entry| entry.session).collect())
    }

    /// Returns the session of an id, and notes its use by `who`; answer `None` with status 404.
    ///
    /// To know the id is not enough where its owner was named: for all others there is no such session.
    pub fn use_by(&mut self, who: &Owner, id: &str, now: Duration) -> Option<&mut T> {
        let place = *self.places.get(id)?;
        let entry = self.entries.get(place)?;
        if !entry.owner.lets_in(who) {
            return None;
        }
        self.touch(place, now);
        self.get_mut(id)
    }

    /// Returns the session of an id.
    pub fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        let entry = self.entries.get_mut(*self.places.get(id)?);
        entry.map(|entry| &mut entry.session)
    }

    /// Returns the session of an id, to look at.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&T> {
        let entry = self.entries.get(*self.places.get(id)?);
        entry.map(|entry| &entry.session)
    }

    /// Ends a session.
    pub fn end(&mut self, id: &str) -> Option<T> {
        let place = *self.places.get(id)?;
        self.remove(place).map(|entry| entry.session)
    }

    /// Ends sessions that were not used since then, as far as they may go; the longest unused are looked at first, and
    /// only as many as have to be.
    pub fn retire(
        &mut self,
        since: Duration,
        now: Duration,
        may_go: impl Fn(&T) -> bool,
    ) -> Vec<T> {
        let mut gone = Vec::new();
        for was_used in [false, true] {
            let first = SessionTurn {
                was_used,
                number: 0,
            };
            let last = SessionTurn {
                number: u64::MAX,
                ..first
            };
            while let Some((_, place)) = self.turns.range(first..=last).next()
                && let (place, Some(entry)) = (*place, self.entries.get(*place))
                && entry.used_at <= since
            {
                if may_go(&entry.session) {
                    gone.extend(self.remove(place).map(|entry| entry.session));
                } else {
                    // It is at work: that counts as use.
                    self.touch(place, now);
                }
            }
        }
        gone
    }

    /// Returns the sessions, by their id.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &T)> {
        let entries = self.entries.iter();
        entries.map(|(_, entry)| (&entry.id, &entry.session))
    }

    /// Returns the number of open sessions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes and returns all sessions.
    pub fn end_all(&mut self) -> Vec<T> {
        self.places.clear();
        self.owners.clear();
        self.turns.clear();
        self.bytes = 0;
        self.entries.drain().map(|entry| entry.session).collect()
    }

    /// Returns the session that ends next: if the one that was unused for longest is spared, so are all behind it.
    fn next(
        &self,
        of: &SessionTurns,
        spared: Duration,
        now: Duration,
    ) -> Option<(usize, &SessionEntry<T>)> {
        let (_, place) = of.first_key_value()?;
        let entry = self.entries.get(*place)?;
        let is_spared = entry.turn.was_used && entry.used_at + spared > now;
        (!is_spared).then_some((*place, entry))
    }

    fn next_turn(&mut self, was_used: bool) -> SessionTurn {
        self.last_turn += 1;
        SessionTurn {
            was_used,
            number: self.last_turn,
        }
    }

    fn insert(&mut self, entry: SessionEntry<T>) {
        let (id, owner, turn) = (Arc::clone(&entry.id), entry.owner.clone(), entry.turn);
        self.bytes += entry.bytes;
        let place = self.entries.insert(entry);
        self.places.insert(id, place);
        self.turns.insert(turn, place);
        self.owners.entry(owner).or_default().insert(turn, place);
    }

    fn remove(&mut self, place: usize) -> Option<SessionEntry<T>> {
        let entry = self.entries.try_remove(place)?;
        self.places.remove(&entry.id);
        self.turns.remove(&entry.turn);
        self.bytes -= entry.bytes;
        if let Some(owned) = self.owners.get_mut(&entry.owner) {
            owned.remove(&entry.turn);
            if owned.is_empty() {
                self.owners.remove(&entry.owner);
            }
        }
        Some(entry)
    }

    /// Notes a use: the session goes last.
    fn touch(&mut self, place: usize, now: Duration) {
        let turn = self.next_turn(true);
        let Some(entry) = self.entries.get_mut(place) else {
            return;
        };
        let before = std::mem::replace(&mut entry.turn, turn);
        entry.used_at = now;
        self.turns.remove(&before);
        self.turns.insert(turn, place);
        if let Some(owned) = self.owners.get_mut(&entry.owner) {
            owned.remove(&before);
            owned.insert(turn, place);
        }
    }
}
