//! The contents of JSON strings: escapes taken apart.

use std::borrow::Cow;

use crate::fault::{Fault, FaultCause};
use crate::scan;

/// A part of the contents of a string.
pub(crate) enum TextPiece<'a> {
    Plain(&'a str),
    Char(char),
    /// Half of a surrogate pair without the other half.
    Lone(u16),
}

/// The parts of the contents of a string that is known to be JSON, in order.
pub(crate) struct TextPieces<'a> {
    raw: &'a str,
    at: usize,
}

impl<'a> TextPieces<'a> {
    /// `raw` is what stands between the quotes.
    pub(crate) fn new(raw: &'a str) -> Self {
        Self { raw, at: 0 }
    }

    /// Returns the code unit of the `\uXXXX` at `at`, if that is what stands there.
    fn unit(&self, at: usize) -> Option<u16> {
        if self.raw.as_bytes().get(at..at + 2) != Some(br"\u") {
            return None;
        }
        u16::from_str_radix(self.raw.get(at + 2..at + 6)?, 16).ok()
    }

    fn unicode(&mut self, first: u16) -> TextPiece<'a> {
        self.at += 6;
        let high = match first {
            0xD800..=0xDBFF => u32::from(first) - 0xD800,
            _ => {
                return char::from_u32(u32::from(first))
                    .map_or(TextPiece::Lone(first), TextPiece::Char);
            }
        };
        let Some(second @ 0xDC00..=0xDFFF) = self.unit(self.at) else {
            return TextPiece::Lone(first);
        };
        self.at += 6;
        let code = 0x1_0000 + (high << 10) + (u32::from(second) - 0xDC00);
        char::from_u32(code).map_or(TextPiece::Lone(first), TextPiece::Char)
    }
}

impl<'a> Iterator for TextPieces<'a> {
    type Item = TextPiece<'a>;

    fn next(&mut self) -> Option<TextPiece<'a>> {
        let bytes = self.raw.as_bytes();
        let end = scan::plain_end(bytes, self.at);
        if end > self.at {
            let plain = self.raw.get(self.at..end)?;
            self.at = end;
            return Some(TextPiece::Plain(plain));
        }
        if let Some(unit) = self.unit(self.at) {
            return Some(self.unicode(unit));
        }
        let escape = *bytes.get(self.at + 1)?;
        self.at += 2;
        Some(TextPiece::Char(match escape {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            other => other.into(),
        }))
    }
}

/// Where the first escapes of a string start, noted while its end was looked for.
pub(crate) struct Escapes {
    places: [usize; 32],
    count: usize,
}

impl Escapes {
    pub(crate) fn new() -> Self {
        Self {
            places: [0; 32],
            count: 0,
        }
    }

    /// Notes a place, as long as there is room.
    #[inline]
    pub(crate) fn push(&mut self, place: usize) {
        if let Some(slot) = self.places.get_mut(self.count) {
            *slot = place;
            self.count += 1;
        }
    }

    fn places(&self) -> &[usize] {
        self.places.get(..self.count).unwrap_or_default()
    }
}

/// Returns the text that `raw` stands for; `offset` is where `raw` starts in the whole text. Fails for a lone surrogate, which
/// no `String` can hold.
#[inline(never)]
pub(crate) fn unescape(raw: &str, offset: usize, escapes: &Escapes) -> Result<String, Fault> {
    let mut text = String::with_capacity(raw.len());
    let mut at = 0;
    for &place in escapes.places() {
        // The second half of a surrogate pair went with the first.
        if place >= at {
            text.push_str(raw.get(at..place).unwrap_or_default());
            at = push_escape(&mut text, raw, offset, place)?;
        }
    }
    loop {
        let end = if escapes.count < escapes.places.len() {
            raw.len()
        } else {
            // There were more than could be noted.
            scan::plain_end(raw.as_bytes(), at)
        };
        text.push_str(raw.get(at..end).unwrap_or_default());
        if end == raw.len() {
            return Ok(text);
        }
        at = push_escape(&mut text, raw, offset, end)?;
    }
}

/// Appends what the escape at `at` stands for, and gives the position after it.
#[inline]
fn push_escape(text: &mut String, raw: &str, offset: usize, at: usize) -> Result<usize, Fault> {
    // The usual escapes here, and all others by the piece.
    match raw.as_bytes().get(at + 1) {
        Some(b'n') => text.push('\n'),
        Some(&same @ (b'"' | b'\\' | b'/')) => text.push(char::from(same)),
        _ => {
            let mut pieces = TextPieces { raw, at };
            match pieces.next() {
                Some(TextPiece::Char(char)) => text.push(char),
                Some(TextPiece::Plain(plain)) => text.push_str(plain),
                Some(TextPiece::Lone(_)) => {
                    return Err(Fault::new(offset + at, FaultCause::Surrogate));
                }
                None => return Ok(raw.len()),
            }
            return Ok(pieces.at);
        }
    }
    Ok(at + 2)
}

/// Returns the text that `raw` stands for, with U+FFFD for each lone surrogate.
pub(crate) fn unescape_lossy(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    for piece in TextPieces::new(raw) {
        match piece {
            TextPiece::Plain(plain) => text.push_str(plain),
            TextPiece::Char(char) => text.push(char),
            TextPiece::Lone(_) => text.push(char::REPLACEMENT_CHARACTER),
        }
    }
    Cow::Owned(text)
}

/// Returns the content of `raw` as bytes to compare: UTF-8, and a lone surrogate encoded as if it were a character.
pub(crate) fn content(raw: &str) -> Cow<'_, [u8]> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw.as_bytes());
    }
    let mut bytes = Vec::with_capacity(raw.len());
    for piece in TextPieces::new(raw) {
        match piece {
            TextPiece::Plain(plain) => bytes.extend_from_slice(plain.as_bytes()),
            TextPiece::Char(char) => {
                bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes())
            }
            TextPiece::Lone(unit) => bytes.extend_from_slice(&[
                0xE0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3F) as u8,
                0x80 | (unit & 0x3F) as u8,
            ]),
        }
    }
    Cow::Owned(bytes)
}
