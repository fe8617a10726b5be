//! The events of a response, none of them longer than a message may be, and where they left off.

use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body_util::BodyExt;
use memchr::memchr2;
use tokio::time::{Instant, timeout_at};

use super::body::HttpResponseBody;
use crate::transport::observe;

/// Maximum length of an event id that a client can resume with; longer ones do not fit a header.
const ID_BYTES: usize = 1 << 10;
/// Time after which an event that has begun and has no end is reported, and its message taken if that is whole.
const WITHOUT_END: Duration = Duration::from_secs(30);
/// Number of bytes of a line beside its data: the name of its field.
const FIELD_BYTES: usize = 16;

pub(super) struct SseStream {
    body: HttpResponseBody,
    /// The bytes that came and were not looked at yet.
    chunk: Bytes,
    parser: EventParser,
    /// When the event began that has no end yet; the inner value is `None` once that is reported.
    begun: Option<Option<Instant>>,
}

impl SseStream {
    /// Returns the events of a body, of which none may have more than `limit` bytes.
    pub(super) fn new(body: HttpResponseBody, limit: usize) -> Self {
        Self {
            body,
            chunk: Bytes::new(),
            parser: EventParser::new(limit),
            begun: None,
        }
    }

    /// Returns the events that go on in another body where those of this one broke off.
    pub(super) fn continued(self, body: HttpResponseBody) -> Self {
        let EventParser {
            limit,
            last_id,
            retry,
            ..
        } = self.parser;
        let mut stream = Self::new(body, limit);
        (stream.parser.last_id, stream.parser.retry) = (last_id, retry);
        stream
    }

    /// Returns the event to go on after, if the stream breaks.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.parser.last_id.as_deref()
    }

    /// Returns the time that the server wants clients to wait before that.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.parser.retry
    }

    /// Returns whether an event was too long: it would be as long another time.
    pub(super) fn is_too_long(&self) -> bool {
        self.parser.is_too_long
    }

    /// Returns whether this body has had an event in it, be it one without a message.
    pub(super) fn has_begun(&self) -> bool {
        self.parser.has_begun
    }

    /// Returns whether the message that came last is where to send messages to, over HTTP+SSE.
    pub(super) fn was_endpoint(&self) -> bool {
        self.parser.was_endpoint
    }

    /// Returns the next message; `None` if the stream has ended, or broke. One that is too long is cut just behind the limit, so
    /// that it is refused as too long, and is the last. A message that is whole at the end of the stream counts, though no blank
    /// line ends its event, or though it stands there without an event; and so does one whose event has no end for a while.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(message) = self.parser.take(&mut self.chunk) {
                self.begun = None;
                return Some(message);
            }
            if self.parser.is_too_long {
                return None;
            }
            if self.parser.is_within_event() {
                self.begun.get_or_insert(Some(Instant::now()));
            } else {
                self.begun = None;
            }
            let frame = match self.begun.flatten() {
                None => self.body.frame().await,
                Some(begun) => {
                    let frame = timeout_at(begun + WITHOUT_END, self.body.frame());
                    let Ok(frame) = frame.await else {
                        self.begun = Some(None);
                        let whole = self.parser.take_whole();
                        observe::event_without_end(whole.is_some());
                        match whole {
                            Some(whole) => return Some(whole),
                            None => continue,
                        }
                    };
                    frame
                }
            };
            match frame {
                Some(Ok(frame)) => self.chunk = frame.into_data().unwrap_or_default(),
                Some(Err(_)) | None => return self.parser.end(),
            }
        }
    }
}

/// Server-sent events, byte by byte.
#[derive(Clone)]
struct EventParser {
    limit: usize,
    is_too_long: bool,
    /// Set if nothing was read yet: a byte order mark may stand there.
    is_new: bool,
    /// Set if the last line ended with a carriage return, to which a line feed may belong.
    is_behind_return: bool,
    line: Vec<u8>,
    /// Data of the event that is being read; `None` until a data line was read.
    data: Option<Vec<u8>>,
    /// Its id; the inner value is `None` if the id cannot be used.
    id: Option<Option<String>>,
    /// Set if it names the address for messages; and if the one before it did.
    is_endpoint: bool,
    was_endpoint: bool,
    /// Set if an event was complete.
    has_begun: bool,
    last_id: Option<String>,
    retry: Option<Duration>,
    /// The lines of a body that begins as JSON does, in the place of events.
    json: Vec<u8>,
}

impl EventParser {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            is_too_long: false,
            is_new: true,
            is_behind_return: false,
            line: Vec::new(),
            data: None,
            id: None,
            is_endpoint: false,
            was_endpoint: false,
            has_begun: false,
            last_id: None,
            retry: None,
            json: Vec::new(),
        }
    }

    /// Returns whether a message may have begun whose event has no end yet.
    fn is_within_event(&self) -> bool {
        !self.line.is_empty() || self.data.is_some() || !self.json.is_empty()
    }

    /// Takes the message that is whole, if there is one, though its event goes on.
    fn take_whole(&mut self) -> Option<Vec<u8>> {
        let mut ended = self.clone();
        let whole = ended.end()?;
        *self = ended;
        Some(whole)
    }

    /// Nothing comes any more: returns the message that is whole, if there is one.
    fn end(&mut self) -> Option<Vec<u8>> {
        if !self.line.is_empty() {
            self.field();
        }
        let json = std::mem::take(&mut self.json);
        let data = self.data.take().unwrap_or(json);
        let is_whole = !self.is_too_long && mcp_wire::peek(&data).is_ok();
        is_whole.then_some(data)
    }

    /// Reads on until a message is complete, or nothing is left.
    fn take(&mut self, chunk: &mut Bytes) -> Option<Vec<u8>> {
        while let Some(&first) = chunk.first() {
            if self.is_too_long {
                return None;
            }
            if std::mem::take(&mut self.is_behind_return) && first == b'\n' {
                chunk.advance(1);
                continue;
            }
            let end = memchr2(b'\n', b'\r', chunk);
            let part = chunk.split_to(end.unwrap_or(chunk.len()));
            let held = self.data.as_ref().map_or(0, Vec::len);
            let room = (self.limit.saturating_add(FIELD_BYTES))
                .saturating_sub(held.saturating_add(self.line.len()));
            self.is_too_long = part.len() > room;
            self.line.extend_from_slice(
                part.get(..part.len().min(room.saturating_add(1)))
                    .unwrap_or_default(),
            );
            if end.is_some() {
                self.is_behind_return = chunk.first() == Some(&b'\r');
                chunk.advance(1);
            } else if !self.is_too_long {
                continue;
            }
            let is_blank = self.line.is_empty();
            self.field();
            let message = if is_blank {
                self.dispatch()
            } else if self.is_too_long {
                // An event without an end is only read to be refused as too long.
                self.data.take().filter(|data| data.len() > self.limit)
            } else {
                None
            };
            if message.is_some() {
                return message;
            }
        }
        None
    }

    /// A line is complete.
    fn field(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = if std::mem::take(&mut self.is_new) {
            line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line)
        } else {
            &line
        };
        let is_json = !self.json.is_empty() || matches!(line.first(), Some(b'{' | b'['));
        if is_json && !self.has_begun && self.data.is_none() {
            self.json.extend_from_slice(line);
            self.json.push(b'\n');
            self.is_too_long |= self.json.len() > self.limit.saturating_add(FIELD_BYTES);
            return;
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let behind = value.strip_prefix(b":").unwrap_or(value);
        let value = behind.strip_prefix(b" ").unwrap_or(behind);
        match name {
            b"data" => {
                match &mut self.data {
                    Some(data) => data.push(b'\n'),
                    None => self.data = Some(Vec::new()),
                }
                if let Some(data) = &mut self.data {
                    data.extend_from_slice(value);
                    self.is_too_long |= data.len() > self.limit;
                    data.truncate(self.limit.saturating_add(1));
                }
            }
            b"event" => self.is_endpoint = value == b"endpoint",
            b"id" if !value.contains(&0) => {
                let id = String::from_utf8(value.to_vec());
                self.id = Some(id.ok().filter(|id| id.len() <= ID_BYTES));
            }
            b"retry" => {
                let digits = std::str::from_utf8(value).ok();
                let number = digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                if let Some(retry) = number.and_then(|text| text.parse().ok()) {
                    self.retry = Some(Duration::from_millis(retry));
                }
            }
            // Comments, and what is not known.
            _ => {}
        }
    }

    /// Ends an event that is complete. Returns its message, or `None` if it is there for its id only.
    fn dispatch(&mut self) -> Option<Vec<u8>> {
        if let Some(id) = self.id.take() {
            self.last_id = id;
            self.has_begun = true;
        }
        self.has_begun |= self.data.is_some();
        self.was_endpoint = std::mem::take(&mut self.is_endpoint);
        self.data.take().filter(|data| !data.is_empty())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    /// Returns the messages of a text that comes in parts of so many bytes, and what is known behind them.
    fn read(text: &[u8], part: usize, limit: usize) -> (Vec<String>, EventParser) {
        let mut parser = EventParser::new(limit);
        let mut messages = Vec::new();
        for part in text.chunks(part) {
            let mut chunk = Bytes::copy_from_slice(part);
            while let Some(message) = parser.take(&mut chunk) {
                messages.push(String::from_utf8(message).unwrap());
            }
        }
        (messages, parser)
    }

    #[test]
    fn events_are_read_however_they_are_cut_and_whatever_ends_their_lines() {
        let text = "\u{feff}: hello\nid: 1\nretry: 70\ndata: one\n\ndata\ndata:two\ndata:  three\nevent: message\n\n\
                    id: 2\n\nid\ndata: four\n\nid: 5\0\ndata: five\n\nretry: -1\nretry: x\ndata: never ends\n";
        for ends in ["\n", "\r\n", "\r"] {
            for part in [1, 2, 3, 1_000] {
                let (messages, parser) = read(text.replace('\n', ends).as_bytes(), part, 100);
                let expected = ["one", "\ntwo\n three", "four", "five"];
                assert_eq!(messages, expected, "{ends:?} in parts of {part}");
                assert_eq!(parser.last_id.as_deref(), Some(""));
                assert_eq!(parser.retry, Some(Duration::from_millis(70)));
            }
        }
    }

    #[test]
    fn a_message_that_is_whole_at_the_end_of_a_stream_counts() {
        let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let spread = "{\n  \"jsonrpc\": \"2.0\",\n\n  \"id\": 1,\n  \"result\": {}\n}";
        for (text, is_whole) in [
            (format!("data: {message}\n"), true),
            (format!("event: message\ndata: {message}"), true),
            (message.to_owned(), true),
            (spread.to_owned(), true),
            (format!("data: {}", &message[..20]), false),
            (format!("data: {message}\n\n"), false),
            (": nothing\n".to_owned(), false),
        ] {
            for part in [1, 1_000] {
                let (_, mut parser) = read(text.as_bytes(), part, 100);
                assert_eq!(parser.end().is_some(), is_whole, "{text}");
            }
        }
    }

    /// A body of these parts, which never ends.
    struct Endless(Vec<&'static str>);

    impl hyper::body::Body for Endless {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
            if self.0.is_empty() {
                return std::task::Poll::Pending;
            }
            let part = Bytes::from_static(self.0.remove(0).as_bytes());
            std::task::Poll::Ready(Some(Ok(hyper::body::Frame::data(part))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_whose_event_has_no_end_is_taken_after_a_while_if_it_is_whole() {
        let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        for (parts, expected) in [
            (
                vec!["data: ", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "\n"],
                Some(message),
            ),
            (
                vec![
                    "event: message\ndata: ",
                    r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                ],
                Some(message),
            ),
            (
                vec![r#"{"jsonrpc":"2.0","id":1,"result":{}}"#],
                Some(message),
            ),
            (vec!["data: {\"jsonrpc\":"], None),
            (vec![": hello\n", "id: 1\n"], None),
        ] {
            let mut events = SseStream::new(super::super::body::boxed(Endless(parts.clone())), 100);
            let begun = Instant::now();
            let taken = tokio::time::timeout(WITHOUT_END * 3, events.next()).await;
            let taken = taken
                .ok()
                .flatten()
                .map(|it| String::from_utf8(it).unwrap());
            let taken = taken.as_deref().map(str::trim);
            assert_eq!(taken, expected, "{parts:?}");
            let waited = if expected.is_some() {
                WITHOUT_END
            } else {
                WITHOUT_END * 3
            };
            assert_eq!(begun.elapsed().as_secs(), waited.as_secs());
        }
    }

    #[test]
    fn only_an_event_that_says_so_is_an_endpoint() {
        for (text, expected) in [
            ("data: /one\n\n", false),
            ("event: endpoint\ndata: /one\n\n", true),
            ("event: endpoint\ndata: /one\n\ndata: {}\n\n", false),
        ] {
            let (_, parser) = read(text.as_bytes(), 1_000, 100);
            assert_eq!(parser.was_endpoint, expected, "{text}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut_and_is_the_last() {
        let long = "x".repeat(1_000);
        let lines = "data: x\n".repeat(1_000);
        let endless = [
            format!("data: {long}"),
            format!("data: {long}\n\ndata: more\n\n"),
            format!("id: {long}"),
            format!(": {long}"),
            lines,
        ];
        for text in endless {
            for part in [1, 7, 10_000] {
                let (messages, parser) = read(format!("data: 1\n\n{text}").as_bytes(), part, 50);
                assert!(parser.is_too_long, "{text} in parts of {part}");
                assert!(messages.len() <= 2, "{messages:?}");
                if let Some(cut) = messages.get(1) {
                    assert_eq!(cut.len(), 51, "{text} in parts of {part}");
                }
                assert!(parser.line.capacity() + parser.data.map_or(0, |it| it.capacity()) < 500);
            }
        }
        // As long as it may be is not too long; an id that no header should hold is none.
        let (messages, parser) = read(b"id: 7\ndata: 12345\n\ndata: 1234\n\n", 3, 5);
        assert_eq!((messages.len(), parser.is_too_long), (2, false));
        let id = format!("id: {}\ndata: 1\n\n", "7".repeat(2_000));
        let (messages, parser) = read(id.as_bytes(), 100, 5_000);
        assert_eq!((messages.len(), parser.last_id), (1, None));
    }
}
