//! Whether a new revision is the one that began as the revision after it, a draft.

use super::super::revisions::{self, Row, Status};
use super::super::{Files, schema_name};
use super::ImportOptions;
use crate::Error;

/// The revision after a new one whose own facts begin with the new one.
pub(super) fn source(
    files: &Files,
    rows: &[Row],
    new: bool,
    schema: &str,
    options: &ImportOptions,
) -> Result<Option<String>, Error> {
    let id = options.revision.as_str();
    let at = rows
        .iter()
        .position(|row| row.id() == id)
        .unwrap_or_default();
    let next = rows.get(at + 1).filter(|_| new);
    let Some(from) = &options.from else {
        let text = |row: &Row| files.get(&schema_name(row.id()));
        let before = at.checked_sub(1).and_then(|before| rows.get(before));
        let own = next.filter(|next| {
            *next.status.get_ref() == Status::Draft
                && text(next).is_some_and(|text| text == schema)
                && before.is_none_or(|before| text(before) != text(next))
        });
        return Ok(own.map(|row| row.id().to_owned()));
    };
    if !rows.iter().any(|row| row.id() == from) {
        return Err(revisions::unknown(from, rows));
    }
    match next.filter(|next| next.id() == from) {
        Some(next) => Ok(Some(next.id().to_owned())),
        None => Err(Error::usage(
            format!("`{from}` is not the revision after `{id}`, or `{id}` is listed already"),
            match next {
                Some(next) => format!(
                    "leave --from out, or give --from {}: what begins with that revision begins with `{id}` then",
                    next.id()
                ),
                None => "leave --from out: facts hold for the revisions of their ranges".to_owned(),
            },
        )),
    }
}
