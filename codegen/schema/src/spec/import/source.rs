//! Whether a new revision is the one that began as the revision after it, a draft.

use super::super::remove::own_draft;
use super::super::revisions::{self, Row};
use super::super::schema_name;
use super::{Directory, ImportOptions};
use crate::Error;

/// The revision after a new one whose own facts begin with the new one.
pub(super) fn source(
    directory: &Directory,
    rows: &[Row],
    new: bool,
    schema: &str,
    options: &ImportOptions,
) -> Result<Option<String>, Error> {
    let id = options.revision.as_str();
    let at = rows.iter().position(|row| row.id() == id);
    let at = at.unwrap_or_default();
    let next = rows.get(at + 1).filter(|_| new);
    let Some(from) = &options.from else {
        let own = next.and_then(|_| own_draft(directory, rows, at));
        let own = own.map(Row::id);
        let own = own.filter(|own| directory.text(&schema_name(own)) == schema);
        return Ok(own.map(str::to_owned));
    };
    revisions::row(rows, from)?;
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
