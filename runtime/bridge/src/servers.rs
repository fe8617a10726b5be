//! The server that a client gets: one of its own, as if nothing stood in between.
//!
//! A session of the handshake lifecycle has state on the server: its subscriptions, its log level, what it can be asked. So each
//! gets a connection of its own, and a process of its own if the server is one. Requests of the per-request lifecycle carry all of that
//! themselves, so that a server cannot tell one client from another that says the same; those of one owner share one, unless
//! clients are isolated: then each connection of a client has a server.

#![allow(
    clippy::mutable_key_type,
    reason = "sessions and connections are told apart by their address, which does not change"
)]

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use mcp_revisions::errors;
use mcp_revisions::http::PeerConnection;
use mcp_revisions::sansio::server::{Caller, Owner};
use mcp_revisions::serve::Session;
use mcp_revisions_core::Lifecycle;
use mcp_wire::ErrorObject;
use tokio::sync::OnceCell;
use tracing::{debug, warn};

use crate::Error;
use crate::identity;
use crate::link::ServerLink;
use crate::measures::{self, Name, OpenServer};
use crate::settings::{BridgeSettings, ServerRoom};

/// Maximum time to keep a server that per-request clients share, while none of them sends a request.
const IDLE: Duration = Duration::from_secs(300);

/// For how long a session keeps its server that sends nothing, however many others are opened.
const SPARED: Duration = Duration::from_secs(60);

/// Time between two searches for servers of clients that are gone.
const LOOK: Duration = Duration::from_secs(1);

/// Starts a server, on behalf of a client.
pub(crate) type ServerStart = Arc<
    dyn Fn(Arc<Caller>) -> Pin<Box<dyn Future<Output = Result<ServerLink, Error>> + Send>>
        + Send
        + Sync,
>;

/// The owner of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ServerKey {
    /// Of the one client over standard streams.
    One,
    /// Of a session.
    Session(Session),
    /// Of all that say this of themselves, and come from there.
    Alike(Owner, String),
    /// Of all that come over this connection.
    Connection(PeerConnection),
}

/// A server that is started, or about to be.
struct ServerSlot {
    upstream: OnceCell<ServerLink>,
    owner: Owner,
    used: Mutex<Instant>,
    /// Keeps it in the number of servers.
    _open: OpenServer,
}

impl ServerSlot {
    fn new(upstream: Option<ServerLink>, owner: Owner, name: &Name) -> Arc<Self> {
        Arc::new(Self {
            upstream: OnceCell::new_with(upstream),
            owner,
            used: Mutex::new(Instant::now()),
            _open: OpenServer::new(name),
        })
    }

    fn used(&self) -> Instant {
        *lock(&self.used)
    }

    /// Returns whether no client waits for anything of it: a client that uses it holds it, too.
    fn is_idle(self: &Arc<Self>) -> bool {
        let listens = self.upstream.get().is_some_and(ServerLink::is_listened_to);
        Arc::strong_count(self) == 1 && !listens
    }

    fn has_ended(&self) -> bool {
        self.upstream.get().is_some_and(ServerLink::has_ended)
    }

    /// Returns whether its server was not started, and no client waits for that.
    fn is_empty(self: &Arc<Self>) -> bool {
        self.upstream.get().is_none() && self.is_idle()
    }

    /// Ends its server, without waiting for it.
    fn end(&self) {
        if let Some(upstream) = self.upstream.get() {
            tokio::spawn(upstream.clone().close());
        }
    }
}

type OpenServers = HashMap<ServerKey, Arc<ServerSlot>>;

/// The servers that are at work; clones are the same ones.
#[derive(Clone)]
pub(crate) struct Servers {
    start: ServerStart,
    room: ServerRoom,
    name: Name,
    /// Set if the server is sent the names of clients.
    is_named: bool,
    /// Set if no two connections share a server.
    is_isolated: bool,
    /// Set if sessions have other servers, too, and outlive this one.
    is_among_others: bool,
    open: Arc<Mutex<OpenServers>>,
    /// Starts the task that looks for servers that are not needed any more.
    looks: Arc<Once>,
    /// Set once none is started any more, because the bridge ends.
    is_closed: Arc<AtomicBool>,
}

/// A server that is used; it is not ended meanwhile.
pub(crate) struct Used {
    upstream: ServerLink,
    /// Keeps the place from being idle.
    _place: Arc<ServerSlot>,
}

impl std::ops::Deref for Used {
    type Target = ServerLink;

    fn deref(&self) -> &ServerLink {
        &self.upstream
    }
}

impl Servers {
    /// For the one client of this server, whose end is that of its client: no other one is started.
    pub(crate) fn one(upstream: ServerLink, settings: &BridgeSettings) -> Self {
        let start: ServerStart =
            Arc::new(|_| Box::pin(std::future::ready(Err(Error::UpstreamEnded))));
        let room = ServerRoom {
            all: 1,
            each: 1,
            idle: IDLE,
        };
        let place = ServerSlot::new(Some(upstream), Owner::Unknown, &settings.name);
        Self::new(
            start,
            room,
            HashMap::from([(ServerKey::One, place)]),
            settings,
        )
    }

    fn new(
        start: ServerStart,
        room: ServerRoom,
        open: OpenServers,
        settings: &BridgeSettings,
    ) -> Self {
        Self {
            start,
            room,
            name: settings.name.clone(),
            is_named: settings.client_info.is_none(),
            is_isolated: settings.is_isolated,
            is_among_others: settings.is_among_others,
            open: Arc::new(Mutex::new(open)),
            looks: Arc::new(Once::new()),
            is_closed: Arc::default(),
        }
    }

    /// For any number of clients, with no more servers at a time than there is room for.
    pub(crate) fn each(start: ServerStart, settings: &BridgeSettings) -> Self {
        Self::new(start, settings.room, OpenServers::new(), settings)
    }

    /// Looks for servers that are not needed any more, from the first one on.
    fn begin_to_look(&self) {
        self.looks.call_once(|| {
            let (open, idle) = (Arc::downgrade(&self.open), self.room.idle);
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(LOOK).await;
                    let Some(open) = open.upgrade() else { return };
                    retire(&mut lock(&open), idle);
                }
            });
        });
    }

    /// Returns the same servers, of which those that are not at work are started in another way.
    pub(crate) fn starting(&self, start: ServerStart) -> Self {
        Self {
            start,
            ..self.clone()
        }
    }

    /// Returns the server of a client, which is started if it is not at work.
    ///
    /// # Errors
    /// A server that cannot be started, or too many of them.
    pub(crate) async fn of(
        &self,
        caller: &Arc<Caller>,
        session: &Session,
    ) -> Result<Used, ErrorObject> {
        let owner = session.owner();
        let key = self.key(caller, session, &owner);
        let place = self.place(&key, owner)?;
        let started = place
            .upstream
            .get_or_try_init(|| (self.start)(Arc::clone(caller)));
        match started.await {
            Ok(upstream) => Ok(Used {
                upstream: upstream.clone(),
                _place: place,
            }),
            Err(error) => {
                warn!("{error}");
                measures::failed_start(&self.name, &error);
                Err(error.to_response())
            }
        }
    }

    fn key(&self, caller: &Caller, session: &Session, owner: &Owner) -> ServerKey {
        if self.room.all == 1 && self.open().contains_key(&ServerKey::One) {
            return ServerKey::One;
        }
        match caller.revision.lifecycle() {
            Lifecycle::Handshake => ServerKey::Session(session.clone()),
            // A request that came over no connection that is known has a server of its own.
            Lifecycle::PerRequest if self.is_isolated => match session.connection() {
                Some(connection) => ServerKey::Connection(connection),
                None => ServerKey::Session(session.clone()),
            },
            Lifecycle::PerRequest => {
                ServerKey::Alike(owner.clone(), identity::key(caller, self.is_named))
            }
        }
    }

    fn place(&self, key: &ServerKey, owner: Owner) -> Result<Arc<ServerSlot>, ErrorObject> {
        let mut open = self.open();
        if self.is_closed.load(Ordering::Acquire) {
            return Err(errors::internal("the bridge ends").error);
        }
        // The end of the server is the end of the bridge over standard streams, and of a session: neither gets another one.
        let is_bound =
            !self.is_among_others && matches!(key, ServerKey::One | ServerKey::Session(_));
        let stays = |place: &&Arc<ServerSlot>| is_bound || !place.has_ended();
        if let Some(place) = open.get(key).filter(stays) {
            *lock(&place.used) = Instant::now();
            return Ok(Arc::clone(place));
        }
        retire(&mut open, self.room.idle);
        let ServerRoom { all, each, .. } = self.room;
        let owned = open.values().filter(|place| place.owner == owner).count();
        let is_own = |place: &ServerSlot| place.owner == owner;
        let ends_sessions = !self.is_among_others;
        if owned >= each && !evict(&mut open, is_own, ends_sessions) {
            let full = format!(
                "{each} servers are at work for this client, its limit: end one of its sessions"
            );
            return Err(errors::internal(&full).error);
        }
        if open.len() >= all
            && !evict(&mut open, is_own, ends_sessions)
            && !evict(&mut open, |_| true, ends_sessions)
        {
            let full = format!("{all} servers are at work, the limit: try again later");
            return Err(errors::internal(&full).error);
        }
        let place = ServerSlot::new(None, owner, &self.name);
        open.insert(key.clone(), Arc::clone(&place));
        self.begin_to_look();
        Ok(place)
    }

    /// Returns whether a client waits for an answer of one of them.
    pub(crate) fn is_used(&self) -> bool {
        self.open()
            .values()
            .any(|place| Arc::strong_count(place) > 1)
    }

    /// Ends all of them, and waits until they have.
    pub(crate) async fn close(self) {
        let open = {
            let mut open = self.open();
            self.is_closed.store(true, Ordering::Release);
            std::mem::take(&mut *open)
        };
        let mut ending = tokio::task::JoinSet::new();
        for place in open.into_values() {
            if let Some(upstream) = place.upstream.get() {
                ending.spawn(upstream.clone().close());
            }
        }
        while ending.join_next().await.is_some() {}
    }

    fn open(&self) -> MutexGuard<'_, OpenServers> {
        lock(&self.open)
    }
}

/// Ends the servers of clients that are gone, and forgets those that have ended by themselves, or could not be started.
fn retire(open: &mut OpenServers, idle: Duration) {
    let shared = idle.min(IDLE);
    open.retain(|key, place| {
        let is_gone = match key {
            ServerKey::One => return true,
            ServerKey::Session(session) => session.is_over(),
            ServerKey::Alike(..) => place.is_idle() && place.used().elapsed() > shared,
            ServerKey::Connection(connection) => {
                place.is_idle() && (connection.is_closed() || place.used().elapsed() > idle)
            }
        };
        if is_gone {
            debug!("the server of a client that is gone is ended");
        } else if place.has_ended() {
            debug!("a server that has ended by itself is forgotten");
        } else {
            return !place.is_empty();
        }
        place.end();
        false
    });
}

/// Ends the server of these owners that was not used for longest, if one is not used at all: one that per-request clients
/// share, for which the next request starts another, else one of a session that sends nothing, which ends with it if it `ends_sessions`.
fn evict(
    open: &mut OpenServers,
    may_go: impl Fn(&ServerSlot) -> bool,
    ends_sessions: bool,
) -> bool {
    let is_shared = |key: &ServerKey, _: &Arc<ServerSlot>| {
        matches!(key, ServerKey::Alike(..) | ServerKey::Connection(_))
    };
    let is_silent = |key: &ServerKey, place: &Arc<ServerSlot>| {
        matches!(key, ServerKey::Session(_)) && place.used().elapsed() > SPARED
    };
    let least_used = |is_it: &dyn Fn(&ServerKey, &Arc<ServerSlot>) -> bool| {
        let unused = open.iter().filter(|(key, place)| {
            let is_listened_to = is_shared(key, place) && !place.is_idle();
            may_go(place) && Arc::strong_count(place) == 1 && !is_listened_to && is_it(key, place)
        });
        let least = unused.min_by_key(|(_, place)| place.used());
        least.map(|(key, _)| key.clone())
    };
    let Some(key) = least_used(&is_shared).or_else(|| least_used(&is_silent)) else {
        return false;
    };
    if let ServerKey::Session(session) = &key
        && ends_sessions
    {
        session.end();
    }
    if let Some(place) = open.remove(&key) {
        debug!("a server that no client uses is ended for another client");
        place.end();
    }
    true
}

/// Nothing that is done under a lock here leaves it half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
