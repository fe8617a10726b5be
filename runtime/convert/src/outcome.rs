//! What a conversion came to.

use std::fmt;

use mcp_wire::{ErrorObject, Json};

/// What a conversion came to.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a conversion may have lost something, or not have happened"]
pub enum Outcome<T> {
    /// Nothing was lost: the way back gives the same value.
    Exact(T),
    /// The value could be carried over but for these parts.
    ///
    /// Put back one after the other into what the way back gives, they make the value that was converted.
    Lossy(T, Vec<Loss>),
    /// The conversion needs to know more than the value: the business of an adapter in the runtime.
    NeedsState(NeedsState),
    /// The other revision has no such thing; this is the error that the spec calls for.
    Rejected(ErrorObject),
    /// The other revision has no such notification, and nobody waits for an answer: by this rule it ends here.
    Swallowed(&'static str),
}

impl<T> Outcome<T> {
    /// The value, if there is one, whatever was lost.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Exact(value) | Self::Lossy(value, _) => Some(value),
            Self::NeedsState(_) | Self::Rejected(_) | Self::Swallowed(_) => None,
        }
    }

    /// What was lost.
    pub fn losses(&self) -> &[Loss] {
        match self {
            Self::Lossy(_, losses) => losses,
            _ => &[],
        }
    }

    /// Whether nothing was lost.
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::Exact(_))
    }

    /// The same outcome of another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Exact(value) => Outcome::Exact(change(value)),
            Self::Lossy(value, losses) => Outcome::Lossy(change(value), losses),
            Self::NeedsState(needs) => Outcome::NeedsState(needs),
            Self::Rejected(error) => Outcome::Rejected(error),
            Self::Swallowed(rule) => Outcome::Swallowed(rule),
        }
    }
}

/// A part of a value that could not be carried over as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// JSON pointer of the part in the value before the hop that lost it.
    pub pointer: String,
    /// The hop, as `2025-11-25..2025-06-18`.
    pub hop: &'static str,
    /// The rule in `spec/shims/` that says so.
    pub rule: &'static str,
    /// How much it matters.
    pub kind: LossKind,
    /// What happened at that place.
    pub change: Change,
    /// What stood there; absent where nothing did, and the conversion put something there.
    pub value: Option<Json>,
}

/// What a conversion did at the place of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// Nothing stands there now: a member was left out, or an item of a list, so that those after it moved up.
    Removed,
    /// Something else stands there now.
    Replaced,
    /// Nothing stood there, and something does now.
    Added,
}

impl Change {
    /// The name in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Replaced => "replaced",
            Self::Added => "added",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pointer,
            hop,
            rule,
            kind,
            change,
            value,
        } = self;
        let place = if pointer.is_empty() {
            "the root"
        } else {
            pointer
        };
        write!(f, "{kind} loss at {place} ({hop}, {rule}): {change}")?;
        match value {
            Some(value) => write!(f, " {}", shortened(value.text())),
            None => Ok(()),
        }
    }
}

/// At most 60 characters of a text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// How much a loss matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LossKind {
    /// It shows: an icon, a display name, a hint for caches.
    Cosmetic,
    /// It changes what the message says or what can be done with it.
    Semantic,
    /// A person could have been interrupted, and now is not.
    Interaction,
    /// A hint that guards against harm is gone.
    Safety,
}

impl LossKind {
    /// The name in rule files and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cosmetic => "cosmetic",
            Self::Semantic => "semantic",
            Self::Interaction => "interaction",
            Self::Safety => "safety",
        }
    }
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a conversion needs that no value holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeedsState {
    /// Whose business it is.
    pub adapter: Adapter,
    /// The rule in `spec/shims/` that says so.
    pub rule: &'static str,
    /// The hop, as `2025-11-25..2026-07-28`.
    pub hop: &'static str,
}

impl fmt::Display for NeedsState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "needs the {} adapter ({}, {})",
            self.adapter, self.hop, self.rule
        )
    }
}

/// A small state machine of the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Adapter {
    /// `initialize` on one side, `_meta` of every request on the other.
    Handshake,
    /// Requests of the server on one side, `input_required` results on the other.
    MultiRoundTrip,
    /// `resources/subscribe` on one side, `subscriptions/listen` on the other.
    Subscription,
    /// `logging/setLevel` on one side, a level in `_meta` on the other.
    LogLevel,
    /// Tasks, which the core protocol has in one revision only.
    Tasks,
    /// The id that ties a URL elicitation to its completion.
    UrlElicitationId,
}

impl Adapter {
    /// The name in rule files and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::MultiRoundTrip => "multi-round-trip",
            Self::Subscription => "subscription",
            Self::LogLevel => "log-level",
            Self::Tasks => "tasks",
            Self::UrlElicitationId => "url-elicitation-id",
        }
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a conversion ended without a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// See [`Outcome::NeedsState`].
    NeedsState(NeedsState),
    /// See [`Outcome::Rejected`]; boxed, since it is rare and large.
    Rejected(Box<ErrorObject>),
    /// See [`Outcome::Swallowed`].
    Swallowed(&'static str),
}
