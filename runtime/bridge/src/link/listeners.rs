//! The receivers of notifications and of questions outside of calls: sessions.

use std::sync::{Arc, Mutex};

use mcp_revisions::sansio::client::Fate;
use mcp_revisions::serve::Session;
use mcp_revisions::service::lock;
use mcp_revisions_core::Lifecycle;
use mcp_wire::Json;
use tokio::sync::Notify;
use tracing::{debug, warn};

use super::if_any;

/// Maximum number of bytes of notifications kept for a client whose session is not open yet.
const EARLY_BYTES: usize = 256 << 10;

/// The receivers, in the order in which they came; clones are the same ones.
#[derive(Clone)]
pub(super) struct Listeners(Arc<SharedListeners>);

struct SharedListeners {
    state: Mutex<ListenerState>,
    /// Wakes questions that wait for the first session.
    came: Notify,
}

struct ListenerState {
    sessions: Vec<Session>,
    early: Early,
}

/// The time before a session is open to receive messages: the bridge sends `initialized` before its client does.
enum Early {
    Kept {
        notices: Vec<(String, Json)>,
        bytes: usize,
    },
    /// The client has come, or has no session.
    Over,
}

/// The receivers of a notification outside of calls.
pub(super) enum Told {
    /// Each of these sessions, with what became of it.
    To(Vec<Fate>),
    /// The client whose session opens soon.
    Kept,
    /// No client: it is lost.
    Nobody,
}

impl Listeners {
    /// Creates the receivers for a client of this lifecycle, before it has come.
    pub(super) fn of(lifecycle: Lifecycle) -> Self {
        let early = match lifecycle {
            Lifecycle::Handshake => Early::Kept {
                notices: Vec::new(),
                bytes: 0,
            },
            Lifecycle::PerRequest => Early::Over,
        };
        let sessions = Vec::new();
        Self(Arc::new(SharedListeners {
            state: Mutex::new(ListenerState { sessions, early }),
            came: Notify::new(),
        }))
    }

    /// Those of them that are there still.
    pub(super) fn all(&self) -> Vec<Session> {
        self.with(|state| state.sessions.clone())
    }

    /// Returns whether the session of the client is not open yet.
    pub(super) fn is_early(&self) -> bool {
        self.with(|state| matches!(state.early, Early::Kept { .. }))
    }

    /// Waits for the first session.
    pub(super) async fn first(&self) -> Session {
        loop {
            let came = self.0.came.notified();
            if let Some(session) = self.all().pop() {
                return session;
            }
            came.await;
        }
    }

    /// Adds one, as the last that came; the first one gets what came before it.
    pub(super) fn add(&self, session: Session) {
        self.with(|state| {
            if let Early::Kept { notices, .. } = std::mem::replace(&mut state.early, Early::Over) {
                for (method, params) in notices {
                    let fate = session.notify(&method, if_any(&params));
                    debug!(method, ?fate, "sent to the client, which has come now");
                }
            }
            state.sessions.retain(|one| *one != session);
            state.sessions.push(session);
        });
        self.0.came.notify_waiters();
    }

    /// Sends a notification to each of them, without waiting for a reader.
    pub(super) fn tell(&self, method: &str, params: Json) -> Told {
        self.with(|state| {
            if let Early::Kept { notices, bytes } = &mut state.early {
                let length = method.len() + params.text().len();
                if *bytes + length > EARLY_BYTES {
                    warn!(method, "lost: the session of the client is not open yet");
                    return Told::Nobody;
                }
                *bytes += length;
                notices.push((method.to_owned(), params));
                return Told::Kept;
            }
            if state.sessions.is_empty() {
                return Told::Nobody;
            }
            let sessions = state.sessions.iter();
            let fates = sessions.map(|session| {
                let fate = session.notify(method, if_any(&params));
                debug!(method, ?fate, "sent to the client");
                fate
            });
            Told::To(fates.collect())
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.with(|state| state.sessions.is_empty())
    }

    fn with<T>(&self, act: impl FnOnce(&mut ListenerState) -> T) -> T {
        let mut state = lock(&self.0.state);
        state.sessions.retain(|session| !session.is_over());
        act(&mut state)
    }
}
