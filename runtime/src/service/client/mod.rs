//! A client that calls any server, in the words of one revision. Feature `client`.
//!
//! A [`Client`] is a handle: clones share one connection, and calls go on side by side. A call that is dropped is
//! cancelled, and the server is notified. Requests of the server go to the handlers of the client.
//!
//! ```no_run
//! use mcp_revisions::latest::CallServer;
//! use mcp_revisions::service::Client;
//!
//! # async fn run() -> Result<(), mcp_revisions::service::Error> {
//! let client = Client::builder(&mcp_revisions::program!()).command(["some-server", "--stdio"])?;
//! for tool in client.list_tools(None).await?.tools {
//!     println!("{}", tool.name);
//! }
//! # Ok(())
//! # }
//! ```

/// For the crates that serve with this one.
#[doc(hidden)]
pub mod cache;
#[cfg(feature = "ext-events")]
pub mod events;
mod handlers;
mod layered;
mod listen;
mod lists;
mod options;
#[cfg(feature = "client-http")]
mod over_http;
#[cfg(feature = "client-stdio")]
mod over_stdio;
#[cfg(feature = "skills")]
pub mod skills;
mod updates;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mcp_revisions_core::{Latest, Outcome, Part, Spoken, Subject};
use mcp_wire::service::{Caller, Context};
use mcp_wire::{Direction, Encode, Json};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::Error;
use crate::layer::Layers;
use crate::transport::client::{Handle, RequestReply};
use crate::transport::observe::ClientOperation;
use crate::transport::spawn::later;
use cache::{Cache, CacheKey, CacheUsers};
use mcp_revisions_core::methods;
use mcp_revisions_sansio::LogLevel;
use mcp_revisions_sansio::client::{
    Answer, Failure, Fate, OutgoingRequest, Profile, ServerFacts, TaskState, Verdict,
};
use mcp_revisions_sansio::{LossHook, PeerRole};

pub use crate::transport::client::servers::*;
pub use listen::{Change, ChangeStream};
pub use lists::{ResultText, StructuredResult};
pub use mcp_revisions_sansio::client::NeededSignIn;
pub use options::ClientBuilder;
pub use updates::{Log, Progress, Update, Updates};

/// Time that a call waits for its answer, unless its options name another.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time that a call waits in all while its server tells progress, unless its options name another.
const TOTAL: Duration = Duration::from_secs(3600);

/// A connection to a server, as a handle that is cheap to clone; calls are those of the revision's `CallServer`.
///
/// The connection ends when the last handle is dropped.
#[must_use]
pub struct Client<App = Latest> {
    handle: Handle<Wants>,
    how: CallOptions,
    app: PhantomData<fn() -> App>,
}

/// The notifications about it that a call passes to callbacks.
#[derive(Debug, Default)]
struct Wants {
    progress: bool,
    log: bool,
    /// Set where a change is lost, for a request that listens for changes.
    changes: Option<Arc<AtomicBool>>,
    /// Set where an event is lost, for a request that is the stream of an extension.
    events: Option<Arc<AtomicBool>>,
}

impl Wants {
    /// Returns the wants of a request that listens for changes; the flag is set where one is lost.
    fn of_listener(missed: Arc<AtomicBool>) -> Self {
        Self {
            changes: Some(missed),
            ..Self::default()
        }
    }
}

/// The options of the calls of one handle.
#[derive(Clone)]
struct CallOptions {
    patience: Option<Duration>,
    /// Time in all, however often progress renews the patience.
    total: Duration,
    /// Set if the start of the server does not count.
    excludes_start: bool,
    progress: Option<Tell<Progress>>,
    log: Option<Tell<Log>>,
    task: Option<Tell<TaskState>>,
    resumes: Option<String>,
    log_level: Option<&'static str>,
    behalf: Option<Arc<Profile>>,
    on_loss: LossHook,
    layers: Layers,
    cache: Option<Arc<Cache>>,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            patience: Some(PATIENCE),
            total: TOTAL,
            excludes_start: true,
            progress: None,
            log: None,
            task: None,
            resumes: None,
            log_level: None,
            behalf: None,
            on_loss: LossHook::default(),
            layers: Layers::default(),
            cache: None,
        }
    }
}

impl CallOptions {
    /// Returns the request of a call.
    fn ask(&self, method: &'static str, params: Option<Json>) -> (OutgoingRequest, Wants) {
        // Progress renews the time of a call.
        let is_renewed = self.patience.is_some() && !self.excludes_start;
        let wants = Wants {
            progress: self.progress.is_some() || is_renewed,
            log: self.log.is_some(),
            ..Wants::default()
        };
        let mut ask = match &self.resumes {
            Some(id) => OutgoingRequest::for_task(id),
            None => OutgoingRequest::new(method, params),
        };
        if wants.progress {
            ask = ask.with_progress();
        }
        if let Some(level) = self.log_level {
            ask = ask.with_log_level(level);
        }
        if let Some(who) = &self.behalf {
            ask = ask.on_behalf_of(Arc::clone(who));
        }
        (ask, wants)
    }

    /// Passes a notification about a call to its callback.
    fn tell(&self, method: &str, params: &Json) {
        if method == methods::NOTIFICATIONS_PROGRESS {
            if let (Some(tell), Some(progress)) = (&self.progress, Progress::read(params)) {
                tell(progress);
            }
        } else if let (Some(tell), Some(log)) = (&self.log, Log::read(params)) {
            tell(log);
        }
    }
}

/// A callback for progress or log messages of a call.
type Tell<T> = Arc<dyn Fn(T) + Send + Sync>;

impl<App> Clone for Client<App> {
    fn clone(&self) -> Self {
        Self {
            handle: self.handle.clone(),
            how: self.how.clone(),
            app: PhantomData,
        }
    }
}

mcp_wire::debug_struct!([App] Client<App>, "Client", self);

impl Client<Latest> {
    /// Starts a client of the latest release, described by an `Implementation` of it; name the server to connect to next.
    #[allow(
        clippy::new_ret_no_self,
        reason = "a client is made in two steps: who it is, and whom it calls"
    )]
    pub fn builder(info: &impl Encode) -> ClientBuilder<Latest, ()> {
        ClientBuilder::of(info)
    }
}

impl<App: Spoken> Client<App> {
    /// Starts a client for an application that is written against another revision.
    pub fn speaking(info: &impl Encode) -> ClientBuilder<App, ()> {
        ClientBuilder::of(info)
    }

    /// Returns a client of the same connection whose calls are made in another way.
    fn calling(&self, set: impl FnOnce(&mut CallOptions)) -> Self {
        let mut client = self.clone();
        set(&mut client.how);
        client
    }

    /// Returns a client whose calls time out after `patience`, which begins again with each progress notification; `None` waits
    /// without limit. Without this, they time out 60 seconds after the server has started, which has a
    /// [time of its own](ClientBuilder::with_start_timeout). [`at_most`](Self::at_most) sets the time in all.
    pub fn within(&self, patience: impl Into<Option<Duration>>) -> Self {
        self.calling(|how| {
            how.patience = patience.into();
            how.excludes_start = false;
        })
    }

    /// Returns a client whose calls time out after `total`, also while their server tells progress; 1 hour by default. It is no
    /// shorter than the time [`within`](Self::within) which they wait for news.
    pub fn at_most(&self, total: Duration) -> Self {
        self.calling(|how| how.total = total)
    }

    /// Returns a client whose calls request progress notifications, and pass them to `tell`.
    pub fn on_progress(&self, tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.calling(|how| how.progress = Some(Arc::new(tell)))
    }

    /// Returns a client whose calls pass the log messages of their server to `tell`, from the level of
    /// [`with_log_level`](Self::with_log_level) on.
    ///
    /// A message that names no call goes to all calls that request log messages; without such a call, to the handlers.
    pub fn on_log(&self, tell: impl Fn(Log) + Send + Sync + 'static) -> Self {
        self.calling(|how| how.log = Some(Arc::new(tell)))
    }

    /// Returns a client whose calls pass the task that a server makes of them to `tell`, each time that they look at it.
    ///
    /// A call of a tool returns its result in any case, and a call that is dropped cancels its task. The id of the task is
    /// for [`resume_task`](Self::resume_task). Without feature `ext-tasks` no call becomes a task.
    pub fn on_task(&self, tell: impl Fn(TaskState) + Send + Sync + 'static) -> Self {
        self.calling(|how| how.task = Some(Arc::new(tell)))
    }

    /// Returns the result of a task that an earlier call became, such as a `CallToolResult`: a program that was started again
    /// can have it by the id that [`on_task`](Self::on_task) gave, as long as the server keeps the task.
    /// Dropping the future cancels the task.
    ///
    /// # Errors
    /// As the call itself; without feature `ext-tasks`, that the client takes no tasks.
    pub async fn resume_task<T: mcp_wire::Decode>(
        &self,
        id: impl Into<String>,
    ) -> Result<T, Error> {
        let client = self.calling(|how| how.resumes = Some(id.into()));
        let result = client.request(methods::TOOLS_CALL, None).await?;
        match result.read() {
            Ok(result) => Ok(result),
            Err(error) => Ok(client.mended(methods::TOOLS_CALL, &result, error)?.read()?),
        }
    }

    /// Returns a client, and a stream of the progress and log messages of its calls, from the level of
    /// [`with_log_level`](Self::with_log_level) on. The stream ends once the client and its calls are gone.
    ///
    /// ```no_run
    /// # use mcp_revisions::latest::{self as mcp, CallServer};
    /// # use mcp_revisions::service::{Client, client::Update};
    /// # async fn run(client: Client) -> Result<(), mcp_revisions::service::Error> {
    /// let (slow, mut updates) = client.updates();
    /// tokio::spawn(async move {
    ///     while let Some(Update::Progress(progress)) = updates.next().await {
    ///         println!("{} of {:?}", progress.done, progress.total);
    ///     }
    /// });
    /// slow.call_tool(mcp::CallToolRequestParams::new("build")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn updates(&self) -> (Self, Updates) {
        let (tell, updates) = updates::channel();
        let told = tell.clone();
        // An update is dropped if the reader of the updates is slow, or gone.
        let client = self
            .on_progress(move |it| _ = told.try_push(Update::Progress(it)))
            .on_log(move |it| _ = tell.try_push(Update::Log(it)));
        (client, updates)
    }

    /// Returns a client that sends the `Implementation` and the `ClientCapabilities` of a gateway's own client with each
    /// call.
    ///
    /// A server of a handshake revision got those of one client for all calls, and keeps them.
    pub fn on_behalf_of(&self, info: &impl Encode, capabilities: &impl Encode) -> Self {
        let profile = Profile::new(info, capabilities);
        self.calling(|how| how.behalf = Some(Arc::new(profile)))
    }

    /// Returns a client whose calls request log messages from this level on. They go to [`on_log`](Self::on_log), else to the
    /// handlers.
    pub fn with_log_level(&self, level: LogLevel) -> Self {
        self.calling(|how| how.log_level = Some(level.as_str()))
    }

    /// Returns the revision, identity and capabilities of the server, or `None` before the first call.
    #[must_use]
    pub fn server(&self) -> Option<ServerFacts> {
        self.handle.server()
    }

    /// Returns the detected version of the server, for the next client of the same one.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.handle.server().map(|facts| Verdict(facts.revision))
    }

    /// Finds out which revision the server speaks, before the first call, and returns what it says of itself. Without this the
    /// first call does, and has the error. Cancel safe: the server goes on starting.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, ends, does not answer within
    /// [its time](ClientBuilder::with_start_timeout), or speaks no revision of the client.
    pub async fn connect(&self) -> Result<ServerFacts, Error> {
        Ok(self.handle.connect().await?)
    }

    /// Returns whether the connection has ended: it was closed, or the process or the streams of the server have ended. A
    /// server over HTTP has no end of its own.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.handle.has_ended()
    }

    /// Waits until the connection [has ended](Self::is_disconnected). Cancel safe.
    pub async fn closed(&self) {
        self.handle.ended().await;
    }

    /// Ends the connection and waits until it has ended: a process that was started has, too.
    /// If the future is dropped, the connection ends all the same.
    ///
    /// # Errors
    /// Returns an error if a process did not end by itself, and was killed.
    pub async fn close(self) -> Result<(), Error> {
        Ok(self.handle.close().await?)
    }
}

impl<App: Spoken> Client<App> {
    /// Sends a request, unless a result is kept that answers it.
    async fn send(&self, method: &'static str, params: Option<Json>) -> Result<Json, Error> {
        let Some((cache, key)) = self.how.cache.as_ref().and_then(|cache| {
            let object = params.clone().unwrap_or_default();
            Some((cache, CacheKey::of(App::REVISION, method, &object)?))
        }) else {
            return self.exchange(method, params).await;
        };
        // What a server has for the client of a gateway is not for another one.
        let users = match &self.how.behalf {
            Some(_) => CacheUsers::Several,
            None => CacheUsers::One,
        };
        let changes = match cache.get(&key, users) {
            Ok(result) => return Ok(result),
            Err(changes) => changes,
        };
        let result = self.exchange(method, params).await?;
        cache.keep(key, users, &result, changes);
        Ok(result)
    }

    /// Sends a request, and waits for its result; its notifications go to the callbacks.
    async fn exchange(&self, method: &'static str, params: Option<Json>) -> Result<Json, Error> {
        let (ask, wants) = self.how.ask(method, params);
        let renewed = Notify::new();
        let answer = async {
            let operation = ClientOperation::begin(method, None);
            let mut replies = self.handle.ask(ask, wants).await;
            loop {
                match replies.next().await {
                    Some(RequestReply::Notification(method, params)) => {
                        if method == methods::NOTIFICATIONS_PROGRESS {
                            renewed.notify_one();
                        }
                        if let Some(params) = self.how.admit(&method, params).await {
                            self.how.tell(&method, &params);
                        }
                    }
                    Some(RequestReply::Task(task)) => {
                        if let Some(tell) = &self.how.task {
                            tell(task);
                        }
                    }
                    Some(RequestReply::Answered(answered)) => {
                        let spoken = self.handle.server().map(|facts| facts.revision);
                        let outcome = outcome(answered.answer);
                        let answer = outcome.as_ref().map_err(|error| match error {
                            Error::Rpc(error) => Some(error),
                            _ => None,
                        });
                        operation.end(answer, spoken);
                        return outcome;
                    }
                    Some(RequestReply::Refused(refused)) => return Err(refused.into()),
                    None => return Err(closed()),
                }
            }
        };
        let Some(patience) = self.how.patience else {
            return answer.await;
        };
        let mut answer = std::pin::pin!(answer);
        // After the time of its start, the request fails with the reason.
        if self.how.excludes_start && self.handle.is_starting() {
            tokio::select! {
                answer = &mut answer => return answer,
                () = self.handle.started() => {}
            }
        }
        let total = self.how.total.max(patience);
        let last = later(Instant::now(), total);
        loop {
            let until = later(Instant::now(), patience).min(last);
            tokio::select! {
                biased;
                answer = &mut answer => return answer,
                () = renewed.notified() => {}
                () = tokio::time::sleep_until(until) => {
                    let limit = if until == last { total } else { patience };
                    return Err(Error::Timeout(limit));
                }
            }
        }
    }
}

fn closed() -> Error {
    Error::RequestFailed(Failure::Closed)
}

impl<App: Spoken> Caller for Client<App> {
    type Protocol = App::Protocol;
    type Error = Error;

    async fn request(&self, method: &'static str, params: Option<Json>) -> Result<Json, Error> {
        if !self.how.layers.is_empty() {
            return self.request_through_layers(method, params).await;
        }
        self.send(method, params).await
    }

    fn mended(
        &self,
        method: &'static str,
        result: &Json,
        error: mcp_wire::Error,
    ) -> Result<Json, Error> {
        let (app, sender) = (App::REVISION, Some(Direction::ClientToServer));
        let subject = Subject::Method(method, Part::Result, sender);
        let refused = |error: mcp_wire::Error| {
            Error::RequestFailed(Failure::InvalidResult(error.to_string()))
        };
        match mcp_revisions_core::values::convert(
            subject,
            app,
            app,
            result.text(),
            Default::default(),
        ) {
            Ok(Outcome::Lossy(result, losses)) => {
                (self.how.on_loss).tell_losses(PeerRole::Server, method, app, None, &losses);
                Ok(result)
            }
            Err(mcp_revisions_core::Failure::Invalid(error)) => Err(refused(error)),
            _ => Err(refused(error)),
        }
    }

    async fn notification(&self, method: &'static str, params: Option<Json>) -> Result<(), Error> {
        let Some(params) = self.pass_notification(method, params).await else {
            return Ok(());
        };
        match self.handle.notify(method, params).await?.fate {
            Fate::Refused(error) => Err(Error::Rpc(*error)),
            Fate::RequiresState(needs) => Err(Error::Internal(format!("`{method}` {needs}"))),
            Fate::Unknown => Err(closed()),
            Fate::Sent | Fate::Adapted | Fate::Dropped(_) => Ok(()),
        }
    }
}

fn outcome(answer: Answer) -> Result<Json, Error> {
    match answer {
        Answer::Result(result) => Ok(result),
        Answer::Error(error) => Err(Error::Rpc(error)),
        Answer::Failed(failure) => Err(Error::RequestFailed(failure)),
        Answer::InputRequired(_) => Err(Error::RequestFailed(Failure::Unanswered)),
    }
}

/// The context of a request of the server for its handler: a client to send requests with.
pub struct ClientContext<App = Latest> {
    client: Client<App>,
}

impl<App> ClientContext<App> {
    fn new(handle: Handle<Wants>, how: CallOptions) -> Self {
        let client = Client {
            handle,
            how,
            app: PhantomData,
        };
        Self { client }
    }

    /// Returns the client that got the request.
    pub fn client(&self) -> &Client<App> {
        &self.client
    }
}

mcp_wire::debug_struct!([App] ClientContext<App>, "ClientContext", self);

impl<App: Spoken> Context for ClientContext<App> {
    type Error = Error;
}
