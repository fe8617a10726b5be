//! Carrying over: what the rule files say of one revision is said of the next one as well, as far as it holds there.
//!
//! Each fact is tried: errata on the new schema, rows and lines by the readers that will read them.

use std::collections::{BTreeMap, BTreeSet};

use super::complaints::{Complaint, complaints, placed};
use super::facts::{Fact, Held, Speaks, held, without};
use super::revisions::{self, Row};
use super::rules::RuleFile;
use super::sheet::{self, Edit, at_line, key};
use super::{Files, Spec, Status, errata, errata_file, schema_name};
use crate::{Error, docs};

/// What came of an attempt to carry facts over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tried {
    /// What holds, as far as can be told from the schema.
    pub(super) carried: Vec<Fact>,
    /// What does not.
    pub(super) left: Vec<Left>,
}

/// A fact that does not hold for the new schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The fact, under its name in the revision that it was taken from.
    pub fact: Fact,
    /// Why not.
    pub why: String,
}

/// A revision as its errata name it: its id, and its folder in the specification's repository.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'a> {
    pub(super) id: &'a str,
    pub(super) folder: &'a str,
}

/// Take over the errata of another revision that apply to a schema.
pub(super) fn errata(
    root: &str,
    files: &mut Files,
    from: Named<'_>,
    to: Named<'_>,
    schema: &serde_json::Value,
) -> Result<Tried, Error> {
    let source = errata_file(root, files, from.id);
    let (kept, mut tried) = fitting(&source, schema)?;
    if !tried.carried.is_empty() {
        let text = kept.replace(&format!("/{}/", from.folder), &format!("/{}/", to.folder));
        let text = headed(&text, from.id, to.id);
        files.insert(format!("{}/errata.toml", to.id), text);
    }
    tried.left.sort_by(|a, b| a.fact.cmp(&b.fact));
    Ok(tried)
}

/// The text with another revision in its first sentence, which says what the file is of.
fn headed(text: &str, from: &str, to: &str) -> String {
    match text.split_once(':') {
        Some((head, rest)) if head.starts_with('#') && !head.contains('\n') => {
            let named = head
                .split_once(from)
                .map(|(before, _)| format!("{before}{to}"));
            format!("{}:{rest}", named.unwrap_or_else(|| head.to_owned()))
        }
        _ => text.to_owned(),
    }
}

/// Take out the errata of a revision that do not apply to its schema any more.
pub(super) fn errata_that_fit(
    root: &str,
    files: &mut Files,
    id: &str,
    schema: &serde_json::Value,
) -> Result<Vec<Left>, Error> {
    let (kept, tried) = fitting(&errata_file(root, files, id), schema)?;
    if !tried.left.is_empty() {
        let name = format!("{id}/errata.toml");
        match tried.carried.is_empty() {
            true => files.remove(&name),
            false => files.insert(name, kept),
        };
    }
    Ok(tried.left)
}

/// The text of a file of errata without those that do not apply to a schema.
fn fitting(file: &RuleFile, schema: &serde_json::Value) -> Result<(String, Tried), Error> {
    let mut schema = schema.clone();
    let mut text = file.text.clone();
    let mut tried = Tried::default();
    for erratum in errata::read(file)? {
        let fact = Fact(format!("errata/{}", erratum.id));
        let mut problems = Vec::new();
        for pointer in &erratum.at {
            if let Err(problem) = errata::put(&mut schema, pointer, &erratum) {
                problems.push((pointer, problem));
            }
        }
        let whole = problems.len() == erratum.at.len();
        for (pointer, problem) in &problems {
            tried.left.push(Left {
                fact: fact.clone(),
                why: problem.clone(),
            });
            if !whole {
                text = on_entry(file, &text, &erratum.id, |entry| {
                    sheet::deletion(entry.list("at")?, pointer)
                })?;
            }
        }
        match whole {
            true => {
                text = on_entry(file, &text, &erratum.id, |entry| {
                    Some(sheet::removal(&text, entry))
                })?
            }
            false => tried.carried.push(fact),
        }
    }
    Ok((text, tried))
}

fn on_entry(
    file: &RuleFile,
    text: &str,
    name: &str,
    edit: impl Fn(&sheet::Entry) -> Option<Edit>,
) -> Result<String, Error> {
    let entries = sheet::entries(&file.path, text)?;
    let entry = entries.iter().find(|entry| entry.name == name);
    let edits = entry.and_then(edit).into_iter().collect();
    Ok(sheet::edited(text, edits))
}

/// Say of a revision what the shared rule files say of another, as far as their readers do not complain.
pub(super) fn rows(
    root: &str,
    files: &mut Files,
    from: &str,
    to: &str,
    order: &[&str],
) -> Result<Tried, Error> {
    let stands: Vec<Fact> = facts_of(root, files, to)?;
    let mut candidates = held(root, files, from)?;
    candidates.retain(|held| {
        held.speaks != Speaks::Names
            && !held.fact.as_str().starts_with("errata/")
            && !stands.contains(&held.fact)
    });
    let mut edits: BTreeMap<String, Vec<Edit>> = BTreeMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let text = files.get(&candidate.file).map_or("", String::as_str);
        let of_file = edits.entry(candidate.file.clone()).or_default();
        match candidate.speaks {
            Speaks::Lists => of_file.extend(candidate.joined(text, from, to, order)),
            // Lines that belong to the revision stand in tables of their own: one table for each, after the last line.
            Speaks::Belongs => {
                let table = &candidate.entry.table;
                let next = candidates.get(at + 1);
                if next.is_none_or(|next| {
                    next.file != candidate.file || section(next, from) != section(candidate, from)
                }) {
                    of_file.push(copied(text, &candidates, table, from, to));
                }
            }
            Speaks::Names => {}
        }
    }
    for (name, edits) in edits {
        let text = files.get(&name).map_or("", String::as_str);
        let text = sheet::edited(text, edits);
        files.insert(name, text);
    }
    let left = complained(root, files, to, |fact| !stands.contains(fact))?;
    let mut carried = facts_of(root, files, to)?;
    carried.retain(|fact| !stands.contains(fact) && !fact.as_str().starts_with("errata/"));
    Ok(Tried { carried, left })
}

/// The tables above those of a revision: `[Type, revisions]` of `[Type.revisions."ID".members]`.
fn section<'h>(held: &'h Held, id: &str) -> &'h [String] {
    let table = &held.entry.table;
    let at = table.iter().position(|name| name == id);
    table.get(..at.unwrap_or(table.len())).unwrap_or_default()
}

/// The lines of a revision in one section, once more for another revision, right after them.
fn copied(text: &str, all: &[Held], table: &[String], from: &str, to: &str) -> Edit {
    let depth = table
        .iter()
        .position(|name| name == from)
        .unwrap_or_default();
    let prefix = table.get(..=depth).unwrap_or_default();
    let lines = all
        .iter()
        .filter(|held| held.speaks == Speaks::Belongs && held.entry.table.starts_with(prefix));
    let mut block = String::new();
    let (mut heading, mut end) = (&[] as &[String], 0);
    for held in lines {
        let table = &held.entry.table;
        if heading != table.as_slice() {
            heading = table;
            let names = table
                .iter()
                .map(|name| key(if name == from { to } else { name }));
            block.push_str(&format!("[{}]\n", names.collect::<Vec<_>>().join(".")));
        }
        block.push_str(held.entry.text(text));
        block.push('\n');
        end = end.max(held.entry.end());
    }
    let end = sheet::line_end(text, end);
    (end..end, block)
}

/// Hand what is said of one revision alone on to another one that has the same schema, as far as that has none of it.
///
/// A draft that is the same as a release is that release, so its lines stand once, and go with the name.
pub(super) fn hand_on(
    root: &str,
    files: &mut Files,
    from: &str,
    to: &str,
) -> Result<Vec<Fact>, Error> {
    let stands = facts_of(root, files, to)?;
    let mut moved = held(root, files, from)?;
    moved.retain(|held| {
        held.speaks != Speaks::Lists
            && !held.fact.as_str().starts_with("errata/")
            && !stands.contains(&held.fact)
    });
    // From the end of each file, so that the places before stay true.
    for held in moved.iter().rev() {
        let text = files.get(&held.file).map_or("", String::as_str);
        let edits = match held.speaks {
            Speaks::Names => renamed_row(text, held, from, to),
            Speaks::Belongs | Speaks::Lists => Vec::new(),
        };
        let text = sheet::edited(text, edits);
        files.insert(held.file.clone(), text);
    }
    let sections: BTreeSet<(String, Vec<String>)> = moved
        .iter()
        .filter(|held| held.speaks == Speaks::Belongs)
        .map(|held| (held.file.clone(), section(held, from).to_vec()))
        .collect();
    for (file, above) in sections {
        let names: Vec<String> = above.iter().map(|name| key(name)).collect();
        let mut text = files.get(&file).cloned().unwrap_or_default();
        for id in [from.to_owned(), toml::Value::from(from).to_string()] {
            for end in [']', '.'] {
                let header = |id: &str| format!("[{}.{id}{end}", names.join("."));
                text = text.replace(&header(&id), &header(&key(to)));
            }
        }
        files.insert(file, text);
    }
    Ok(moved.into_iter().map(|held| held.fact).collect())
}

/// A row that names a revision, alone or as one side of a pair, with another one in its place.
fn renamed_row(text: &str, held: &Held, from: &str, to: &str) -> Vec<Edit> {
    let mut row = held.entry.text(text).to_owned();
    for (before, after) in [("\"", "\""), ("\"", ".."), ("..", "\"")] {
        let named = |id: &str| format!("{before}{id}{after}");
        row = row.replace(&named(from), &named(to));
    }
    let start = held.entry.start();
    vec![(start..held.entry.end(), row)]
}

/// The draft that a revision is the same as, where no other one is.
pub(super) fn twin_draft<'r>(files: &Files, rows: &'r [Row], id: &str) -> Option<&'r str> {
    let text = |id: &str| files.get(&schema_name(id));
    let same = |row: &&Row| row.id() != id && text(row.id()) == text(id);
    let draft = |row: &Row| *row.status.get_ref() == Status::Draft;
    match rows.iter().filter(same).collect::<Vec<_>>().as_slice() {
        [only] if draft(only) => Some(only.id()),
        _ => None,
    }
}

fn facts_of(root: &str, files: &Files, id: &str) -> Result<Vec<Fact>, Error> {
    Ok(held(root, files, id)?
        .into_iter()
        .map(|held| held.fact)
        .collect())
}

/// Take back what the readers of the rule files complain of for a revision, until they do not.
pub(super) fn complained(
    root: &str,
    files: &mut Files,
    id: &str,
    mine: impl Fn(&Fact) -> bool,
) -> Result<Vec<Left>, Error> {
    let mut left = Vec::new();
    loop {
        let gone = taken_back(root, files, id, &mine, &complaints(root, files))?;
        if gone.is_empty() {
            break;
        }
        left.extend(gone);
    }
    // Doc lines are tried on the model of the revision, which takes the other files as they are now.
    let documents = |held: &Held| held.speaks == Speaks::Belongs && mine(&held.fact);
    if held(root, files, id)?.iter().any(documents) {
        let needless = Spec::load(root, files)
            .ok()
            .and_then(|spec| docs::needless(&spec, id).ok())
            .unwrap_or_default();
        left.extend(taken_back(root, files, id, &mine, &placed(needless))?);
    }
    Ok(left)
}

/// Take back the facts that complaints are about.
fn taken_back(
    root: &str,
    files: &mut Files,
    id: &str,
    mine: &impl Fn(&Fact) -> bool,
    complaints: &[Complaint],
) -> Result<Vec<Left>, Error> {
    let (mut left, mut gone): (Vec<Left>, Vec<Held>) = (Vec::new(), Vec::new());
    if complaints.is_empty() {
        return Ok(left);
    }
    for held in held(root, files, id)? {
        let path = format!("{root}/{}", held.file);
        let text = files.get(&held.file).map_or("", String::as_str);
        let entry = std::slice::from_ref(&held.entry);
        let here = complaints.iter().find(|complaint| {
            // A row of several revisions may be wrong about another one.
            let of = complaint.revision.as_deref();
            let about = held.speaks == Speaks::Belongs || of.is_none_or(|of| of == id);
            complaint.file == path && about && at_line(text, entry, complaint.line).is_some()
        });
        if let Some(complaint) = here.filter(|_| mine(&held.fact)) {
            left.push(Left {
                fact: held.fact.clone(),
                why: complaint.problem.clone(),
            });
            gone.push(held);
        }
    }
    take_out(root, files, id, &gone.iter().collect::<Vec<_>>())?;
    Ok(left)
}

/// Take entries about a revision out of their files.
pub(super) fn take_out(
    root: &str,
    files: &mut Files,
    id: &str,
    gone: &[&Held],
) -> Result<(), Error> {
    let names: BTreeSet<&String> = gone.iter().map(|held| &held.file).collect();
    for name in names {
        let of_file: Vec<&Held> = gone
            .iter()
            .copied()
            .filter(|held| held.file == *name)
            .collect();
        let text = files.get(name).map_or("", String::as_str);
        let text = without(&format!("{root}/{name}"), text, id, &of_file)?;
        files.insert(name.clone(), text);
    }
    Ok(())
}

/// The names of a revision.
pub(super) fn named(revision: &Row) -> Named<'_> {
    let source = revisions::text(&revision.source).unwrap_or_default();
    let folder = source.rsplit('/').nth(1).unwrap_or(revision.id());
    Named {
        id: revision.id(),
        folder,
    }
}
