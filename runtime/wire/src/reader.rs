//! The reader: a position in a JSON text, the values that can be taken from there, and what a type does to be one of them.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use crate::fault::{Fault, FaultCause};
use crate::kind::Kind;
use crate::mend::notes::Notes;
use crate::scan::{self, MAX_DEPTH, index_of};
use crate::text::{self, Escapes};

/// A type that is read from JSON text.
///
/// A value is read where it is to stay, in a struct or a list: to hand it up as a result would copy it at each level.
/// So there is first a [`blank`](Self::blank), and then [`fill`](Self::fill).
pub trait Decode {
    /// Returns the value that reading starts from: it allocates nothing and stands for no JSON.
    fn blank() -> Self
    where
        Self: Sized;

    /// Reads the next value of `reader` into `self`, which is a blank.
    ///
    /// # Errors
    /// A text that is not JSON, or not of this type; what is in `self` then is of no use.
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault>;

    /// Reads the next value of `reader`.
    ///
    /// # Errors
    /// A text that is not JSON, or not of this type.
    #[inline]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault>
    where
        Self: Sized,
    {
        let mut value = Self::blank();
        value.fill(reader)?;
        Ok(value)
    }
}

/// Reads JSON text from front to back.
///
/// Each method that reads a value skips the blanks before it and leaves the reader behind the value.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) position: usize,
    pub(crate) depth: u32,
    /// Where mends are noted, by a reader that makes them.
    pub(crate) mending: Option<&'a RefCell<Notes>>,
    /// Set to true once one is met, by a reader that checks values that are kept as text.
    pub(crate) frames: Option<&'a Cell<bool>>,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `text`.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            position: 0,
            depth: 0,
            mending: None,
            frames: None,
        }
    }

    /// Returns the position in the text, in bytes.
    pub fn offset(&self) -> usize {
        self.position
    }

    /// Refuses anything but blanks in the rest of the text.
    pub fn finish(&mut self) -> Result<(), Fault> {
        self.peek();
        if self.position == self.text.len() {
            return Ok(());
        }
        Err(self.fault(FaultCause::Syntax("the end of the text")))
    }

    /// Reads a value of type `T`.
    #[inline]
    pub fn value<T: Decode>(&mut self) -> Result<T, Fault> {
        T::decode(self)
    }

    /// Reads `null` if that is the next value, and says so.
    #[inline]
    pub fn null(&mut self) -> Result<bool, Fault> {
        if self.peek() == b'n' {
            self.take_null()
        } else {
            Ok(false)
        }
    }

    #[inline(never)]
    fn take_null(&mut self) -> Result<bool, Fault> {
        self.position = scan::literal_end(self.bytes(), self.position, "null")?;
        Ok(true)
    }

    /// Reads `true` or `false`.
    pub fn boolean(&mut self) -> Result<bool, Fault> {
        let (word, value) = match self.peek() {
            b't' => ("true", true),
            b'f' => ("false", false),
            _ => return Err(self.refuse("a boolean")),
        };
        self.position = scan::literal_end(self.bytes(), self.position, word)?;
        Ok(value)
    }

    /// Reads a string.
    pub fn string(&mut self) -> Result<String, Fault> {
        if self.peek() != b'"' {
            return Err(self.refuse("a string"));
        }
        let start = self.position + 1;
        let end = scan::plain_end(self.bytes(), start);
        if scan::byte(self.bytes(), end) != b'"' {
            return self.escaped_from(start, end);
        }
        self.position = end + 1;
        Ok(self.slice(start, end).to_owned())
    }

    /// Reads a string, borrowed from the text where it has no escapes.
    pub fn text_of_string(&mut self) -> Result<Cow<'a, str>, Fault> {
        match self.plain_string() {
            Some(plain) => Ok(Cow::Borrowed(plain)),
            None => self.escaped_string().map(Cow::Owned),
        }
    }

    /// Reads a string that must be one of `choices`, and gives its index.
    pub fn string_enum(&mut self, choices: &'static [&'static str]) -> Result<usize, Fault> {
        if self.peek() != b'"' {
            return Err(self.fault(FaultCause::Choice(choices)));
        }
        let start = self.position;
        let found = match self.plain_string() {
            Some(value) => index_of(choices, value),
            None => index_of(choices, &self.escaped_string()?),
        };
        found.ok_or_else(|| Fault::new(start, FaultCause::Choice(choices)))
    }

    /// Reads the string `expected`; anything else is a fault.
    pub fn constant(&mut self, expected: &'static str) -> Result<(), Fault> {
        if self.peek() == b'"' {
            if self.take_quoted(expected) {
                return Ok(());
            }
            let start = self.position;
            if self.text_of_string()? == expected {
                return Ok(());
            }
            self.position = start;
        }
        Err(self.fault(FaultCause::Constant(expected)))
    }

    /// Begins an array and refuses anything else.
    #[inline]
    pub fn array(&mut self) -> Result<Array, Fault> {
        if self.peek() != b'[' {
            return Err(self.refuse("an array"));
        }
        self.enter()?;
        Ok(Array { first: true })
    }

    /// Skips a value and gives its text: any JSON, checked against the grammar and nothing else.
    pub fn text_of_value(&mut self) -> Result<&'a str, Fault> {
        self.peek();
        let start = self.position;
        self.position = scan::value_end(self.bytes(), start, self.depth)?;
        Ok(self.slice(start, self.position))
    }

    /// Skips a value.
    pub fn skip(&mut self) -> Result<(), Fault> {
        self.text_of_value().map(drop)
    }

    /// Returns the kind of the next value, which stays unread.
    ///
    /// A number without fraction and exponent is an [`Integer`](Kind::Integer).
    pub fn kind(&mut self) -> Result<Kind, Fault> {
        Ok(match self.peek() {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b't' | b'f' => Kind::Boolean,
            b'n' => Kind::Null,
            b'-' | b'0'..=b'9' => {
                let end = scan::number_end(self.bytes(), self.position)?;
                Kind::of_number(self.slice(self.position, end))
            }
            _ => return Err(self.fault(FaultCause::Syntax("a JSON value"))),
        })
    }

    /// Returns the fault of a value of the wrong kind here; `expected` continues "expected …".
    #[cold]
    pub fn refuse(&mut self, expected: &'static str) -> Fault {
        self.peek();
        self.refuse_at(self.position, expected)
    }

    /// Does the same as [`refuse`](Self::refuse), for the value at `offset`.
    #[cold]
    pub fn refuse_at(&self, offset: usize, expected: &'static str) -> Fault {
        let begins_value = matches!(
            scan::byte(self.bytes(), offset),
            b'{' | b'[' | b'"' | b't' | b'f' | b'n' | b'-' | b'0'..=b'9'
        );
        let what = if begins_value {
            FaultCause::Kind(expected)
        } else {
            FaultCause::Syntax(expected)
        };
        Fault::new(offset, what)
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Returns the text between two positions that stand at ASCII characters.
    #[inline(always)]
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    #[cold]
    pub(crate) fn fault(&self, what: FaultCause) -> Fault {
        Fault::new(self.position, what)
    }

    /// Skips blanks; the byte that follows, or 0 at the end.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> u8 {
        self.position = scan::blank_end(self.bytes(), self.position);
        scan::byte(self.bytes(), self.position)
    }

    /// Steps over the bracket that opens a container.
    #[inline]
    fn enter(&mut self) -> Result<(), Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault(FaultCause::Depth));
        }
        self.depth += 1;
        self.position += 1;
        Ok(())
    }

    /// Steps into the object `name` and gives its offset.
    #[inline]
    pub(crate) fn enter_object(&mut self, name: &'static str) -> Result<usize, Fault> {
        if self.peek() != b'{' {
            return Err(self.no_object(name));
        }
        let start = self.position;
        self.enter()?;
        Ok(start)
    }

    #[cold]
    fn no_object(&mut self, name: &'static str) -> Fault {
        let is_value = matches!(self.refuse("").what(), FaultCause::Kind(_));
        self.fault(if is_value {
            FaultCause::NoObject(name)
        } else {
            FaultCause::Syntax("an object")
        })
    }

    /// Steps to the key of the next member of the object, or over its end, and says which.
    #[inline(always)]
    pub(crate) fn next_member(&mut self, first: &mut bool) -> Result<bool, Fault> {
        let mut next = self.peek();
        if next == b'}' {
            self.position += 1;
            self.depth = self.depth.saturating_sub(1);
            return Ok(false);
        }
        if *first {
            *first = false;
        } else if next == b',' {
            self.position += 1;
            next = self.peek();
        } else {
            return Err(self.fault(scan::unended(true)));
        }
        if next == b'"' {
            Ok(true)
        } else {
            Err(self.fault(FaultCause::Syntax("a member name in quotes")))
        }
    }

    /// Reads the string `expected` if it stands here without escapes, quotes included.
    #[inline(always)]
    pub(crate) fn take_quoted(&mut self, expected: &str) -> bool {
        let start = self.position + 1;
        let end = start + expected.len();
        let bytes = self.bytes();
        // The closing quote first: it settles most of the misses.
        let matches = scan::byte(bytes, end) == b'"'
            && bytes
                .get(start..end)
                .is_some_and(|key| scan::same(key, expected.as_bytes()));
        if matches {
            self.position = end + 1;
        }
        matches
    }

    /// Reads the colon after a key.
    #[inline(always)]
    pub(crate) fn colon(&mut self) -> Result<(), Fault> {
        if self.peek() != b':' {
            return Err(self.fault(FaultCause::Syntax("`:`")));
        }
        self.position += 1;
        Ok(())
    }

    /// Reads a string if one without escapes comes next; anything else stays unread.
    #[inline(always)]
    pub(crate) fn plain_string(&mut self) -> Option<&'a str> {
        if self.peek() != b'"' {
            return None;
        }
        let start = self.position + 1;
        let end = scan::plain_end(self.bytes(), start);
        if scan::byte(self.bytes(), end) != b'"' {
            return None;
        }
        self.position = end + 1;
        Some(self.slice(start, end))
    }

    /// Reads a string that has escapes, or is none.
    #[inline(never)]
    pub(crate) fn escaped_string(&mut self) -> Result<String, Fault> {
        if self.peek() != b'"' {
            return Err(self.refuse("a string"));
        }
        self.escaped_from(self.position + 1, self.position + 1)
    }

    /// Reads a string that starts at `start` and is plain up to `at`.
    #[inline(never)]
    fn escaped_from(&mut self, start: usize, at: usize) -> Result<String, Fault> {
        let at = scan::plain_end(self.bytes(), at);
        let mut escapes = Escapes::new();
        let end = scan::escaped_string_end(self.bytes(), at, |at| escapes.push(at - start))?;
        self.position = end;
        text::unescape(self.slice(start, end - 1), start, &escapes)
    }

    /// Reads a string as what stands between its quotes.
    pub(crate) fn raw_string(&mut self) -> Result<&'a str, Fault> {
        if self.peek() != b'"' {
            return Err(self.refuse("a string"));
        }
        let start = self.position + 1;
        self.position = scan::string_end(self.bytes(), start)?;
        Ok(self.slice(start, self.position - 1))
    }
}

/// An array that is being read.
#[derive(Debug)]
pub struct Array {
    first: bool,
}

impl Array {
    /// Steps to the next element, or over the end of the array, and says which.
    pub fn next(&mut self, reader: &mut Reader<'_>) -> Result<bool, Fault> {
        let next = reader.peek();
        if self.first {
            self.first = false;
            if next != b']' {
                return Ok(true);
            }
        } else if next == b',' {
            reader.position += 1;
            return Ok(true);
        }
        if next != b']' {
            return Err(reader.fault(scan::unended(false)));
        }
        reader.position += 1;
        reader.depth = reader.depth.saturating_sub(1);
        Ok(false)
    }
}
