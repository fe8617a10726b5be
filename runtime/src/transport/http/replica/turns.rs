//! Turns of sessions: a session is taken over, or its record written, by one task at a time; other sessions do not wait for that.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::OwnedMutexGuard;

use crate::transport::panics::lock;

/// The sessions that have a turn or wait for one.
#[derive(Default)]
pub(in crate::transport::http) struct ReplicaTurns(
    Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
);

/// The turn of a session, until it is dropped.
pub(in crate::transport::http) struct ReplicaTurn<'t> {
    turns: &'t ReplicaTurns,
    session: &'t str,
    guard: Option<OwnedMutexGuard<()>>,
}

impl ReplicaTurns {
    /// Waits for the turn of a session.
    pub(in crate::transport::http) async fn of<'t>(&'t self, session: &'t str) -> ReplicaTurn<'t> {
        let turn = Arc::clone(lock(&self.0).entry(session.to_owned()).or_default());
        // A caller that stops waiting gives its place back, too.
        let mut place = ReplicaTurn {
            turns: self,
            session,
            guard: None,
        };
        place.guard = Some(turn.lock_owned().await);
        place
    }
}

impl Drop for ReplicaTurn<'_> {
    fn drop(&mut self) {
        let mut turns = lock(&self.turns.0);
        drop(self.guard.take());
        // The map has one, and each task that waits another.
        if (turns.get(self.session)).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            turns.remove(self.session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sessions_do_not_wait_for_each_other_and_none_is_kept() {
        let turns = ReplicaTurns::default();
        let one = turns.of("one").await;
        let other = turns.of("other").await;
        let waits = turns.of("one");
        let mut waits = std::pin::pin!(waits);
        let polled = std::future::poll_fn(|context| {
            std::task::Poll::Ready(waits.as_mut().poll(context).is_pending())
        });
        assert!(polled.await, "it has no turn yet");
        drop(other);
        assert_eq!(lock(&turns.0).len(), 1);
        drop(one);
        drop(waits.await);
        assert!(lock(&turns.0).is_empty());
    }
}
