//! Sessions by their id, for transports where one endpoint has many; bounded by count and by bytes.
//!
//! Those that never said a second word go first, then those that said nothing for longest; to find them takes no look at
//! the others.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// Sessions by the id that the transport minted, of whatever the transport keeps their connections in.
///
/// Ids come from outside: this crate has no randomness of its own.
#[derive(Debug)]
pub struct Sessions<T> {
    open: HashMap<Arc<str>, Entry<T>>,
    /// Who goes first: those that were never used, then the longest unused.
    order: BTreeMap<(bool, u64), Arc<str>>,
    last_use: u64,
    bytes: usize,
    limit: usize,
    limit_bytes: usize,
}

#[derive(Debug)]
struct Entry<T> {
    session: T,
    bytes: usize,
    /// Whether it was used since it was opened, and when.
    place: (bool, u64),
    used_at: Duration,
}

/// No session more is taken; the one that was to be opened comes back.
#[derive(Debug, thiserror::Error)]
#[error("{limit} sessions are open: try again once one has ended")]
pub struct SessionsFull<T> {
    /// How many are taken, if they are small.
    pub limit: usize,
    /// What was to be opened.
    pub session: T,
}

/// How many sessions at work are passed over for one that is not.
const PASSED: usize = 8;

impl<T> Sessions<T> {
    /// Room for [`Limits::sessions`](crate::Limits::sessions), of [`Limits::sessions_bytes`](crate::Limits::sessions_bytes)
    /// all together.
    #[must_use]
    pub fn new(limit: usize, limit_bytes: usize) -> Self {
        Self {
            open: HashMap::new(),
            order: BTreeMap::new(),
            last_use: 0,
            bytes: 0,
            limit,
            limit_bytes,
        }
    }

    /// Keeps a session that takes up so many bytes; one of the same id is replaced. What had to go for it comes back.
    ///
    /// One that was used within `spared` stays; `may_go` says of the others whether they can be ended: nothing is being
    /// worked on in them.
    ///
    /// # Errors
    /// As many are in use as are taken; answer with [`errors::too_many_sessions`](crate::errors::too_many_sessions).
    pub fn open(
        &mut self,
        id: impl Into<String>,
        session: T,
        bytes: usize,
        now: Duration,
        spared: Duration,
        may_go: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>, SessionsFull<T>> {
        let id = id.into();
        let mut gone: Vec<T> = self.end(&id).into_iter().collect();
        let mut passed = 0;
        while self.open.len() >= self.limit || self.bytes.saturating_add(bytes) > self.limit_bytes {
            let first = self.first().filter(|_| passed < PASSED);
            // If the one that was unused for longest is spared, so are all behind it.
            let is_spared = |entry: &Entry<T>| {
                let (was_used, _) = entry.place;
                was_used && entry.used_at + spared > now
            };
            let entry = first.as_ref().and_then(|first| self.open.get(first));
            let (Some(first), Some(entry)) = (&first, entry.filter(|entry| !is_spared(entry)))
            else {
                let limit = self.limit;
                return Err(SessionsFull { limit, session });
            };
            match may_go(&entry.session) {
                true => gone.extend(self.end(first)),
                // It is at work: that counts as use.
                false => {
                    passed += 1;
                    self.touch(first, now);
                }
            }
        }
        let id: Arc<str> = id.into();
        self.bytes += bytes;
        self.last_use += 1;
        let place = (false, self.last_use);
        self.order.insert(place, Arc::clone(&id));
        let used_at = now;
        self.open.insert(
            id,
            Entry {
                session,
                bytes,
                place,
                used_at,
            },
        );
        Ok(gone)
    }

    /// The session of an id, which is used by this; `None` is to be answered with status 404.
    pub fn use_at(&mut self, id: &str, now: Duration) -> Option<&mut T> {
        self.touch(id, now);
        self.get_mut(id)
    }

    /// The session of an id.
    pub fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.open.get_mut(id).map(|entry| &mut entry.session)
    }

    /// As [`get_mut`](Self::get_mut), to look at.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&T> {
        self.open.get(id).map(|entry| &entry.session)
    }

    /// Ends a session.
    pub fn end(&mut self, id: &str) -> Option<T> {
        let entry = self.open.remove(id)?;
        self.order.remove(&entry.place);
        self.bytes -= entry.bytes;
        Some(entry.session)
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
        for used in [false, true] {
            loop {
                let mut rest = self.order.range((used, 0)..=(used, u64::MAX));
                let Some(first) = rest.next().map(|(_, id)| Arc::clone(id)) else {
                    break;
                };
                let Some(entry) = self.open.get(&first).filter(|entry| entry.used_at <= since)
                else {
                    break;
                };
                match may_go(&entry.session) {
                    true => gone.extend(self.end(&first)),
                    // It is at work: that counts as use.
                    false => self.touch(&first, now),
                }
            }
        }
        gone
    }

    /// How many are open.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Every session, each taken out.
    pub fn end_all(&mut self) -> Vec<T> {
        self.order.clear();
        self.bytes = 0;
        self.open.drain().map(|(_, entry)| entry.session).collect()
    }

    fn first(&self) -> Option<Arc<str>> {
        self.order.first_key_value().map(|(_, id)| Arc::clone(id))
    }

    fn touch(&mut self, id: &str, now: Duration) {
        let Some(entry) = self.open.get_mut(id) else {
            return;
        };
        self.last_use += 1;
        if let Some(id) = self.order.remove(&entry.place) {
            entry.place = (true, self.last_use);
            entry.used_at = now;
            self.order.insert(entry.place, id);
        }
    }
}
