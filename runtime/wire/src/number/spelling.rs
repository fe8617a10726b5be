//! How a number is stored: its text, or less where less is enough.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::value::NumberValue;
use crate::writer::Writer;

/// The most characters that are stored without an allocation.
const INLINE: usize = 22;

/// The text of a JSON number.
#[derive(Clone)]
pub(crate) enum Spelling {
    /// Spelled as Rust writes the integer.
    Compact(i64),
    /// The first `u8` bytes.
    Inline(u8, [u8; INLINE]),
    Heap(Box<str>),
}

impl Spelling {
    /// `text` must be a JSON number.
    #[inline]
    pub(crate) fn from_text(text: &str) -> Self {
        match compact(text.as_bytes()) {
            Some(value) => Self::Compact(value),
            None => Self::from_long_text(text),
        }
    }

    fn from_long_text(text: &str) -> Self {
        // At the rims of i64 the short way below gives up.
        if let (18..=20, Ok(value)) = (text.len(), text.parse()) {
            return Self::Compact(value);
        }
        let mut bytes = [0; INLINE];
        match bytes.get_mut(..text.len()) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                Self::Inline(text.len() as u8, bytes)
            }
            None => Self::Heap(text.into()),
        }
    }

    /// Hands the text to `then`.
    pub(crate) fn with_text<T>(&self, then: impl FnOnce(&str) -> T) -> T {
        match self {
            Self::Compact(value) => then(&value.to_string()),
            Self::Inline(..) => then(self.inline_text()),
            Self::Heap(text) => then(text),
        }
    }

    fn inline_text(&self) -> &str {
        let Self::Inline(length, bytes) = self else {
            return "0";
        };
        let text = bytes
            .get(..usize::from(*length))
            .and_then(|text| str::from_utf8(text).ok());
        text.unwrap_or("0")
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        match self {
            Self::Compact(value) => writer.integer(*value),
            Self::Inline(..) => writer.raw(self.inline_text()),
            Self::Heap(text) => writer.raw(text),
        }
    }

    pub(crate) fn is_integer(&self) -> bool {
        match self {
            Self::Compact(_) => true,
            other => other.with_text(|text| {
                let plain = text
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'-');
                plain || NumberValue::of(text).is_integer()
            }),
        }
    }

    pub(crate) fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Compact(value) => Some(*value),
            other => other
                .with_text(|text| NumberValue::of(text).as_i128())?
                .try_into()
                .ok(),
        }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Compact(value) => (*value).try_into().ok(),
            other => other
                .with_text(|text| NumberValue::of(text).as_i128())?
                .try_into()
                .ok(),
        }
    }

    /// Compares by value.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        if let (Self::Compact(a), Self::Compact(b)) = (self, other) {
            return a.cmp(b);
        }
        self.with_text(|a| {
            other.with_text(|b| {
                if a == b {
                    Ordering::Equal
                } else {
                    NumberValue::of(a).cmp(&NumberValue::of(b))
                }
            })
        })
    }

    /// Hashes the value: what compares equal hashes equal.
    pub(crate) fn hash<H: Hasher>(&self, state: &mut H) {
        match self.as_i64() {
            Some(value) => value.hash(state),
            None => self.with_text(|text| NumberValue::of(text).hash(state)),
        }
    }
}

/// Returns the value of an integer of few digits, unless it is spelled in another way than Rust would.
#[inline]
fn compact(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', b'0', ..] => return None,
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > 18 {
        return None;
    }
    let mut value = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -value } else { value })
}
