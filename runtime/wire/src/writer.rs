//! Writes minified JSON text, appended to a string.

use crate::map::Map;
use crate::scan;

/// A type that is written as JSON text.
pub trait Encode {
    /// Writes one value.
    fn encode(&self, writer: &mut Writer);
}

/// Writes JSON text without blanks.
///
/// It takes values in any order; the caller makes sure that they form one JSON text.
#[derive(Debug, Default)]
pub struct Writer {
    pub(crate) text: String,
}

impl Writer {
    /// Creates a writer with nothing written, and room for a small message.
    pub fn new() -> Self {
        // Most requests and notifications are shorter, and are never moved while they grow.
        const ROOM: usize = 256;
        Self::append_to(String::with_capacity(ROOM))
    }

    /// Creates a writer that appends to `text`.
    pub fn append_to(text: String) -> Self {
        Self { text }
    }

    /// Returns the text that was written.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Begins an object.
    pub fn object(&mut self) -> ObjectWriter<'_> {
        self.text.push('{');
        ObjectWriter {
            writer: self,
            first: true,
        }
    }

    /// Begins an array.
    #[inline]
    pub fn array(&mut self) -> ArrayWriter<'_> {
        self.text.push('[');
        ArrayWriter {
            writer: self,
            first: true,
        }
    }

    /// Writes a string, escaped where JSON asks for it.
    pub fn string(&mut self, value: &str) {
        self.text.reserve(value.len() + 2);
        self.text.push('"');
        let end = scan::plain_end(value.as_bytes(), 0);
        if end == value.len() {
            self.text.push_str(value);
        } else {
            self.escaped(value, end);
        }
        self.text.push('"');
    }

    /// Writes the contents of a string, whose first byte to escape is at `end`.
    #[inline(never)]
    fn escaped(&mut self, value: &str, mut end: usize) {
        const HEX: [char; 16] = [
            '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
        ];
        let bytes = value.as_bytes();
        let mut start = 0;
        loop {
            self.text
                .push_str(value.get(start..end).unwrap_or_default());
            let Some(&byte) = bytes.get(end) else { return };
            match byte {
                b'"' => self.text.push_str("\\\""),
                b'\\' => self.text.push_str("\\\\"),
                b'\n' => self.text.push_str("\\n"),
                b'\r' => self.text.push_str("\\r"),
                b'\t' => self.text.push_str("\\t"),
                0x08 => self.text.push_str("\\b"),
                0x0C => self.text.push_str("\\f"),
                control => {
                    self.text.push_str("\\u00");
                    self.text.extend(
                        [control >> 4, control & 15].map(|digit| HEX[usize::from(digit & 15)]),
                    );
                }
            }
            start = end + 1;
            end = scan::plain_end(bytes, start);
        }
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.text.push_str(if value { "true" } else { "false" });
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.text.push_str("null");
    }

    /// Writes an integer.
    pub fn integer(&mut self, value: i64) {
        let mut digits = [b'0'; 20];
        let mut rest = value.unsigned_abs();
        let mut start = digits.len();
        for place in digits.iter_mut().rev() {
            *place = b'0' + (rest % 10) as u8;
            rest /= 10;
            start -= 1;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            self.text.push('-');
        }
        let digits = digits
            .get(start..)
            .and_then(|digits| str::from_utf8(digits).ok());
        self.text.push_str(digits.unwrap_or("0"));
    }

    /// Writes the text of one JSON value, which is not checked.
    #[inline]
    pub(crate) fn raw(&mut self, json: &str) {
        self.text.push_str(json);
    }
}

/// Returns whether a text needs no escapes in a JSON string.
#[must_use]
pub const fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] < b' ' || bytes[at] == b'"' || bytes[at] == b'\\' {
            return false;
        }
        at += 1;
    }
    true
}

/// Writes the members of an object; [`end`](Self::end) closes it.
///
/// Member names and string constants come from generated code, which knows that they are [`is_plain`]: `member`, `optional` and
/// `constant` write them as they are. [`entry`](Self::entry) escapes any name.
#[derive(Debug)]
#[must_use = "`end` closes the object"]
pub struct ObjectWriter<'w> {
    writer: &'w mut Writer,
    /// Whether the next member is the first.
    first: bool,
}

impl ObjectWriter<'_> {
    fn name(&mut self, name: &str) {
        let text = &mut self.writer.text;
        text.reserve(name.len() + 4);
        if std::mem::replace(&mut self.first, false) {
            text.push('"')
        } else {
            text.push_str(",\"")
        }
        text.push_str(name);
        text.push_str("\":");
    }

    /// Writes a member.
    pub fn member<T: Encode + ?Sized>(&mut self, name: &'static str, value: &T) {
        self.name(name);
        value.encode(self.writer);
    }

    /// Writes a member if it has a value.
    pub fn optional<T: Encode>(&mut self, name: &'static str, value: &Option<T>) {
        if let Some(value) = value {
            self.member(name, value);
        }
    }

    /// Writes a member that is always this string.
    pub fn constant(&mut self, name: &'static str, value: &'static str) {
        self.name(name);
        self.writer.text.push('"');
        self.writer.text.push_str(value);
        self.writer.text.push('"');
    }

    /// Writes a member that is always this number or boolean of JSON, as it is spelled.
    pub fn constant_literal(&mut self, name: &'static str, value: &'static str) {
        self.any_name(name);
        self.writer.text.push_str(value);
    }

    /// Writes the entries of a map as members, their names escaped.
    pub fn extra<T: Encode>(&mut self, map: &Map<T>) {
        for (name, value) in map {
            self.entry(name, value);
        }
    }

    /// Writes a member of any name, which is escaped.
    pub fn entry<T: Encode + ?Sized>(&mut self, name: &str, value: &T) {
        self.any_name(name);
        value.encode(self.writer);
    }

    fn any_name(&mut self, name: &str) {
        if !std::mem::replace(&mut self.first, false) {
            self.writer.text.push(',');
        }
        self.writer.string(name);
        self.writer.text.push(':');
    }

    /// Closes the object.
    pub fn end(self) {
        self.writer.text.push('}');
    }
}

/// Writes the elements of an array; [`end`](Self::end) closes it.
#[derive(Debug)]
#[must_use = "`end` closes the array"]
pub struct ArrayWriter<'w> {
    writer: &'w mut Writer,
    first: bool,
}

impl ArrayWriter<'_> {
    /// Writes an element.
    pub fn element<T: Encode + ?Sized>(&mut self, value: &T) {
        if !self.first {
            self.writer.text.push(',');
        }
        self.first = false;
        value.encode(self.writer);
    }

    /// Closes the array.
    #[inline]
    pub fn end(self) {
        self.writer.text.push(']');
    }
}
