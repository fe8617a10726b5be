//! What can go wrong, told so that the reader can mend it: what, where, what was expected, what stood there, what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::decision::{Asked, Decision};
use crate::problems::Problems;

/// A failure of reading, importing or checking.
///
/// Text members are `Box<str>` to keep a `Result` small; `.into()` makes one from `&str` and `String`.
/// Lines and columns count from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    #[error("cannot {action} {}: {cause}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried, as a verb: `read`, `write`.
        action: &'static str,
        /// What the system said; part of the message, and so no `source` of it.
        cause: std::io::Error,
    },
    /// Text that is not one JSON document.
    #[error("{file}:{line}:{column}: not JSON: {message}")]
    Json {
        /// The file.
        file: Box<str>,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// What the parser said.
        message: Box<str>,
    },
    /// Text that is not TOML, or not the TOML that this file holds.
    #[error("{file}:{line}: {message}")]
    Toml {
        /// The file.
        file: Box<str>,
        /// The line.
        line: usize,
        /// What the parser said.
        message: Box<str>,
    },
    /// A rule of a rule file that does not hold.
    #[error(
        "{file}:{line}: {rule}: {problem}{}{}",
        Detail("reason", reason),
        Detail("help", help)
    )]
    Rule {
        /// The rule file.
        file: Box<str>,
        /// The line of the rule.
        line: usize,
        /// Which rule: its kind and its id.
        rule: Box<str>,
        /// The revision of which it does not hold, where it may hold of others that it names.
        revision: Option<Box<str>>,
        /// What is wrong with it, with what was expected and found.
        problem: Box<str>,
        /// Why the rule stands there, in the words of the file; may be empty.
        reason: Box<str>,
        /// What to do; may be empty.
        help: Box<str>,
    },
    /// A place in a schema that is not as it has to be.
    #[error(
        "{file}#{pointer}: expected {expected}, found {found}{}",
        Detail("help", help)
    )]
    Schema {
        /// The schema file.
        file: Box<str>,
        /// JSON pointer of the place; empty for the whole document.
        pointer: Box<str>,
        /// What has to stand there.
        expected: Box<str>,
        /// What stands there.
        found: Box<str>,
        /// What to do; may be empty.
        help: Box<str>,
    },
    /// A revision that the spec does not list.
    #[error(
        "no revision `{id}`{}",
        Detail("known", &if known.is_empty() { "none".to_owned() } else { known.join(", ") })
    )]
    UnknownRevision {
        /// The id that was asked for.
        id: Box<str>,
        /// The ids that are listed, in order.
        known: Vec<String>,
    },
    /// A file that is not what it has to be, byte for byte.
    #[error("{file}: {problem}{}{}", Detail("", detail), Detail("help", help))]
    File {
        /// The file.
        file: Box<str>,
        /// What is wrong with it.
        problem: Box<str>,
        /// The first differing lines, or other evidence; may be empty.
        detail: Box<str>,
        /// What to do; may be empty.
        help: Box<str>,
    },
    /// A request that cannot be carried out as it was put.
    #[error("{problem}{}", Detail("help", help))]
    Usage {
        /// What is wrong with it.
        problem: Box<str>,
        /// What to do.
        help: Box<str>,
    },
    /// A step of emission that failed: a defect of the generator, not of the input.
    #[error(
        "{step} failed: {problem}\n  help: this is a defect of the generator; report it with the schema"
    )]
    Emit {
        /// The library or template.
        step: &'static str,
        /// What it said.
        problem: Box<str>,
    },
    /// What the input leaves open, where no safe answer may be taken.
    #[error("{}\n  {}", Asked(.0), .0.settle)]
    Open(Box<Decision>),
    /// Several failures.
    #[error("{0}")]
    Many(Problems),
}

impl Error {
    /// An [`Error::Io`].
    pub fn io(action: &'static str, path: impl AsRef<Path>, cause: std::io::Error) -> Self {
        use std::io::{Error as Cause, ErrorKind};
        let cause = match cause.kind() {
            ErrorKind::NotFound if action == "read" => {
                Cause::new(ErrorKind::NotFound, "there is no such file: check the path")
            }
            ErrorKind::InvalidData if action == "read" => Cause::new(
                ErrorKind::InvalidData,
                format!("{cause}: save the file as UTF-8"),
            ),
            _ => cause,
        };
        Self::Io {
            path: path.as_ref().to_owned(),
            action,
            cause,
        }
    }

    /// Ok for no failure, the failure itself for one, else [`Error::Many`].
    ///
    /// # Errors
    /// When `errors` is not empty.
    pub fn check(errors: Vec<Self>) -> Result<(), Self> {
        Ok(Problems::check(errors)?)
    }

    /// The file that it is about, and the line; those without come first.
    pub(crate) fn place(&self) -> (String, usize) {
        match self {
            Self::Json { file, line, .. }
            | Self::Toml { file, line, .. }
            | Self::Rule { file, line, .. } => (file.to_string(), *line),
            Self::Schema { file, .. } | Self::File { file, .. } => (file.to_string(), 0),
            Self::Open(decision) => (decision.scope.to_string(), 0),
            Self::Io { .. }
            | Self::UnknownRevision { .. }
            | Self::Usage { .. }
            | Self::Emit { .. }
            | Self::Many(_) => (String::new(), 0),
        }
    }

    /// The input could not be read at all, as against read and found wrong.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        match self {
            Self::Io { .. } | Self::Json { .. } | Self::Toml { .. } => true,
            Self::Many(errors) => errors.iter().any(Self::is_unreadable),
            _ => false,
        }
    }
}

/// An indented second line, left out when there is nothing to say.
struct Detail<'a>(&'static str, &'a str);

impl fmt::Display for Detail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(label, text) = *self;
        if text.is_empty() {
            return Ok(());
        }
        f.write_str("\n  ")?;
        if !label.is_empty() {
            write!(f, "{label}: ")?;
        }
        f.write_str(&text.trim_end().replace('\n', "\n  "))
    }
}
