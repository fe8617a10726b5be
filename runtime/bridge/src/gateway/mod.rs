//! Several servers as one: their lists are merged, and tools and prompts have the name of their server before their own.

mod items;
mod links;
mod lists;
mod names;
mod questions;
mod routes;
mod serving;
mod streams;
mod uris;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::layer::Layers;
use mcp_revisions::sansio::server::{
    CustomNotification, CustomRequest, IncomingRequest, LogLevel, Notification,
};
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::{core::methods, sansio::errors, service::lock};
use mcp_revisions_core::Revision;
use mcp_wire::{ErrorObject, Json};
use tokio::sync::{Semaphore, watch};

use crate::servers::ServerPool;
use crate::{Bridge, ClientSettings, Error, Proxy};
pub(crate) use questions::name_questions;
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
/// gateway.service(http::Options::new())?.serve(listener, std::future::pending(), Duration::ZERO).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Gateway(Arc<SharedGateway>);

/// A gateway that is set up.
#[derive(Debug)]
#[must_use]
pub struct GatewayBuilder {
    info: Json,
    clients: ClientSettings,
    list_time: Duration,
}

#[derive(Debug)]
struct SharedGateway {
    settings: GatewayBuilder,
    /// The layers around requests of clients.
    layers: Layers,
    members: Mutex<Vec<Arc<GatewayMember>>>,
    uris: Uris,
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
    pub fn with_info(mut self, info: Json) -> Self {
        self.info = info;
        self
    }

    /// Sets how clients are served. Of the settings of the bridges of a gateway, those about clients mean nothing.
    pub fn with_clients(mut self, clients: ClientSettings) -> Self {
        self.clients = clients;
        self
    }

    /// Sets how long a list waits for a server [default: 20 seconds]. The part of a server that is later is left out, and the
    /// client is notified that the list has changed once the server has answered.
    pub fn with_list_timeout(mut self, time: Duration) -> Self {
        self.list_time = time;
        self
    }

    /// Creates the gateway, without servers.
    #[must_use]
    pub fn build(self) -> Gateway {
        let mut layers = self.clients.layers();
        self.clients.ending.add_layer(&mut layers);
        Gateway(Arc::new(SharedGateway {
            settings: self,
            layers,
            members: Mutex::default(),
            uris: Uris::default(),
            changes: watch::Sender::default(),
            late: Arc::new(Semaphore::new(LATE_LISTS)),
            pool: Arc::default(),
        }))
    }
}

impl Gateway {
    /// Creates a builder with defaults.
    pub fn builder() -> GatewayBuilder {
        GatewayBuilder {
            info: crate::identity::bridge(),
            clients: ClientSettings::new(),
            list_time: Duration::from_secs(20),
        }
    }

    /// Returns the prefix of a server's tools, which is also its path in a [`ServerDirectory`](crate::ServerDirectory): its
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
        }
        async move {
            if let Some(member) = removed {
                member.proxy.retire(grace).await;
            }
        }
    }

    /// Ends the connections to all servers, and waits until they have ended.
    /// Await it to its end: dropping the future may leave servers at work.
    pub async fn shutdown(&self) {
        let mut ending = tokio::task::JoinSet::new();
        for member in self.members() {
            ending.spawn(async move { member.proxy.close().await });
        }
        while ending.join_next().await.is_some() {}
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<GatewayMember>>)) {
        change(&mut lock(&self.0.members));
        self.0.changes.send_modify(|count| *count += 1);
    }

    /// Returns the servers in the order in which they were added, which is that of their entries in lists.
    fn members(&self) -> Vec<Arc<GatewayMember>> {
        lock(&self.0.members).clone()
    }
}

/// Returns the prefix of a server that is to stand beside others, each with its name and prefix. Returns an error if another
/// server has the same prefix.
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
            method => Err(errors::method_not_found(method, call.revision.lifecycle()).error),
        }
    }

    /// Passes a request on that no revision has, if there is one server only.
    async fn answer_custom(&self, call: CustomRequest, peer: Peer) -> Result<Json, ErrorObject> {
        match self.members().as_slice() {
            [only] => only.proxy.custom_request(call, peer).await,
            _ => Err(errors::method_not_found(&call.method, call.revision.lifecycle()).error),
        }
    }
}

impl Handler for Gateway {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        let (gateway, client) = (self.clone(), peer.clone());
        let answer = self.0.layers.request(call, peer, move |call, _| {
            let (gateway, client) = (gateway.clone(), client.clone());
            async move { gateway.answer(call, client).await }
        });
        answer.await
    }

    async fn custom_request(&self, call: CustomRequest, peer: Peer) -> Result<Json, ErrorObject> {
        let (gateway, client) = (self.clone(), peer.clone());
        let answer = self.0.layers.request(call, peer, move |call, _| {
            let (gateway, client) = (gateway.clone(), client.clone());
            async move { gateway.answer_custom(call, client).await }
        });
        answer.await
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
