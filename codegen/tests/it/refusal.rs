//! What every refusal of the generator owes its reader: the place, and what to do.

use mcp_schema::{Decision, Error};

/// The text of a refusal, after a look at whether it helps.
#[track_caller]
pub(crate) fn helpful(error: &Error) -> String {
    let text = error.to_string();
    match error {
        Error::Many(errors) => errors.iter().for_each(|error| drop(helpful(error))),
        Error::Schema {
            file,
            expected,
            found,
            help,
            ..
        } => {
            for (part, what) in [
                (file, "file"),
                (expected, "what was expected"),
                (found, "what was found"),
                (help, "what to do"),
            ] {
                assert!(!part.trim().is_empty(), "no {what}: {text}");
            }
        }
        Error::Open(decision) => {
            let Decision {
                open,
                answer,
                settle,
                ..
            } = &**decision;
            for part in [open, answer, &settle.file, &settle.stub] {
                assert!(!part.trim().is_empty(), "{text}");
            }
        }
        Error::Json { line, column, .. } => assert!(*line > 0 && *column > 0, "{text}"),
        Error::Rule { line, problem, .. } => {
            assert!(*line > 0 && !problem.is_empty(), "{text}");
        }
        Error::File { help, .. } | Error::Usage { help, .. } => {
            assert!(!help.is_empty(), "no help: {text}");
        }
        Error::Emit { .. } => panic!("an input is refused as a defect of the generator: {text}"),
        other => panic!("an odd kind of refusal: {other:?}"),
    }
    text
}
