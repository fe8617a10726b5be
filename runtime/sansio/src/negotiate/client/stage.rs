//! The stage of a client with its server: its first messages, and the facts that they settle.

use std::time::Duration;

use mcp_revisions_core::{Revision, RevisionSet};

use crate::Failure;
use crate::client::Verdict;

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
    /// The id of `server/discover` while its response is awaited, and the revision that it claims.
    pub(super) probe: Option<(i64, Revision)>,
    /// The id of `initialize` while its response is awaited.
    pub(super) handshake: Option<i64>,
    /// The revisions of all of these messages.
    pub(super) tried: RevisionSet,
    /// The failure of the requests that wait, if no other message settles the revision.
    pub(super) refusal: Option<Failure>,
    /// When a server over stdio that is silent about its first message is sent that of the other lifecycle as well.
    pub(super) silent_until: Option<Duration>,
    /// When the server has had its time.
    pub(super) until: Duration,
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
