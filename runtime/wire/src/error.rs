//! Why a text could not be read, for people: where, what was expected, what stood there.

use std::borrow::Cow;
use std::fmt;

use crate::fault::{Fault, FaultCause};
use crate::pointer::{self, PointerWalk};
use crate::reader::Reader;
use crate::scan::MAX_DEPTH;
use crate::shown::{cut, printable};

/// Why a JSON text could not be read as a type.
///
/// Its message says where, what was expected and what was found, and of which list entry if that has a name:
/// ``tool `add`, at /tools/0/title: expected a string, found 5 (line 1, column 40)``.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<ErrorDetail>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct ErrorDetail {
    kind: ErrorKind,
    pointer: String,
    part: Option<String>,
    expected: Cow<'static, str>,
    found: Cow<'static, str>,
    offset: usize,
    line: usize,
    column: usize,
}

/// What is wrong in an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not JSON.
    Syntax,
    /// The value is of another kind, such as a number in place of a string.
    Kind,
    /// A required member is not there.
    Missing,
    /// A constant has another value.
    Constant,
    /// A string is not one of those allowed.
    Choice,
    /// The member that tells the cases of a union apart has none of their values.
    Tag,
    /// None of the members that tell the cases of a union apart is there.
    Undecided,
    /// Members that exclude each other are both there.
    Conflict,
    /// An object names a member twice.
    Duplicate,
    /// An object has a member that its type does not allow.
    UnknownMember,
    /// Values are nested deeper than [`MAX_DEPTH`].
    Depth,
    /// A string holds half of a surrogate pair.
    Surrogate,
    /// The bytes are not UTF-8.
    Utf8,
}

impl Error {
    /// Explains `fault`, which came from reading `text`.
    #[cold]
    pub fn new(fault: &Fault, text: &str) -> Self {
        let offset = fault.offset();
        let (kind, expected) = expectation(fault.what());
        let found = match kind {
            ErrorKind::Missing | ErrorKind::Undecided => "nothing".into(),
            ErrorKind::Syntax => found_character(text, offset),
            ErrorKind::Duplicate => "a second one".into(),
            ErrorKind::Depth => "one more level".into(),
            ErrorKind::Conflict => "several".into(),
            _ => found_value(text, offset),
        };
        Self::at(text, offset, kind, expected, found)
    }

    /// Refuses bytes that are UTF-8 as far as `valid` and go on with `next`.
    #[cold]
    pub(crate) fn not_utf8(valid: &str, next: Option<u8>) -> Self {
        let (kind, expected) = expectation(FaultCause::Utf8);
        let found = match next {
            Some(byte) => format!("byte 0x{byte:02x}").into(),
            None => "the end of the text".into(),
        };
        Self::at(valid, valid.len(), kind, expected, found)
    }

    fn at(
        text: &str,
        offset: usize,
        kind: ErrorKind,
        expected: Cow<'static, str>,
        found: Cow<'static, str>,
    ) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let mut walk = PointerWalk::new(text);
        walk.go(offset);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self(Box::new(ErrorDetail {
            kind,
            pointer: walk.pointer(),
            part: walk.part(),
            expected,
            found,
            offset,
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }))
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the place of the error as a JSON pointer (RFC 6901); empty for the whole text.
    ///
    /// A missing member is reported at the object that lacks it.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// Returns the list entry that it is in, by its name or URI, such as ``tool `add` ``; `None` if it is in none that has one.
    pub fn part(&self) -> Option<&str> {
        self.0.part.as_deref()
    }

    /// Returns the expectation there, such as `a string`.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// Returns the value there, such as `5`, ``string "abc"`` or `nothing`; long values are cut.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// Returns the offset in the text, in bytes.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// Returns the line in the text, from 1.
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// Returns the column in the line, in characters, from 1.
    pub fn column(&self) -> usize {
        self.0.column
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorDetail {
            pointer,
            part,
            expected,
            found,
            line,
            column,
            ..
        } = &*self.0;
        let place = if pointer.is_empty() {
            "the root".to_owned()
        } else {
            printable(pointer)
        };
        if let Some(part) = part {
            write!(f, "{part}, ")?;
        }
        write!(
            f,
            "at {place}: expected {expected}, found {found} (line {line}, column {column})"
        )
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

/// Returns the kind of a fault, and what was expected.
fn expectation(what: FaultCause) -> (ErrorKind, Cow<'static, str>) {
    match what {
        FaultCause::Syntax(expected) => (ErrorKind::Syntax, expected.into()),
        FaultCause::Kind(expected) => (ErrorKind::Kind, expected.into()),
        FaultCause::NoObject("") => (ErrorKind::Kind, "an object".into()),
        FaultCause::NoObject(name) => (ErrorKind::Kind, format!("{name} object").into()),
        FaultCause::Missing { of, member } => (
            ErrorKind::Missing,
            format!("member `{member}` of {of}").into(),
        ),
        FaultCause::Constant(value) => (ErrorKind::Constant, format!("{value:?}").into()),
        FaultCause::ConstantLiteral(value) => (ErrorKind::Constant, value.into()),
        FaultCause::Choice(choices) => (ErrorKind::Choice, one_of('"', choices).into()),
        FaultCause::Tag(tag) => (ErrorKind::Tag, one_of('"', tag.values).into()),
        FaultCause::Undecided(paths) => {
            let joined: Vec<String> = paths.paths.iter().map(|path| path.join("/")).collect();
            let paths: Vec<&str> = joined.iter().map(String::as_str).collect();
            (
                ErrorKind::Undecided,
                format!("member {}", one_of('`', &paths)).into(),
            )
        }
        FaultCause::Conflict(expected) => (ErrorKind::Conflict, expected.into()),
        FaultCause::Duplicate => (ErrorKind::Duplicate, "each member once".into()),
        FaultCause::Unknown(name) => (
            ErrorKind::UnknownMember,
            format!("a member of {name}").into(),
        ),
        FaultCause::Depth => (
            ErrorKind::Depth,
            format!("at most {MAX_DEPTH} levels of nesting").into(),
        ),
        FaultCause::Surrogate => (ErrorKind::Surrogate, "surrogates in pairs".into()),
        FaultCause::Utf8 => (ErrorKind::Utf8, "UTF-8".into()),
    }
}

/// ``"a", "b" or "c"``, in the given quotes.
fn one_of(quote: char, choices: &[&str]) -> String {
    let mut text = String::new();
    for (index, choice) in choices.iter().enumerate() {
        text.push_str(match index {
            0 => "",
            last if last + 1 == choices.len() => " or ",
            _ => ", ",
        });
        text.push(quote);
        text.push_str(choice);
        text.push(quote);
    }
    text
}

fn found_character(text: &str, offset: usize) -> Cow<'static, str> {
    match text.get(offset..).and_then(|rest| rest.chars().next()) {
        Some(char) => format!("`{}`", char.escape_debug()).into(),
        None => "the end of the text".into(),
    }
}

/// Returns the value, or the part of a string, that starts at `offset`.
fn found_value(text: &str, offset: usize) -> Cow<'static, str> {
    let rest = text.get(offset..).unwrap_or_default();
    match rest.as_bytes().first() {
        Some(b'{') => "an object".into(),
        Some(b'[') => "an array".into(),
        Some(b'"') => {
            let mut reader = Reader::new(rest);
            let raw = reader.raw_string().unwrap_or_default();
            format!("string \"{}\"", cut(raw)).into()
        }
        Some(b'\\') => cut(rest.get(..6).unwrap_or(rest)).into(),
        Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
            let end = pointer::scalar_end(rest.as_bytes(), 0);
            cut(rest.get(..end).unwrap_or_default()).into()
        }
        _ => found_character(text, offset),
    }
}
