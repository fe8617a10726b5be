//! A diff as JSON: what `codegen/diff/schemas/diff.schema.json` describes.

use serde::Serialize;

use crate::{Diff, MethodLine, SchemaHistory, Summary};
use mcp_revisions_schema::Error;

/// The form of the document; it grows when a member goes or changes, not when one comes.
const FORMAT: u32 = 2;

#[derive(Serialize)]
struct One<'d> {
    /// Of a document that is this diff alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<u32>,
    summary: Summary,
    #[serde(flatten)]
    diff: &'d Diff,
}

#[derive(Serialize)]
struct All<'d> {
    format: u32,
    revisions: &'d [String],
    methods: &'d [MethodLine],
    diffs: Vec<One<'d>>,
}

/// Renders the document of one diff. Returns an error if a value cannot be written as JSON, which would be a defect.
pub fn diff(diff: &Diff) -> Result<String, Error> {
    written(&one(diff, Some(FORMAT)))
}

/// Renders the document of a history: every adjacent pair. Fails as [`diff`].
pub fn history(history: &SchemaHistory) -> Result<String, Error> {
    written(&All {
        format: FORMAT,
        revisions: &history.revisions,
        methods: &history.methods,
        diffs: history.diffs.iter().map(|diff| one(diff, None)).collect(),
    })
}

fn one(diff: &Diff, format: Option<u32>) -> One<'_> {
    let summary = diff.summary();
    One {
        format,
        summary,
        diff,
    }
}

fn written(document: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(document);
    Ok(text.map_err(|error| Error::defect("serde_json", error))? + "\n")
}
