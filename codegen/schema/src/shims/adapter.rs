//! What does what no conversion of one value can, by the name that rules call it.

use serde::{Deserialize, Serialize};

/// A small state machine of the runtime, that does what no conversion of one value can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", rename_all = "kebab-case")]
pub enum Adapter {
    /// `initialize` on one side, `_meta` of every request on the other.
    Handshake,
    /// Requests of the server on one side, `input_required` results on the other.
    MultiRoundTrip,
    /// A subscription per resource on one side, one stream on the other.
    Subscription,
    /// `logging/setLevel` on one side, a level in `_meta` on the other.
    LogLevel,
    /// Tasks, which the core protocol has in one revision only.
    Tasks,
    /// The id that ties a URL elicitation to its completion.
    UrlElicitationId,
}

impl Adapter {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Handshake,
        Self::MultiRoundTrip,
        Self::Subscription,
        Self::LogLevel,
        Self::Tasks,
        Self::UrlElicitationId,
    ];

    /// The name in rule files.
    #[must_use]
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

    /// The name of the variant of `mcp_convert::Adapter`.
    #[must_use]
    pub const fn variant(self) -> &'static str {
        match self {
            Self::Handshake => "Handshake",
            Self::MultiRoundTrip => "MultiRoundTrip",
            Self::Subscription => "Subscription",
            Self::LogLevel => "LogLevel",
            Self::Tasks => "Tasks",
            Self::UrlElicitationId => "UrlElicitationId",
        }
    }
}

impl TryFrom<String> for Adapter {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == name);
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("there is no adapter `{name}`; known: {names}")
        })
    }
}

impl std::fmt::Display for Adapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
