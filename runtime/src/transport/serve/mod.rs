//! From the endpoint to running handlers: what the adapters to stdio and HTTP share.
//!
//! A [`Handler`] answers calls in the application's revision, each in a task of its own; its [`Peer`] carries what it
//! says meanwhile. Time comes from the clock of tokio here, at the edge, and nowhere below.

mod ask;
mod budget;
mod connection;
mod driver;
pub(crate) mod event;
mod layered;
mod layered_handler;
mod outbox;
#[cfg_attr(not(feature = "server-http"), path = "without_http.rs")]
mod over_http;
mod replicas;
pub(crate) mod signal;
#[cfg_attr(not(feature = "ext-tasks"), path = "without_tasks.rs")]
mod tasks;

use std::future::Future;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Instant, SystemTime};

use mcp_revisions_core::{Loss, Revision};
use mcp_wire::{ErrorObject, Json, RequestId};

use crate::Limits;
use mcp_revisions_sansio::driver::server::{leave_out, tell_losses};
use mcp_revisions_sansio::errors::Refusal;
use mcp_revisions_sansio::server::{AppProfile, LogLevel, Owner, Server};
use mcp_revisions_sansio::{
    Caller, CustomNotification, CustomRequest, Event, Fate, Ignored, IncomingRequest, Notification,
    To, Token,
};

use crate::layer::Layers;
use crate::transport::spawn::{Boxed, boxed};

use ask::ask;
pub(crate) use budget::{Budget, Full, Permit, Reservation, SUSPENDED_BYTES, Share};
pub use connection::PeerConnection;
pub(crate) use driver::{ByTicket, ServerDriver, StoredSession, TextOutcome};
pub use layered_handler::LayeredHandler;
pub(crate) use outbox::{Outbox, OutboxItem, OutboxQueue, QueueItem, outbox};
use over_http::RequestParts;
pub(crate) use replicas::{Replicas, is_unguessable};
pub(crate) use tasks::with_tasks;
use tasks::{Running, Taskable};

/// Returns a server whose clock begins now, and when that is.
pub(crate) fn started(server: Server) -> (Arc<Server>, Instant) {
    let epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    (
        Arc::new(server.with_epoch(epoch.unwrap_or_default())),
        Instant::now(),
    )
}

/// The handler of the calls of clients, in the application's revision.
///
/// Each `async` function from [`IncomingRequest`] and [`Peer`] to a result is one.
pub trait Handler: Send + Sync + 'static {
    /// Answers a call.
    fn call(
        &self,
        call: IncomingRequest,
        peer: Peer,
    ) -> impl Future<Output = Result<Json, ErrorObject>> + Send;

    /// Answers a call of a method that no revision has. Only a server with
    /// [`Server::with_other_methods`](crate::sansio::Server::with_other_methods) gets such calls.
    fn custom_request(
        &self,
        call: CustomRequest,
        peer: Peer,
    ) -> impl Future<Output = Result<Json, ErrorObject>> + Send {
        drop(peer);
        let refusal =
            mcp_revisions_sansio::errors::method_not_found(&call.method, call.revision.lifecycle());
        std::future::ready(Err(refusal.error))
    }

    /// Takes note of a notification of a method that no revision has, as [`custom_request`](Self::custom_request) answers calls.
    fn custom_notification(&self, notice: CustomNotification, session: Session) {
        drop((notice, session));
    }

    /// Returns the application that serves a client, at a server that is [late](Server::late). Messages of the client wait for it.
    ///
    /// # Errors
    /// The refusal of each of them. The next request of the client asks again.
    fn application(
        &self,
        caller: Arc<Caller>,
        session: Session,
    ) -> impl Future<Output = Result<AppProfile, Box<Refusal>>> + Send {
        drop((caller, session));
        let why = "the handlers of a late server have no application for its clients";
        std::future::ready(Err(mcp_revisions_sansio::errors::internal(why)))
    }

    /// Takes note of a notification of a session.
    fn notice(&self, notice: Notification, session: Session) {
        drop((notice, session));
    }

    /// Runs when the client of a session has set the least level of log notifications that it wants. Notifications of the
    /// session below the level are left out without this.
    fn on_log_level(&self, level: LogLevel, session: Session) {
        let _ = (level, session);
    }

    /// Runs once the client can get notifications: it is initialized, or has opened a stream for them.
    fn on_initialized(&self, session: Session) {
        drop(session);
    }
}

impl<F, A> Handler for F
where
    F: Fn(IncomingRequest, Peer) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Json, ErrorObject>> + Send,
{
    fn call(
        &self,
        call: IncomingRequest,
        peer: Peer,
    ) -> impl Future<Output = Result<Json, ErrorObject>> + Send {
        self(call, peer)
    }
}

/// The future of a handler's answer.
pub(crate) type HandlerFuture = Boxed<'static, Result<Json, ErrorObject>>;

/// The future of a client's application.
pub(crate) type AppFuture = Boxed<'static, Result<AppProfile, Box<Refusal>>>;

/// A [`Handler`] of any type, so that transports are compiled once.
pub(crate) trait AnyHandler: Send + Sync {
    /// Answers a request.
    fn call(self: Arc<Self>, request: Event, peer: Peer) -> HandlerFuture;
    /// Returns the application that serves a client.
    fn application(self: Arc<Self>, caller: Arc<Caller>, session: Session) -> AppFuture;
    /// Handles any other event.
    fn note(&self, event: Event, session: Session);
    /// Takes a message of another replica, if it is about a task; false if not.
    fn takes(&self, message: &[u8]) -> bool {
        let _ = message;
        false
    }
    /// Returns whether calls are at work that became tasks.
    fn has_tasks(&self) -> bool {
        false
    }
    /// Ends the tasks that are at work with an error.
    fn end_tasks(self: Arc<Self>, error: ErrorObject) -> Boxed<'static, ()> {
        let _ = error;
        Box::pin(std::future::ready(()))
    }
    /// Runs once a session is over, and its client is gone.
    fn session_ended(self: Arc<Self>, session: &Session) {
        let _ = session;
    }
}

impl<H: Handler> AnyHandler for H {
    fn call(self: Arc<Self>, request: Event, peer: Peer) -> HandlerFuture {
        match request {
            Event::Request(call) => {
                Box::pin(async move { Handler::call(&*self, call, peer).await })
            }
            Event::CustomRequest(call) => {
                Box::pin(async move { self.custom_request(call, peer).await })
            }
            _ => {
                let why = mcp_revisions_sansio::errors::internal("the event is not a request");
                Box::pin(std::future::ready(Err(why.error)))
            }
        }
    }

    fn application(self: Arc<Self>, caller: Arc<Caller>, session: Session) -> AppFuture {
        Box::pin(async move { Handler::application(&*self, caller, session).await })
    }

    fn note(&self, event: Event, session: Session) {
        match event {
            Event::Notification(notice) => self.notice(notice, session),
            Event::CustomNotification(notice) => self.custom_notification(notice, session),
            Event::Initialized | Event::Listens => self.on_initialized(session),
            Event::LogLevel(level) => self.on_log_level(level, session),
            _ => {}
        }
    }
}

/// The transport's facts about the sender of an exchange.
#[derive(Clone, Default)]
pub(crate) struct ExchangeFacts {
    /// The head of the request, over HTTP.
    pub(crate) parts: Option<Arc<RequestParts>>,
    /// Part of the shared room that the text takes up, until all work on it is done.
    pub(crate) room: Option<Arc<Reservation>>,
}

/// The client of a call, for notifications and requests during the call.
#[derive(Clone)]
pub struct Peer {
    token: Token,
    driver: Arc<ServerDriver>,
    /// The server of its connection.
    server: Arc<Server>,
    facts: ExchangeFacts,
    /// The maker of a task of the call; `None` if the server has no tasks.
    task: Option<Taskable>,
    cancellation: Arc<OnceLock<Cancellation>>,
    /// The layers that sent messages pass.
    layers: Layers,
}

/// The end of a call by its client, which does not wait for the result any more.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cancellation {
    /// Why, as the client says; `None` if it does not.
    pub reason: Option<String>,
}

/// The authenticated principal of a request. Insert it into the extensions of an HTTP request from an authentication layer.
///
/// A `requestState` is signed for its principal, and a session belongs to the principal that opened it: no other one can
/// use them. A principal that opens too many sessions loses its own least recently used ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(pub String);

/// The session of a client, also after the call; the handle does not keep the session alive.
#[derive(Clone)]
pub struct Session {
    driver: Weak<ServerDriver>,
    /// The layers that sent messages pass.
    layers: Layers,
}

impl Peer {
    /// Returns the transport's facts about the sender.
    pub(crate) fn facts(&self) -> &ExchangeFacts {
        &self.facts
    }

    /// Sends a notification about the call, such as its progress; over HTTP the answer then becomes a stream. One that the
    /// peer did not ask for, or does not have, is not sent; the fate says so.
    /// If the future is dropped, it may not be sent.
    pub async fn notify(&self, method: &str, params: Option<&Json>) -> Fate {
        self.notified(method, params).await
    }

    #[inline(never)]
    fn notified<'p>(&'p self, method: &'p str, params: Option<&'p Json>) -> Boxed<'p, Fate> {
        if !self.layers.is_empty() {
            return boxed(self.notify_through_layers(method, params));
        }
        boxed(async move {
            if let Some(task) = self.task() {
                return task.notify(method, params).await;
            }
            if let Some(task) = &self.task
                && method == mcp_revisions_core::methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED
            {
                return task.acknowledge(self, params).await;
            }
            self.notify_in_turn(method, params).await
        })
    }

    async fn notify_in_turn(&self, method: &str, params: Option<&Json>) -> Fate {
        let notify = || self.driver.notify(To::Request(self.token), method, params);
        self.driver.in_turn(Some(self.token), notify).await
    }

    /// As [`notify`](Self::notify), without waiting for room: `None` if a slow reader leaves none, and nothing is sent.
    pub(crate) fn try_notify(&self, method: &str, params: Option<&Json>) -> Option<Fate> {
        if !self.layers.is_empty() {
            return self.try_notify_through_layers(method, params);
        }
        let outbox = self.driver.outbox(self.token);
        (outbox.is_none_or(|outbox| outbox.has_room()))
            .then(|| self.driver.notify(To::Request(self.token), method, params))
    }

    /// Sends a request to the client, and waits for its response: `sampling/createMessage`, `elicitation/create`, `roots/list`.
    ///
    /// A client of a per-request revision gets it in the result of its call, and responds when it retries the call.
    /// If this future is dropped, the request is cancelled at the client.
    ///
    /// # Errors
    /// Returns the client's error, or an error if the client cannot get this request, did not respond in time, or is gone.
    pub async fn ask(&self, method: &str, params: Option<&Json>) -> Result<Json, ErrorObject> {
        self.ask_boxed(method, params).await
    }

    #[inline(never)]
    fn ask_boxed<'p>(
        &'p self,
        method: &'p str,
        params: Option<&'p Json>,
    ) -> Boxed<'p, Result<Json, ErrorObject>> {
        if !self.layers.is_empty() {
            return self.ask_through_layers(method, params);
        }
        match self.task() {
            Some(task) => boxed(task.ask(method, params)),
            None => {
                let about = Some((self.token, &self.facts));
                boxed(ask(&self.driver, about, method, params))
            }
        }
    }

    /// Answers the call with a task, if its client takes one, and returns whether it has one now. The handler goes on: its
    /// result is kept for the client, and its requests reach the client in the words of tasks.
    /// If the future is dropped, the call may have become a task.
    ///
    /// A client without tasks waits for the result, and so does one for whose task there is no room, unless it asked for
    /// a task.
    ///
    /// # Errors
    /// Returns an error if the client is gone, or if it asked for a task and none can be kept.
    pub async fn start_task(&self) -> Result<bool, ErrorObject> {
        self.started_task().await
    }

    #[inline(never)]
    fn started_task(&self) -> Boxed<'_, Result<bool, ErrorObject>> {
        boxed(async move {
            match &self.task {
                Some(task) => task.start(self).await,
                None => Ok(false),
            }
        })
    }

    /// Sets the status message of the task that the call has become; without one, nothing is sent.
    /// If the future is dropped, it may not be sent.
    pub async fn describe_task(&self, message: impl Into<String>) {
        if let Some(task) = self.task() {
            task.describe(message.into()).await;
        }
    }

    /// Returns the task that the call has become.
    pub(crate) fn task(&self) -> Option<&Arc<Running>> {
        self.task.as_ref()?.running()
    }

    /// Returns the client's cancellation of the call, or `None` if it did not. The future of the handler is dropped right after it
    /// was cancelled: a guard in it can ask.
    #[must_use]
    pub fn cancellation(&self) -> Option<&Cancellation> {
        self.cancellation.get()
    }

    /// Closes the stream of the call early: its client resumes it after a while, and messages are kept for it meanwhile.
    /// Returns whether the stream was closed, which needs a session over HTTP, of a revision with resumption.
    pub fn close_stream(&self) -> bool {
        self.driver.pause(self.token)
    }

    /// Returns the revision of the params of the call, which is that of the application.
    #[must_use]
    pub fn app(&self) -> Revision {
        self.server.app()
    }

    /// Returns a handle that outlives the call.
    #[must_use]
    pub fn session(&self) -> Session {
        self.driver.session().with_layers(&self.layers)
    }
}

impl Session {
    /// Sends a notification that belongs to no call: that a list has changed, or a resource.
    ///
    /// A client of a per-request revision gets it on the streams that subscribed to it.
    pub fn notify(&self, method: &str, params: Option<&Json>) -> Fate {
        if !self.layers.is_empty() {
            return self.notify_through_layers(method, params);
        }
        match self.driver.upgrade() {
            Some(driver) => driver.notify(To::Session, method, params),
            None => Fate::Unknown,
        }
    }

    /// Sends a request to the client outside of a call, which clients of per-request revisions cannot get.
    /// Dropping the future withdraws the request.
    ///
    /// # Errors
    /// As [`Peer::ask`].
    pub async fn ask(&self, method: &str, params: Option<&Json>) -> Result<Json, ErrorObject> {
        self.ask_boxed(method, params).await
    }

    #[inline(never)]
    fn ask_boxed<'p>(
        &'p self,
        method: &'p str,
        params: Option<&'p Json>,
    ) -> Boxed<'p, Result<Json, ErrorObject>> {
        if !self.layers.is_empty() {
            return self.ask_through_layers(method, params);
        }
        boxed(async move {
            match self.driver.upgrade() {
                Some(driver) => ask(&driver, None, method, params).await,
                None => Err(mcp_revisions_sansio::errors::internal("the client is gone").error),
            }
        })
    }

    /// Returns the name and the capabilities that the client sent when it opened the session, or its stream of notifications;
    /// `None` before that.
    #[must_use]
    pub fn caller(&self) -> Option<Arc<Caller>> {
        self.driver.upgrade()?.caller()
    }

    /// Returns the owner of the session: its principal or address, if the transport knows it.
    #[must_use]
    pub fn owner(&self) -> Owner {
        let driver = self.driver.upgrade();
        driver.map(|driver| driver.owner()).unwrap_or_default()
    }

    /// Returns the connection over which the session was opened, or the request came that has none; `None` if it is not
    /// known.
    #[must_use]
    pub fn connection(&self) -> Option<PeerConnection> {
        self.driver.upgrade()?.connection()
    }

    /// Returns the limits of its server; `None` after its end.
    pub(crate) fn limits(&self) -> Option<Limits> {
        Some(self.driver.upgrade()?.limits())
    }

    /// Reports what a message of the client lost where a handler read it.
    pub(crate) fn tell_losses(
        &self,
        method: &str,
        peer: Revision,
        request: Option<&RequestId>,
        losses: &[Loss],
    ) {
        if let Some(driver) = self.driver.upgrade() {
            tell_losses(&driver.server(), method, peer, request, losses);
        }
    }

    /// Reports a message of the client that no handler can read.
    pub(crate) fn leave_out(&self, ignored: Ignored) {
        if let Some(driver) = self.driver.upgrade() {
            leave_out(&driver.server(), ignored);
        }
    }

    /// Ends the session, with its streams and calls. Over HTTP its client gets status 404 for the next message, and opens
    /// another one. For a client of a per-request revision, which has none, its streams of notifications end.
    pub fn end(&self) {
        if let Some(driver) = self.driver.upgrade() {
            driver.end();
        }
    }

    /// Ends the session as [`end`](Self::end) does, once each call that is at work in it is answered.
    pub fn end_after_calls(&self) {
        if let Some(driver) = self.driver.upgrade() {
            driver.end_after_calls();
        }
    }

    /// Returns whether the session is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.driver
            .upgrade()
            .is_none_or(|driver| driver.was_closed())
    }
}

/// Two handles are equal if they are of one session.
impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.driver, &other.driver)
    }
}

impl Eq for Session {}

impl Hash for Session {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The place is not taken by another as long as there is a handle.
        self.driver.as_ptr().cast::<()>().hash(state);
    }
}

mcp_wire::debug_struct!([] Peer, "Peer", self, "token": self.token);

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("is_over", &self.is_over())
            .finish()
    }
}
