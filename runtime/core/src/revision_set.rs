//! Sets of revisions, such as those that a server is willing to serve.

use std::fmt;

use mcp_revisions_tables::{Lifecycle, Revision};

/// A set of revisions that differ on the wire: the draft counts as the revision whose protocol version it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[must_use]
pub struct RevisionSet(u32);

impl RevisionSet {
    /// Returns the empty set.
    pub const fn none() -> Self {
        Self(0)
    }

    /// Returns every revision that can be negotiated.
    pub fn all() -> Self {
        Revision::NEGOTIATED.iter().copied().collect()
    }

    /// Returns the revisions that open with a handshake.
    pub fn handshake() -> Self {
        Self::of_lifecycle(Lifecycle::Handshake)
    }

    /// Returns the revisions that are claimed by each request.
    pub fn per_request() -> Self {
        Self::of_lifecycle(Lifecycle::PerRequest)
    }

    fn of_lifecycle(lifecycle: Lifecycle) -> Self {
        (Revision::NEGOTIATED.iter().copied())
            .filter(|revision| revision.lifecycle() == lifecycle)
            .collect()
    }

    /// Returns whether the set has the revision.
    #[must_use]
    pub fn contains(self, revision: Revision) -> bool {
        self.0 & Self::bit(revision) != 0
    }

    /// Adds a revision.
    pub fn with(self, revision: Revision) -> Self {
        Self(self.0 | Self::bit(revision))
    }

    /// Returns the revisions that both sets have.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns whether the set has no revision.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the revisions, latest first.
    pub fn iter(self) -> impl Iterator<Item = Revision> {
        let all = Revision::NEGOTIATED.iter().copied().enumerate().rev();
        let own = all.filter(move |(index, _)| self.0 & Self::bit_at(*index) != 0);
        own.map(|(_, revision)| revision)
    }

    /// Returns the latest revision of a lifecycle.
    #[must_use]
    pub fn latest(self, lifecycle: Lifecycle) -> Option<Revision> {
        self.iter()
            .find(|revision| revision.lifecycle() == lifecycle)
    }

    /// Returns whether the set has a revision of a lifecycle.
    #[must_use]
    pub fn has(self, lifecycle: Lifecycle) -> bool {
        self.latest(lifecycle).is_some()
    }

    /// Returns their protocol versions, latest first.
    #[must_use]
    pub fn protocol_versions(self) -> Vec<&'static str> {
        self.iter().map(Revision::protocol_version).collect()
    }

    fn bit(revision: Revision) -> u32 {
        let mut all = Revision::NEGOTIATED.iter();
        let wire = || revision.protocol_version();
        let index = (all.clone().position(|one| *one == revision))
            .or_else(|| all.position(|one| one.protocol_version() == wire()));
        index.map_or(0, Self::bit_at)
    }

    fn bit_at(index: usize) -> u32 {
        1_u32.wrapping_shl(u32::try_from(index).unwrap_or(31))
    }
}

impl FromIterator<Revision> for RevisionSet {
    fn from_iter<I: IntoIterator<Item = Revision>>(revisions: I) -> Self {
        revisions.into_iter().fold(Self::none(), Self::with)
    }
}

impl fmt::Display for RevisionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        f.write_str(&self.protocol_versions().join(", "))
    }
}
