//! Several servers as one: their lists are merged, and tools and prompts have the name of their server before their own.

mod items;
mod links;
mod lists;
mod names;
mod questions;
mod room;
mod routes;
mod serving;
mod shortened;
mod streams;
mod uris;

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use mcp_revisions::sansio::server::{
    CustomNotification, CustomRequest, IncomingRequest, LogLevel, Notification,
};
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::{RevisionSet, boxed, errors, methods};
use mcp_revisions_core::{Revision, UnknownFields};
use mcp_wire::{ErrorObject, Json};
use tokio::sync::{Semaphore, watch};

use crate::MessageLosses;
use crate::ending::BridgeEnding;
use crate::losses::Losses;
use crate::servers::ServerPool;
use crate::{Bridge, Error, Proxy, RateLimit};
use mcp_revisions::sansio::LossHook;
use mcp_revisions_core::Severity;
pub(crate) use questions::name_questions;
use shortened::ShortenedNames;
use uris::Uris;

/// Maximum number of lists that come too late for their client and are still awaited.
const LATE_LISTS: usize = 64;

/// Several servers under one address, as one server; clones are the same gateway.
///
/// A tool or prompt `search` of the server `notes` is `notes_search`. Names have at most 64 bytes: the end of a longer one is
/// replaced by a digest. URIs stay as they are, unless two servers have the same: the one that names it first keeps it, and that
/// of the other is `notes+URI`. A server that cannot be used hides no other one: lists go without its part, and name it in
/// `_meta`.
///
/// ```no_run
/// use std::time::Duration;
///
/// use mcp_bridge::{Bridge, Gateway, Upstream};
/// use mcp_revisions::http;
/// use mcp_revisions::service::client::Http;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let gateway = Gateway::builder().build();
/// gateway.insert("weather", Bridge::new(Upstream::url(Http::new("http://127.0.0.1:8001/mcp")?)))?;
/// gateway.insert("notes", Bridge::new(Upstream::command("notes-server", ["--stdio"])))?;
/// let listener = http::bind(("127.0.0.1", 8000)).await?;
/// gateway.serve(listener, http::Options::new(), std::future::pending(), Duration::ZERO).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Gateway(Arc<SharedGateway>);

/// A gateway that is set up.
#[derive(Debug)]
pub struct GatewayBuilder {
    info: Json,
    client_revisions: RevisionSet,
    policy: UnknownFields,
    losses: Losses,
    list_time: Duration,
    rate_limit: Option<RateLimit>,
    max_sessions: usize,
    sessions_per_owner: Option<usize>,
    ending: BridgeEnding,
}

#[derive(Debug)]
struct SharedGateway {
    settings: GatewayBuilder,
    members: RwLock<Vec<Arc<GatewayMember>>>,
    uris: Uris,
    shortened: Mutex<ShortenedNames>,
    /// Number of changes of the servers.
    changes: watch::Sender<u64>,
    late: Arc<Semaphore>,
    /// The places of the servers of all members.
    pool: Arc<ServerPool>,
}

/// A server of a gateway.
#[derive(Debug)]
struct GatewayMember {
    name: String,
    prefix: Arc<str>,
    /// Set if it never has anything.
    is_unusable: bool,
    proxy: Proxy,
}

impl GatewayBuilder {
    /// Sets the name and version of the gateway, as `Implementation` of 2026-07-28 [default: `mcp-bridge`].
    #[must_use]
    pub fn with_info(mut self, info: Json) -> Self {
        self.info = info;
        self
    }

    /// Sets which revisions clients may speak [default: all].
    #[must_use]
    pub fn with_client_revisions(mut self, revisions: RevisionSet) -> Self {
        self.client_revisions = revisions;
        self
    }

    /// Sets whether fields that the older revision does not define are dropped or preserved [default: dropped].
    #[must_use]
    pub fn with_unknown_fields(mut self, policy: UnknownFields) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the hook that is called with what messages of clients, and those to them, lost; those of servers are reported by
    /// their [`Bridge`].
    #[must_use]
    pub fn on_loss(mut self, hook: impl Fn(&MessageLosses<'_>) + Send + Sync + 'static) -> Self {
        self.losses.hook = LossHook::new(hook);
        self
    }

    /// Sends an error in place of each message that has a loss of this severity or worse; none by default.
    #[must_use]
    pub fn with_rejected_loss(mut self, severity: Severity) -> Self {
        self.losses.rejected = Some(severity);
        self
    }

    /// Sets how long a list waits for a server [default: 20 seconds]. The part of a server that is later is left out, and the
    /// client is notified that the list has changed once the server has answered.
    #[must_use]
    pub fn with_list_timeout(mut self, time: Duration) -> Self {
        self.list_time = time;
        self
    }

    /// Limits the requests of each client; others get an error with the time to wait. No limit by default.
    ///
    /// The limit of a [`Bridge`](Bridge::with_rate_limit) counts what the gateway sends to its server: each page of each list.
    #[must_use]
    pub fn with_rate_limit(mut self, limit: RateLimit) -> Self {
        self.rate_limit = Some(limit);
        self
    }

    /// Sets how many sessions over HTTP are open at a time, each of which may have a connection to every server
    /// [default: 1000].
    #[must_use]
    pub fn with_max_sessions(mut self, number: usize) -> Self {
        self.max_sessions = number.max(1);
        self
    }

    /// Sets how many of them one owner may have, which is a principal or an address [default: a tenth of all, at least 10].
    #[must_use]
    pub fn with_max_sessions_per_client(mut self, number: usize) -> Self {
        self.sessions_per_owner = Some(number.max(1));
        self
    }

    /// Sets what ends the grace of open calls early, such as a second signal: they get an error at once. It is awaited once the
    /// gateway is to end.
    #[must_use]
    pub fn with_early_end(mut self, early: impl Future<Output = ()> + Send + 'static) -> Self {
        self.ending = BridgeEnding::early(boxed(early));
        self
    }

    /// Creates the gateway, without servers.
    #[must_use]
    pub fn build(self) -> Gateway {
        Gateway(Arc::new(SharedGateway {
            settings: self,
            members: RwLock::default(),
            uris: Uris::default(),
            shortened: Mutex::default(),
            changes: watch::Sender::default(),
            late: Arc::new(Semaphore::new(LATE_LISTS)),
            pool: Arc::default(),
        }))
    }
}

impl Gateway {
    /// Creates a builder with defaults.
    #[must_use]
    pub fn builder() -> GatewayBuilder {
        GatewayBuilder {
            info: crate::identity::bridge(),
            client_revisions: RevisionSet::all(),
            policy: UnknownFields::Drop,
            losses: Losses::default(),
            list_time: Duration::from_secs(20),
            rate_limit: None,
            max_sessions: 1_000,
            sessions_per_owner: None,
            ending: BridgeEnding::default(),
        }
    }

    /// Returns what stands before the names of the tools of a server, and in its path in a [`ServerDirectory`](crate::ServerDirectory): its
    /// name, if that has at most 32 letters, digits, `-` and `_`; else what is left of it, with a digest at its end.
    #[must_use]
    pub fn prefix(name: &str) -> String {
        names::prefix(name)
    }

    /// Adds a server under a name, and tells clients that the lists have changed. The names of its tools begin with
    /// the [`prefix`](Self::prefix). Of the settings of the bridge, those about its clients mean nothing.
    ///
    /// # Errors
    /// Returns an error if another server has the same prefix.
    ///
    /// # Panics
    /// Panics outside of a runtime of tokio.
    pub fn insert(&self, name: &str, bridge: Bridge) -> Result<(), Error> {
        let prefix = distinct(
            name,
            self.members()
                .iter()
                .map(|it| (it.name.as_str(), &*it.prefix)),
        )?;
        let member = Arc::new(GatewayMember {
            name: name.to_owned(),
            prefix: prefix.into(),
            is_unusable: bridge.is_unusable(),
            proxy: (bridge.within(&self.0.pool).among_others(name)).into_proxy(Revision::LATEST),
        });
        self.0.uris.admit(&member.prefix);
        self.change(|members| members.push(member));
        Ok(())
    }

    /// Removes a server, and tells clients that the lists have changed. The future is ready once no client uses the server, or
    /// after `grace`, and its connections have ended.
    pub fn remove(&self, name: &str, grace: Duration) -> impl Future<Output = ()> + Send + use<> {
        let mut removed = None;
        self.change(|members| {
            let at = members.iter().position(|member| member.name == name);
            removed = at.map(|at| members.remove(at));
        });
        if let Some(member) = &removed {
            self.0.uris.forget(&member.prefix);
            lock(&self.0.shortened).forget(&member.prefix);
        }
        async move {
            if let Some(member) = removed {
                member.proxy.retire(grace).await;
            }
        }
    }

    /// Ends the connections to all servers, and waits until they have ended.
    pub async fn shutdown(&self) {
        let mut ending = tokio::task::JoinSet::new();
        for member in self.members() {
            ending.spawn(async move { member.proxy.close().await });
        }
        while ending.join_next().await.is_some() {}
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<GatewayMember>>)) {
        change(
            &mut self
                .0
                .members
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        );
        self.0.changes.send_modify(|count| *count += 1);
    }

    /// Returns the servers in the order in which they were added, which is that of their entries in lists.
    fn members(&self) -> Vec<Arc<GatewayMember>> {
        self.0
            .members
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Returns the prefix of a server that is to stand beside others, each with its name and prefix.
///
/// # Errors
/// Returns an error if another server has the same prefix.
pub(crate) fn distinct<'o>(
    name: &str,
    others: impl IntoIterator<Item = (&'o str, &'o str)>,
) -> Result<String, Error> {
    let prefix = names::prefix(name);
    match others.into_iter().find(|(_, taken)| *taken == prefix) {
        None => Ok(prefix),
        Some((other, _)) => Err(Error::Name {
            name: name.to_owned(),
            why: format!("`{other}` is written `{prefix}` as well: give one of them another name"),
        }),
    }
}

impl Gateway {
    /// Counts a request of a client.
    ///
    /// # Errors
    /// Returns the error for a client that has sent too many.
    fn admit(&self, peer: &Peer) -> Result<(), ErrorObject> {
        match &self.0.settings.rate_limit {
            Some(limit) => limit.admit(&peer.session().owner()),
            None => Ok(()),
        }
    }

    async fn answer(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        match call.method {
            methods::TOOLS_LIST
            | methods::PROMPTS_LIST
            | methods::RESOURCES_LIST
            | methods::RESOURCES_TEMPLATES_LIST => self.list(call, peer).await,
            methods::TOOLS_CALL => self.call_by_name(methods::TOOLS_LIST, call, peer).await,
            methods::PROMPTS_GET => self.call_by_name(methods::PROMPTS_LIST, call, peer).await,
            methods::RESOURCES_READ => self.read(call, peer).await,
            methods::COMPLETION_COMPLETE => self.complete(call, peer).await,
            methods::SUBSCRIPTIONS_LISTEN => self.listen(call, peer).await,
            method => Err(errors::method_not_found(method, call.peer.lifecycle()).error),
        }
    }

    /// Passes a request on that no revision has, if there is one server only.
    async fn answer_custom(&self, call: CustomRequest, peer: Peer) -> Result<Json, ErrorObject> {
        match self.members().as_slice() {
            [only] => only.proxy.custom_request(call, peer).await,
            _ => Err(errors::method_not_found(&call.method, call.peer.lifecycle()).error),
        }
    }
}

impl Handler for Gateway {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        self.admit(&peer)?;
        let answer = self.answer(call, peer);
        self.0.settings.ending.unless_over(answer).await?
    }

    async fn custom_request(&self, call: CustomRequest, peer: Peer) -> Result<Json, ErrorObject> {
        self.admit(&peer)?;
        let answer = self.answer_custom(call, peer);
        self.0.settings.ending.unless_over(answer).await?
    }

    fn custom_notification(&self, notice: CustomNotification, session: Session) {
        for member in self.members() {
            member
                .proxy
                .custom_notification(notice.clone(), session.clone());
        }
    }

    fn notice(&self, notice: Notification, session: Session) {
        for member in self.members() {
            member.proxy.notice(notice.clone(), session.clone());
        }
    }

    fn on_log_level(&self, level: LogLevel, session: Session) {
        for member in self.members() {
            member.proxy.on_log_level(level, session.clone());
        }
    }

    fn on_initialized(&self, session: Session) {
        for member in self.members() {
            member.proxy.on_initialized(session.clone());
        }
    }
}

/// Nothing that is done under a lock here leaves it half done.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
