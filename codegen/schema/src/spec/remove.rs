//! Removal: a revision leaves the list, its folder, the ranges that it stands in, and every rule that only it needed.

use super::diagnostics::{diagnostics, passed_over, placed};
use super::facts::{self, Change, Fact, Held, Left};
use super::import::conversions;
use super::revisions::{self, Row};
use super::sheet::{self, Entry, at_line};
use super::{Directory, REVISIONS, extensions, schema_name};
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

impl Directory {
    /// Takes a revision out, and everything that speaks of it or that only it needed.
    ///
    /// # Errors
    /// A revision that is not there, and files that cannot be read. Nothing has changed then.
    pub fn remove(&mut self, id: &str) -> Result<Removed, Error> {
        let mut next = self.clone();
        let directory = &mut next;
        let list = directory.list()?;
        let (order, rows) = directory.order()?;
        let row = revisions::row(&rows, id)?;
        let at = order.at(id).unwrap_or_default();
        if let Some(extension) = extensions::resting_on(directory, id)? {
            return Err(Error::usage(
                format!("the extension `{extension}` names revision `{id}`"),
                format!(
                    "change `revision` in {}/extensions/{extension}/extension.toml, take its `[core]` away, or delete its folder",
                    directory.root
                ),
            ));
        }
        let stood = entries_of(directory, &diagnostics(directory))?;
        let mut removed = Removed {
            revision: id.to_owned(),
            ..Removed::default()
        };

        // The draft that follows and is not the revision before: what begins with the revision is the draft's, too.
        let heir = own_draft(directory, &rows, at).filter(|_| !row.is_draft());
        let heir = heir.map(Row::id);
        let mut kept = match heir {
            Some(draft) => handed_on(directory, id, draft)?,
            None => Vec::new(),
        };
        removed.facts = directory.facts(id)?;
        let all = directory.ranged()?;
        let before = order.before(id).map(str::to_owned);
        let is_last = order.only_drafts(at + 1);
        let ended = (all.iter()).filter(|held| is_last && before.is_some() && held.until == before);
        let ended: Vec<Held> = ended.cloned().collect();
        let mut changes = Vec::new();
        let after = order.id(at + 1);
        // Lines of its own that the next revision has lines of its own for were the revision's alone.
        let begins_next = |held: &Held| {
            let mut alike = all.iter().filter(|other| other.fact == held.fact);
            alike.any(|other| after == Some(&other.since))
        };
        let after = after.filter(|after| !is_last || heir == Some(after));
        for held in &all {
            let Ok((from, to)) = order.span(&held.since, held.until.as_deref()) else {
                continue;
            };
            let change = match after.filter(|_| at < to && !begins_next(held)) {
                Some(after) if from == at => Change::Begins(after.to_owned()),
                None if from == at => Change::Goes,
                _ if to == at && held.until.is_some() => Change::Ends(before.clone()),
                _ => continue,
            };
            if heir.is_some() && matches!(change, Change::Begins(_)) {
                kept.push(held.fact.clone());
            }
            changes.push((held.clone(), change));
        }
        directory.change(changes)?;
        let handed_on = heir.map(|draft| (draft.to_owned(), kept));
        removed.handed_on = handed_on.filter(|(_, kept)| !kept.is_empty());
        without_names(directory, id)?;

        let entries = directory.entries(REVISIONS)?;
        let line = list.line_of(row.id.span().start);
        let text = sheet::without(&list.path, &list.text, at_line(&list.text, &entries, line))?;
        directory.files.insert(REVISIONS.to_owned(), text);

        let own = directory.files.keys();
        let own = own.filter(|name| name.starts_with(&format!("{id}/")) || converts(name, id));
        removed.files = own.cloned().collect();
        for name in &removed.files {
            directory.files.remove(name);
        }
        let draft = order.id(at + 1);
        reopen(directory, ended, draft.zip(before.as_deref()), &mut removed)?;

        // What only that revision needed is needless now.
        let gone = prune(directory, |directory| {
            let mut gone = entries_of(directory, &diagnostics(directory))?;
            gone.retain(|one| stood.iter().all(|other| other.left.fact != one.left.fact));
            Ok(gone)
        })?;
        // What is gone may have been all that another rule was there for.
        let needless = prune(directory, needless)?;
        let mut unused: Vec<Left> = gone.into_iter().chain(needless).collect();
        // Rules about what only the revision had are no rules of the draft that has its place.
        if let Some(draft) = heir {
            unused.extend(conversions::without_use(directory, draft)?);
        }
        removed.unused = unused.into_iter().map(|left| left.fact).collect();
        *self = next;
        Ok(removed)
    }
}

/// The revision after one, if it is a draft with another schema than the revision before.
pub(super) fn own_draft<'r>(directory: &Directory, rows: &'r [Row], at: usize) -> Option<&'r Row> {
    let text = |row: &Row| directory.files.get(&schema_name(row.id()));
    let before = at.checked_sub(1).and_then(|before| rows.get(before));
    let next = rows.get(at + 1).filter(|next| next.is_draft())?;
    let is_own = before.is_none_or(|before| text(before) != text(next));
    is_own.then_some(next)
}

/// Takes the end from what ended before a revision that is gone, with nothing but a draft after it.
///
/// For a draft that is the revision before, all of it holds. For another one, what is passed over there: whether the rest
/// holds for the draft, its schema does not say.
fn reopen(
    directory: &mut Directory,
    ended: Vec<Held>,
    draft: Option<(&str, &str)>,
    removed: &mut Removed,
) -> Result<(), Error> {
    let changes = |of: &[Held]| {
        let open = |held: &Held| (held.clone(), Change::Ends(None));
        of.iter().map(open).collect::<Vec<_>>()
    };
    let mut still = directory.ranged()?;
    still.retain(|held| ended.iter().any(|other| other.is_still(held)));
    let schema = |id: &str| directory.files.get(&schema_name(id));
    let own = draft.filter(|(draft, before)| schema(draft) != schema(before));
    let (open, left) = match own {
        None => (still, Vec::new()),
        Some((draft, _)) => {
            let mut tried = directory.clone();
            tried.change(changes(&still))?;
            let passed = passed_over(&tried, draft);
            let opened = tried.ranged()?;
            still.into_iter().partition(|held| {
                let now = opened.iter().find(|now| now.is_still(held));
                now.is_some_and(|now| passed.iter().any(|one| now.is_meant(&tried, one)))
            })
        }
    };
    directory.change(changes(&open))?;
    let names = |of: Vec<Held>| of.into_iter().map(|held| held.fact).collect();
    (removed.opened, removed.ended) = (names(open), names(left));
    Ok(())
}

/// Takes out the rows that name a revision otherwise than by a range.
fn without_names(directory: &mut Directory, id: &str) -> Result<(), Error> {
    let mut named = Vec::new();
    let files = directory.files.keys();
    for file in files.filter(|file| facts::shared(file).is_some()) {
        let entries = directory.entries(file)?.into_iter();
        let entries = entries.filter(|entry| facts::names(entry, id));
        named.extend(entries.map(|entry| (file.clone(), entry)));
    }
    without(directory, named.iter().map(|(file, entry)| (file, entry)))
}

/// Gives the rules of conversions to a revision, and the rows that name it, to another one that has its place.
pub(super) fn handed_on(
    directory: &mut Directory,
    from: &str,
    to: &str,
) -> Result<Vec<Fact>, Error> {
    let mut handed = Vec::new();
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
            let text = text.replacen(&heading(from), &heading(to), 1);
            let target_file = directory.files.entry(format!("{target}.toml"));
            target_file.or_insert(text);
            handed.push(target);
        }
    }
    Ok(handed)
}

/// Returns names, shapes, unions and doc lines that no revision uses; empty if the revisions cannot be typed.
pub(super) fn needless(directory: &Directory) -> Result<Vec<Named>, Error> {
    let found = directory.spec().ok();
    let found = found.and_then(|spec| Models::needless(&spec).ok());
    entries_of(directory, &placed(found.unwrap_or_default()))
}

/// An entry of a shared rule file, with a name for people.
pub(super) struct Named {
    file: String,
    entry: Entry,
    /// What it is called, and what is wrong with it.
    left: Left,
}

/// The entries that diagnostics are about.
pub(super) fn entries_of(
    directory: &Directory,
    diagnostics: &[Diagnostic],
) -> Result<Vec<Named>, Error> {
    let mut found: Vec<Named> = Vec::new();
    for (file, text) in &directory.files {
        let path = directory.path(file);
        let here = || diagnostics.iter().filter(|one| *one.file == path);
        if here().next().is_none() {
            continue;
        }
        let entries = directory.entries(file)?;
        for diagnostic in here() {
            let line = diagnostic.line();
            let Some(entry) = line.and_then(|line| at_line(text, &entries, line)) else {
                continue;
            };
            let fact = format!("{file}: {}", entry.label());
            if !found.iter().any(|other| other.left.fact == fact) {
                let why = diagnostic.problem.to_string();
                found.push(Named {
                    file: file.clone(),
                    entry: entry.clone(),
                    left: Left { fact, why },
                });
            }
        }
    }
    Ok(found)
}

/// Takes entries out of their files until there are none to take: the end of one can leave another one without use.
pub(super) fn prune(
    directory: &mut Directory,
    gone: impl Fn(&Directory) -> Result<Vec<Named>, Error>,
) -> Result<Vec<Left>, Error> {
    let mut left = Vec::new();
    loop {
        let gone = gone(directory)?;
        if gone.is_empty() {
            return Ok(left);
        }
        without(directory, gone.iter().map(|one| (&one.file, &one.entry)))?;
        left.extend(gone.into_iter().map(|one| one.left));
    }
}

/// Takes entries out of their files.
fn without<'e>(
    directory: &mut Directory,
    gone: impl Iterator<Item = (&'e String, &'e Entry)> + Clone,
) -> Result<(), Error> {
    let Directory { root, files, .. } = directory;
    for (file, text) in files.iter_mut() {
        let own = gone.clone().filter(|(of, _)| *of == file);
        let own = own.map(|(_, entry)| entry);
        if own.clone().next().is_some() {
            *text = sheet::without(&format!("{root}/{file}"), text, own)?;
        }
    }
    Ok(())
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
