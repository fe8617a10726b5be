//! The bytes on their way to each other replica: no more than a backplane can keep for a replica that does not read.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::watch;

use crate::transport::panics::lock;

/// Maximum number of bytes of bodies on their way to one replica before it says that some have arrived. Redis hangs up on a
/// subscriber that leaves 32 MB unread, whichever replicas sent them.
const WAY: usize = 1 << 20;

/// Number of bytes that arrive before their sender is notified.
const STEP: usize = WAY / 4;

/// Time that a sender waits for room; bytes that have not arrived by then are lost.
const LOST: Duration = Duration::from_secs(5);

/// Maximum number of replicas known by their messages.
const SENDERS: usize = 1_024;

/// The bytes that are on their way to other replicas, and those that have arrived from them, by their address.
#[derive(Default)]
pub(super) struct ReplicaWindows {
    sent: Mutex<HashMap<String, watch::Sender<usize>>>,
    arrived: Mutex<HashMap<String, usize>>,
}

impl ReplicaWindows {
    /// Takes room for so many bytes, once there is some.
    pub(super) async fn take_room(&self, to: &str, bytes: usize) {
        let way = lock(&self.sent).entry(to.to_owned()).or_default().clone();
        let mut changes = way.subscribe();
        let room = changes.wait_for(|sent| *sent < WAY);
        if tokio::time::timeout(LOST, room).await.is_err() {
            way.send_replace(0);
        }
        way.send_modify(|sent| *sent += bytes);
    }

    /// Takes note that so many bytes have arrived at another replica.
    pub(super) fn free(&self, to: &str, bytes: usize) {
        if let Some(way) = lock(&self.sent).get(to) {
            way.send_modify(|sent| *sent = sent.saturating_sub(bytes));
        }
    }

    /// Counts bytes that have arrived. Returns those of which their sender is to be notified.
    pub(super) fn arrived(&self, from: &str, bytes: usize) -> Option<usize> {
        let mut arrived = lock(&self.arrived);
        if arrived.len() >= SENDERS {
            arrived.clear();
        }
        let of_it = arrived.entry(from.to_owned()).or_default();
        *of_it += bytes;
        (*of_it >= STEP).then(|| std::mem::take(of_it))
    }

    /// Forgets the ways to replicas that are gone; who waits for one of them waits no longer.
    pub(super) fn end(&self, is_gone: impl Fn(&str) -> bool) {
        for (_, way) in lock(&self.sent).extract_if(|to, _| is_gone(to)) {
            way.send_replace(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_replica_that_does_not_read_is_sent_no_more_than_its_way_holds() {
        let ways = ReplicaWindows::default();
        for _ in 0..16 {
            ways.take_room("0a0b0c0d", WAY / 16).await;
        }
        let more = ways.take_room("0a0b0c0d", 1);
        assert!(tokio::time::timeout(LOST / 2, more).await.is_err());
        // Other ways are free, and this one is once some has arrived, or must be lost.
        ways.take_room("0a0b0c0e", 1).await;
        assert_eq!(ways.arrived("0a0b0c0f", STEP - 1), None);
        assert_eq!(ways.arrived("0a0b0c0f", 1), Some(STEP));
        ways.free("0a0b0c0d", STEP);
        let more = ways.take_room("0a0b0c0d", STEP);
        assert!(tokio::time::timeout(LOST / 2, more).await.is_ok());
        let more = ways.take_room("0a0b0c0d", 1);
        assert!(tokio::time::timeout(2 * LOST, more).await.is_ok());
    }
}
