//! Which server a client gets: one of its own, as if nothing stood in between.
//!
//! A session of the handshake era has state on the server: its subscriptions, its log level, what it can be asked. So each
//! gets a connection of its own, and a process of its own if the server is one. Requests of the modern era say all of that
//! themselves, so that a server cannot tell one client from another that says the same; those share one.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mcp_registry::Era;
use mcp_revisions::errors;
use mcp_revisions::serve::Session;
use mcp_revisions::server::Caller;
use mcp_wire::ErrorObject;
use tokio::sync::OnceCell;
use tracing::{debug, warn};

use super::identity;
use super::upstream::Upstream;

/// How long a server is kept that modern clients share, while none of them asks anything.
const IDLE: Duration = Duration::from_secs(300);

/// How often it is looked whether somebody is gone.
const LOOK: Duration = Duration::from_secs(1);

/// Starts a server, on behalf of a client.
pub(super) type Start = Arc<
    dyn Fn(Arc<Caller>) -> Pin<Box<dyn Future<Output = anyhow::Result<Upstream>> + Send>>
        + Send
        + Sync,
>;

/// Whose a server is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// Of the one client over standard streams.
    One,
    /// Of a session.
    Session(Session),
    /// Of all that say this of themselves.
    Alike(String),
}

/// A server that is started, or about to be.
struct Place {
    upstream: OnceCell<Upstream>,
    used: Mutex<Instant>,
}

/// The servers that are at work; clones are the same ones.
#[derive(Clone)]
pub(super) struct Servers {
    start: Start,
    most: usize,
    open: Arc<Mutex<HashMap<Key, Arc<Place>>>>,
}

/// A server that is used; it is not ended meanwhile.
pub(super) struct Used {
    upstream: Upstream,
    /// Whoever holds one keeps the place from being idle.
    _place: Arc<Place>,
}

impl std::ops::Deref for Used {
    type Target = Upstream;

    fn deref(&self) -> &Upstream {
        &self.upstream
    }
}

impl Servers {
    /// For the one client of this server.
    pub(super) fn one(upstream: Upstream, start: Start) -> Self {
        let servers = Self {
            start,
            most: 1,
            open: Arc::default(),
        };
        let place = Place {
            upstream: OnceCell::new_with(Some(upstream)),
            used: Mutex::new(Instant::now()),
        };
        servers.open().insert(Key::One, Arc::new(place));
        servers
    }

    /// For any number of clients, with no more than this many servers at a time.
    pub(super) fn each(start: Start, most: usize) -> Self {
        let servers = Self {
            start,
            most,
            open: Arc::default(),
        };
        let looked_after = servers.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                looked_after.retire();
            }
        });
        servers
    }

    /// The server of a client, which is started if it is not at work.
    ///
    /// # Errors
    /// A server that cannot be started, or too many of them.
    pub(super) async fn of(
        &self,
        caller: &Arc<Caller>,
        session: &Session,
    ) -> Result<Used, ErrorObject> {
        let key = self.key(caller, session);
        let place = self.place(&key)?;
        let started = place
            .upstream
            .get_or_try_init(|| (self.start)(Arc::clone(caller)));
        match started.await {
            Ok(upstream) => Ok(Used {
                upstream: upstream.clone(),
                _place: place,
            }),
            Err(error) => {
                warn!("a server cannot be started: {error:#}");
                self.open().remove(&key);
                Err(errors::internal(&format!("the server cannot be reached: {error:#}")).error)
            }
        }
    }

    fn key(&self, caller: &Caller, session: &Session) -> Key {
        if self.most == 1 && self.open().contains_key(&Key::One) {
            return Key::One;
        }
        match caller.revision.era() {
            Era::Handshake => Key::Session(session.clone()),
            Era::PerRequest => Key::Alike(identity::key(caller)),
        }
    }

    fn place(&self, key: &Key) -> Result<Arc<Place>, ErrorObject> {
        let mut open = self.open();
        let found = open.get(key).filter(|place| {
            let upstream = place.upstream.get();
            // Over standard streams the end of the server is the end of the bridge.
            *key == Key::One || !upstream.is_some_and(Upstream::has_ended)
        });
        if let Some(place) = found {
            *lock(&place.used) = Instant::now();
            return Ok(Arc::clone(place));
        }
        if !open.contains_key(key) && open.len() >= self.most {
            let full = format!("{} servers are at work, and no more are started", self.most);
            return Err(errors::internal(&full).error);
        }
        let place = Arc::new(Place {
            upstream: OnceCell::new(),
            used: Mutex::new(Instant::now()),
        });
        open.insert(key.clone(), Arc::clone(&place));
        Ok(place)
    }

    /// Ends the servers of clients that are gone.
    fn retire(&self) {
        let now = Instant::now();
        let may_go = |key: &Key, place: &Arc<Place>| match key {
            Key::One => false,
            Key::Session(session) => session.is_over(),
            Key::Alike(_) => {
                let unused = now.saturating_duration_since(*lock(&place.used));
                Arc::strong_count(place) == 1 && unused > IDLE
            }
        };
        let mut open = self.open();
        let gone: Vec<Key> = (open.iter())
            .filter(|(key, place)| may_go(key, place))
            .map(|(key, _)| key.clone())
            .collect();
        for key in gone {
            if let Some(place) = open.remove(&key)
                && let Some(upstream) = place.upstream.get()
            {
                debug!("the server of a client that is gone is ended");
                tokio::spawn(upstream.clone().close());
            }
        }
    }

    /// Ends all of them, and waits until they have.
    pub(super) async fn close(self) {
        let open = std::mem::take(&mut *self.open());
        let mut ending = tokio::task::JoinSet::new();
        for place in open.into_values() {
            if let Some(upstream) = place.upstream.get() {
                ending.spawn(upstream.clone().close());
            }
        }
        while ending.join_next().await.is_some() {}
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Key, Arc<Place>>> {
        lock(&self.open)
    }
}

/// Nothing that is done under a lock here leaves it half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
