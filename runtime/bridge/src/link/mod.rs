//! The bridge's end towards a server, for one client: a handle to the connection, and the application behind it.

mod asked;
mod listeners;
pub(crate) mod negotiate;
mod notices;
mod proxied;
mod questions;
mod turns;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_revisions::client_transport::{Handle, RequestReply};
use mcp_revisions::sansio::client::{
    Answer, Answered, Failure, OutgoingRequest, ServerFacts, Verdict,
};
use mcp_revisions::sansio::driver::names_stream;
use mcp_revisions::sansio::server::{AppProfile, Caller, LogLevel};
use mcp_revisions::serve::Session;
use mcp_revisions::{RevisionSet, client_transport::ClientOperation, sansio::errors};
use mcp_revisions_core::{Lifecycle, Revision, methods};
use mcp_wire::{EXCERPT, ErrorObject, Json, excerpt};
use tokio::sync::watch;
use tracing::{debug, info, warn};

use crate::Error;
use crate::settings::BridgeSettings;
pub(crate) use asked::{BridgedRequest, Rewrite};
use listeners::Listeners;
use notices::not_valid;
use proxied::Proxied;

/// Maximum time for a server to end.
const SLOW: Duration = Duration::from_secs(10);

/// Maximum time for a client to make room for a notification in its call.
const MAKES_ROOM: Duration = Duration::from_secs(10);

/// The error of a stream of an extension whose client lets its events wait.
const NOT_READ: &str = "the client does not read its stream: open it again";

/// Returns the params of a message; `None` for those that stand for none.
fn if_any(params: &Json) -> Option<&Json> {
    Some(params).filter(|params| params.text() != "{}")
}

/// The end towards a server; clones are the same one.
#[derive(Clone)]
pub(crate) struct ServerLink {
    handle: Handle<BridgedRequest>,
    listeners: Listeners,
    settings: Arc<BridgeSettings>,
    spoken: Revision,
    profile: Option<AppProfile>,
    /// The lists that were compared with the lock.
    pub(crate) compared: Arc<tokio::sync::Mutex<BTreeSet<&'static str>>>,
}

impl ServerLink {
    /// Connects to the server, on behalf of a client that is served in the revision `app`, or in that of the server. Finds out
    /// which revision the server speaks, and what it is, unless that is `known`. Holds `alive` until the server has ended.
    /// Fails for a server that cannot be used, or does not say what it is: clients get nothing that is made up.
    pub(crate) async fn start(
        settings: &Arc<BridgeSettings>,
        caller: &Caller,
        app: Option<Revision>,
        known: Option<ServerFacts>,
        alive: watch::Receiver<()>,
    ) -> Result<(Self, ServerFacts), Error> {
        let spoken = known.as_ref().map(|known| known.revision);
        let one = spoken.map(|spoken| RevisionSet::none().with(spoken));
        let revisions = one.unwrap_or(settings.upstream_revisions);
        let mut options = negotiate::options(settings, caller, revisions);
        if let Some(spoken) = spoken {
            options = options.with_verdict(Verdict(spoken));
        }
        // A message of the server before its clients are known to be served in another revision is probably in this one.
        let client = settings.first_client(app.unwrap_or(caller.revision), options);
        let listeners = Listeners::of(caller.revision.lifecycle());
        let client_of = (caller.revision, listeners.clone());
        let proxied = Proxied::new(client_of, Arc::clone(settings), alive);
        let first = match caller.revision.lifecycle() {
            Lifecycle::Handshake => methods::INITIALIZE,
            Lifecycle::PerRequest => methods::SERVER_DISCOVER,
        };
        let operation = ClientOperation::begin(first, settings.label());
        let connected = negotiate::connect(settings, client, proxied).await;
        match &connected {
            Ok((_, facts)) => operation.end(Ok(&Json::default()), Some(facts.revision)),
            Err(error) => operation.end(Err(Some(&error.to_response())), None),
        }
        let (handle, facts) = connected?;
        // A server of the per-request lifecycle is not asked again.
        let mut facts = match known {
            Some(known) if facts.result.is_none() => known,
            _ => facts,
        };
        let mut link = Self {
            handle,
            listeners,
            settings: Arc::clone(settings),
            spoken: facts.revision,
            profile: None,
            compared: Arc::default(),
        };
        if facts.result.is_none() {
            link.close().await;
            let revision = facts.revision;
            return Err(settings.silent(revision));
        }
        if let Some(lock) = &settings.lock
            && let Err(differs) = lock.admit(settings, &mut facts)
        {
            link.close().await;
            return Err(differs);
        }
        if app.is_none() {
            link.profile = Some(settings.profile(&facts)?);
        }
        Ok((link.serving(app.unwrap_or(facts.revision), caller), facts))
    }

    /// Goes on with a connection that has been negotiated, in the revision `app`, on behalf of a client.
    fn serving(self, app: Revision, caller: &Caller) -> Self {
        let spoken = self.spoken;
        let options = negotiate::options(&self.settings, caller, RevisionSet::none().with(spoken));
        self.handle.continue_as(self.settings.client(app, options));
        let named = caller
            .info
            .as_ref()
            .map_or("one that is not named", Json::text);
        let named = excerpt(named, EXCERPT);
        let server = self.settings.label();
        info!(server, client = named, "the server speaks {spoken}");
        self
    }

    /// Returns the server as its clients see it; `None` if they are served in a revision of the bridge's own.
    pub(crate) fn profile(&self) -> Option<&AppProfile> {
        self.profile.as_ref()
    }

    /// Asks the server something, and hands its client what the server tells meanwhile; given up if it is not waited for. Fails
    /// for a server that has ended, or takes nothing of what it is sent.
    pub(crate) async fn ask(
        &self,
        ask: OutgoingRequest,
        asked: BridgedRequest,
    ) -> Result<Answered, ErrorObject> {
        let (peer, method) = (asked.peer.clone(), asked.method.clone());
        let (rewrite, loses) = (asked.rewrite.clone(), Arc::clone(&asked.loses));
        let is_broken =
            |params: &Json| method != methods::SUBSCRIPTIONS_LISTEN && names_stream(params);
        let mut replies = self.handle.ask(ask, asked).await;
        let (mut patience, mut lost) = (MAKES_ROOM, 0_u64);
        loop {
            match replies.next().await {
                None => return Err(errors::internal("the server has ended").error),
                Some(RequestReply::Refused(refused)) => {
                    return Err(errors::internal(&refused.to_string()).error);
                }
                Some(RequestReply::Answered(answered)) => {
                    if lost > 1 {
                        warn!(
                            server = self.settings.label(),
                            method, lost, "notifications of a call did not reach its client"
                        );
                    }
                    if let Answer::Failed(Failure::Transport(why)) = &answered.answer {
                        let server = self.settings.label();
                        warn!(server, method, "no answer of the server arrived: {why}");
                    }
                    return Ok(answered);
                }
                // A client that has tasks of another form gets one of those; any other one waits.
                Some(RequestReply::Task(task)) => {
                    peer.start_task().await?;
                    if let Some(message) = task.message {
                        peer.describe_task(message).await;
                    }
                }
                Some(RequestReply::Notification(told, params)) => {
                    let params = match &rewrite {
                        Some(rewrite) => rewrite.apply(&told, params),
                        None => Some(params),
                    };
                    let Some(params) = params else { continue };
                    // The client opens the stream of an extension again, and goes on from its position.
                    if loses.load(Ordering::Acquire) && is_broken(&params) {
                        return Err(errors::internal(NOT_READ).error);
                    }
                    let room = tokio::time::timeout(patience, peer.notify(&told, if_any(&params)));
                    match room.await {
                        Ok(fate) => {
                            if let Some(ignored) = not_valid(&told, &fate) {
                                self.handle.leave_out(ignored);
                            }
                        }
                        Err(_) if is_broken(&params) => {
                            return Err(errors::internal(NOT_READ).error);
                        }
                        Err(_) => {
                            lost += 1;
                            if lost == 1 {
                                let server = self.settings.label();
                                warn!(
                                    server,
                                    method, told, "lost: the client does not read its call"
                                );
                            }
                            // One that was waited for in vain gets what it has room for.
                            patience = Duration::ZERO;
                        }
                    }
                }
            }
        }
    }

    /// Tells the server something.
    pub(crate) async fn notify(&self, method: &str, params: Option<Json>) {
        match self.handle.notify(method, params).await {
            Ok(said) => {
                debug!(method, fate = ?said.fate, "sent to the server");
            }
            Err(refused) => debug!(method, "not sent: {refused}"),
        }
    }

    /// Asks the server for log messages from this level on.
    pub(crate) async fn set_log_level(&self, level: LogLevel) {
        self.handle.set_log_level(level.as_str()).await;
    }

    /// Adds a session that takes notifications.
    pub(crate) fn on_initialized(&self, session: Session) {
        self.listeners.add(session);
    }

    /// Lets the server end, and waits until it has.
    pub(crate) async fn close(self) {
        // However it ends.
        let _ = tokio::time::timeout(SLOW, self.handle.close()).await;
    }

    /// Returns whether a client takes notifications outside of calls.
    pub(crate) fn is_listened_to(&self) -> bool {
        !self.listeners.is_empty()
    }

    /// Returns the revision that the server speaks.
    pub(crate) fn spoken(&self) -> Revision {
        self.spoken
    }

    /// Returns whether the server has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.handle.has_ended()
    }

    /// Waits until the server has ended.
    pub(crate) async fn ended(&self) {
        self.handle.ended().await;
    }
}
