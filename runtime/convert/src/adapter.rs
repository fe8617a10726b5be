//! What does what no conversion of one value can, by the name that rules call it.

use std::str::FromStr;

/// An adapter: a state machine of the runtime, by name.
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

mcp_wire::strings! {
    Adapter {
        Handshake "handshake";
        MultiRoundTrip "multi-round-trip";
        Subscription "subscription";
        LogLevel "log-level";
        Tasks "tasks";
        UrlElicitationId "url-elicitation-id";
    }
}

impl FromStr for Adapter {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == name);
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("there is no adapter `{name}`; known: {names}")
        })
    }
}

impl serde::Serialize for Adapter {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Adapter {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}
