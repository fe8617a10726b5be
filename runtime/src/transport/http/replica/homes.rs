//! The replicas that run the sessions whose requests were passed on, so that not each of them looks in the backplane.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

/// Maximum number of known homes: of ids of 32 digits, less than 1 MiB.
const MOST: usize = 4_096;

/// Time that a home is known before it is looked up again.
const KNOWN: Duration = Duration::from_secs(60);

/// The homes of sessions. One that runs a session no more says so, and is forgotten.
#[derive(Default)]
pub(super) struct Homes(HashMap<String, (Arc<str>, Instant)>);

impl Homes {
    pub(super) fn get(&self, session: &str) -> Option<Arc<str>> {
        let (home, since) = self.0.get(session)?;
        (since.elapsed() < KNOWN).then(|| Arc::clone(home))
    }

    pub(super) fn insert(&mut self, session: &str, home: &str) {
        if self.0.len() >= MOST {
            self.0.retain(|_, (_, since)| since.elapsed() < KNOWN);
        }
        // All of them would be looked through again for each that comes.
        if self.0.len() >= MOST {
            self.0.clear();
        }
        (self.0).insert(session.to_owned(), (home.into(), Instant::now()));
    }

    pub(super) fn forget(&mut self, session: &str) {
        self.0.remove(session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_home_is_known_for_a_while_and_no_more_of_them_than_there_is_room_for() {
        let mut homes = Homes::default();
        for session in 0..3 * MOST {
            homes.insert(&session.to_string(), "0a0b0c0d");
            assert!(homes.0.len() <= MOST);
            assert!(homes.get(&session.to_string()).is_some());
        }
        tokio::time::advance(KNOWN).await;
        assert!(homes.get(&(3 * MOST - 1).to_string()).is_none());
    }
}
