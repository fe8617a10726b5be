//! The draft that a new revision began as: which one it is, and what of it becomes the revision's.

use super::conversions::pair;
use super::{ImportOptions, SpecDirectory, facts, list, sheet};
use mcp_revisions_schema::Error;
use mcp_revisions_schema::spec::revisions::RevisionRow;
use mcp_revisions_schema::spec::schema_name;

/// Returns the revision after a new one whose own facts begin with the new one.
pub(super) fn source(
    directory: &SpecDirectory,
    rows: &[RevisionRow],
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
        let own = next
            .and_then(|_| own_draft(directory, rows, at))
            .map(RevisionRow::id)
            .filter(|own| directory.text(&schema_name(own)) == schema);
        return Ok(own.map(str::to_owned));
    };
    list::row(rows, from)?;
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

/// Returns the revision after one, if it is a draft with another schema than the revision before.
fn own_draft<'r>(
    directory: &SpecDirectory,
    rows: &'r [RevisionRow],
    at: usize,
) -> Option<&'r RevisionRow> {
    let text = |row: &RevisionRow| directory.files.get(&schema_name(row.id()));
    let before = at.checked_sub(1).and_then(|before| rows.get(before));
    let next = rows.get(at + 1).filter(|next| next.is_draft())?;
    let is_own = before.is_none_or(|before| text(before) != text(next));
    is_own.then_some(next)
}

/// Gives the rules of conversions to a revision, and the rows that name it, to another one that has its place.
pub(super) fn handed_on(directory: &mut SpecDirectory, from: &str, to: &str) -> Result<(), Error> {
    let names: Vec<String> = directory.files.keys().cloned().collect();
    for file in names.iter().filter(|file| facts::shared(file).is_some()) {
        let text = directory.text(file);
        let mut edits = Vec::new();
        for entry in directory.entries(file)? {
            if facts::names(&entry, from) {
                let mut row = entry.text(text).to_owned();
                for (before, after) in [("\"", "\""), ("..", "\"")] {
                    let named = |id: &str| format!("{before}{id}{after}");
                    row = row.replace(&named(from), &named(to));
                }
                edits.push((entry.span.clone(), row));
            }
        }
        let text = sheet::edited(text, edits);
        directory.files.insert(file.clone(), text);
    }
    for name in names {
        let Some((old, _)) = pair(&name).filter(|(_, new)| *new == from) else {
            continue;
        };
        let target = format!("shims/{old}..{to}");
        if let Some(text) = directory.files.remove(&name) {
            let heading = |new: &str| format!("between {old} and {new}");
            let retitled = text.replacen(&heading(from), &heading(to), 1);
            let target_file = directory.files.entry(format!("{target}.toml"));
            target_file.or_insert(retitled);
        }
    }
    Ok(())
}
