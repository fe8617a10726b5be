//! How much a loss matters.

use std::fmt;

/// The severity of a loss.
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
    /// Returns the name in rule files and in output.
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
