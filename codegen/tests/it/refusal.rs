//! What every refusal of the generator owes its reader: the place, and what to do.

use mcp_revisions_schema::{Decision, Error, FaultKind, FileLocation, SpecDiagnostic};

/// The text of a refusal, after a look at whether it helps.
#[track_caller]
pub(crate) fn helpful(error: &Error) -> String {
    let text = error.to_string();
    match error {
        Error::Many(errors) => errors.iter().for_each(|error| drop(helpful(error))),
        Error::Wrong(of) => diagnostic(of, &text),
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
        other => panic!("an odd kind of refusal: {other:?}"),
    }
    text
}

#[track_caller]
fn diagnostic(of: &SpecDiagnostic, text: &str) {
    let is_said = |part: &str, what: &str| assert!(!part.trim().is_empty(), "no {what}: {text}");
    is_said(&of.problem, "problem");
    match (of.fault, &of.place) {
        (FaultKind::Generator, _) => {
            panic!("an input is refused as a defect of the generator: {text}")
        }
        (FaultKind::Text, FileLocation::Column(line, column)) => {
            assert!(*line > 0 && *column > 0, "{text}")
        }
        (FaultKind::Input, FileLocation::Line(line)) => {
            assert!(*line > 0 && !of.rule.is_empty(), "{text}")
        }
        (FaultKind::Input, FileLocation::Pointer(_)) => {
            let expected = of.problem.strip_prefix("expected ").unwrap_or_default();
            let (expected, found) = expected.split_once(", found ").unwrap_or_default();
            is_said(&of.file, "file");
            is_said(expected, "word of what was expected");
            is_said(found, "word of what was found");
            is_said(of.cure(), "help");
        }
        (FaultKind::Input, FileLocation::Whole) | (FaultKind::Request, _) => {
            is_said(of.cure(), "help")
        }
        _ => panic!("an odd kind of refusal: {of:?}"),
    }
}
