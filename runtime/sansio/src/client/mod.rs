//! A client whose application speaks one revision, and whose servers may speak any.
//!
//! [`Client`] holds the options. A [`Connection`] of it runs: the application asks ([`Connection::ask`]), the
//! driver hands in what came ([`Connection::receive`], [`Connection::answered`]) and the time, and both take what is to
//! be done from [`Connection::poll`] until there is nothing more.
//!
//! The first message is of the application's own revision: `initialize`, or `server/discover`, which have no effects. A
//! server that refuses one is sent the other. Requests wait until the revision is known, for the start timeout at most;
//! [`Connection::verdict`] can be kept for the next client of the same server.
//!
//! ```
//! use std::time::Duration;
//! use mcp_revisions_sansio::client::{OutgoingRequest, Channel, Client, Connection, Options, Output, Profile};
//! use mcp_revisions_core::{Revision, v2025_11_25 as app};
//!
//! let profile = Profile::new(
//!     &app::Implementation::new("probe", mcp_wire::args::Version("1.0")),
//!     &app::ClientCapabilities::new(),
//! );
//! let client = Client::new(Revision::V2025_11_25, Options::new(Channel::Stdio, profile));
//! let mut connection = Connection::new(client);
//! let now = Duration::ZERO;
//! connection.ask(OutgoingRequest::new("tools/list", None), now)?;
//!
//! // The server gets `initialize` first, in the revision of the application.
//! let Some(Output::Send(initialize)) = connection.poll() else { panic!("nothing to send") };
//! assert!(initialize.text.contains(r#""protocolVersion":"2025-11-25""#));
//!
//! // A server of the other lifecycle does not know it: `server/discover` follows, then what the application asked.
//! connection.receive(None, br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}"#, now);
//! let Some(Output::Send(probe)) = connection.poll() else { panic!("nothing to send") };
//! assert!(probe.text.contains(r#""method":"server/discover""#));
//! # Ok::<(), Box<mcp_revisions_sansio::client::Failure>>(())
//! ```

// Methods of a connection stand where the message is that they serve:
//
// | message | file |
// |---|---|
// | any text of the server, and its responses; texts that are not a message | answer, unread |
// | `initialize`, `server/discover` | negotiate::client |
// | requests of the application | send |
// | requests and notifications of the server | peer |
// | HTTP responses, and exchanges that end | post |
// | sessions that are lost, `logging/setLevel` | session |
// | `tools/list`, for the parameters in headers | tools |
// | results with `inputRequests` | input_required::client |
// | `subscriptions/listen`, `resources/subscribe` | subscriptions::client |
// | `tasks/*` | tasks::client |
mod answer;
mod connection;
pub(crate) mod mend;
mod options;
pub(super) mod peer;
mod post;
pub(super) mod requests;
mod send;
pub(super) mod session;
pub(super) mod stamp;
mod tools;
pub(crate) mod translate;
mod unread;

use std::sync::Arc;

use mcp_revisions_core::{Lifecycle, LossHook, Revision, RevisionSet, Session, Severity};
use mcp_wire::Direction;

pub use super::negotiate::client::lifecycle;
pub use super::{
    Answer, Answered, Caller, Cancelled, Connection, CustomNotification, CustomRequest, Event,
    Exchange, Failure, Fate, Ignored, IncomingRequest, InputRequired, MendedMessage, NeededSignIn,
    Notification, OutgoingRequest, Output, Profile, Question, Reopened, Retry, SendOutcome,
    ServerFacts, TaskState, TaskStatus, To, Token,
};
pub use options::{Channel, Options, Verdict};
pub use send::Post;

use crate::Limits;
use crate::mistakes::MistakeHook;
pub use crate::mistakes::{MistakeOutcome, PeerMistake};
use crate::translate::{Translator, translator};
pub use mcp_revisions_core::{MessageLosses, PeerRole};
use requests::{AppRequest, PendingRequest, RequestPurpose, ServerCall};

/// The options of a client whose application speaks one revision.
#[derive(Debug)]
#[must_use]
pub struct Client {
    pub(super) options: Options,
    pub(super) translator: Translator,
    pub(super) on_mistake: MistakeHook,
}

impl Client {
    /// Creates a client whose application speaks the revision `app`, one of [`Revision::CONVERTED`].
    pub fn new(app: Revision, options: Options) -> Self {
        let mut translator = translator(app, Direction::ClientToServer);
        translator.policy = options.policy;
        let latest = RevisionSet::per_request().latest(Lifecycle::PerRequest);
        let capabilities =
            latest.and_then(|latest| translator.capabilities_of(&options.profile, latest));
        translator.session = Some(Arc::new(Session {
            client_capabilities: capabilities.map(|it| options.with_extension(it)),
            ..Session::default()
        }));
        Self {
            translator,
            options,
            on_mistake: MistakeHook::default(),
        }
    }

    /// Sets a hook that is called for each message that lost something on its way to or from the server, and for each that
    /// was refused or dropped.
    pub fn on_loss(self, hook: impl Fn(&MessageLosses<'_>) + Send + Sync + 'static) -> Self {
        self.with_loss_hook(LossHook::new(hook))
    }

    /// Sets a hook that is called with each mistake of the server: a message that was left out because it is not valid or
    /// fits nothing, or that was taken as it was meant. Of one kind the first five are reported, and after that those whose
    /// count is a power of two.
    pub fn on_mistake(mut self, hook: impl Fn(&PeerMistake<'_>) + Send + Sync + 'static) -> Self {
        self.on_mistake = MistakeHook::new(hook);
        self
    }

    /// Sets the hook that hears of losses; see [`on_loss`](Self::on_loss).
    pub fn with_loss_hook(mut self, on_loss: LossHook) -> Self {
        self.translator.on_loss = on_loss;
        self
    }

    /// Refuses each request that has a loss of this severity or worse, itself or in its result; none by default.
    pub fn with_rejected_loss(mut self, severity: Option<Severity>) -> Self {
        self.translator.rejected = severity;
        self
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Returns the revision that the application speaks.
    #[must_use]
    pub fn app(&self) -> Revision {
        self.translator.app
    }

    /// Returns the revision that is preferred with servers.
    pub(super) fn own(&self) -> Revision {
        self.options.own.unwrap_or(self.app())
    }
}
