//! A server whose handlers speak one revision, and whose clients may speak any.
//!
//! [`Server`] holds what does not change: the profile, the revisions that are served, limits. A [`Connection`] of it
//! takes the texts of one client and says what to do: send something back, call the application, tell it something.
//!
//! ```
//! use mcp_wire::Json;
//! use mcp_revisions_sansio::server::{Connection, Event, Output, Profile, Server};
//! use mcp_revisions_core::{Revision, v2025_11_25 as mcp};
//! use std::time::Duration;
//!
//! let capabilities = mcp::ServerCapabilities::new().with_tools(mcp::ServerCapabilitiesTools::new());
//! let profile = Profile::new(&mcp::Implementation::new("adder", mcp_wire::args::Version("1.0")), &capabilities);
//! let mut connection = Connection::new(Server::new(Revision::V2025_11_25, profile)?);
//!
//! // A client of 2026-07-28 asks; the handlers see a request of 2025-11-25.
//! let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},
//!     "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
//! let now = Duration::ZERO; // since whenever you like
//! connection.receive(None, text, now);
//! let Some(Output::Event(Event::Request(call))) = connection.poll() else { panic!() };
//! let params: mcp::CallToolRequestParams = call.read()?;
//! assert_eq!(params.name, "add");
//!
//! let result = mcp::CallToolResult::new(vec![mcp::TextContent::new("3").into()]);
//! let _ = connection.answer(call.token, Ok(Json::of(&result)), now);
//! let Some(Output::Send(answer)) = connection.poll() else { panic!() };
//! assert!(answer.body.contains(r#""resultType":"complete""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Locks
//! `Server` is shared by reference, and only counts by itself; a connection belongs to its holder. A per-request message
//! needs nothing of another one, so over HTTP each gets a [`Connection`] of its own: nothing is locked on its path. What
//! a handshake opened lives in its own connection, and only messages of that session meet there.

// Methods of a connection stand where the message is that they serve:
//
// | message | file |
// |---|---|
// | any text, before its kind is known; batches | receive, batch |
// | `initialize`, and the application that is known late | negotiate::server |
// | requests of the client, `ping`, `server/discover` and `logging/setLevel` among them | request |
// | responses to them; requests that end without one | answer |
// | notifications, of either end | notify |
// | requests of the server, and the responses of the client | ask |
// | `inputRequests` of a per-request handler, asked by requests of a handshake client | input_required::server::by_requests |
// | questions of a handler, asked of a per-request client in results with a signed `requestState` | input_required::server::suspend |
// | `resources/subscribe` and changes that a handshake client expects, for per-request handlers | subscriptions::listen |
// | `subscriptions/listen`, for handshake handlers | subscriptions::listen::streams |
// | `tasks/*`, and calls that become tasks | tasks::server |
//
// Those of input_required and subscriptions are the adapters: a conversion says whose message it is (`Adapter`). Their memory
// is a field of the state, bounded by `Limits`.
mod answer;
mod ask;
mod batch;
mod connection;
pub(super) mod incoming;
mod needs;
mod notify;
pub(super) mod receive;
pub(super) mod reply;
pub(super) mod request;
pub(super) mod requests;
mod sessions;
pub(super) mod state;
mod tools;
mod translate;

use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::{
    Introductions, Lifecycle, LossHook, Revision, RevisionSet, Severity, UnknownFields,
};
use mcp_wire::Direction;

pub use super::tasks::server::{MemoryTasks, TaskStore};
#[cfg(feature = "ext-tasks")]
pub use super::tasks::server::{
    Stored, Task, TaskAnswer, TaskCount, TaskOptions, TaskQuestion, TaskStoreError, TaskSupport,
};
pub use super::{
    Answer, Answered, Caller, Cancelled, Connection, CustomNotification, CustomRequest, Event,
    Exchange, Fate, Ignored, IncomingRequest, LogLevel, MendedMessage, Notification,
    OutgoingRequest, Output, Profile, SendOutcome, TaskStatus, To, Token,
};
pub use crate::negotiate::server::late::AppProfile;
pub use incoming::Looked;
pub use mcp_revisions_core::ProfileError;
pub use reply::Outgoing;
pub use sessions::{NewSession, Owner, Sessions, SessionsFull};

use crate::Limits;
use crate::input_required::server::seal::Seal;
use crate::json::declares;
use crate::mistakes::MistakeHook;
pub use crate::mistakes::{MistakeOutcome, PeerMistake};
use crate::tasks::server::served::ServedTasks;
use crate::translate::{Translator, translator};
pub use mcp_revisions_core::{MessageLosses, PeerRole};

/// A server whose handlers speak one revision.
#[derive(Clone)]
#[must_use]
pub struct Server {
    pub(crate) translator: Translator,
    pub(super) served: RevisionSet,
    pub(crate) limits: Limits,
    /// `None` until it is known which application a connection serves.
    pub(crate) introductions: Option<Arc<Introductions>>,
    pub(super) seal: Seal,
    pub(super) takes_others: bool,
    /// The tasks that the runtime makes of calls, if it does.
    pub(crate) tasks: ServedTasks,
    /// Set if the application is of the lifecycle without a handshake.
    pub(super) is_per_request: bool,
    pub(super) on_mistake: MistakeHook,
}

impl Server {
    /// Creates a server whose handlers speak the revision `app`, one of [`Revision::CONVERTED`]; it serves clients of every
    /// revision.
    ///
    /// # Errors
    /// Returns an error if the profile is not one of that revision.
    pub fn new(app: Revision, profile: Profile) -> Result<Self, ProfileError> {
        Ok(Self::late().serving_app(&AppProfile::new(app, profile)?))
    }

    /// Creates a server that learns with each connection which application it serves: a gateway, whose upstream server is
    /// started or chosen for its client. A connection of it tells who the client is by [`Event::Introduced`], and keeps the
    /// messages of the client until [`Connection::introduce`] answers.
    pub fn late() -> Self {
        Self {
            translator: translator(Revision::LATEST, Direction::ServerToClient),
            served: RevisionSet::all(),
            limits: Limits::default(),
            introductions: None,
            seal: Seal::random(),
            takes_others: false,
            tasks: ServedTasks::default(),
            is_per_request: false,
            on_mistake: MistakeHook::default(),
        }
    }

    /// Returns this server as one of an application.
    pub(crate) fn serving_app(&self, app: &AppProfile) -> Self {
        let mut server = self.clone();
        server.translator.app = app.revision;
        server.is_per_request = app.revision.lifecycle() == Lifecycle::PerRequest;
        server.introductions = Some(Arc::clone(&app.introductions));
        if !app.has_tasks {
            server.tasks = ServedTasks::default();
        }
        server
    }

    /// Sets the revisions that are served. Default: all.
    pub fn with_revisions(self, served: RevisionSet) -> Self {
        Self { served, ..self }
    }

    /// Sets the limits.
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets whether fields that an older revision does not name are dropped or preserved.
    pub fn with_unknown_fields(mut self, policy: UnknownFields) -> Self {
        self.translator.policy = policy;
        self
    }

    /// Answers each request with an error that has a loss of this severity or worse, itself or in its result; none by default.
    pub fn with_rejected_loss(mut self, severity: Option<Severity>) -> Self {
        self.translator.rejected = severity;
        self
    }

    /// Sets the key that signs `requestState`, in the place of a random one that ends with the process.
    ///
    /// Replicas behind one address need the same key. Called several times, the first key signs and all verify: to
    /// exchange a key, make the new one known to all replicas as the second, then as the first, then drop the old one.
    #[doc(alias = "with_seal_key")]
    pub fn with_request_state_key(mut self, key: [u8; 32]) -> Self {
        self.seal.add_key(key);
        self
    }

    /// Sets the time since 1970 at which the driver's clock is at zero [default: zero].
    ///
    /// Sets the time since 1970 at which `now` is zero. Signed states expire by it, whichever process verifies them.
    pub fn with_epoch(mut self, epoch: Duration) -> Self {
        self.seal.set_epoch(epoch);
        self
    }

    /// Says that a `requestState` of the handlers' own holds in this process only. Replicas with the same
    /// [key](Self::with_request_state_key) then pass a retry to the one that gave it out.
    pub fn with_state_of_this_process(mut self) -> Self {
        self.seal.keep_own();
        self
    }

    /// Makes each `requestState` of the handlers' own good for one retry [default: it can be sent again until it expires, after
    /// [`Limits::client_response_timeout`]].
    ///
    /// The process that gave it out remembers its use, up to 100,000 of them; it holds in no other process, as with
    /// [`with_state_of_this_process`](Self::with_state_of_this_process). A client that loses the response to a retry begins again.
    pub fn with_one_time_state(mut self) -> Self {
        self.seal.spend_own();
        self
    }

    /// Accepts requests and notifications of methods that no revision has (extensions, a vendor's own), or that are missing
    /// in the one revision which client and application both speak. They come as [`Event::CustomRequest`] and [`Event::CustomNotification`], may be sent like any other, and nothing of them is
    /// converted.
    pub fn with_other_methods(mut self) -> Self {
        self.takes_others = true;
        self
    }

    /// Returns whether messages of a method pass between the application and a client of this revision as they are.
    pub(crate) fn passes_as_is(&self, method: &str, peer: Option<Revision>) -> bool {
        self.takes_others && self.translator.passes_as_is(method, peer)
    }

    /// Sets a hook that is called with the losses of each message in conversion to or from a peer, and with
    /// messages that were refused or dropped.
    pub fn on_loss(self, hook: impl Fn(&MessageLosses<'_>) + Send + Sync + 'static) -> Self {
        self.with_loss_hook(LossHook::new(hook))
    }

    /// Sets the hook that hears of losses; see [`on_loss`](Self::on_loss).
    pub fn with_loss_hook(mut self, on_loss: LossHook) -> Self {
        self.translator.on_loss = on_loss;
        self
    }

    /// Sets a hook that is called with each mistake of a client in a message that is not answered: it was left out because
    /// it is not valid or fits nothing, or it was taken as it was meant. Of one kind the first five are reported, and after
    /// that those whose count is a power of two.
    pub fn on_mistake(mut self, hook: impl Fn(&PeerMistake<'_>) + Send + Sync + 'static) -> Self {
        self.on_mistake = MistakeHook::new(hook);
        self
    }

    /// Returns whether the application declares a capability such as `["tools", "listChanged"]`.
    pub(super) fn declares(&self, path: &[&str]) -> bool {
        let introductions = self.introductions.as_ref();
        let capabilities = introductions.and_then(|it| it.capabilities(self.app()));
        capabilities.is_some_and(|it| declares(it, path))
    }

    /// Returns the revision that the handlers speak.
    #[must_use]
    pub fn app(&self) -> Revision {
        self.translator.app
    }

    /// Returns the revisions that are served.
    pub fn served(&self) -> RevisionSet {
        self.served
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}

mcp_wire::debug_struct!([] Server, "Server", self, "app": self.app(), "served": self.served, "limits": self.limits);
