//! A diff as JSON: what `codegen/schemas/diff.schema.json` describes.

use serde::Serialize;

use crate::Error;
use crate::diff::{Diff, History, MethodLine, Summary};

/// The form of the document; it grows when a member goes or changes, not when one comes.
const FORMAT: u32 = 2;

#[derive(Serialize)]
struct Document<D> {
    format: u32,
    #[serde(flatten)]
    of: D,
}

#[derive(Serialize)]
struct One<'d> {
    summary: Summary,
    #[serde(flatten)]
    diff: &'d Diff,
}

#[derive(Serialize)]
struct All<'d> {
    revisions: &'d [String],
    methods: &'d [MethodLine],
    diffs: Vec<One<'d>>,
}

/// Renders the document of one diff.
///
/// # Errors
/// What cannot be written as JSON, which would be a defect.
pub fn diff(diff: &Diff) -> Result<String, Error> {
    written(one(diff))
}

/// Renders the document of a history: every adjacent pair.
///
/// # Errors
/// As [`diff`].
pub fn history(history: &History) -> Result<String, Error> {
    written(All {
        revisions: &history.revisions,
        methods: &history.methods,
        diffs: history.diffs.iter().map(one).collect(),
    })
}

fn one(diff: &Diff) -> One<'_> {
    One {
        summary: diff.summary(),
        diff,
    }
}

fn written(of: impl Serialize) -> Result<String, Error> {
    let format = FORMAT;
    let text = serde_json::to_string_pretty(&Document { format, of });
    Ok(text.map_err(|error| Error::defect("serde_json", error))? + "\n")
}
