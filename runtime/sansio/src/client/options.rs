//! The options of a client: who it is, which revisions it speaks, how much it keeps.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use mcp_revisions_core::{Revision, RevisionSet, UnknownFields, UnknownRevision};
use mcp_wire::Json;

use crate::Limits;
use crate::Profile;
use crate::tasks::client::{revisions_with_extension, with_extension, without_extension};

/// Time that a server has to start unless the options say otherwise: packages and container images may be downloaded.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The kind of transport for the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// One message a line, to and from one process.
    Stdio,
    /// One message a POST, each answered by itself.
    Http,
}

/// The options of a client.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Options {
    pub(crate) channel: Channel,
    pub(crate) profile: Profile,
    pub(crate) revisions: RevisionSet,
    pub(crate) policy: UnknownFields,
    /// Limits of the data kept of a server, and for it.
    pub limits: Limits,
    pub(crate) own: Option<Revision>,
    pub(crate) likely: RevisionSet,
    pub(crate) probe_timeout: Duration,
    pub(crate) start_timeout: Duration,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) adapts: bool,
    pub(crate) takes_others: bool,
    /// Set if the results of calls may be tasks, which are then followed to their end.
    pub takes_tasks: bool,
    /// Set if each request declares that, and not only one that is to become a task.
    pub declares_tasks: bool,
    /// The revisions whose core has the messages of the extension for tasks.
    pub(crate) core_revisions: RevisionSet,
}

impl Options {
    /// Creates a client that speaks every revision.
    pub fn new(channel: Channel, profile: Profile) -> Self {
        Self {
            channel,
            profile,
            revisions: RevisionSet::all(),
            policy: UnknownFields::default(),
            limits: Limits::default(),
            own: None,
            likely: RevisionSet::none(),
            probe_timeout: Duration::from_secs(5),
            start_timeout: START_TIMEOUT,
            verdict: None,
            adapts: true,
            takes_others: false,
            takes_tasks: false,
            declares_tasks: false,
            core_revisions: revisions_with_extension(),
        }
    }

    /// Returns the options of a client of this profile over this channel.
    pub fn over(self, channel: Channel, profile: Profile) -> Self {
        Self {
            channel,
            profile,
            ..self
        }
    }

    /// Client capabilities of a per-request revision, with the extension if tasks are taken.
    pub(crate) fn with_extension(&self, capabilities: Json) -> Json {
        if !self.declares_tasks {
            return capabilities;
        }
        with_extension(&capabilities)
    }

    /// Client capabilities for servers of a revision: where its core has tasks, they declare no extension for them.
    pub(crate) fn declared_to(&self, revision: Revision, capabilities: Json) -> Json {
        if self.core_revisions.contains(revision) {
            without_extension(&capabilities)
        } else {
            capabilities
        }
    }

    /// Sets the revisions that it may speak. Default: all.
    pub fn with_revisions(mut self, revisions: RevisionSet) -> Self {
        self.revisions = revisions;
        self
    }

    /// Sets whether fields that an older server's revision does not name are dropped or preserved.
    pub fn with_unknown_fields(mut self, policy: UnknownFields) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the revision that is spoken with a server that has it, and that decides which other one is
    /// [nearest](super::lifecycle::order) [default: the revision of the application].
    pub fn with_own_revision(mut self, revision: Revision) -> Self {
        self.own = Some(revision);
        self
    }

    /// Sets the revisions that the server probably speaks, such as those of its server card: the first message is of the preferred
    /// one among them [default: among all]. Where the server refuses it, the others follow as without this.
    pub fn with_likely_revisions(mut self, likely: RevisionSet) -> Self {
        self.likely = likely;
        self
    }

    /// Sets how long a server over stdio may be silent about the probe before it is sent `initialize` as well [default: 5
    /// seconds]. A server that is silent about `initialize` is sent the probe as well after three times as long. A response
    /// to the first message that comes later still counts.
    pub fn with_probe_timeout(mut self, timeout: Duration) -> Self {
        self.probe_timeout = timeout;
        self
    }

    /// Sets how long a server may take until it is known which revision it speaks [default: 60 seconds]. The time counts from
    /// the first message to the server, or to the process that is started in its place. After it, requests that wait fail
    /// with [`NotStarted`](super::Failure::NotStarted), and the next request tries again.
    pub fn with_start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// Turns adapters off: input that a server requires is passed to the application as [`InputRequired`], and what the
    /// server's lifecycle has in another form fails with [`RequiresState`].
    ///
    /// [`InputRequired`]: crate::Answer::InputRequired
    /// [`RequiresState`]: super::Failure::NotConverted
    pub fn without_adapters(mut self) -> Self {
        self.adapts = false;
        self
    }

    /// Sends requests and notifications of methods that no revision has, or that are missing in the one revision which
    /// server and application both speak, as they are, but for what each request of the server's lifecycle says of its sender; and takes those of the server, which come as [`Event::CustomRequest`] and
    /// [`Event::CustomNotification`]. Nothing of them is converted.
    ///
    /// [`Event::CustomRequest`]: super::Event::CustomRequest
    /// [`Event::CustomNotification`]: super::Event::CustomNotification
    pub fn with_other_methods(mut self) -> Self {
        self.takes_others = true;
        self
    }

    /// Sets what an earlier client found out about the same server: the probe is left out.
    pub fn with_verdict(mut self, verdict: Verdict) -> Self {
        self.verdict = Some(verdict);
        self
    }
}

/// The revision of a server, to be kept for the next client of the same process or origin.
///
/// As text it is the id of the revision. A verdict that has become wrong is noticed and mended where the
/// server says so: a per-request one by `-32022` or an answer without its marks, a handshake one at `initialize`.
/// A server that has learned the per-request lifecycle since still answers `initialize`, so forget verdicts now and then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Verdict(pub Revision);

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Verdict {
    type Err = UnknownRevision;

    fn from_str(id: &str) -> Result<Self, UnknownRevision> {
        id.parse().map(Self)
    }
}
