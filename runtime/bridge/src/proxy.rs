//! The handler that passes what clients ask on to the upstream server, and its answers back.

use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::core::{headers, methods};
use mcp_revisions::layer::{Layers, MessageOutcome};
use mcp_revisions::sansio::client::{Answer, Failure, OutgoingRequest};
use mcp_revisions::sansio::errors::{self, Refusal};
use mcp_revisions::sansio::server::{
    AppProfile, Caller, CustomNotification, CustomRequest, IncomingRequest, LogLevel, Notification,
};
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::service::Error;
use mcp_revisions_core::Lifecycle;
use mcp_wire::{ErrorObject, Json, JsonObject, meta, printable};
use tracing::warn;

use crate::identity::{self, anyone};
use crate::layers;
use crate::link::{BridgedRequest, Rewrite};
use crate::servers::{Servers, UsedServer};
use crate::settings::BridgeSettings;

/// Arguments of tools that headers repeat.
const PARAM: &str = "mcp-param-";
/// Time between two looks at the state of a call.
const LOOK: Duration = Duration::from_millis(50);
/// Maximum number of characters quoted of an error of a server.
const EXCERPT: usize = 200;
/// Number of characters of a tool's name that tell it from others.
const NAME: usize = 256;

/// A handler that passes calls, notifications and questions on between clients and an upstream server. It holds the connections to
/// the server, and the layers around the requests of clients.
///
/// [`Bridge::into_proxy`](crate::Bridge::into_proxy) makes one for a server of your own: give it the calls that are for the
/// upstream server, from [`Handler::call`], and the sessions of [`Handler::on_initialized`]. Each client has a connection as with
/// the bridge itself.
#[derive(Clone)]
pub struct Proxy {
    servers: Servers,
    settings: Arc<BridgeSettings>,
    /// The layers around requests of clients.
    layers: Layers,
}

mcp_wire::debug_struct!([] Proxy, "Proxy", self, "upstream": self.settings.upstream);

impl Proxy {
    /// Creates the handler of the calls to these servers.
    pub(crate) fn new(servers: Servers) -> Self {
        Self {
            settings: Arc::clone(servers.settings()),
            layers: layers::around_requests(servers.settings()),
            servers,
        }
    }

    /// Ends the connections to the server, and waits until they have ended.
    pub(crate) async fn close(&self) {
        self.servers.close().await;
    }

    /// Waits until no call is open, at most for `grace`, and ends the connections to the server. Open calls get an error.
    pub(crate) async fn retire(&self, grace: Duration) {
        let unused = async {
            while self.servers.is_used() {
                tokio::time::sleep(LOOK).await;
            }
        };
        if tokio::time::timeout(grace, unused).await.is_err() {
            self.settings
                .clients
                .ending
                .give_up_after(Duration::ZERO)
                .await;
        }
        self.close().await;
    }

    /// Passes a call through the layers, to the server of its client; in a gateway its notifications become what `rewrite` makes
    /// of them.
    pub(crate) async fn call_as_part(
        &self,
        call: IncomingRequest,
        peer: Peer,
        rewrite: Option<Rewrite>,
    ) -> Result<Json, ErrorObject> {
        let (proxy, layered) = (self.clone(), self.settings.layers.around_peer(peer.clone()));
        let answer = self.layers.request(call, peer, move |call, outcome| {
            let (ask, asked) = proxy.outgoing(call, layered.clone(), rewrite.clone());
            proxy.clone().send(ask, asked, outcome)
        });
        answer.await
    }

    /// Sends a request to the server of its client, and returns the result for the client.
    async fn send(
        self,
        ask: OutgoingRequest,
        asked: BridgedRequest,
        outcome: MessageOutcome,
    ) -> Result<Json, ErrorObject> {
        let caller = identity::introduced(Arc::clone(&asked.caller));
        let found = self.servers.of(&caller, &asked.peer.session()).await;
        let server = found.map_err(|refused| refused.error)?;
        outcome.set_revision(server.spoken());
        if let Some(lock) = &self.settings.lock {
            let label = self.settings.label();
            let params = ask.params.clone().unwrap_or_default();
            lock.compare_first(&server, &asked, &params, label).await?;
        }
        match server.ask(ask, asked).await?.answer {
            Answer::Result(result) => Ok(result),
            Answer::Error(error) => Err(error),
            Answer::Failed(failure) => {
                let rejected = match &failure {
                    Failure::Rejected(error) => Some(error.clone()),
                    _ => None,
                };
                let failed = outcome.fail(Error::RequestFailed(failure));
                Err(rejected.unwrap_or(failed))
            }
            Answer::InputRequired(_) => {
                Err(errors::internal("the server requests input that no client can give").error)
            }
        }
    }

    /// Returns the request for the server that a call becomes.
    fn outgoing(
        &self,
        call: IncomingRequest,
        peer: Peer,
        rewrite: Option<Rewrite>,
    ) -> (OutgoingRequest, BridgedRequest) {
        let IncomingRequest {
            method,
            params,
            revision,
            caller,
            log_level,
            progress_token,
            takes_task,
            ..
        } = call;
        let kind = kind(method, &params);
        let mut ask = request(method, params, progress_token.as_ref());
        let app = peer.app();
        let lifecycles = (revision.lifecycle(), app.lifecycle());
        // A client that leaves the level to the server hears what such servers send unasked.
        let is_left_to_server = lifecycles == (Lifecycle::Handshake, Lifecycle::PerRequest);
        let level = log_level.or(is_left_to_server.then_some(LogLevel::DEFAULT));
        if let Some(level) = level {
            ask = ask.with_log_level(level.as_str());
        }
        // A client of the server's revision answers questions under the keys that the server gives them, and has its tasks.
        if revision.same_types(app) {
            ask = ask.with_questions_in_result();
        }
        // A gateway has no tasks: nothing in the id of one says which server has it.
        if self.settings.is_among_others {
        } else if revision.same_types(app) {
            ask = ask.with_task_in_result();
        } else if takes_task || identity::takes_tasks(&caller) {
            ask = ask.with_task_preferred();
        }
        for (name, value) in repeated(&peer) {
            ask = ask.with_param_header(&name, value);
        }
        let mut asked = BridgedRequest::new(method, caller, peer);
        asked.progress_token = progress_token;
        asked.wants_logs = log_level.is_some();
        asked.kind = kind;
        asked.rewrite = rewrite;
        (ask, asked)
    }

    /// Passes a notification on.
    fn pass_on(&self, method: String, params: Json, session: &Session) {
        let params = (params.text() != "{}").then_some(params);
        self.with_server(session, move |server| async move {
            server.notify(&method, params).await;
        });
    }

    /// Calls a function with the server of a client, in a task.
    fn with_server<F, A>(&self, session: &Session, act: F)
    where
        F: FnOnce(UsedServer) -> A + Send + 'static,
        A: Future<Output = ()> + Send,
    {
        let (servers, session) = (self.servers.clone(), session.clone());
        // The session is locked while this is called: its caller is read in the task.
        tokio::spawn(async move {
            // Clients that do not introduce themselves share a server.
            let caller = session.caller().unwrap_or_else(|| Arc::new(anyone()));
            let caller = identity::introduced(caller);
            if let Ok(server) = servers.of(&caller, &session).await {
                act(server).await;
            }
        });
    }
}

impl Handler for Proxy {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        // No client waits for the end of a stream that the bridge listens to for a session.
        let is_stream_of_bridge = call.method == methods::SUBSCRIPTIONS_LISTEN
            && call.revision.lifecycle() == Lifecycle::Handshake;
        let answer = self.call_as_part(call, peer, None).await;
        if is_stream_of_bridge {
            let why = answer.as_ref().err().map_or(String::new(), reason);
            warn!(
                server = self.settings.label(),
                "the server's stream of changes has ended, and is opened again{why}"
            );
        }
        answer
    }

    async fn custom_request(&self, call: CustomRequest, peer: Peer) -> Result<Json, ErrorObject> {
        let (proxy, layered) = (self.clone(), self.settings.layers.around_peer(peer.clone()));
        let answer = self.layers.request(call, peer, move |call, outcome| {
            let CustomRequest {
                method,
                params,
                caller,
                progress_token,
                ..
            } = call;
            let ask = request(&method, params, progress_token.as_ref());
            let mut asked = BridgedRequest::new(&method, caller, layered.clone());
            asked.progress_token = progress_token;
            proxy.clone().send(ask, asked, outcome)
        });
        answer.await
    }

    async fn application(
        &self,
        caller: Arc<Caller>,
        session: Session,
    ) -> Result<AppProfile, Box<Refusal>> {
        let caller = identity::introduced(caller);
        let server = self.servers.of(&caller, &session).await?;
        let why = "clients of this bridge are served in a revision of its own";
        let profile = server.profile().cloned();
        profile.ok_or_else(|| errors::internal(why))
    }

    fn notice(&self, notice: Notification, session: Session) {
        let proxy = self.clone();
        self.settings
            .layers
            .notice(notice, session, move |notice, session| {
                proxy.pass_on(notice.method.to_owned(), notice.params, &session);
            });
    }

    fn custom_notification(&self, notice: CustomNotification, session: Session) {
        let proxy = self.clone();
        self.settings
            .layers
            .notice(notice, session, move |notice, session| {
                proxy.pass_on(notice.method, notice.params, &session);
            });
    }

    fn on_log_level(&self, level: LogLevel, session: Session) {
        self.with_server(&session, move |server| async move {
            server.set_log_level(level).await;
        });
    }

    fn on_initialized(&self, session: Session) {
        let opened = self.settings.layers.around(session.clone());
        self.with_server(&session, move |server| async move {
            server.on_initialized(opened)
        });
    }
}

/// Returns the reason of an error, for people.
fn reason(error: &ErrorObject) -> String {
    let excerpt: String = printable(&error.message).chars().take(EXCERPT).collect();
    format!(": {excerpt}")
}

/// Returns the kind of a call: a method, and the tool or prompt that it names.
fn kind(method: &str, params: &Json) -> String {
    let members = JsonObject::try_from(params.clone()).ok();
    // One that is very long is not a tool; it is told from others by its beginning.
    let name: String = members
        .and_then(|members| members.get("name")?.read::<String>().ok())
        .unwrap_or_default()
        .chars()
        .take(NAME)
        .collect();
    format!("{method} {name}")
}

/// Returns a request for the server. Its progress is reported by a token of the bridge's own: clients that share a server may
/// name theirs alike.
fn request(method: &str, params: Json, progress_token: Option<&Json>) -> OutgoingRequest {
    let params = match progress_token {
        Some(_) => meta::without(&params, meta::PROGRESS_TOKEN),
        None => params,
    };
    let params = (params.text() != "{}").then_some(params);
    let ask = OutgoingRequest::new(method, params);
    match progress_token {
        Some(_) => ask.with_progress(),
        None => ask,
    }
}

/// Returns the arguments that the headers of a call repeat, which a per-request server wants to see, too.
fn repeated(peer: &Peer) -> Vec<(String, String)> {
    let pairs = peer.headers().into_iter().flatten();
    let params = pairs.filter_map(|(name, value)| {
        let param = name.as_str().strip_prefix(PARAM)?;
        let value = headers::decoded(value.to_str().ok()?)?;
        Some((param.to_owned(), value.into_owned()))
    });
    params.collect()
}
