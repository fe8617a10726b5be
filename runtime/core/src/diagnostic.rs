//! A diagnostic: what is wrong in a message, where, what was expected and what was found; and why a conversion gave no value.

use mcp_revisions_tables::{Dropped, Failure, Loss, Outcome, Rejected, RequiresState, Subject};
use mcp_wire::{Error, ErrorObject, printable};

/// What is wrong in a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[must_use]
pub struct Diagnostic {
    /// JSON pointer of the part; empty for the whole text.
    pub pointer: String,
    /// What was expected there, such as `a string`.
    pub expected: String,
    /// What was found there, such as `5`; long values are cut.
    pub found: String,
    /// All of it in one line, for people.
    pub message: String,
    origin: Box<Origin>,
}

/// The message that a diagnostic is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Origin {
    /// The sender and the message, as the beginning of a sentence; empty if they are not known.
    whose: String,
    /// The list entry that it is in, such as ``tool `add` ``.
    part: Option<String>,
}

impl Diagnostic {
    /// Creates the diagnostic of a failed read of the part that stands at `pointer`.
    #[doc(hidden)]
    pub fn of_error(pointer: &str, error: &Error) -> Self {
        let whole = Self {
            pointer: error.pointer().to_owned(),
            expected: error.expected().to_owned(),
            found: error.found().to_owned(),
            message: error.to_string(),
            origin: Box::new(Origin {
                whose: String::new(),
                part: error.part().map(str::to_owned),
            }),
        };
        whole.within(pointer)
    }

    /// Creates the diagnostic of a part that is not what it has to be.
    #[doc(hidden)]
    pub fn new(pointer: &str, expected: String, found: String) -> Self {
        let place = match pointer {
            "" => "the root".to_owned(),
            pointer => printable(pointer),
        };
        Self {
            message: format!("at {place}: expected {expected}, found {found}"),
            pointer: pointer.to_owned(),
            expected,
            found,
            origin: Box::default(),
        }
    }

    /// Creates the diagnostic of a text that is not its subject: whose mistake it is, in what, and where.
    pub(crate) fn of_subject(subject: Subject<'_>, error: &Error) -> Self {
        let mut diagnostic = Self::of_error("", error);
        diagnostic.origin.whose = subject.title();
        diagnostic
    }

    /// Returns the same of a text that stands at `pointer` of a longer one.
    pub fn within(self, pointer: &str) -> Self {
        if pointer.is_empty() {
            return self;
        }
        let whole = format!("{pointer}{}", self.pointer);
        let part = self.origin.part.as_ref().map(|part| format!("{part}, "));
        let (expected, found) = (&self.expected, &self.found);
        let message = format!(
            "{}at {}: expected {expected}, found {found}",
            part.unwrap_or_default(),
            printable(&whole),
        );
        Self {
            pointer: whole,
            message,
            ..self
        }
    }

    /// Returns the diagnostic as a sentence that names the sender and the message, as far as they are known.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self {
            origin, message, ..
        } = self;
        match origin.whose.as_str() {
            "" => message.clone(),
            whose => format!("{whose} not valid: {message}"),
        }
    }
}

/// A converted value with its losses, or the reason why there is none.
pub type Conversion<T> = Result<(T, Vec<Loss>), ConversionError>;

/// Why a conversion gave no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// The conversion needs the state of a connection: an adapter has it.
    #[error("{0}")]
    RequiresState(RequiresState),
    /// The other revision cannot be sent the message; this error is its answer.
    #[error("{0}")]
    Rejected(Box<Rejected>),
    /// The other revision has no such notification.
    #[error("{0}")]
    Dropped(Dropped),
    /// The text is not of its type: a mistake of its sender.
    #[error("{}", .0.sentence())]
    Invalid(Box<Diagnostic>),
    /// The method or type is not known, or the protocol takes no part in conversions.
    #[error("{0}")]
    Unknown(String),
    /// A response, whose context does not say which method it answers.
    #[error("a response does not say which method it answers")]
    UnknownRequest,
    /// Both sides may send the method, and it does not mean the same from each.
    #[error("both sides may send `{0}`, and it does not mean the same from each")]
    UnknownSender(String),
}

impl ConversionError {
    /// Returns the error that answers the message in its place; `invalid` is the code for a text that is not of its type.
    #[must_use]
    pub fn into_error(self, invalid: i64) -> ErrorObject {
        let unknown = |what: String| ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, what);
        match self {
            Self::Rejected(rejected) => rejected.error,
            Self::Dropped(dropped) => unknown(format!("not known here ({})", dropped.rule)),
            Self::Invalid(diagnostic) => ErrorObject::new(invalid, diagnostic.sentence()),
            other => unknown(other.to_string()),
        }
    }

    /// Returns the rule in `spec/shims/` that stopped the conversion.
    #[must_use]
    pub fn rule(&self) -> Option<&'static str> {
        match self {
            Self::RequiresState(needs) => Some(needs.rule),
            Self::Rejected(rejected) => Some(rejected.rule),
            Self::Dropped(dropped) => Some(dropped.rule),
            _ => None,
        }
    }

    /// Returns the error of a part of a message that stands at `pointer`.
    #[must_use]
    pub fn within(self, pointer: &str) -> Self {
        match self {
            Self::Invalid(diagnostic) => Self::Invalid(Box::new(diagnostic.within(pointer))),
            other => other,
        }
    }

    /// Returns the error of a subject that was not converted.
    #[doc(hidden)]
    #[must_use]
    pub fn of_subject(subject: Subject<'_>, failure: Failure) -> Self {
        match failure {
            Failure::Invalid(error) => {
                Self::Invalid(Box::new(Diagnostic::of_subject(subject, &error)))
            }
            Failure::Unknown(what) => Self::Unknown(what),
        }
    }
}

impl From<Diagnostic> for ConversionError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Invalid(Box::new(diagnostic))
    }
}

impl From<Error> for ConversionError {
    fn from(error: Error) -> Self {
        Diagnostic::of_error("", &error).into()
    }
}

/// Returns the value of an outcome with its losses, or why there is none.
pub(crate) fn conversion<T>(outcome: Outcome<T>) -> Conversion<T> {
    Err(match outcome {
        Outcome::Exact(value) => return Ok((value, Vec::new())),
        Outcome::Reversible(value, losses) | Outcome::Lossy(value, losses) => {
            return Ok((value, losses));
        }
        Outcome::RequiresState(needs) => ConversionError::RequiresState(needs),
        Outcome::Rejected(rejected) => ConversionError::Rejected(Box::new(rejected)),
        Outcome::Dropped(dropped) => ConversionError::Dropped(dropped),
    })
}
