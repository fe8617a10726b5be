//! The result of checks of one input, for people and for programs.

use mcp_revisions_core::Diagnostic;
use mcp_wire::printable;
use serde_json::{Value, json};

pub(crate) struct CheckResult {
    /// The type that the text was read as: a definition, or a method and the kind of message.
    pub(crate) read_as: String,
    pub(crate) verdict: CheckVerdict,
}

pub(crate) enum CheckVerdict {
    /// The same JSON came out.
    Same,
    /// These pointers did not come out as they went in.
    Lost(Vec<String>),
    /// It is not what it was to be read as.
    Refused(Diagnostic),
}

impl CheckResult {
    pub(crate) fn is_ok(&self) -> bool {
        matches!(self.verdict, CheckVerdict::Same)
    }

    /// `FILE: ok (tools/call request)`
    pub(crate) fn line(&self, file: &str) -> String {
        let Self { read_as, verdict } = self;
        match verdict {
            CheckVerdict::Same => format!("{file}: ok ({read_as})\n"),
            CheckVerdict::Lost(pointers) => {
                let pointers = printable(&pointers.join(", "));
                format!("{file}: lost ({read_as}): {pointers}\n")
            }
            CheckVerdict::Refused(diagnostic) => {
                format!("{file}: error ({read_as}): {}\n", diagnostic.message)
            }
        }
    }

    /// One JSON object on one line.
    pub(crate) fn json(&self, file: &str) -> String {
        let Self { read_as, verdict } = self;
        let mut row = json!({ "file": file, "as": read_as });
        let (status, key, value) = match verdict {
            CheckVerdict::Same => ("ok", "lost", json!([])),
            CheckVerdict::Lost(pointers) => ("lost", "lost", json!(pointers)),
            CheckVerdict::Refused(Diagnostic {
                pointer,
                expected,
                found,
                message,
                ..
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
