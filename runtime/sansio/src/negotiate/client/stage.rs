//! The stage of a client with its server: its first messages, and the facts that they settle.

use std::time::Duration;

use mcp_revisions_core::{Lifecycle, Revision, RevisionSet};

use super::lifecycle::order;
use crate::client::Verdict;
use crate::{Failure, ServerFacts};

/// The stage of a client with its server.
#[derive(Debug, Clone)]
pub(crate) enum NegotiationStage {
    /// Nothing is known, or what is known was handed in.
    Unknown(Option<Verdict>),
    /// The first messages are on their way.
    Starting(Starting),
    /// A revision is spoken.
    Settled(Settled),
}

/// The first messages to a server, until one of them settles the revision.
#[derive(Debug, Clone)]
pub(crate) struct Starting {
    /// The revisions whose first message is still to be sent, in this order.
    pub(super) steps: Vec<Revision>,
    /// The revisions whose first message was sent, in this order.
    pub(super) tried: Vec<Revision>,
    /// Those of them whose answers are awaited: at most one of each lifecycle.
    pub(super) awaited: RevisionSet,
    /// The server's answer to `server/discover`, while that to `initialize` is awaited.
    pub(super) discovered: Option<Box<ServerFacts>>,
    /// The failure of the requests that wait, if no other message settles the revision.
    pub(super) refusal: Option<Failure>,
    /// The revision of a server that refuses `server/discover` as a server of that lifecycle may: it is spoken if every step
    /// is refused.
    pub(super) fallback: Option<Revision>,
    /// When a server over stdio that is silent about a first message gets the next one as well.
    pub(super) silent_until: Option<Duration>,
    /// When the server has had its time.
    pub(super) until: Duration,
}

impl Starting {
    /// Notes that the first message of a revision is sent.
    pub(super) fn send(&mut self, revision: Revision) {
        self.steps.retain(|step| *step != revision);
        self.tried.push(revision);
        self.awaited = self.awaited.with(revision);
    }

    /// Takes the revision of the first message of a lifecycle whose answer is awaited.
    pub(super) fn take(&mut self, lifecycle: Lifecycle) -> Option<Revision> {
        let taken = self.awaited.latest(lifecycle)?;
        self.awaited = self.awaited.iter().filter(|it| *it != taken).collect();
        self.silent_until = None;
        Some(taken)
    }

    /// Returns the next step that can be taken while these answers are awaited.
    pub(super) fn next_step(&self) -> Option<Revision> {
        let mut steps = self.steps.iter().copied();
        steps.find(|step| !self.awaited.has(step.lifecycle()))
    }

    /// Returns whether the server has answered a later message than one whose answer is awaited: over stdio it reads them in
    /// their order.
    pub(super) fn has_skipped(&self, answered: Revision) -> bool {
        let mut tried = self.tried.iter();
        tried.find(|it| **it == answered || self.awaited.contains(**it)) != Some(&answered)
    }

    /// Returns whether a server has the longer time that it takes to answer `initialize`, unless it has had that time when it
    /// answered the message behind it.
    pub(super) fn waits_for_initialize(&self) -> bool {
        let is_first = self.tried.first().map(|it| it.lifecycle()) == Some(Lifecycle::Handshake);
        self.awaited.has(Lifecycle::Handshake) && !(is_first && self.discovered.is_some())
    }

    /// Leaves the steps of the revisions that a server names in answer to a message of this lifecycle. Only the per-request
    /// lifecycle has an error that names all versions of a server.
    pub(super) fn keep_named(&mut self, versions: &[String], own: Revision, lifecycle: Lifecycle) {
        let is_named = |step: &Revision| versions.iter().any(|it| it == step.protocol_version());
        let is_told = |step: &Revision| {
            is_named(step) || lifecycle == Lifecycle::Handshake && step.lifecycle() != lifecycle
        };
        let left = self.steps.iter().copied().filter(is_told).collect();
        self.steps = order(own, left);
        self.steps.sort_by_key(|step| !is_named(step));
    }

    /// Returns the reason why no revision is settled, once no step is left.
    pub(super) fn failure(&self) -> Failure {
        let refusal = self.refusal.clone();
        self.having_tried(refusal.unwrap_or(Failure::NoCommonRevision(Vec::new())))
    }

    /// Returns a failure that says what was tried, if that was more than one message.
    pub(super) fn having_tried(&self, failure: Failure) -> Failure {
        match self.tried.as_slice() {
            [] | [_] => failure,
            tried => Failure::NotNegotiated(Box::new(failure), tried.to_vec()),
        }
    }
}

/// The facts that are settled.
#[derive(Debug, Clone)]
pub(crate) struct Settled {
    pub(crate) revision: Revision,
    /// The `Mcp-Session-Id` of a handshake server.
    pub(crate) session: Option<String>,
    /// The number of that session; 0 without one.
    pub(crate) number: u64,
    /// Set if the server itself said so; a verdict that was handed in is not.
    pub(crate) confirmed: bool,
    /// Set if a handshake server has the `logging` capability.
    pub(crate) logging: bool,
    /// The log level of a session.
    pub(crate) log_level: Option<String>,
}

impl Settled {
    /// Returns a revision that the server speaks, without a session.
    pub(super) fn on(revision: Revision) -> Self {
        Self {
            revision,
            session: None,
            number: 0,
            confirmed: true,
            logging: false,
            log_level: None,
        }
    }
}

impl Default for NegotiationStage {
    fn default() -> Self {
        Self::Unknown(None)
    }
}

impl NegotiationStage {
    pub(crate) fn settled(&self) -> Option<&Settled> {
        match self {
            Self::Settled(settled) => Some(settled),
            Self::Unknown(_) | Self::Starting(_) => None,
        }
    }

    /// Returns the revision that is spoken.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.settled().map(|settled| settled.revision)
    }

    pub(super) fn starting(&self) -> Option<&Starting> {
        match self {
            Self::Starting(starting) => Some(starting),
            Self::Unknown(_) | Self::Settled(_) => None,
        }
    }

    pub(super) fn starting_mut(&mut self) -> Option<&mut Starting> {
        match self {
            Self::Starting(starting) => Some(starting),
            Self::Unknown(_) | Self::Settled(_) => None,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Duration> {
        let Starting {
            silent_until,
            until,
            ..
        } = self.starting()?;
        Some(silent_until.map_or(*until, |silent| silent.min(*until)))
    }

    /// The server has answered in the revision that is settled.
    pub(crate) fn confirm(&mut self) {
        if let Self::Settled(settled) = self {
            settled.confirmed = true;
        }
    }

    /// Takes note of a log level; the revision to ask for it in, if the session has another one.
    pub(crate) fn new_log_level(&mut self, level: &str) -> Option<Revision> {
        let Self::Settled(settled) = self else {
            return None;
        };
        if !settled.logging || settled.log_level.as_deref() == Some(level) {
            return None;
        }
        settled.log_level = Some(level.to_owned());
        Some(settled.revision)
    }
}
