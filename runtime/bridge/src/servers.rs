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
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use mcp_revisions::http::PeerConnection;
use mcp_revisions::sansio::client::ServerFacts;
use mcp_revisions::sansio::errors::Refusal;
use mcp_revisions::sansio::server::{Caller, Owner};
use mcp_revisions::serve::Session;
use mcp_revisions::service::lock;
use mcp_revisions_core::{Lifecycle, Revision};
use mcp_wire::ErrorObject;
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinHandle;
use tracing::{debug, warn};

use crate::Error;
use crate::identity;
use crate::link::ServerLink;
use crate::measures::{self, OpenServer};
use crate::settings::BridgeSettings;

/// Maximum time to keep a server that per-request clients share, while none of them sends a request.
const IDLE: Duration = Duration::from_secs(300);

/// For how long a session keeps its server that sends nothing, however many others are opened.
const SPARED: Duration = Duration::from_secs(60);

/// Maximum time for all servers of a bridge to end.
const LONGEST_END: Duration = Duration::from_secs(12);

/// Time between two searches for servers of clients that are gone.
const LOOK: Duration = Duration::from_secs(1);

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
    /// The server, or why it could not be started, for all that waited for it.
    started: OnceCell<Result<ServerLink, ErrorObject>>,
    owner: Owner,
    used: Mutex<Instant>,
    /// Time that it is kept while no client uses it.
    idle: Duration,
    /// Set if a session ends with its server.
    ends_session: bool,
    /// The end of the server that made room for this one, which starts after it.
    after: Mutex<Option<JoinHandle<()>>>,
    /// Keeps it in the number of servers.
    open: OpenServer,
}

impl ServerSlot {
    fn link(&self) -> Option<&ServerLink> {
        self.started.get()?.as_ref().ok()
    }

    fn used(&self) -> Instant {
        *lock(&self.used)
    }

    /// Returns whether no client waits for anything of it: a client that uses it holds it, too.
    fn is_idle(self: &Arc<Self>) -> bool {
        let listens = self.link().is_some_and(ServerLink::is_listened_to);
        Arc::strong_count(self) == 1 && !listens
    }

    fn has_ended(&self) -> bool {
        self.link().is_some_and(ServerLink::has_ended)
    }

    /// Returns whether its server was not started, and no client waits for that.
    fn is_empty(self: &Arc<Self>) -> bool {
        self.link().is_none() && self.is_idle()
    }

    /// Ends its server in a task; `None` if none was started.
    fn end(&self) -> Option<JoinHandle<()>> {
        let link = self.link()?;
        Some(tokio::spawn(link.clone().close()))
    }
}

type OpenServers = HashMap<(u64, ServerKey), Arc<ServerSlot>>;

/// The places of all servers of a listener, be they of one bridge or of several.
#[derive(Default)]
pub(crate) struct ServerPool {
    open: Arc<Mutex<OpenServers>>,
    /// The number of bridges that have places.
    bridges: AtomicU64,
    /// Starts the task that looks for servers that are not needed any more.
    looks: OnceLock<()>,
}

mcp_wire::debug_struct!([] ServerPool, "ServerPool", self, "open": lock(&self.open).len());

impl ServerPool {
    /// Looks for servers that are not needed any more, from the first one on.
    fn begin_to_look(&self) {
        self.looks.get_or_init(|| {
            let open = Arc::downgrade(&self.open);
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(LOOK).await;
                    let Some(open) = open.upgrade() else { return };
                    retire(&mut lock(&open));
                }
            });
        });
    }
}

/// The server of the one client over two streams, as far as it has been started.
type OnlyServer = watch::Sender<Option<Result<ServerLink, Error>>>;

/// The servers of a bridge that are at work; clones are the same ones.
#[derive(Clone)]
pub(crate) struct Servers(Arc<BridgeServers>);

struct BridgeServers {
    settings: Arc<BridgeSettings>,
    /// The revision in which clients are served; `None` if it is that of their server.
    app: Option<Revision>,
    /// The number of the bridge in its pool.
    number: u64,
    /// Set if the bridge has one client, and so one server.
    only: Option<OnlyServer>,
    /// The facts that servers gave of themselves, by the revision of the client that they were started for.
    known: Mutex<HashMap<Revision, ServerFacts>>,
    /// Set once none is started any more, because the bridge ends.
    is_closed: AtomicBool,
    /// Each connection to a server holds a receiver, until its server has ended.
    alive: watch::Sender<()>,
}

/// A server that is used; it is not ended meanwhile.
pub(crate) struct UsedServer {
    upstream: ServerLink,
    /// Keeps the place from being idle.
    _place: Arc<ServerSlot>,
}

impl std::ops::Deref for UsedServer {
    type Target = ServerLink;

    fn deref(&self) -> &ServerLink {
        &self.upstream
    }
}

impl Servers {
    /// For the one client of a bridge: its server is not followed by another one once it has ended.
    pub(crate) fn one(settings: &Arc<BridgeSettings>) -> Self {
        Self::new(settings, None, Some(watch::Sender::new(None)))
    }

    /// For any number of clients, with no more servers at a time than there is room for. Clients are served in the revision
    /// `app`; in that of their server if it is `None`.
    pub(crate) fn each(settings: &Arc<BridgeSettings>, app: Option<Revision>) -> Self {
        Self::new(settings, app, None)
    }

    fn new(
        settings: &Arc<BridgeSettings>,
        app: Option<Revision>,
        only: Option<OnlyServer>,
    ) -> Self {
        Self(Arc::new(BridgeServers {
            settings: Arc::clone(settings),
            app,
            number: settings.pool.bridges.fetch_add(1, Ordering::Relaxed),
            only,
            known: Mutex::default(),
            is_closed: AtomicBool::new(false),
            alive: watch::Sender::new(()),
        }))
    }

    pub(crate) fn settings(&self) -> &Arc<BridgeSettings> {
        &self.0.settings
    }

    /// Returns the server of a client, which is started if it is not at work. Fails for a server that cannot be started, or too
    /// many of them.
    pub(crate) async fn of(
        &self,
        caller: &Arc<Caller>,
        session: &Session,
    ) -> Result<UsedServer, Box<Refusal>> {
        let owner = session.owner();
        let key = self.key(caller, session, &owner);
        let place = self.place(key, owner)?;
        let starting = || async {
            let started = self.start(caller, &place).await;
            started.map_err(|error| self.failed(error, &place))
        };
        let upstream = place.started.get_or_init(starting).await.clone()?;
        Ok(UsedServer {
            upstream,
            _place: place,
        })
    }

    /// Returns the response to all that waited for a server that could not be started. The next request starts it again.
    fn failed(&self, error: Error, place: &ServerSlot) -> ErrorObject {
        let settings = &self.0.settings;
        lock(&settings.pool.open).retain(|_, one| !std::ptr::eq(&**one, place));
        warn!(server = settings.label(), "{error}");
        measures::failed_start(&settings.name, &error);
        let response = error.to_response();
        if let Some(only) = &self.0.only {
            only.send_replace(Some(Err(error)));
        }
        response
    }

    /// Starts a server on behalf of a client.
    async fn start(&self, caller: &Arc<Caller>, place: &ServerSlot) -> Result<ServerLink, Error> {
        let BridgeServers {
            settings,
            app,
            known,
            alive,
            ..
        } = &*self.0;
        let before = lock(&place.after).take();
        if let Some(before) = before {
            // However it ends.
            let _ = before.await;
        }
        let facts = lock(known).get(&caller.revision).cloned();
        let starting = ServerLink::start(settings, caller, *app, facts, alive.subscribe());
        let outcome = settings.clients.ending.unless_over(starting).await;
        let started = outcome.unwrap_or(Err(Error::Closed)).inspect_err(|_| {
            // The server may be another one now.
            lock(known).remove(&caller.revision);
        });
        let (link, facts) = started?;
        lock(known).insert(caller.revision, facts);
        if let Some(only) = &self.0.only {
            only.send_replace(Some(Ok(link.clone())));
        }
        Ok(link)
    }

    /// Waits until the server of the one client has ended by itself.
    pub(crate) async fn ended(&self) {
        let watched = self.0.only.as_ref().map(watch::Sender::subscribe);
        let link = match watched {
            Some(mut watched) => {
                let is_started = |it: &Option<Result<ServerLink, Error>>| matches!(it, Some(Ok(_)));
                let started = watched.wait_for(is_started).await;
                started
                    .ok()
                    .and_then(|it| it.as_ref()?.as_ref().ok().cloned())
            }
            None => None,
        };
        match link {
            Some(link) => link.ended().await,
            None => std::future::pending().await,
        }
    }

    /// Returns the last failure to start the server of the one client.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.0.only.as_ref()?.send_replace(None)?.err()
    }

    fn key(&self, caller: &Caller, session: &Session, owner: &Owner) -> ServerKey {
        if self.0.only.is_some() {
            return ServerKey::One;
        }
        match caller.revision.lifecycle() {
            Lifecycle::Handshake => ServerKey::Session(session.clone()),
            // A request that came over no connection that is known has a server of its own.
            Lifecycle::PerRequest if self.0.settings.is_isolated => match session.connection() {
                Some(connection) => ServerKey::Connection(connection),
                None => ServerKey::Session(session.clone()),
            },
            Lifecycle::PerRequest => {
                let is_named = self.0.settings.client_info.is_none();
                ServerKey::Alike(owner.clone(), identity::key(caller, is_named))
            }
        }
    }

    fn place(&self, key: ServerKey, owner: Owner) -> Result<Arc<ServerSlot>, Box<Refusal>> {
        let BridgeServers {
            settings, number, ..
        } = &*self.0;
        let mut open = lock(&settings.pool.open);
        if self.0.is_closed.load(Ordering::Acquire) {
            return Err(Error::Closed.to_response().into());
        }
        let outlives = settings.is_among_others;
        // The end of the server is the end of the bridge over standard streams, and of a session: neither gets another one.
        let is_bound = !outlives && matches!(key, ServerKey::One | ServerKey::Session(_));
        let key = (*number, key);
        let stays = |place: &&Arc<ServerSlot>| is_bound || !place.has_ended();
        if let Some(place) = open.get(&key).filter(stays) {
            *lock(&place.used) = Instant::now();
            return Ok(Arc::clone(place));
        }
        retire(&mut open);
        let (all, each, idle) = (
            settings.clients.servers,
            settings.clients.share(),
            settings.idle,
        );
        let owned = open.values().filter(|place| place.owner == owner).count();
        let is_own = |place: &ServerSlot| place.owner == owner;
        let mut after = None;
        if owned >= each {
            after = evict(&mut open, is_own);
            if after.is_none() {
                let full = format!(
                    "{each} servers are at work for this client, its limit: end one of its sessions"
                );
                return Err(busy(full));
            }
        }
        if open.len() >= all {
            after = evict(&mut open, is_own).or_else(|| evict(&mut open, |_| true));
            if after.is_none() {
                let full = format!("{all} servers are at work, the limit: try again later");
                return Err(busy(full));
            }
        }
        let place = Arc::new(ServerSlot {
            started: OnceCell::new(),
            owner,
            used: Mutex::new(Instant::now()),
            idle,
            ends_session: !outlives,
            after: Mutex::new(after.flatten()),
            open: OpenServer::new(&settings.name),
        });
        open.insert(key, Arc::clone(&place));
        settings.pool.begin_to_look();
        Ok(place)
    }

    /// Returns whether a client waits for an answer of one of them.
    pub(crate) fn is_used(&self) -> bool {
        let open = lock(&self.0.settings.pool.open);
        let mut own = open
            .iter()
            .filter(|((number, _), _)| *number == self.0.number);
        own.any(|(_, place)| Arc::strong_count(place) > 1)
    }

    /// Ends all of them, and waits until they have, and those that were to end before.
    pub(crate) async fn close(&self) {
        let own: Vec<Arc<ServerSlot>> = {
            let mut open = lock(&self.0.settings.pool.open);
            self.0.is_closed.store(true, Ordering::Release);
            let own = open.extract_if(|(number, _), _| *number == self.0.number);
            own.map(|(_, place)| place).collect()
        };
        for place in own {
            drop(place.end());
        }
        let ended = self.0.alive.closed();
        if tokio::time::timeout(LONGEST_END, ended).await.is_err() {
            let server = self.0.settings.server_name();
            warn!(server, "the server has not ended in {LONGEST_END:?}");
        }
    }
}

/// Returns the refusal of a request that finds all servers of the pool in use: status 503.
fn busy(why: String) -> Box<Refusal> {
    Refusal::new(ErrorObject::INTERNAL_ERROR, 503, why)
}

/// Ends the servers of clients that are gone, and forgets those that have ended by themselves, or could not be started.
fn retire(open: &mut OpenServers) {
    open.retain(|(_, key), place| {
        let shared = place.idle.min(IDLE);
        let is_gone = match key {
            ServerKey::One => return true,
            ServerKey::Session(session) => session.is_over(),
            ServerKey::Alike(..) => place.is_idle() && place.used().elapsed() > shared,
            ServerKey::Connection(connection) => {
                place.is_idle() && (connection.is_closed() || place.used().elapsed() > place.idle)
            }
        };
        let server = place.open.name();
        if is_gone {
            debug!(server, "the server of a client that is gone is ended");
        } else if place.has_ended() {
            debug!(server, "a server that has ended by itself is forgotten");
        } else {
            return !place.is_empty();
        }
        drop(place.end());
        false
    });
}

/// Ends the server of these owners that was not used for longest, if one is not used at all: one that per-request clients
/// share, for which the next request starts another, else one of a session that sends nothing, which ends with it unless it
/// outlives its server. Returns the task that ends the server, if there is one; `None` if all are used.
fn evict(
    open: &mut OpenServers,
    may_go: impl Fn(&ServerSlot) -> bool,
) -> Option<Option<JoinHandle<()>>> {
    let is_shared = |key: &ServerKey, _: &Arc<ServerSlot>| {
        matches!(key, ServerKey::Alike(..) | ServerKey::Connection(_))
    };
    let is_silent = |key: &ServerKey, place: &Arc<ServerSlot>| {
        matches!(key, ServerKey::Session(_)) && place.used().elapsed() > SPARED
    };
    let least_used = |is_it: &dyn Fn(&ServerKey, &Arc<ServerSlot>) -> bool| {
        let unused = open.iter().filter(|((_, key), place)| {
            let is_listened_to = is_shared(key, place) && !place.is_idle();
            may_go(place) && Arc::strong_count(place) == 1 && !is_listened_to && is_it(key, place)
        });
        let least = unused.min_by_key(|(_, place)| place.used());
        least.map(|(key, _)| key.clone())
    };
    let key = least_used(&is_shared).or_else(|| least_used(&is_silent))?;
    let place = open.remove(&key)?;
    if let (_, ServerKey::Session(session)) = &key
        && place.ends_session
    {
        session.end();
    }
    let server = place.open.name();
    debug!(
        server,
        "a server that no client uses is ended for another client"
    );
    Some(place.end())
}
