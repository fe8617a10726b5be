//! Removal: a revision leaves the list, its folder, the rows that name it, and every rule that only it needed.

use std::collections::BTreeSet;

use super::carried::{self, Carried};
use super::carry;
use super::complaints::{Complaint, complaints, placed};
use super::facts::{Fact, held, rename_pair};
use super::rules::RuleFile;
use super::sheet::{self, at_line};
use super::{Files, REVISIONS, Spec, Status, extensions, revisions, revisions_file};
use crate::Error;
use crate::Models;

/// What a removal took out, and what it could not put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The revision.
    pub revision: String,
    /// What the rule files said of it.
    pub facts: Vec<Fact>,
    /// Rules that no other revision needs, as `file: rule`.
    pub unused: Vec<String>,
    /// Files that are gone, below the spec directory.
    pub files: Vec<String>,
    /// Files that its import had put aside, and that are back.
    pub restored: Vec<String>,
    /// What is now said of the draft that was the same as it, and which draft that is.
    pub handed_on: Option<(String, Vec<Fact>)>,
    /// The digest of the upstream file that its import had replaced, which is not put back.
    pub replaced: Option<String>,
}

/// Take a revision out of a spec directory in memory.
///
/// # Errors
/// [`Error::UnknownRevision`], and files that cannot be read.
pub(super) fn remove(root: &str, files: &mut Files, id: &str) -> Result<Removed, Error> {
    let list = revisions_file(root, files)?;
    let rows = revisions::read(&list)?;
    let row = rows
        .iter()
        .find(|row| row.id() == id)
        .ok_or_else(|| revisions::unknown(id, &rows))?;
    if let Some(extension) = extensions::resting_on(root, files, id)? {
        return Err(Error::Usage {
            problem: format!("the extension `{extension}` rests on revision `{id}`").into(),
            help: format!(
                "change `revision` in {root}/extensions/{extension}/extension.toml, or delete its folder"
            )
            .into(),
        });
    }
    let stood = entries_of(root, files, &complaints(root, files))?;
    let mut removed = Removed {
        revision: id.to_owned(),
        ..Removed::default()
    };

    let record = record(root, files, id)?;
    for name in record.iter().flat_map(|record| record.displaced.keys()) {
        if let Some((old, new)) = pair(name) {
            rename_pair(files, (old, id), (old, new));
        }
    }
    if let Some(draft) = carry::twin_draft(files, &rows, id)
        && *row.status.get_ref() != Status::Draft
    {
        let mut facts = carry::hand_on(root, files, id, draft)?;
        facts.extend(converted_on(files, id, draft));
        removed.handed_on = Some((draft.to_owned(), facts)).filter(|(_, facts)| !facts.is_empty());
    }
    let all = held(root, files, id)?;
    removed.facts = all.iter().map(|held| held.fact.clone()).collect();
    let shared: Vec<_> = all
        .iter()
        .filter(|held| !held.file.starts_with(&format!("{id}/")))
        .collect();
    carry::take_out(root, files, id, &shared)?;

    let entries = sheet::entries(&list.path, &list.text)?;
    let line = list.line_of(row.id.span().start);
    let edit = at_line(&list.text, &entries, line).map(|entry| sheet::removal(&list.text, entry));
    files.insert(
        REVISIONS.to_owned(),
        sheet::edited(&list.text, edit.into_iter().collect()),
    );

    let own = files
        .keys()
        .filter(|name| name.starts_with(&format!("{id}/")) || converts(name, id))
        .cloned();
    removed.files = own.collect();
    for name in &removed.files {
        files.remove(name);
    }
    if let Some(record) = record {
        removed.replaced = record.replaced;
        for (name, text) in record.displaced {
            removed.restored.push(name.clone());
            files.insert(name, text);
        }
    }

    // What only that revision needed is needless now.
    loop {
        let mut gone = entries_of(root, files, &complaints(root, files))?;
        gone.retain(|one| stood.iter().all(|other| other.name != one.name));
        if gone.is_empty() {
            break;
        }
        removed.unused.extend(taken_out(root, files, gone)?);
    }
    // What is gone may have been all that another rule was there for.
    loop {
        let gone = needless(root, files)?;
        if gone.is_empty() {
            break;
        }
        removed.unused.extend(taken_out(root, files, gone)?);
    }
    Ok(removed)
}

/// Names, shapes, unions and doc lines that no revision has use for; none where the revisions cannot be typed.
pub(super) fn needless(root: &str, files: &Files) -> Result<Vec<Named>, Error> {
    let found = Spec::load(root, files).ok();
    let found = found.and_then(|spec| Models::needless(&spec).ok());
    entries_of(root, files, &placed(found.unwrap_or_default()))
}

/// An entry of a shared rule file, with a name for people.
pub(super) struct Named {
    file: String,
    entry: sheet::Entry,
    pub(super) name: String,
    pub(super) why: String,
}

/// The entries that complaints are about.
pub(super) fn entries_of(
    root: &str,
    files: &Files,
    complaints: &[Complaint],
) -> Result<Vec<Named>, Error> {
    let mut found: Vec<Named> = Vec::new();
    for (file, text) in files {
        let path = format!("{root}/{file}");
        let mut lines = complaints.iter().filter(|one| one.file == path).peekable();
        if lines.peek().is_none() {
            continue;
        }
        let entries = sheet::entries(&path, text)?;
        for complaint in lines {
            let Some(entry) = at_line(text, &entries, complaint.line) else {
                continue;
            };
            let name = format!("{file}: {}", entry.label());
            if !found.iter().any(|other| other.name == name) {
                found.push(Named {
                    file: file.clone(),
                    entry: entry.clone(),
                    name,
                    why: complaint.problem.clone(),
                });
            }
        }
    }
    Ok(found)
}

/// Take entries out of their files, and give back their names.
pub(super) fn taken_out(
    root: &str,
    files: &mut Files,
    mut gone: Vec<Named>,
) -> Result<Vec<String>, Error> {
    let names = gone.iter().map(|one| one.name.clone()).collect();
    // From the end of each file, so that the places before stay true.
    gone.sort_by_key(|one| std::cmp::Reverse(one.entry.start()));
    let mut touched = BTreeSet::new();
    for Named { file, entry, .. } in gone {
        let text = files.get(&file).map_or("", String::as_str);
        let edit = sheet::removal(text, &entry);
        let text = sheet::edited(text, vec![edit]);
        files.insert(file.clone(), text);
        touched.insert(file);
    }
    for file in touched {
        let text = files.remove(&file).unwrap_or_default();
        let text = sheet::without_empty_tables(&format!("{root}/{file}"), text)?;
        files.insert(file, text);
    }
    Ok(names)
}

/// The rules between a revision and the one before it are those of the draft that is the same.
fn converted_on(files: &mut Files, id: &str, draft: &str) -> Vec<Fact> {
    let rules: Vec<(String, String)> = files
        .iter()
        .filter_map(|(name, text)| {
            let (old, new) = pair(name)?;
            (new == id).then(|| (old.to_owned(), text.clone()))
        })
        .collect();
    let mut facts = Vec::new();
    for (old, text) in rules {
        let pair = format!("shims/{old}..{draft}");
        files.insert(format!("{pair}.toml"), of_pair(&text, &old, id, draft));
        facts.push(Fact(pair));
    }
    facts
}

/// The text of a file of rules for a pair whose newer side has another name, which its heading says.
pub(super) fn of_pair(text: &str, old: &str, was: &str, is: &str) -> String {
    let heading = |new: &str| format!("between {old} and {new}");
    text.replacen(&heading(was), &heading(is), 1)
}

/// The record of what the import of a revision took over.
pub(super) fn record(root: &str, files: &Files, id: &str) -> Result<Option<Carried>, Error> {
    let name = carried::file_name(id);
    let text = files.get(&name).map_or("", String::as_str);
    Carried::read(&RuleFile::new(format!("{root}/{name}"), text))
}

/// A file of rules for a pair with that revision.
pub(super) fn converts(name: &str, id: &str) -> bool {
    pair(name).is_some_and(|(old, new)| old == id || new == id)
}

/// The two neighbours that a file of rules is about.
pub(super) fn pair(name: &str) -> Option<(&str, &str)> {
    let pair = name.strip_prefix("shims/")?.strip_suffix(".toml")?;
    pair.split_once("..")
}
