//! A diagnostic: what is wrong in a message, where, what was expected and what was found.

use std::fmt;

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
