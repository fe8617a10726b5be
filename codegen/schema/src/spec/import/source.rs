//! Where the facts of a revision come from.

use super::super::revisions::{self, Row, Status};
use super::super::{Files, schema_name};
use super::{ImportOptions, usage};
use crate::Error;

/// The revision that facts are taken over from.
///
/// A draft that was the same as the release before it has no facts of its own: on the day it differs it takes them over.
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
    let before = at.checked_sub(1).and_then(|before| rows.get(before));
    let text = |row: &Row| files.get(&schema_name(row.id()));
    let from = match &options.from {
        Some(from) if from == id => {
            return Err(usage(
                format!("`{id}` cannot take over its own facts"),
                "name another revision with --from, or leave the option out",
            ));
        }
        Some(from) => Some(
            rows.iter()
                .find(|row| row.id() == from)
                .ok_or_else(|| revisions::unknown(from, rows))?,
        ),
        None if new => {
            let twin = |row: &&Row| {
                row.id() != id
                    && *row.status.get_ref() == Status::Draft
                    && text(row).is_some_and(|text| text == schema)
            };
            let own = |row: &&Row| before.is_none_or(|before| text(before) != text(row));
            rows.iter().find(|row| twin(row) && own(row)).or(before)
        }
        None => before.filter(|before| {
            let stood = files.get(&schema_name(id)).map(String::as_str);
            let twin = text(before).map(String::as_str) == stood;
            let draft = rows
                .get(at)
                .is_some_and(|row| *row.status.get_ref() == Status::Draft);
            draft && twin && stood != Some(schema)
        }),
    };
    Ok(from.map(|row| row.id().to_owned()))
}
