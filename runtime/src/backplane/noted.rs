//! The messages that make a session what it is, noted in its record.

use std::collections::BTreeSet;

use mcp_wire::{MessageKind, Peeked, peek};

use super::SessionRecord;
use mcp_revisions_core::methods;

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

impl SessionRecord {
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
        let is_replaced = |old: &Peeked<'_>| {
            if is_about_resource {
                old.method.as_deref() == Some(methods::RESOURCES_SUBSCRIBE) && uri_of(old) == uri
            } else {
                old.method.as_deref() == Some(method)
            }
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
        let messages = self
            .messages
            .iter()
            .filter_map(|text| peek(text.as_bytes()).ok());
        let subscribed = messages
            .filter(|message| message.method.as_deref() == Some(methods::RESOURCES_SUBSCRIBE));
        subscribed.filter_map(|message| uri_of(&message)).collect()
    }
}

/// Returns the resource that a message is about.
fn uri_of(message: &Peeked<'_>) -> Option<String> {
    Some(message.uri?.as_str()?.into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;
    use mcp_revisions_sansio::server::Owner;

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
