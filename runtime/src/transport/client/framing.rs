//! The framing of a server's messages over a stream of bytes: one per line, or one of the ways that servers take by mistake.

use std::time::Duration;

use mcp_wire::Reader;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

use super::Incoming;
use crate::transport::line::add_line;

/// Time without a byte after which what came of a line is looked at: a message may have no line end.
const STALL: Duration = Duration::from_secs(2);
/// The beginning of some programs' output.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Number of bytes of a line without an end that are quoted.
const EXCERPT: usize = 100;

/// The messages of a server, by lines.
pub(super) struct Framing<R> {
    input: R,
    limit: usize,
    line: Vec<u8>,
    /// The lines of a value that goes on in the next one.
    value: Vec<u8>,
    /// The part that was read together with the message that was returned last.
    next: Option<Incoming>,
    reported: ReportedMistakes,
}

/// The mistakes that were reported: each once.
#[derive(Default)]
struct ReportedMistakes {
    several_lines: bool,
    no_line_end: bool,
    unended: bool,
    headers: bool,
}

/// A part of the stream.
enum FramedPart {
    Line,
    /// The line has had no end for a while.
    Stalled,
    End,
}

impl<R: AsyncBufRead + Unpin> Framing<R> {
    /// Reads messages of at most `limit` bytes.
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            limit,
            line: Vec::new(),
            value: Vec::new(),
            next: None,
            reported: ReportedMistakes::default(),
        }
    }

    /// Returns the rest of the stream.
    pub(super) fn input(&mut self) -> &mut R {
        &mut self.input
    }

    /// Returns the next message, or a mistake in how it is written; `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<Incoming> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        loop {
            match self.read().await {
                FramedPart::Line => {
                    let line = std::mem::take(&mut self.line);
                    if let Some(message) = self.take_line(line).await {
                        return Some(message);
                    }
                }
                FramedPart::Stalled => {
                    if let Some(message) = self.take_stalled() {
                        return Some(message);
                    }
                }
                FramedPart::End => {
                    let rest = std::mem::take(&mut self.value);
                    let line = std::mem::take(&mut self.line);
                    let rest = [rest, line].concat();
                    return (!rest.trim_ascii().is_empty()).then(|| message(rest));
                }
            }
        }
    }

    /// Reads on until the line ends. A clock runs only while a line, or a value of several lines, has begun.
    async fn read(&mut self) -> FramedPart {
        loop {
            let has_begun = !self.line.is_empty() || !self.value.is_empty();
            let chunk = self.input.fill_buf();
            let chunk = if has_begun {
                match tokio::time::timeout(STALL, chunk).await {
                    Ok(chunk) => chunk,
                    Err(_) => return FramedPart::Stalled,
                }
            } else {
                chunk.await
            };
            let Ok(chunk) = chunk else {
                return FramedPart::End;
            };
            if chunk.is_empty() {
                return FramedPart::End;
            }
            let (used, is_whole) = add_line(chunk, &mut self.line, self.limit);
            self.input.consume(used);
            if is_whole {
                return FramedPart::Line;
            }
        }
    }

    async fn take_line(&mut self, line: Vec<u8>) -> Option<Incoming> {
        let trimmed = line.trim_ascii();
        let content = trimmed.strip_prefix(BYTE_ORDER_MARK).unwrap_or(trimmed);
        if content.is_empty() {
            return None;
        }
        let (first, last) = (content.first().copied(), content.last().copied());
        if !self.value.is_empty() {
            return self.continue_value(line);
        }
        if let Some(length) = content_length(content, self.limit) {
            return self.read_counted(length).await;
        }
        // A message ends as it begins, so that only the first of several lines does not.
        let is_open = match first {
            Some(b'{') => last != Some(b'}'),
            Some(b'[') => last != Some(b']') && content.len() == 1,
            _ => false,
        };
        if is_open && line.len() <= self.limit && is_begun(content) {
            self.value = line;
            self.value.push(b'\n');
            return None;
        }
        Some(message(line))
    }

    /// Adds a line to a value that began in an earlier one.
    fn continue_value(&mut self, line: Vec<u8>) -> Option<Incoming> {
        let is_message = line.starts_with(b"{") && is_whole(&line);
        if is_message || self.value.len() + line.len() > self.limit {
            let before = message(std::mem::take(&mut self.value));
            self.next = Some(message(line));
            return Some(before);
        }
        let closes = matches!(line.first(), Some(b'}' | b']'));
        self.value.extend_from_slice(&line);
        self.value.push(b'\n');
        if !closes {
            return None;
        }
        let value = std::mem::take(&mut self.value);
        let is_whole = is_whole(&value);
        let value = message(value);
        if is_whole && !std::mem::replace(&mut self.reported.several_lines, true) {
            self.next = Some(value);
            let why = "expected one message per line, found JSON over several lines: \
                write each message in one line";
            return Some(Incoming::Misframed(why.to_owned()));
        }
        Some(value)
    }

    /// Takes a line that has had no end for a while, if it is a message.
    fn take_stalled(&mut self) -> Option<Incoming> {
        let bytes = self.line.len();
        if self.value.is_empty() && is_whole(&self.line) {
            let line = message(std::mem::take(&mut self.line));
            if std::mem::replace(&mut self.reported.no_line_end, true) {
                return Some(line);
            }
            self.next = Some(line);
            let why = "expected a line end behind each message, found none: write `\\n` behind it";
            return Some(Incoming::Misframed(why.to_owned()));
        }
        if std::mem::replace(&mut self.reported.unended, true) {
            return None;
        }
        let begun = if bytes == 0 { &self.value } else { &self.line };
        let excerpt = begun.get(..EXCERPT).unwrap_or(begun);
        let excerpt = mcp_wire::printable(&String::from_utf8_lossy(excerpt));
        Some(Incoming::Misframed(format!(
            "expected one message per line, found the beginning of one that does not go on: {excerpt:?}"
        )))
    }

    /// Reads a message of so many bytes behind its header lines.
    async fn read_counted(&mut self, length: usize) -> Option<Incoming> {
        loop {
            match self.read().await {
                FramedPart::Line if self.line.trim_ascii().is_empty() => break,
                // A line that looked like a header was a line of a log.
                FramedPart::Line if !is_header(&self.line) => {
                    return Some(message(std::mem::take(&mut self.line)));
                }
                FramedPart::Line => self.line.clear(),
                FramedPart::Stalled => {}
                FramedPart::End => return None,
            }
        }
        self.line.clear();
        let mut body = Vec::new();
        let mut counted = (&mut self.input).take(length as u64);
        let read = counted.read_to_end(&mut body).await;
        let body = read.is_ok().then(|| message(body))?;
        if std::mem::replace(&mut self.reported.headers, true) {
            return Some(body);
        }
        self.next = Some(body);
        let why = "expected one message per line, found a `Content-Length:` header before each message: \
            that is the framing of the Language Server Protocol";
        Some(Incoming::Misframed(why.to_owned()))
    }
}

fn message(text: Vec<u8>) -> Incoming {
    Incoming::Message {
        exchange: None,
        text,
    }
}

/// Returns the length of a message, if a line is the header that says so, and the message is not too long.
fn content_length(line: &[u8], limit: usize) -> Option<usize> {
    let (name, length) = line.split_at_checked("content-length:".len())?;
    let length = str::from_utf8(length).ok()?.trim().parse().ok()?;
    (name.eq_ignore_ascii_case(b"content-length:") && length <= limit).then_some(length)
}

/// Returns whether a line is a header, as far as its name says.
fn is_header(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    name.len() < line.len() && !name.is_empty() && name.iter().all(is_name)
}

/// Returns whether a text is values of JSON and nothing else.
fn is_whole(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else {
        return false;
    };
    let mut rest = text.trim_start_matches('\u{feff}').trim();
    while !rest.is_empty() {
        let mut reader = Reader::new(rest);
        let Ok(value) = reader.text_of_value() else {
            return false;
        };
        rest = rest.get(value.len()..).unwrap_or_default().trim_start();
    }
    !text.trim().is_empty()
}

/// Returns whether a text is the beginning of JSON, as far as it goes.
fn is_begun(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else {
        return false;
    };
    let ended = |error: &mcp_wire::Error| error.offset() >= text.len();
    mcp_wire::from_str::<mcp_wire::Json>(text).is_err_and(|error| ended(&error))
}
