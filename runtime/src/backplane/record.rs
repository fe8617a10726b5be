//! What a replica must know of a session to run it: the messages that made it what it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use mcp_wire::{Json, Map, MessageKind, Peeked, peek};

use crate::methods;
use crate::protocol::server::Owner;

/// The methods of the messages that make a session what it is.
const NOTED: [&str; 5] = [
    methods::INITIALIZE,
    methods::NOTIFICATIONS_INITIALIZED,
    methods::LOGGING_SET_LEVEL,
    methods::RESOURCES_SUBSCRIBE,
    methods::RESOURCES_UNSUBSCRIBE,
];

/// The maximum number of bytes of the messages of a record.
const MAX_BYTES: usize = 256 << 10;

/// Returns whether a message may change what its session is: a batch may hold one that does.
pub(crate) fn may_be_noted(message: &Peeked<'_>) -> bool {
    let method = message.method.as_deref();
    message.kind == MessageKind::Batch || method.is_some_and(|method| NOTED.contains(&method))
}

/// A session, as a replica that takes it over needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionRecord {
    /// The address of the replica that runs it.
    pub home: String,
    /// How often it was taken over.
    pub generation: u32,
    /// Whose it is.
    pub owner: Owner,
    /// Whether another replica may run it; else it ends with its home.
    pub can_move: bool,
    /// The messages of its client that made it what it is, in order: `initialize`, `notifications/initialized`, the last
    /// `logging/setLevel`, and its subscriptions; at most 256 KiB of them. Copies of a record share them.
    pub messages: Vec<Arc<str>>,
}

/// A text that is the record of no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a record of a session: {0}")]
pub struct BrokenRecord(String);

impl SessionRecord {
    /// Creates the record of a session that is opened.
    #[must_use]
    pub fn new(home: impl Into<String>, owner: Owner) -> Self {
        Self {
            home: home.into(),
            generation: 0,
            owner,
            can_move: true,
            messages: Vec::new(),
        }
    }

    /// Takes note of a message of its client. Returns whether it changes what the session is.
    ///
    /// A message beyond the 256 KiB is not noted: a subscription ends with its replica then, and without its `initialize` the
    /// session itself does.
    pub(crate) fn note(&mut self, message: &Peeked<'_>) -> bool {
        let method = message.method.as_deref().unwrap_or_default();
        if !NOTED.contains(&method) {
            return false;
        }
        let uri = uri_of(message);
        let is_about_resource = method.starts_with("resources/");
        let is_replaced = |old: &Peeked<'_>| match is_about_resource {
            true => {
                old.method.as_deref() == Some(methods::RESOURCES_SUBSCRIBE) && uri_of(old) == uri
            }
            false => old.method.as_deref() == Some(method),
        };
        (self.messages).retain(|text| !peek(text.as_bytes()).is_ok_and(|old| is_replaced(&old)));
        if method == methods::RESOURCES_UNSUBSCRIBE {
            return true;
        }
        let kept: usize = self.messages.iter().map(|text| text.len()).sum();
        let is_first = method == methods::INITIALIZE;
        if kept + message.text.len() > MAX_BYTES {
            self.can_move &= !is_first;
            return true;
        }
        let place = if is_first { 0 } else { self.messages.len() };
        self.messages.insert(place, message.text.into());
        true
    }

    /// Returns the resources that its client has subscribed to.
    pub(crate) fn subscribed(&self) -> BTreeSet<String> {
        let messages = self.messages.iter();
        let messages = messages.filter_map(|text| peek(text.as_bytes()).ok());
        let subscribed = messages
            .filter(|message| message.method.as_deref() == Some(methods::RESOURCES_SUBSCRIBE));
        subscribed.filter_map(|message| uri_of(&message)).collect()
    }

    /// Returns the record as JSON.
    #[must_use]
    pub fn to_text(&self) -> String {
        let owner = match &self.owner {
            Owner::Unknown => String::new(),
            Owner::Principal(name) => format!("principal:{name}"),
            Owner::Address(address) => format!("address:{address}"),
        };
        let messages: Vec<&str> = self.messages.iter().map(|text| &**text).collect();
        let members = [
            ("home", Json::of(self.home.as_str())),
            ("generation", Json::of(&i64::from(self.generation))),
            ("owner", Json::of(owner.as_str())),
            ("canMove", Json::of(&self.can_move)),
            ("messages", Json::of(&messages)),
        ];
        Json::of(&Map::from_iter(members)).text().to_owned()
    }

    /// Reads the record out of JSON.
    ///
    /// # Errors
    /// Returns an error if the text is not one that [`to_text`](Self::to_text) writes.
    pub fn from_text(text: &str) -> Result<Self, BrokenRecord> {
        let broken = |why: &dyn std::fmt::Display| BrokenRecord(why.to_string());
        let json = Json::from_text(text).map_err(|error| broken(&error))?;
        let members: Map<Json> = json.read().map_err(|error| broken(&error))?;
        let member = |name: &str| {
            let member = members.get(name);
            member.ok_or_else(|| broken(&format_args!("`{name}` is missing")))
        };
        let text_of = |name: &str| {
            let text = member(name)?.as_str().map(std::borrow::Cow::into_owned);
            text.ok_or_else(|| broken(&format_args!("`{name}` is not a string")))
        };
        let owner = text_of("owner")?;
        let owner = match owner.split_once(':') {
            Some(("principal", name)) => Owner::Principal(name.into()),
            Some(("address", address)) => {
                Owner::Address(address.parse().map_err(|error| broken(&error))?)
            }
            _ => Owner::Unknown,
        };
        let generation = member("generation")?.text().parse();
        let messages: Vec<String> = (member("messages")?.read()).map_err(|error| broken(&error))?;
        Ok(Self {
            home: text_of("home")?,
            generation: generation.map_err(|error| broken(&error))?,
            owner,
            can_move: member("canMove")?.text() == "true",
            messages: messages.into_iter().map(Arc::from).collect(),
        })
    }
}

/// The resource that a message is about.
fn uri_of(message: &Peeked<'_>) -> Option<String> {
    Some(message.uri?.as_str()?.into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    fn noted(record: &mut SessionRecord, method: &str, params: &str) -> bool {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        record.note(&peek(text.as_bytes()).unwrap())
    }

    #[test]
    fn a_record_is_read_as_it_is_written_whoever_owns_it() {
        for owner in [
            Owner::Unknown,
            Owner::Principal("a:da \"\u{e9}".into()),
            Owner::Address("::1".parse().unwrap()),
        ] {
            let mut record = SessionRecord::new("0a0b0c0d", owner);
            noted(&mut record, "initialize", r#"{"protocolVersion":"x"}"#);
            record.generation = 3;
            assert_eq!(SessionRecord::from_text(&record.to_text()), Ok(record));
        }
        for wrong in ["", "{}", "[]", r#"{"home":1}"#] {
            assert!(SessionRecord::from_text(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_last_level_and_what_is_still_subscribed_to_are_kept_and_no_calls() {
        let mut record = SessionRecord::new("h", Owner::Unknown);
        for (method, params) in [
            ("initialize", "{}"),
            ("notifications/initialized", "{}"),
            ("logging/setLevel", r#"{"level":"debug"}"#),
            ("resources/subscribe", r#"{"uri":"a:0"}"#),
            ("resources/subscribe", r#"{"uri":"a:1"}"#),
            ("resources/subscribe", r#"{"uri":"a:2"}"#),
            ("logging/setLevel", r#"{"level":"error"}"#),
            ("resources/unsubscribe", r#"{"uri":"a:1"}"#),
            ("resources/subscribe", r#"{ "uri" : "a:2" }"#),
        ] {
            assert!(noted(&mut record, method, params), "{method}");
        }
        assert!(!noted(&mut record, "tools/call", r#"{"name":"t"}"#));
        let kept: Vec<_> = (record.messages.iter())
            .map(|text| text.split_once("\"method\":").unwrap().1)
            .collect();
        assert_eq!(
            kept,
            [
                r#""initialize","params":{}}"#,
                r#""notifications/initialized","params":{}}"#,
                r#""resources/subscribe","params":{"uri":"a:0"}}"#,
                r#""logging/setLevel","params":{"level":"error"}}"#,
                r#""resources/subscribe","params":{ "uri" : "a:2" }}"#,
            ]
        );
        assert_eq!(
            Vec::from_iter(record.subscribed()),
            ["a:0".to_owned(), "a:2".to_owned()]
        );
    }

    #[test]
    fn a_record_is_bounded_whatever_a_client_subscribes_to() {
        let long = |letter: &str| format!(r#"{{"uri":"a:{}"}}"#, letter.repeat(MAX_BYTES / 2));
        let mut record = SessionRecord::new("h", Owner::Unknown);
        noted(&mut record, "initialize", "{}");
        for letter in ["a", "b", "c"] {
            noted(&mut record, "resources/subscribe", &long(letter));
        }
        assert_eq!((record.messages.len(), record.can_move), (2, true));
        // A session whose first message is not kept cannot be opened again.
        let mut record = SessionRecord::new("h", Owner::Unknown);
        // That is to be told, although nothing is kept.
        assert!(noted(&mut record, "initialize", &long("abc")));
        assert_eq!((record.messages.len(), record.can_move), (0, false));
    }
}
