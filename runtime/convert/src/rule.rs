//! A decision of `spec/shims/`, as the generator hands it to conversions.

use mcp_wire::{Extra, Json};

use crate::severity::Severity;

/// A rule of `spec/shims/`: losses are recorded under its id, with its severity.
///
/// Only generated code makes one. A hook works in a [`Ruled`](crate::Ruled) context, which speaks for one rule.
#[derive(Debug)]
#[must_use]
pub struct Rule {
    pub(crate) id: &'static str,
    pub(crate) reason: &'static str,
    severity: Severity,
    lesser: Option<Severity>,
    values: &'static [&'static str],
    members: Option<&'static [&'static str]>,
}

impl Rule {
    /// Creates a rule by which nothing is lost.
    pub const fn new(id: &'static str, reason: &'static str) -> Self {
        Self {
            id,
            reason,
            // What loses something without saying so matters.
            severity: Severity::Semantic,
            lesser: None,
            values: &[],
            members: None,
        }
    }

    /// Sets how much a loss by it matters [default: semantic].
    pub const fn losing(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Sets how much a loss by it matters that is one of its lesser ones.
    pub const fn lesser(mut self, severity: Severity) -> Self {
        self.lesser = Some(severity);
        self
    }

    /// Sets the values of the lesser severity: these texts, and objects that have no other members than these.
    pub const fn trivial(
        mut self,
        values: &'static [&'static str],
        members: Option<&'static [&'static str]>,
    ) -> Self {
        self.values = values;
        self.members = members;
        self
    }

    /// An unknown member whose name the other revision gives to something of its own: it stands in no file.
    pub const FOREIGN: Self = Self::new(
        "unknown-member-of-that-name",
        "what the sender's revision does not name means nothing there, and must not mean something here",
    )
    .losing(Severity::Cosmetic);

    /// A request that claims another revision than the one that it is of: it stands in no file.
    pub const CLAIM: Self = Self::new(
        "claim-of-another-revision",
        "a request claims the revision that it is of: of the receiver's, once it was converted",
    )
    .losing(Severity::Cosmetic);

    /// A change that is not decided yet: the rule is in no file.
    pub const UNDECIDED: Self = Self::new("undecided", "no rule says what becomes of it yet");

    /// What no conversion leads to: it stands in no file.
    pub const NO_COUNTERPART: Self = Self::new(
        "no-counterpart",
        "the other revision has nothing that says the same",
    );

    /// An opaque object that cannot be read: the rule is in no file.
    pub const UNREADABLE: Self = Self::new(
        "unreadable-object",
        "a name that is not a text has no meaning that everybody agrees on",
    );

    /// A part that is not valid in its sender's revision: it stands in no file.
    pub const INVALID: Self = Self::new(
        "invalid-in-source",
        "the sender's revision does not allow it: a mistake in one part costs that part, and not the message",
    )
    .losing(Severity::Invalid);

    /// An extension that only peers of the other lifecycle have: it stands in no file.
    pub const OTHER_LIFECYCLE: Self = Self::new(
        "extension-of-other-lifecycle",
        "the extension is not defined for the receiver's revision: it is not offered there",
    );

    /// The rules that stand in no file: this is where they are said, and no rule of a file may bear their ids.
    pub const BUILT_IN: [Self; 7] = [
        Self::FOREIGN,
        Self::CLAIM,
        Self::UNDECIDED,
        Self::NO_COUNTERPART,
        Self::UNREADABLE,
        Self::INVALID,
        Self::OTHER_LIFECYCLE,
    ];

    /// Returns its id.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// Returns the reason of the rule.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        self.reason
    }

    /// Returns the severity of a loss by the rule.
    pub(crate) fn severity_of(
        &self,
        lesser: bool,
        value: impl FnOnce() -> Option<Json>,
    ) -> Severity {
        // A value is spelled out only where there is something to compare it with.
        let has_trivial = !self.values.is_empty() || self.members.is_some();
        let is_trivial = || has_trivial && value().is_some_and(|value| self.is_trivial(&value));
        match self.lesser {
            Some(severity) if lesser || is_trivial() => severity,
            _ => self.severity,
        }
    }

    /// Returns whether a value says no more than its absence.
    pub(crate) fn is_default(&self, value: impl FnOnce() -> Option<Json>) -> bool {
        // A value is spelled out only where there is something to compare it with.
        !self.values.is_empty() && value().is_some_and(|value| self.values.contains(&value.text()))
    }

    fn is_trivial(&self, value: &Json) -> bool {
        if self.values.contains(&value.text()) {
            return true;
        }
        let Some(names) = self.members else {
            return false;
        };
        let members = value.read::<Extra>();
        members.is_ok_and(|members| members.iter().all(|(name, _)| names.contains(&name)))
    }
}
