//! The bridge: what it connects, and how it is set up.

use std::sync::Arc;
use std::time::Duration;

use mcp_lock::ServerOffer;
use mcp_revisions::layer::{LayerMessage, Layers};
use mcp_revisions::sansio::server::TaskOptions;
use mcp_revisions::service::client::cache::Cache;
use mcp_revisions::{
    RevisionSet, http,
    service::{Boxed, boxed, until},
};
use mcp_revisions_core::Revision;
use mcp_wire::{ErrorObject, Json};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::ending::OneClient;
use crate::gateway::name_questions;
use crate::lock::{LockMode, OfferLock};
use crate::servers::{ServerPool, Servers};
use crate::settings::{BridgeSettings, StateKeys};
use crate::{ClientSettings, Error, Proxy, Service, ToolRules, Upstream};

/// Maximum number of bytes of results that are kept for clients to share.
const CACHE_BYTES: usize = 16 << 20;

/// A proxy to an upstream server, before it serves.
#[derive(Debug)]
#[must_use]
pub struct Bridge {
    pub(crate) settings: BridgeSettings,
    tools: Vec<Arc<ToolRules>>,
}

impl Bridge {
    /// Creates a bridge that accepts every revision, rejects no loss, and reports none.
    pub fn new(upstream: Upstream) -> Self {
        let settings = BridgeSettings {
            upstream,
            cache: Some(Cache::new(CACHE_BYTES)),
            list_ttl: None,
            name: None,
            sign_in_advice: None,
            clients: ClientSettings::new(),
            upstream_revisions: RevisionSet::all(),
            start_timeout: Duration::from_secs(60),
            layers: Layers::default(),
            lock: None,
            client_info: None,
            idle: Duration::from_secs(1_800),
            pool: Arc::default(),
            is_isolated: false,
            is_among_others: false,
            tasks: TaskOptions::new(),
            http: http::Options::new(),
            state_keys: StateKeys::default(),
        };
        Self {
            settings,
            tools: Vec::new(),
        }
    }

    /// Sets how clients are served.
    pub fn with_clients(mut self, clients: ClientSettings) -> Self {
        self.settings.clients = clients;
        self
    }

    /// Asks the upstream server for each list and resource, in place of keeping results that it lets clients share.
    pub fn without_cache(mut self) -> Self {
        self.settings.cache = None;
        self
    }

    /// Keeps lists of a server whose revision says no time for so long, at most 24 hours, and lets all clients share them: for a
    /// server that gives each client the same. A `list_changed` of the server ends them. Not kept by default.
    pub fn with_list_ttl(mut self, ttl: Duration) -> Self {
        self.settings.list_ttl = Some(ttl);
        self
    }

    /// Sets the name of the upstream server in metrics, as label `server`, and in errors. By default it has no label, and the
    /// [name](Upstream::name) of the upstream in errors.
    pub fn with_name(mut self, name: &str) -> Self {
        self.settings.name = Some(name.into());
        self
    }

    /// Adds a sentence to the errors of requests that need a sign-in, such as the command that signs in.
    pub fn with_sign_in_advice(mut self, advice: &str) -> Self {
        self.settings.sign_in_advice = Some(advice.into());
        self
    }

    /// Sets the revision to speak with the upstream server. By default it is that of each client, if the server has it, else
    /// the [nearest](mcp_revisions::sansio::client::lifecycle::order).
    pub fn with_upstream_revision(mut self, revision: Revision) -> Self {
        self.settings.upstream_revisions = RevisionSet::none().with(revision);
        self
    }

    /// Sets how long the upstream server may take, from its start, until it has said which revision it speaks; 60 seconds by
    /// default. Until then requests of its client wait, and after it they get an error with the reason.
    pub fn with_start_timeout(mut self, timeout: Duration) -> Self {
        self.settings.start_timeout = timeout;
        self
    }

    /// Adds a layer around the messages between clients and the upstream server, in both directions, within those that were
    /// added before: it sees each, may change it, answer it, or refuse it in place of passing it on with
    /// [`LayerMessage::forward`]. None by default; see [`mcp_revisions::layer`].
    ///
    /// Messages are of the revision that is spoken with the upstream server. The [rate limit](crate::ClientSettings::with_rate_limit) is the
    /// outermost layer, and the [rules of tools](Self::with_tool_rules) are the innermost ones.
    ///
    /// ```
    /// # use mcp_bridge::{Bridge, Upstream};
    /// # use mcp_revisions::mcp_wire::ErrorObject;
    /// # fn bridge(upstream: Upstream) -> Bridge {
    /// Bridge::new(upstream).with_layer(|message| async move {
    ///     if message.method() == "resources/read" {
    ///         return Err(ErrorObject::new(-32000, "resources are closed today"));
    ///     }
    ///     let (method, began) = (message.method().to_owned(), std::time::Instant::now());
    ///     let result = message.forward().await;
    ///     eprintln!("{method}: {:?}", began.elapsed());
    ///     result
    /// })
    /// # }
    /// ```
    pub fn with_layer<F, A>(mut self, layer: F) -> Self
    where
        F: Fn(LayerMessage) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        self.settings.layers.add(layer);
        self
    }

    /// Adds rules of the tools that clients see and of their names, within those that were added before.
    pub fn with_tool_rules(mut self, rules: ToolRules) -> Self {
        self.tools.push(Arc::new(rules));
        self
    }

    /// Compares what the upstream server offers with what people reviewed, within all layers: what differs is logged, left out
    /// or refused. By default clients get all that it offers.
    pub fn with_lock(mut self, offer: ServerOffer, mode: LockMode) -> Self {
        self.settings.lock = Some(Arc::new(OfferLock::new(offer, mode)));
        self
    }

    /// Sets the `clientInfo` that the upstream server is sent in place of that of each client, so that clients of one owner
    /// whose capabilities are the same share a connection.
    pub fn with_client_info(mut self, info: Json) -> Self {
        self.settings.client_info = Some(info);
        self
    }

    /// Gives each HTTP connection of a 2026-07-28 client an upstream connection, or process, of its own. By default, clients of
    /// one owner that send the same `clientInfo` and capabilities share one.
    ///
    /// It ends with the client's connection. A client that opens several connections has several upstream processes: the
    /// state of one, such as a `requestState` or a task, is not known to the others. In another server than
    /// [`Service::serve`], insert a [`PeerConnection`](http::PeerConnection) into the extensions of requests; a request
    /// without one has an upstream process to itself.
    pub fn with_isolation(mut self) -> Self {
        self.settings.is_isolated = true;
        self
    }

    /// Sets after how long without a message a session over HTTP ends, with its connection; 30 minutes by default.
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.settings.idle = timeout;
        self
    }

    /// Sets where and how long tasks are kept that the bridge makes of tasks of the upstream server, for clients whose tasks
    /// have another form [default: [`TaskOptions::new`]]. Tools that the options name mean nothing.
    pub fn with_task_options(mut self, tasks: TaskOptions) -> Self {
        self.settings.tasks = tasks;
        self
    }

    /// Sets how the service behaves over HTTP: which hosts and origins it accepts, and its limits. Its idle time is that of
    /// [`with_idle_timeout`](Self::with_idle_timeout).
    pub fn with_http_options(mut self, options: http::Options) -> Self {
        self.settings.http = options;
        self
    }

    /// Adds a key that signs `requestState`, in the place of a random one that ends with the process. Bridges that share a
    /// [backplane](http::Options::with_backplane) need the same key: a retry of a 2026-07-28 client then finds the bridge that
    /// asked. The first key signs, and all verify.
    pub fn with_request_state_key(mut self, key: [u8; 32]) -> Self {
        self.settings.state_keys.0.push(key);
        self
    }

    /// Returns whether the upstream server can never be used.
    pub(crate) fn is_unusable(&self) -> bool {
        self.settings.upstream.is_unusable
    }

    /// Shares the places of servers with the other bridges of a listener.
    pub(crate) fn within(mut self, pool: &Arc<ServerPool>) -> Self {
        self.settings.pool = Arc::clone(pool);
        self
    }

    /// Serves clients of a gateway: the end of the server is not the end of their sessions, and its questions say who asks.
    pub(crate) fn among_others(mut self, name: &str) -> Self {
        self.settings.is_among_others = true;
        let server: Arc<str> = name.into();
        self.with_layer(move |message| {
            let server = Arc::clone(&server);
            async move { name_questions(&server, message).await }
        })
    }

    /// Makes a tower service, for axum, hyper, or [`Service::serve`].
    ///
    /// The upstream server is started, or reached, as clients name themselves: once for each session, and once for all clients
    /// of 2026-07-28 that say the same of themselves. A server that cannot be used is an error in the response, and the next
    /// request tries again.
    #[must_use]
    pub fn into_service(self) -> Service {
        let settings = self.finished();
        let servers = Servers::each(&settings, None);
        let (proxy, options) = (Proxy::new(servers.clone()), settings.http.clone());
        let service = http::Service::with_options(settings.server(), proxy, options);
        Service::new(service, &settings.clients.ending, move || {
            let servers = servers.clone();
            async move { servers.close().await }
        })
    }

    /// Makes a handler that passes calls in the revision `app` on to the upstream server, whichever revision that speaks,
    /// for a server of your own.
    #[must_use]
    pub fn into_proxy(self, app: Revision) -> Proxy {
        Proxy::new(Servers::each(&self.finished(), Some(app)))
    }

    /// Serves one client over two streams of bytes, such as standard input and output, until it hangs up, the upstream
    /// server ends, or `stop` is ready. From then on what is open has 5 seconds to finish, and gets an error after that.
    /// Dropping the future ends the server at once: open calls get no response.
    ///
    /// The upstream server is started once the client has sent `initialize`, or another request that only the server can
    /// answer. If it cannot be used, that request is answered with the error, and the next one starts it again. A client that
    /// hangs up before the server has started is waited for no longer than 5 seconds.
    ///
    /// # Errors
    /// Returns an error if the upstream server could not be used until the client left, or ends by itself, or if the client's streams fail, as when it
    /// reads nothing for 60 seconds.
    pub async fn serve_stdio(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let client: OneClient = (Box::new(input), Box::new(output));
        until(stop, |stopped| self.serve_client(client, stopped)).await
    }

    #[inline(never)]
    fn serve_client(
        self,
        client: OneClient,
        stop: Boxed<'static, ()>,
    ) -> Boxed<'static, Result<(), Error>> {
        boxed(async move {
            let settings = self.finished();
            let servers = Servers::one(&settings);
            let ended = async {
                tokio::select! {
                    () = servers.ended() => Err(Error::UpstreamEnded),
                    () = stop => Ok(()),
                }
            };
            let proxy = Proxy::new(servers.clone());
            let ending = &settings.clients.ending;
            let served = (ending.serve_one(settings.server(), proxy, client, ended)).await;
            servers.close().await;
            match servers.failure() {
                Some(Error::Closed) | None => served,
                Some(error) => Err(error),
            }
        })
    }

    fn finished(self) -> Arc<BridgeSettings> {
        let mut settings = self.settings;
        let mut layers = settings.clients.layers();
        layers.append(&settings.layers);
        for rules in self.tools {
            layers.add(move |message| Arc::clone(&rules).apply(message));
        }
        if let (Some(lock), name) = (settings.lock.clone(), settings.name.clone()) {
            layers.add(move |message| Arc::clone(&lock).apply(message, name.clone()));
        }
        settings.layers = layers;
        settings.http = settings.http.with_idle_timeout(settings.idle);
        Arc::new(settings)
    }
}
