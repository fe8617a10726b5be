//! Numbers that keep their spelling: `50` stays `50`, and `50.0` stays `50.0`.

mod spelling;
mod value;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::error::Error;
use crate::fault::{Fault, FaultCause};
use crate::kind::Kind;
use crate::reader::{Decode, Reader};
use crate::scan;
use crate::writer::{Encode, Writer};
use spelling::Spelling;

/// A JSON number of any size, in the spelling of its text.
///
/// Compared and hashed by mathematical value, exactly: `50` equals `50.0` and `5e1`.
/// Spellings of up to 22 characters are stored without an allocation.
#[derive(Clone)]
pub struct Number(Spelling);

/// A JSON number without a fractional part, in the spelling of its text: `50`, but also `50.0` and `5e1`.
///
/// Compared and hashed by mathematical value, exactly.
/// Spellings of up to 22 characters are stored without an allocation.
#[derive(Clone)]
pub struct Integer(Spelling);

/// The error of a float that JSON cannot write: an infinity or not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotFinite;

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a finite number, found an infinity or NaN")
    }
}

impl std::error::Error for NotFinite {}

impl Number {
    /// Returns the shortest number that reads as `value`; `None` for infinities and NaN.
    pub fn from_f64(value: f64) -> Option<Self> {
        // Debug writes a float that reads back equal, in the grammar of JSON.
        value
            .is_finite()
            .then(|| Self(Spelling::from_text(&format!("{value:?}"))))
    }

    /// Returns the nearest float; infinite if the number is too large for one.
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Spelling::Compact(value) => *value as f64,
            other => other.with_text(|text| text.parse().unwrap_or(f64::NAN)),
        }
    }

    /// Returns whether the number has no fractional part, however it is spelled.
    pub fn is_integer(&self) -> bool {
        self.0.is_integer()
    }
}

impl Decode for Number {
    #[inline]
    fn blank() -> Self {
        Self(Spelling::Compact(0))
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.0 = read(reader, "a number")?;
        Ok(())
    }
}

impl Decode for Integer {
    #[inline]
    fn blank() -> Self {
        Self(Spelling::Compact(0))
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.peek();
        let start = reader.position;
        self.0 = read(reader, "an integer")?;
        if self.0.is_integer() {
            return Ok(());
        }
        Err(Fault::new(start, FaultCause::Kind("an integer")))
    }
}

impl Reader<'_> {
    /// Reads a number or a boolean equal to `expected`, which is the JSON of one, in any spelling; anything else is a fault.
    ///
    /// The spelling is not kept: a constant tells types apart and holds no data, and is written as the schema has it.
    pub fn constant_literal(&mut self, expected: &'static str) -> Result<(), Fault> {
        self.peek();
        let start = self.position;
        let is_equal = match self.kind()? {
            Kind::Boolean => self.text_of_value()? == expected,
            Kind::Integer | Kind::Number => equal_texts(self.text_of_value()?, expected),
            _ => false,
        };
        if is_equal {
            return Ok(());
        }
        Err(Fault::new(start, FaultCause::ConstantLiteral(expected)))
    }
}

/// Reads a number; the usual case, an integer of few digits, in one pass.
#[inline]
fn read(reader: &mut Reader<'_>, expected: &'static str) -> Result<Spelling, Fault> {
    let first = reader.peek();
    if first.is_ascii_digit() {
        let bytes = reader.bytes();
        let mut value = i64::from(first - b'0');
        let mut at = reader.position + 1;
        // A leading zero ends the number, unless it goes on in another way.
        let most = if first == b'0' {
            at
        } else {
            reader.position + 18
        };
        while at < most && scan::byte(bytes, at).is_ascii_digit() {
            value = value * 10 + i64::from(scan::byte(bytes, at) - b'0');
            at += 1;
        }
        if !matches!(scan::byte(bytes, at), b'0'..=b'9' | b'.' | b'e' | b'E') {
            reader.position = at;
            return Ok(Spelling::Compact(value));
        }
    }
    read_spelled(reader, expected)
}

#[inline(never)]
fn read_spelled(reader: &mut Reader<'_>, expected: &'static str) -> Result<Spelling, Fault> {
    if !matches!(reader.peek(), b'-' | b'0'..=b'9') {
        return Err(reader.refuse(expected));
    }
    let start = reader.position;
    reader.position = scan::number_end(reader.bytes(), start)?;
    Ok(Spelling::from_text(reader.slice(start, reader.position)))
}

impl From<Integer> for Number {
    fn from(integer: Integer) -> Self {
        Self(integer.0)
    }
}

/// Gives the number back if it has a fractional part.
impl TryFrom<Number> for Integer {
    type Error = Number;

    fn try_from(number: Number) -> Result<Self, Number> {
        if number.is_integer() {
            Ok(Self(number.0))
        } else {
            Err(number)
        }
    }
}

impl TryFrom<f64> for Number {
    type Error = NotFinite;

    fn try_from(value: f64) -> Result<Self, NotFinite> {
        Self::from_f64(value).ok_or(NotFinite)
    }
}

impl TryFrom<f32> for Number {
    type Error = NotFinite;

    fn try_from(value: f32) -> Result<Self, NotFinite> {
        if !value.is_finite() {
            return Err(NotFinite);
        }
        Ok(Self(Spelling::from_text(&format!("{value:?}"))))
    }
}

impl From<serde_json::Number> for Number {
    fn from(number: serde_json::Number) -> Self {
        Self(Spelling::from_text(&number.to_string()))
    }
}

/// What [`Number`] and [`Integer`] have in common.
macro_rules! by_spelling {
    ($type:ident) => {
        impl $type {
            /// Returns the value as `i64`, if it is in its range and has no fractional part.
            pub fn as_i64(&self) -> Option<i64> {
                self.0.as_i64()
            }

            /// Returns the value as `u64`, if it is in its range and has no fractional part.
            pub fn as_u64(&self) -> Option<u64> {
                self.0.as_u64()
            }
        }

        impl Encode for $type {
            fn encode(&self, writer: &mut Writer) {
                self.0.write(writer);
            }
        }

        /// Reads the number from JSON text.
        impl FromStr for $type {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                crate::from_str(text)
            }
        }

        /// The spelling.
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.with_text(|text| f.pad(text))
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.0.compare(&other.0) == Ordering::Equal
            }
        }

        impl Eq for $type {}

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $type {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.compare(&other.0)
            }
        }

        impl Hash for $type {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.hash(state);
            }
        }

        impl PartialEq<i64> for $type {
            fn eq(&self, other: &i64) -> bool {
                self.as_i64() == Some(*other)
            }
        }

        impl Default for $type {
            fn default() -> Self {
                Self(Spelling::Compact(0))
            }
        }

        impl From<u64> for $type {
            fn from(value: u64) -> Self {
                Self(match i64::try_from(value) {
                    Ok(value) => Spelling::Compact(value),
                    Err(_) => Spelling::from_text(&value.to_string()),
                })
            }
        }

        impl From<usize> for $type {
            fn from(value: usize) -> Self {
                Self::from(value as u64)
            }
        }

        by_spelling!($type: i8 i16 i32 i64 u8 u16 u32);
    };
    ($type:ident: $($small:ty)*) => {$(
        impl From<$small> for $type {
            fn from(value: $small) -> Self {
                Self(Spelling::Compact(value.into()))
            }
        }
    )*};
}

by_spelling!(Number);
by_spelling!(Integer);

/// Hashes the mathematical value of a JSON number, by its text.
pub(crate) fn hash_text(text: &str, mut state: &mut dyn Hasher) {
    Spelling::from_text(text).hash(&mut state);
}

/// Returns whether two JSON numbers, by their texts, have the same mathematical value.
pub(crate) fn equal_texts(a: &str, b: &str) -> bool {
    a == b || value::NumberValue::of(a) == value::NumberValue::of(b)
}
