//! The bridge's handling of a server's messages, and the moment at which requests of clients go out.

use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::client_transport::{Application, NOT_WAITED_FOR, OpenCall};
use mcp_revisions::sansio::client::{Answer, Answered, Event, OutgoingRequest, Reopened};
use mcp_revisions_core::{Lifecycle, PeerRole, Revision};
use tokio::sync::watch;
use tracing::{debug, error, info, warn};

use super::asked::{BridgedRequest, UpstreamDriver};
use super::listeners::Listeners;
use super::turns::QuestionTurns;
use crate::measures;
use crate::settings::BridgeSettings;

/// The application of a connection to a server.
pub(super) struct Proxied {
    pub(super) turns: QuestionTurns,
    pub(super) listeners: Listeners,
    pub(super) settings: Arc<BridgeSettings>,
    /// The revision that the server speaks.
    spoken: Revision,
    /// The revision of the client that the server was started for.
    pub(super) client: Revision,
    /// Says that the server has not ended.
    _alive: watch::Receiver<()>,
}

impl Proxied {
    pub(super) fn new(
        (client, listeners): (Revision, Listeners),
        settings: Arc<BridgeSettings>,
        alive: watch::Receiver<()>,
    ) -> Self {
        Self {
            turns: QuestionTurns::default(),
            listeners,
            settings,
            spoken: Revision::LATEST,
            client,
            _alive: alive,
        }
    }

    /// Reports a notification of the server that no client gets, by this rule.
    pub(super) fn lost(&self, method: &str, rule: &'static str) {
        let peer = (PeerRole::Client, self.client);
        self.settings
            .clients
            .losses
            .hook
            .tell_dropped(peer, method, rule);
    }
}

impl Application for Proxied {
    type Call = BridgedRequest;

    fn take(
        &mut self,
        server: &mut UpstreamDriver,
        ask: OutgoingRequest,
        open: OpenCall<BridgedRequest>,
    ) {
        // A client that calls in a session can be told things, even before word of its opening has come.
        if open.call.caller.revision.lifecycle() == Lifecycle::Handshake {
            self.listeners.add(open.call.peer.session());
        }
        if self.turns.admits(&open.call, server.calls()) {
            server.begin(ask, open);
        } else {
            self.turns.hold(ask, open, server.now());
        }
    }

    fn answered(&mut self, open: &OpenCall<BridgedRequest>, answered: &Answered) {
        if matches!(answered.answer, Answer::Result(_)) {
            self.turns.answered(&open.call);
        }
    }

    /// Returns the reason of the cancellation: that of the client, if it was the client who cancelled.
    fn cancel_reason(&self, open: &OpenCall<BridgedRequest>) -> Option<String> {
        match open.call.peer.cancellation() {
            Some(cancelled) => cancelled.reason.clone(),
            None => Some(NOT_WAITED_FOR.to_owned()),
        }
    }

    fn event(&mut self, server: &mut UpstreamDriver, event: Event) {
        match event {
            Event::Settled(facts) => self.spoken = facts.revision,
            Event::Request(call) => self.question(server, call, true),
            Event::CustomRequest(call) => self.question(server, call, false),
            Event::Notification(notice) => self.notice(server, notice),
            Event::CustomNotification(notice) => self.notice(server, notice),
            Event::Cancelled(cancelled) => self.turns.forget(cancelled.token),
            Event::Ignored(ignored) => {
                debug!(
                    server = self.settings.label(),
                    ?ignored,
                    "left out of what the server said"
                );
            }
            Event::Reopened(Reopened::Session) => info!(
                server = self.settings.label(),
                "the server has lost a session: it is open again, with its subscriptions and log level"
            ),
            Event::Reopened(Reopened::Changes) => {
                info!(
                    server = self.settings.label(),
                    "the stream of changes is open again: clients hear that all may have changed"
                );
            }
            Event::RequiresState(method, needs) => {
                warn!(server = self.settings.label(), method, %needs, "cannot be handed on");
            }
            _ => {}
        }
    }

    fn settle(&mut self, server: &mut UpstreamDriver) -> bool {
        self.take_turns(server)
    }

    fn wake_at(&self) -> Option<Duration> {
        self.turns.wake_at()
    }

    /// The sessions and subscriptions of clients end with their server, and calls that are open are answered before that.
    async fn closed(&mut self, server: &mut UpstreamDriver) {
        if !self.settings.is_among_others {
            for session in self.listeners.all() {
                session.end_after_calls();
            }
        }
        measures::ended_by_itself(&self.settings.name);
        let status = server.exit().await;
        let server = self.settings.label();
        error!(server, "a server has ended by itself{status}");
    }
}
