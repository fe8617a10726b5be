//! A client that calls any server, in the words of one revision. Feature `client`.
//!
//! A [`Client`] is a handle: clones share one connection, and calls go on side by side. A call that is dropped is
//! cancelled, and the server is notified. Requests of the server go to the handlers of the client.
//!
//! ```no_run
//! use mcp_revisions::latest::CallServer;
//! use mcp_revisions::service::Client;
//!
//! # #[cfg(feature = "client-stdio")]
//! # async fn run() -> Result<(), mcp_revisions::service::Error> {
//! let client = Client::builder(&mcp_revisions::program!()).command(["some-server", "--stdio"])?;
//! for tool in client.list_tools(None).await?.tools {
//!     println!("{}", tool.name);
//! }
//! # Ok(())
//! # }
//! ```

mod driver;
mod notices;
mod options;
mod updates;

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use mcp_protocol::{Latest, Spoken};
use mcp_wire::service::{Caller, Context};
use mcp_wire::{Encode, Json};
use tokio::sync::{mpsc, oneshot, watch};

use super::Error;
use crate::client::{Failure, Profile, ServerFacts, Verdict};
use crate::server::LogLevel;
use driver::Command;

#[cfg(feature = "client-stdio")]
pub use crate::transport::client::Child;
#[cfg(feature = "client-http")]
pub use crate::transport::client::{AuthProvider, Http, Pending};
pub use options::ClientBuilder;
pub use updates::{Log, Progress, Update, Updates};

/// How long a call waits for its answer, unless it says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a server, as a handle that is cheap to clone; calls are those of the revision's `CallServer`.
///
/// The connection ends when the last handle is dropped.
pub struct Client<App = Latest> {
    commands: mpsc::UnboundedSender<Command>,
    facts: watch::Receiver<Option<ServerFacts>>,
    how: How,
    app: PhantomData<fn() -> App>,
}

/// How calls of one handle are made.
#[derive(Clone)]
struct How {
    patience: Option<Duration>,
    progress: Option<Tell<Progress>>,
    log: Option<Tell<Log>>,
    log_level: Option<&'static str>,
    behalf: Option<Arc<Profile>>,
}

impl Default for How {
    fn default() -> Self {
        Self {
            patience: Some(PATIENCE),
            progress: None,
            log: None,
            log_level: None,
            behalf: None,
        }
    }
}

/// A callback for progress or log messages of a call.
type Tell<T> = Arc<dyn Fn(T) + Send + Sync>;

impl<App> Clone for Client<App> {
    fn clone(&self) -> Self {
        Self {
            commands: self.commands.clone(),
            facts: self.facts.clone(),
            how: self.how.clone(),
            app: PhantomData,
        }
    }
}

impl<App> std::fmt::Debug for Client<App> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

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

    /// Returns a client whose calls time out after `patience`; `None` waits without limit.
    #[must_use]
    pub fn within(&self, patience: impl Into<Option<Duration>>) -> Self {
        let mut client = self.clone();
        client.how.patience = patience.into();
        client
    }

    /// Returns a client whose calls request progress notifications, and pass them to `tell`.
    #[must_use]
    pub fn on_progress(&self, tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        let mut client = self.clone();
        client.how.progress = Some(Arc::new(tell));
        client
    }

    /// Returns a client whose calls pass the log messages of their server to `tell`, from the level of
    /// [`with_log_level`](Self::with_log_level) on.
    ///
    /// A message that names no call goes to all calls that request log messages; without such a call, to the handlers.
    #[must_use]
    pub fn on_log(&self, tell: impl Fn(Log) + Send + Sync + 'static) -> Self {
        let mut client = self.clone();
        client.how.log = Some(Arc::new(tell));
        client
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
    #[must_use]
    pub fn updates(&self) -> (Self, Updates) {
        let (tell, updates) = updates::channel();
        let told = tell.clone();
        let client = self.on_progress(move |progress| told.tell(Update::Progress(progress)));
        let client = client.on_log(move |log| tell.tell(Update::Log(log)));
        (client, updates)
    }

    /// Returns a client that sends the `Implementation` and the `ClientCapabilities` of a gateway's own client with each
    /// call.
    ///
    /// A server of a handshake revision got those of one client for all calls, and keeps them.
    #[must_use]
    pub fn on_behalf_of(&self, info: &impl Encode, capabilities: &impl Encode) -> Self {
        let mut client = self.clone();
        client.how.behalf = Some(Arc::new(Profile::new(info, capabilities)));
        client
    }

    /// Returns a client whose calls request log messages from this level on. They go to [`on_log`](Self::on_log), else to the
    /// handlers.
    #[must_use]
    pub fn with_log_level(&self, level: LogLevel) -> Self {
        let mut client = self.clone();
        client.how.log_level = Some(level.name());
        client
    }

    /// Returns the revision, identity and capabilities of the server, or `None` before the first call.
    #[must_use]
    pub fn server(&self) -> Option<ServerFacts> {
        self.facts.borrow().clone()
    }

    /// Returns the detected version of the server, for the next client of the same one.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let facts = self.facts.borrow();
        facts.as_ref().map(|facts| Verdict(facts.revision))
    }

    /// Ends the connection and waits until it has ended: a process that was started has, too.
    ///
    /// # Errors
    /// A process that did not end by itself, and was killed.
    pub async fn close(self) -> Result<(), Error> {
        let (done, ended) = oneshot::channel();
        match self.commands.send(Command::Close { done }) {
            Ok(()) => Ok(ended.await.unwrap_or(Ok(()))?),
            // It has ended already.
            Err(_) => Ok(()),
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
        let How {
            patience,
            progress,
            log,
            log_level,
            behalf,
        } = self.how.clone();
        let (answer, answered) = oneshot::channel();
        let (key, ticket) = driver::ticket(&self.commands);
        let call = Box::new(driver::Wanted {
            method,
            params,
            progress,
            log,
            log_level,
            behalf,
            answer,
        });
        let sent = self.commands.send(Command::Call { key, call });
        sent.map_err(|_| closed())?;
        let answer = match patience {
            None => answered.await,
            Some(patience) => (tokio::time::timeout(patience, answered).await)
                .map_err(|_| Error::Timeout(patience))?,
        };
        ticket.settled();
        answer.map_err(|_| closed())?
    }

    async fn notification(&self, method: &'static str, params: Option<Json>) -> Result<(), Error> {
        let (done, sent) = oneshot::channel();
        let command = Command::Notify {
            method,
            params,
            done,
        };
        self.commands.send(command).map_err(|_| closed())?;
        sent.await.map_err(|_| closed())?
    }
}

/// The context of a request of the server for its handler: a client to send requests with.
pub struct ClientContext<App> {
    client: Client<App>,
}

impl<App> ClientContext<App> {
    /// Returns the client that got the request.
    #[must_use]
    pub fn client(&self) -> &Client<App> {
        &self.client
    }
}

impl<App> std::fmt::Debug for ClientContext<App> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientContext").finish_non_exhaustive()
    }
}

impl<App: Spoken> Context for ClientContext<App> {
    type Error = Error;
}
