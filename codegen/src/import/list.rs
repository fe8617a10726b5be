//! The list of revisions, written with its comments kept.

use mcp_revisions_schema::Error;
use mcp_revisions_schema::spec::revisions::RevisionRow;
use mcp_revisions_schema::spec::{REVISIONS, RevisionStage, RuleFile};
use toml::Spanned;

use super::SpecDirectory;
use super::sheet::{self, SheetEntry};

/// Returns the entry of a revision in the text of the list.
fn entry(file: &RuleFile, id: &str) -> Result<Option<SheetEntry>, Error> {
    let mut entries = sheet::entries(&file.path, &file.text)?.into_iter();
    Ok(entries.find(|entry| entry.text_of("id") == Some(id)))
}

/// Returns the text of the file with one more entry, after the one called `after`; by default last, but before drafts.
pub(super) fn with_row(
    file: &RuleFile,
    rows: &[RevisionRow],
    members: &[(&str, &str)],
    status: RevisionStage,
    after: Option<&str>,
) -> Result<String, Error> {
    let mut block = "[[revision]]\n".to_owned();
    for (key, value) in members {
        block.push_str(&format!("{key} = {}\n", sheet::quoted(value)));
    }
    let previous = match after {
        Some(after) => Some(row(rows, after)?),
        None => (rows.iter()).rfind(|row| status == RevisionStage::Draft || !row.is_draft()),
    };
    let text = &file.text;
    let beside = previous
        .or(rows.first())
        .map_or(Ok(None), |row| entry(file, row.id()))?;
    let at = match beside {
        // Nothing goes before the new one, so it goes before the first header.
        Some(first) if previous.is_none() => first.span.start,
        Some(previous) => sheet::line_end(text, previous.span.end),
        None => text.len(),
    };
    Ok(sheet::with_block(text, at, &block))
}

/// Returns the text of the file with other facts in the row of a revision, as far as values are given. Fails for a list that is
/// not TOML.
pub(super) fn with_facts<'f>(
    file: &RuleFile,
    row: &RevisionRow,
    facts: impl IntoIterator<Item = (&'f str, &'f Option<String>)>,
) -> Result<String, Error> {
    let mut edited = file.clone();
    for (key, value) in facts {
        let Some(value) = value else { continue };
        let Some(entry) = entry(&edited, row.id())? else {
            continue;
        };
        let (stands, value) = (entry.place_of(key), sheet::quoted(value));
        let below = entry
            .place_of("id")
            .map_or(entry.span.end, |place| place.end);
        let text = sheet::with_value(&edited.text, (key, stands), below, Some(&value));
        edited = RuleFile::new(edited.path, text);
    }
    Ok(edited.text)
}

/// Writes into the row of a revision which facts are confirmed; `None` for all of them.
pub(super) fn confirm(
    directory: &mut SpecDirectory,
    id: &str,
    confirmed: Option<&[&str]>,
) -> Result<(), Error> {
    let (_, rows) = directory.order()?;
    let row = row(&rows, id)?;
    let list = directory.list()?;
    let value = confirmed.map(|facts| match facts {
        [] => "[]".to_owned(),
        facts => {
            let lines = facts
                .iter()
                .map(|fact| format!("  {},\n", sheet::quoted(fact)));
            format!("[\n{}]", lines.collect::<String>())
        }
    });
    let stands = row.confirmed.as_ref().map(Spanned::span);
    let end = entry(&list, id)?.map_or(list.text.len(), |entry| entry.span.end);
    let text = sheet::with_value(&list.text, ("confirmed", stands), end, value.as_deref());
    directory.files.insert(REVISIONS.to_owned(), text);
    Ok(())
}

/// Returns the row of a revision. Fails for a revision that is not there.
pub(super) fn row<'r>(rows: &'r [RevisionRow], id: &str) -> Result<&'r RevisionRow, Error> {
    let row = rows.iter().find(|row| row.id() == id);
    row.ok_or_else(|| Error::unknown_revision(id, rows.iter().map(RevisionRow::id)))
}
