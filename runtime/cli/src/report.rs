//! What was found out about one input, for people and for programs.

use mcp_wire::{Error, printable};
use serde_json::{Value, json};

/// The result of one check.
pub(crate) struct Finding {
    /// What the text was read as: a definition, or a method and the kind of message.
    pub(crate) read_as: String,
    /// What came of it.
    pub(crate) verdict: Verdict,
}

/// What came of reading and writing.
pub(crate) enum Verdict {
    /// The same JSON came out.
    Same,
    /// These pointers did not come out as they went in.
    Lost(Vec<String>),
    /// It is not what it was to be read as.
    Refused(Problem),
}

/// Why a text was refused.
pub(crate) struct Problem {
    pub(crate) pointer: String,
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) message: String,
}

impl Problem {
    /// A failed read of a part of the text that begins at `pointer`.
    pub(crate) fn at(pointer: &str, error: &Error) -> Self {
        let whole = format!("{pointer}{}", error.pointer());
        let message = match pointer.is_empty() {
            true => error.to_string(),
            false => format!(
                "{}at {}: expected {}, found {}",
                error
                    .part()
                    .map(|part| format!("{part}, "))
                    .unwrap_or_default(),
                printable(&whole),
                error.expected(),
                error.found()
            ),
        };
        Self {
            pointer: whole,
            expected: error.expected().to_owned(),
            found: error.found().to_owned(),
            message,
        }
    }

    /// A part of the text that cannot be what it was to be.
    pub(crate) fn new(pointer: &str, expected: String, found: String) -> Self {
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

impl Finding {
    pub(crate) fn is_ok(&self) -> bool {
        matches!(self.verdict, Verdict::Same)
    }

    /// `FILE: ok (tools/call request)`
    pub(crate) fn line(&self, file: &str) -> String {
        let Self { read_as, verdict } = self;
        match verdict {
            Verdict::Same => format!("{file}: ok ({read_as})\n"),
            Verdict::Lost(pointers) => {
                let pointers = printable(&pointers.join(", "));
                format!("{file}: lost ({read_as}): {pointers}\n")
            }
            Verdict::Refused(problem) => {
                format!("{file}: error ({read_as}): {}\n", problem.message)
            }
        }
    }

    /// One JSON object on one line.
    pub(crate) fn json(&self, file: &str) -> String {
        let Self { read_as, verdict } = self;
        let mut row = json!({ "file": file, "as": read_as });
        let (status, key, value) = match verdict {
            Verdict::Same => ("ok", "lost", json!([])),
            Verdict::Lost(pointers) => ("lost", "lost", json!(pointers)),
            Verdict::Refused(Problem {
                pointer,
                expected,
                found,
                message,
            }) => (
                "error",
                "error",
                json!({
                    "pointer": pointer,
                    "expected": expected,
                    "found": found,
                    "message": message,
                }),
            ),
        };
        if let Value::Object(row) = &mut row {
            row.insert("status".to_owned(), status.into());
            row.insert(key.to_owned(), value);
        }
        format!("{row}\n")
    }
}
