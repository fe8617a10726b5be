//! A diagnostic: what is wrong in a message, where, what was expected and what was found; and why a message was not converted.

use std::fmt;

use mcp_revisions_tables::Failure;
use mcp_wire::{Error, printable};

/// What is wrong in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// JSON pointer of the part; empty for the whole text.
    pub pointer: String,
    /// What was expected there, such as `a string`.
    pub expected: String,
    /// What was found there, such as `5`; long values are cut.
    pub found: String,
    /// All of it in one line, for people.
    pub message: String,
}

impl Diagnostic {
    /// Creates the diagnostic of a failed read of the part that stands at `pointer`.
    #[must_use]
    pub fn of_error(pointer: &str, error: &Error) -> Self {
        let whole = format!("{pointer}{}", error.pointer());
        let message = if pointer.is_empty() {
            error.to_string()
        } else {
            let part = error.part().map(|part| format!("{part}, "));
            format!(
                "{}at {}: expected {}, found {}",
                part.unwrap_or_default(),
                printable(&whole),
                error.expected(),
                error.found()
            )
        };
        Self {
            pointer: whole,
            expected: error.expected().to_owned(),
            found: error.found().to_owned(),
            message,
        }
    }

    /// Creates the diagnostic of a part that is not what it has to be.
    #[must_use]
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
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Why a message was not converted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MessageError {
    /// The text is not a message of the protocol that it is said to be of.
    #[error("{0}")]
    Invalid(Diagnostic),
    /// The method is not known, or the protocol takes no part in conversions.
    #[error("{0}")]
    Unknown(String),
    /// A response, whose context does not say which method it answers.
    #[error("a response does not say which method it answers")]
    UnknownRequest,
    /// Both sides may send the method, and it does not mean the same from each.
    #[error("both sides may send `{0}`, and it does not mean the same from each")]
    UnknownSender(String),
}

impl MessageError {
    /// Returns the error of what is read as this member of a message.
    pub(crate) fn within(member: &str, failure: Failure) -> Self {
        match failure {
            Failure::Invalid(error) => Self::Invalid(Diagnostic::of_error(member, &error)),
            Failure::Unknown(what) => Self::Unknown(what),
        }
    }
}

impl From<Failure> for MessageError {
    fn from(failure: Failure) -> Self {
        Self::within("", failure)
    }
}
