//! The receivers of notifications outside of calls: sessions, and streams of changes.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_revisions::sansio::client::Fate;
use mcp_revisions::serve::Session;
use mcp_wire::Json;
use tracing::{debug, warn};

use super::given;

/// Maximum number of bytes of notifications kept for a client whose session is not open yet.
const EARLY_BYTES: usize = 256 << 10;

/// The receivers, in the order in which they came; clones are the same ones.
#[derive(Clone, Default)]
pub(super) struct Listeners(Arc<Mutex<ListenerState>>);

#[derive(Default)]
struct ListenerState {
    sessions: Vec<Session>,
    early: Early,
}

/// Notifications that come before a session is open to receive them: the bridge sends `initialized` before its client does.
enum Early {
    Kept {
        notices: Vec<(String, Json)>,
        bytes: usize,
    },
    /// The client has come.
    Over,
}

impl Default for Early {
    fn default() -> Self {
        Self::Kept {
            notices: Vec::new(),
            bytes: 0,
        }
    }
}

impl Listeners {
    /// Those of them that are there still.
    pub(super) fn all(&self) -> Vec<Session> {
        self.with(|state| state.sessions.clone())
    }

    /// Adds one, as the last that came; the first one gets what came before it.
    pub(super) fn add(&self, session: Session) {
        self.with(|state| {
            if let Early::Kept { notices, .. } = std::mem::replace(&mut state.early, Early::Over) {
                for (method, params) in notices {
                    let fate = session.notify(&method, given(&params));
                    debug!(method, ?fate, "sent to the client, which has come now");
                }
            }
            state.sessions.retain(|one| *one != session);
            state.sessions.push(session);
        });
    }

    /// Keeps no notifications for a client that comes later: one without sessions is here.
    pub(super) fn keep_nothing(&self) {
        self.with(|state| state.early = Early::Over);
    }

    /// Sends a notification to each of them, without waiting for a reader, and returns what became of it.
    pub(super) fn tell(&self, method: &str, params: Json) -> Vec<Fate> {
        self.with(|state| {
            let sessions = state.sessions.iter();
            let fates = sessions
                .map(|session| {
                    let fate = session.notify(method, given(&params));
                    debug!(method, ?fate, "sent to the client");
                    fate
                })
                .collect();
            if let Early::Kept { notices, bytes } = &mut state.early {
                let length = method.len() + params.text().len();
                if *bytes + length > EARLY_BYTES {
                    warn!(method, "lost: the session of the client is not open yet");
                    return fates;
                }
                *bytes += length;
                notices.push((method.to_owned(), params));
            }
            fates
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.with(|state| state.sessions.is_empty())
    }

    fn with<T>(&self, act: impl FnOnce(&mut ListenerState) -> T) -> T {
        // Nothing that is done under the lock leaves it half done.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.sessions.retain(|session| !session.is_over());
        act(&mut state)
    }
}
