//! Requests of either role that were withdrawn: a response to one crossed that on its way, and is not a mistake.

use std::collections::BTreeSet;

/// Number of withdrawn requests that are remembered.
const MOST_WITHDRAWN: usize = 1 << 10;

/// Ids of requests that were withdrawn before they were answered.
#[derive(Debug, Default)]
pub(super) struct Withdrawn(BTreeSet<i64>);

impl Withdrawn {
    pub(super) fn insert(&mut self, id: i64) {
        if self.0.len() >= MOST_WITHDRAWN {
            self.0.pop_first();
        }
        self.0.insert(id);
    }

    /// Forgets an id; returns whether it was there.
    pub(super) fn remove(&mut self, id: &i64) -> bool {
        self.0.remove(id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
