//! Tasks among replicas: which one has changed, and whether the replica that runs one is there.

use std::time::Duration;

use crate::backplane::{ReplicaTarget, detach};
use crate::transport::serve::Replicas;

/// The first byte of a message about a task: the address of its sender and the id follow.
const MARK: u8 = b'T';

/// Time that a replica may be missed that is there: its own connection to the backplane may have broken.
const MISSED: Duration = Duration::from_secs(2);

impl Replicas {
    /// Tells the others that a task has changed.
    pub(super) fn tell(&self, task: &str) {
        if self.backplane.is_shared() {
            let mut message = vec![MARK];
            message.extend_from_slice(self.address.as_bytes());
            message.extend_from_slice(task.as_bytes());
            detach(self.backplane.send(ReplicaTarget::All, message));
        }
    }

    /// Returns the task that another replica says has changed; `None` if that is not what a message says.
    pub(super) fn changed<'a>(&self, message: &'a [u8]) -> Option<&'a str> {
        let (&MARK, said) = message.split_first()? else {
            return None;
        };
        let said = str::from_utf8(said).ok()?;
        let (from, task) = said.split_at_checked(self.address.len())?;
        (from != &*self.address).then_some(task)
    }

    /// Returns whether the replica at an address is gone, and what ran on it with it.
    pub(super) async fn is_gone(&self, address: &str) -> bool {
        if !self.misses(address).await {
            return false;
        }
        tokio::time::sleep(MISSED).await;
        self.misses(address).await
    }

    /// Returns whether the backplane has no replica at an address.
    async fn misses(&self, address: &str) -> bool {
        let sent = self.backplane.send(ReplicaTarget::One(address), Vec::new());
        sent.await == Ok(false)
    }
}
