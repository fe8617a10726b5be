//! Sessions by their id, for transports where one endpoint has many; bounded by count and by bytes, and by owner.
//!
//! Those that never said a second word go first, then those that said nothing for longest; to find them takes no look at
//! the others. An owner that needs room gets that of its own sessions before that of another's.

mod order;
mod owner;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use slab::Slab;

use crate::Limits;
use order::{Key, Link, LinkOf, Order};
pub use owner::Owner;

/// Sessions by the id that the transport minted; `T` is what the transport keeps of their connections.
///
/// Ids come from outside: this crate has no randomness of its own.
#[derive(Debug)]
pub struct Sessions<T> {
    keys: HashMap<Arc<str>, Key>,
    entries: Slab<Entry<T>>,
    /// Who goes first of all.
    order: Order,
    owners: HashMap<Owner, Owned>,
    bytes: usize,
    limit: usize,
    limit_bytes: usize,
    limit_owned: usize,
}

#[derive(Debug)]
struct Entry<T> {
    id: Arc<str>,
    session: T,
    bytes: usize,
    owner: Owner,
    /// Whether it was used since it was opened, and when.
    was_used: bool,
    used_at: Duration,
    among_all: Link,
    among_owned: Link,
}

/// The sessions of one owner.
#[derive(Debug, Default)]
struct Owned {
    count: usize,
    /// Who goes first of them.
    order: Order,
}

/// A session that is to be opened.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession<T> {
    /// Its id; one of the same id is replaced.
    pub id: Arc<str>,
    /// What is kept of it.
    pub session: T,
    /// How many bytes it takes up.
    pub bytes: usize,
    /// Whose it is.
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
#[error("{limit} sessions are open: try again once one has ended")]
pub struct SessionsFull<T> {
    /// How many are taken, of all or of this owner, if they are small.
    pub limit: usize,
    /// What was to be opened.
    pub session: T,
}

/// How many sessions at work are passed over for one that is not.
const PASSED: usize = 8;

impl<T> Sessions<T> {
    /// Creates room for [`Limits::max_sessions`], of [`Limits::max_session_bytes`] all together, and of
    /// [`Limits::max_sessions_per_owner`] for each owner that is known.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            keys: HashMap::new(),
            entries: Slab::new(),
            order: Order::default(),
            owners: HashMap::new(),
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
    /// As many are in use as are taken; answer with [`errors::too_many_sessions`](crate::errors::too_many_sessions).
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
        let mut gone: Vec<T> = self.end(&id).into_iter().collect();
        let mut passed = 0;
        loop {
            let owned = self.owners.get(&owner);
            let has_too_many = owner != Owner::Unknown
                && owned.is_some_and(|owned| owned.count >= self.limit_owned);
            let has_room =
                self.len() < self.limit && self.bytes.saturating_add(bytes) <= self.limit_bytes;
            if has_room && !has_too_many {
                break;
            }
            let own = owned.and_then(|owned| self.next(&owned.order, spared, now));
            let next = match has_too_many {
                true => own,
                false => own.or_else(|| self.next(&self.order, spared, now)),
            };
            let Some((key, next)) = next.filter(|_| passed < PASSED) else {
                let limit = match has_too_many {
                    true => self.limit_owned,
                    false => self.limit,
                };
                return Err(SessionsFull { limit, session });
            };
            match may_go(&next.session) {
                true => gone.extend(self.remove(key)),
                // It is at work: that counts as use.
                false => {
                    passed += 1;
                    self.touch(key, now);
                }
            }
        }
        let Some(key) = Key::of(self.entries.vacant_key()) else {
            let limit = self.limit;
            return Err(SessionsFull { limit, session });
        };
        self.bytes += bytes;
        self.entries.insert(Entry {
            id: Arc::clone(&id),
            session,
            bytes,
            owner: owner.clone(),
            was_used: false,
            used_at: now,
            among_all: Link::default(),
            among_owned: Link::default(),
        });
        self.keys.insert(id, key);
        self.owners.entry(owner).or_default().count += 1;
        self.step(key, Order::join);
        Ok(gone)
    }

    /// Returns the session of an id, and notes its use by `who`; answer `None` with status 404.
    ///
    /// To know the id is not enough where its owner was named: for all others there is no such session.
    pub fn use_by(&mut self, who: &Owner, id: &str, now: Duration) -> Option<&mut T> {
        let key = *self.keys.get(id)?;
        let entry = self.entries.get(key.place())?;
        if !entry.owner.lets_in(who) {
            return None;
        }
        self.touch(key, now);
        self.get_mut(id)
    }

    /// Returns the session of an id.
    pub fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        let entry = self.entries.get_mut(self.keys.get(id)?.place());
        entry.map(|entry| &mut entry.session)
    }

    /// Returns the session of an id, to look at.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&T> {
        let entry = self.entries.get(self.keys.get(id)?.place());
        entry.map(|entry| &entry.session)
    }

    /// Ends a session.
    pub fn end(&mut self, id: &str) -> Option<T> {
        let key = *self.keys.get(id)?;
        self.remove(key)
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
            while let Some(key) = self.order.first_of(was_used)
                && let Some(entry) = self.entries.get(key.place())
                && entry.used_at <= since
            {
                match may_go(&entry.session) {
                    true => gone.extend(self.remove(key)),
                    // It is at work: that counts as use.
                    false => self.touch(key, now),
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

    /// Returns how many are open.
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
        self.keys.clear();
        self.owners.clear();
        self.order = Order::default();
        self.bytes = 0;
        self.entries.drain().map(|entry| entry.session).collect()
    }

    /// Who is to go next of some: if the one that was unused for longest is spared, so are all behind it.
    fn next(&self, order: &Order, spared: Duration, now: Duration) -> Option<(Key, &Entry<T>)> {
        let first = order.first()?;
        let entry = self.entries.get(first.place())?;
        (!entry.was_used || entry.used_at + spared <= now).then_some((first, entry))
    }

    fn remove(&mut self, key: Key) -> Option<T> {
        self.step(key, Order::leave);
        let entry = self.entries.try_remove(key.place())?;
        self.keys.remove(&entry.id);
        self.bytes -= entry.bytes;
        if let Some(owned) = self.owners.get_mut(&entry.owner) {
            owned.count -= 1;
            if owned.count == 0 {
                self.owners.remove(&entry.owner);
            }
        }
        Some(entry.session)
    }

    /// It was used: it goes last.
    fn touch(&mut self, key: Key, now: Duration) {
        self.step(key, Order::leave);
        if let Some(entry) = self.entries.get_mut(key.place()) {
            entry.was_used = true;
            entry.used_at = now;
            self.step(key, Order::join);
        }
    }

    /// It joins or leaves the order of all, and that of its owner's.
    fn step(
        &mut self,
        key: Key,
        step: impl Fn(&mut Order, &mut Slab<Entry<T>>, Key, bool, LinkOf<Entry<T>>),
    ) {
        let Self {
            entries,
            order,
            owners,
            ..
        } = self;
        let Some(entry) = entries.get(key.place()) else {
            return;
        };
        let (was_used, owned) = (entry.was_used, owners.get_mut(&entry.owner));
        step(order, entries, key, was_used, |entry| &mut entry.among_all);
        if let Some(owned) = owned {
            step(&mut owned.order, entries, key, was_used, |entry| {
                &mut entry.among_owned
            });
        }
    }
}
