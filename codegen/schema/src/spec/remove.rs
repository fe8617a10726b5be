//! Removal: a revision leaves the list, its folder, the ranges that it stands in, and every rule that only it needed.

use std::collections::BTreeSet;

use super::diagnostics::{diagnostics, passed_over, placed};
use super::facts::{self, Change, Fact, Held, ranged};
use super::range::Order;
use super::revisions::Row;
use super::sheet::{self, at_line};
use super::{Files, REVISIONS, Spec, Status, extensions, revisions, revisions_file, schema_name};
use crate::Models;
use crate::{Diagnostic, Error};

/// What a removal took out, and what it could not put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The revision.
    pub revision: String,
    /// What held for it, by a range.
    pub facts: Vec<Fact>,
    /// Rules that no other revision needs, as `file: rule`.
    pub unused: Vec<String>,
    /// Files that are gone, below the spec directory.
    pub files: Vec<String>,
    /// The draft that follows, and what began with the revision and begins with the draft now.
    pub handed_on: Option<(String, Vec<Fact>)>,
    /// What ended before it, and has no end any more.
    pub opened: Vec<Fact>,
    /// What ended before it, and ends there still: nothing says whether the draft that follows has it.
    pub ended: Vec<Fact>,
}

/// Take a revision out of a spec directory in memory.
///
/// # Errors
/// A revision that is not there, and files that cannot be read.
pub(super) fn remove(root: &str, files: &mut Files, id: &str) -> Result<Removed, Error> {
    let list = revisions_file(root, files)?;
    let rows = revisions::read(&list)?;
    let order = Order::of(&rows);
    let at = order.at(id).ok_or_else(|| revisions::unknown(id, &rows))?;
    if let Some(extension) = extensions::resting_on(root, files, id)? {
        return Err(Error::usage(
            format!("the extension `{extension}` names revision `{id}`"),
            format!(
                "change `revision` in {root}/extensions/{extension}/extension.toml, take its `[core]` away, or delete its folder"
            ),
        ));
    }
    let stood = entries_of(root, files, &diagnostics(root, files))?;
    let mut removed = Removed {
        revision: id.to_owned(),
        ..Removed::default()
    };

    let heir = heir(files, &rows, at);
    let mut kept = match heir {
        Some(draft) => handed_on(root, files, id, draft)?,
        None => Vec::new(),
    };
    let all = ranged(root, files)?;
    let of_it = all.iter().filter(|held| held.covers(&order, id));
    removed.facts = of_it.map(|held| held.fact.clone()).collect();
    removed.facts.dedup();
    let before = order.before(id).map(str::to_owned);
    let ended: Vec<Held> = match order.only_drafts(at + 1) {
        true => all
            .iter()
            .filter(|held| before.is_some() && held.until == before)
            .cloned()
            .collect(),
        false => Vec::new(),
    };
    let mut changes = Vec::new();
    let begin_next: Vec<Fact> = (all.iter())
        .filter(|held| order.id(at + 1) == Some(held.since.as_str()))
        .map(|held| held.fact.clone())
        .collect();
    for held in all {
        let Ok((from, to)) = order.span(&held.since, held.until.as_deref()) else {
            continue;
        };
        let next = order.id(at + 1).filter(|next| {
            let firm = !order.only_drafts(at + 1);
            at < to && (firm || heir == Some(next))
        });
        let change = match next {
            // Lines of its own that the next revision has lines of its own for were the revision's alone.
            Some(_) if from == at && begin_next.contains(&held.fact) => Change::Goes,
            None if from == at => Change::Goes,
            Some(next) if from == at => {
                if heir.is_some() {
                    kept.push(held.fact.clone());
                }
                Change::Begins(next.to_owned())
            }
            _ if to == at && held.until.is_some() => Change::Ends(before.clone()),
            _ => continue,
        };
        changes.push((held, change));
    }
    facts::change(root, files, changes)?;
    removed.handed_on = heir.map(|draft| (draft.to_owned(), kept));
    removed.handed_on = removed.handed_on.filter(|(_, kept)| !kept.is_empty());
    without_names(root, files, id)?;

    let entries = sheet::entries(&list.path, &list.text)?;
    let line = rows
        .get(at)
        .map_or(0, |row| list.line_of(row.id.span().start));
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
    let draft = order.id(at + 1);
    reopen(
        root,
        files,
        ended,
        draft.zip(before.as_deref()),
        &mut removed,
    )?;

    // What only that revision needed is needless now.
    loop {
        let mut gone = entries_of(root, files, &diagnostics(root, files))?;
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

/// The draft that follows a revision and is not the one before it: what begins with the revision is the draft's, too.
fn heir<'r>(files: &Files, rows: &'r [Row], at: usize) -> Option<&'r str> {
    let text = |row: &Row| files.get(&schema_name(row.id()));
    let draft = |row: &&Row| *row.status.get_ref() == Status::Draft;
    let before = at.checked_sub(1).and_then(|before| rows.get(before));
    let next = rows.get(at + 1).filter(draft);
    let next = next.filter(|next| before.is_none_or(|before| text(before) != text(next)));
    let here = rows.get(at).filter(|row| !draft(row));
    here.and(next).map(Row::id)
}

/// Takes the end from what ended before a revision that is gone, with nothing but a draft after it.
///
/// For a draft that is the revision before, all of it holds. For another one, what is passed over there: whether the rest
/// holds for the draft, its schema does not say.
fn reopen(
    root: &str,
    files: &mut Files,
    ended: Vec<Held>,
    draft: Option<(&str, &str)>,
    removed: &mut Removed,
) -> Result<(), Error> {
    let changes = |of: &[Held]| {
        let open = |held: &Held| (held.clone(), Change::Ends(None));
        of.iter().map(open).collect::<Vec<_>>()
    };
    let still: Vec<Held> = (ranged(root, files)?.into_iter())
        .filter(|held| ended.iter().any(|other| other.is_still(held)))
        .collect();
    let own = draft.filter(|(draft, before)| {
        files.get(&schema_name(draft)) != files.get(&schema_name(before))
    });
    let (open, left) = match own {
        None => (still, Vec::new()),
        Some((draft, _)) => {
            let mut tried = files.clone();
            facts::change(root, &mut tried, changes(&still))?;
            let passed = passed_over(root, &tried, draft);
            let opened = ranged(root, &tried)?;
            still.into_iter().partition(|held| {
                let now = opened.iter().find(|now| now.is_still(held));
                now.is_some_and(|now| {
                    let text = tried.get(&now.file).map_or("", String::as_str);
                    passed.iter().any(|one| now.is_meant(root, text, one))
                })
            })
        }
    };
    facts::change(root, files, changes(&open))?;
    let names = |of: Vec<Held>| of.into_iter().map(|held| held.fact).collect();
    (removed.opened, removed.ended) = (names(open), names(left));
    Ok(())
}

/// Takes out the rows that name a revision otherwise than by a range.
fn without_names(root: &str, files: &mut Files, id: &str) -> Result<(), Error> {
    for (file, text) in files.iter_mut() {
        if facts::shared(file).is_none() {
            continue;
        }
        let path = format!("{root}/{file}");
        let mut out = text.clone();
        for entry in sheet::entries(&path, text)?.iter().rev() {
            if facts::names(entry, id) {
                let edit = sheet::removal(&out, entry);
                out = sheet::edited(&out, vec![edit]);
            }
        }
        if out != *text {
            *text = sheet::without_empty_tables(&path, out)?;
        }
    }
    Ok(())
}

/// Gives the rules of conversions to a revision, and the rows that name it, to another one that has its place.
pub(super) fn handed_on(
    root: &str,
    files: &mut Files,
    from: &str,
    to: &str,
) -> Result<Vec<Fact>, Error> {
    let mut handed = Vec::new();
    for (file, text) in files.iter_mut() {
        if facts::shared(file).is_none() {
            continue;
        }
        let mut edits = Vec::new();
        for entry in sheet::entries(&format!("{root}/{file}"), text)? {
            if facts::names(&entry, from) {
                let mut row = entry.text(text).to_owned();
                for (before, after) in [("\"", "\""), ("..", "\"")] {
                    let named = |id: &str| format!("{before}{id}{after}");
                    row = row.replace(&named(from), &named(to));
                }
                edits.push((entry.start()..entry.end(), row));
            }
        }
        *text = sheet::edited(text, edits);
    }
    let names: Vec<String> = files.keys().cloned().collect();
    for name in names {
        let Some((old, _)) = pair(&name).filter(|(_, new)| *new == from) else {
            continue;
        };
        let target = format!("shims/{old}..{to}");
        if let Some(text) = files.remove(&name) {
            let heading = |new: &str| format!("between {old} and {new}");
            let text = text.replacen(&heading(from), &heading(to), 1);
            files.entry(format!("{target}.toml")).or_insert(text);
            handed.push(Fact(target));
        }
    }
    Ok(handed)
}

/// Returns names, shapes, unions and doc lines that no revision uses; empty if the revisions cannot be typed.
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

/// The entries that diagnostics are about.
pub(super) fn entries_of(
    root: &str,
    files: &Files,
    diagnostics: &[Diagnostic],
) -> Result<Vec<Named>, Error> {
    let mut found: Vec<Named> = Vec::new();
    for (file, text) in files {
        let path = format!("{root}/{file}");
        let mut lines = diagnostics
            .iter()
            .filter(|one| *one.file == *path)
            .peekable();
        if lines.peek().is_none() {
            continue;
        }
        let entries = sheet::entries(&path, text)?;
        for diagnostic in lines {
            let line = diagnostic.line();
            let Some(entry) = line.and_then(|line| at_line(text, &entries, line)) else {
                continue;
            };
            let name = format!("{file}: {}", entry.label());
            if !found.iter().any(|other| other.name == name) {
                found.push(Named {
                    file: file.clone(),
                    entry: entry.clone(),
                    name,
                    why: diagnostic.problem.to_string(),
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

/// A file of rules for a pair with that revision.
pub(super) fn converts(name: &str, id: &str) -> bool {
    pair(name).is_some_and(|(old, new)| old == id || new == id)
}

/// Returns the two adjacent revisions of a file of rules.
pub(super) fn pair(name: &str) -> Option<(&str, &str)> {
    let pair = name.strip_prefix("shims/")?.strip_suffix(".toml")?;
    pair.split_once("..")
}
