//! The receivers of one process, by address.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::{Receiver, ReplicaTarget};
use crate::transport::panics::lock;

/// For how long one that joined is not taken for gone: it may join while it is made, and is not there until that is done.
const MADE: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(super) struct Receivers(Mutex<HashMap<Arc<str>, JoinedReceiver>>);

struct JoinedReceiver {
    receiver: Weak<dyn Receiver>,
    at: Instant,
    /// Set if it has taken leave: it gets messages that were sent before.
    has_left: bool,
}

impl JoinedReceiver {
    fn is_gone(&self) -> bool {
        self.receiver.strong_count() == 0 && self.at.elapsed() > MADE
    }
}

impl Receivers {
    /// Adds one, under an address of its own.
    pub(super) fn join(&self, receiver: Weak<dyn Receiver>) -> Arc<str> {
        let mut receivers = lock(&self.0);
        receivers.retain(|_, joined| !joined.is_gone());
        let address = fresh_address();
        let joined = JoinedReceiver {
            receiver,
            at: Instant::now(),
            has_left: false,
        };
        receivers.insert(Arc::clone(&address), joined);
        address
    }

    pub(super) fn remove(&self, address: &str) {
        lock(&self.0).remove(address);
    }

    /// Takes note that one has taken leave.
    pub(super) fn has_left(&self, address: &str) {
        if let Some(joined) = lock(&self.0).get_mut(address) {
            joined.has_left = true;
        }
    }

    /// Returns the addresses of all that are neither gone nor have taken leave.
    pub(super) fn addresses(&self) -> Vec<Arc<str>> {
        let mut receivers = lock(&self.0);
        receivers.retain(|_, joined| !joined.is_gone());
        let here = receivers.iter().filter(|(_, joined)| !joined.has_left);
        here.map(|(address, _)| Arc::clone(address)).collect()
    }

    /// Those that a message is for.
    pub(super) fn of(&self, to: ReplicaTarget<'_>) -> Vec<Arc<dyn Receiver>> {
        let receivers = lock(&self.0);
        let there = |joined: &JoinedReceiver| joined.receiver.upgrade();
        match to {
            ReplicaTarget::One(address) => {
                receivers.get(address).and_then(there).into_iter().collect()
            }
            ReplicaTarget::All => receivers.values().filter_map(there).collect(),
        }
    }

    /// Returns whether more than one is there.
    pub(super) fn are_several(&self) -> bool {
        let receivers = lock(&self.0);
        let mut there = receivers.values().filter(|joined| !joined.is_gone());
        there.nth(1).is_some()
    }
}

/// Eight random digits: the address of a receiver.
pub(super) fn fresh_address() -> Arc<str> {
    let mut bytes = [0_u8; 4];
    // Without randomness there are no ids of sessions either, and so nothing to send.
    let _ = getrandom::fill(&mut bytes);
    format!("{:08x}", u32::from_be_bytes(bytes)).into()
}

#[cfg(test)]
mod tests {
    use super::{Receivers, ReplicaTarget};
    use crate::backplane::Receiver;
    use std::sync::{Arc, Weak};

    struct Deaf;

    impl Receiver for Deaf {
        fn receive(&self, _: &[u8]) {}
    }

    #[test]
    fn one_that_joins_while_it_is_made_is_there_whoever_else_joins() {
        let receivers = Receivers::default();
        let mut address = Arc::from("");
        let made = Arc::new_cyclic(|me: &Weak<Deaf>| {
            let me: Weak<Deaf> = Weak::clone(me);
            address = receivers.join(me);
            receivers.join(Weak::<Deaf>::new());
            Deaf
        });
        assert_eq!(receivers.of(ReplicaTarget::One(&address)).len(), 1);
        assert_eq!(receivers.of(ReplicaTarget::All).len(), 1);
        drop(made);
        assert!(receivers.of(ReplicaTarget::One(&address)).is_empty());
    }
}
