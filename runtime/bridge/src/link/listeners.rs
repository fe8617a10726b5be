//! The receivers of notifications outside of calls: sessions, and streams of changes.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_revisions::serve::Session;

/// The receivers, in the order in which they came; clones are the same ones.
#[derive(Clone, Default)]
pub(super) struct Listeners(Arc<Mutex<Vec<Session>>>);

impl Listeners {
    /// Those of them that are there still.
    pub(super) fn all(&self) -> Vec<Session> {
        self.with(|sessions| sessions.clone())
    }

    /// Adds one, as the last that came.
    pub(super) fn add(&self, session: Session) {
        self.with(|sessions| {
            sessions.retain(|one| *one != session);
            sessions.push(session);
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.with(|sessions| sessions.is_empty())
    }

    fn with<T>(&self, act: impl FnOnce(&mut Vec<Session>) -> T) -> T {
        // Nothing that is done under the lock leaves it half done.
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|session| !session.is_over());
        act(&mut sessions)
    }
}
