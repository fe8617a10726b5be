//! What the rule files say of one revision: its errata, the rows that list it, and the lines that are its own.

use std::fmt;

use super::sheet::{self, Edit, Entry};
use super::{Files, REVISIONS};
use crate::Error;

/// The name of a fact, as it is written on the command line and in `carried.toml`: `errors/header/Accept`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact(pub(super) String);

impl Fact {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// How an entry speaks of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    /// It holds for several revisions, which it lists.
    Lists,
    /// It holds for that revision alone, by its place.
    Belongs,
    /// It names the revision otherwise, as one side of a pair.
    Names,
}

/// An entry that speaks of a revision.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) fact: Fact,
    /// The file, below the spec directory.
    pub(super) file: String,
    pub(super) entry: Entry,
    pub(super) speaks: Speaks,
}

/// The key of the lists of revisions for which a row holds.
const LISTED: &str = "revisions";

/// Everything that the rule files say of a revision, in the order of files and lines.
pub(super) fn held(root: &str, files: &Files, id: &str) -> Result<Vec<Held>, Error> {
    let mut all = Vec::new();
    for (file, text) in files {
        let Some(stem) = shared(file).or_else(|| own(file, id)) else {
            continue;
        };
        for entry in sheet::entries(&format!("{root}/{file}"), text)? {
            let speaks = if own(file, id).is_some() || entry.table.iter().any(|name| name == id) {
                Speaks::Belongs
            } else if entry.list(LISTED).is_some_and(|list| list.has(id)) {
                Speaks::Lists
            } else if names(&entry, id) {
                Speaks::Names
            } else {
                continue;
            };
            all.push(Held {
                fact: fact(stem, &entry, id),
                file: file.clone(),
                entry,
                speaks,
            });
        }
    }
    Ok(all)
}

/// The name of a rule file that all revisions share.
fn shared(file: &str) -> Option<&str> {
    let stem = file.strip_suffix(".toml")?;
    (!stem.contains('/') && file != REVISIONS).then_some(stem)
}

/// The same of the file of errata of a revision.
fn own<'f>(file: &'f str, id: &str) -> Option<&'f str> {
    let stem = file.strip_prefix(id)?.strip_prefix('/')?;
    stem.strip_suffix(".toml").filter(|stem| *stem == "errata")
}

fn names(entry: &Entry, id: &str) -> bool {
    let pair = |text: &str| {
        text.split_once("..")
            .is_some_and(|(old, new)| old == id || new == id)
    };
    let strings = entry.strings.iter().map(String::as_str);
    entry.lists().any(|list| list.has(id))
        || entry.table.iter().any(|name| pair(name))
        || strings
            .chain([entry.name.as_str()])
            .any(|text| text == id || pair(text))
}

fn fact(stem: &str, entry: &Entry, id: &str) -> Fact {
    let at = entry.table.iter().position(|name| name == id);
    let name = &entry.name;
    Fact(
        match at.and_then(|at| entry.table.get(at.checked_sub(2)?)) {
            // Lines under [Type.revisions."ID"] and [Type.revisions."ID".members].
            Some(section) if entry.table.last().is_some_and(|last| last == id) && name == "doc" => {
                format!("{stem}/{section}")
            }
            Some(section) => format!("{stem}/{section}.{name}"),
            None if stem == "errata" => format!("{stem}/{name}"),
            None => format!("{stem}/{}/{name}", entry.table.join("/")),
        },
    )
}

impl Held {
    /// The row lists another revision, and holds for it in the same words: the edits that say so.
    pub(super) fn joined(&self, text: &str, by: &str, id: &str, order: &[&str]) -> Vec<Edit> {
        let lists = self
            .entry
            .lists()
            .filter(|list| list.has(by) && !list.has(id));
        lists
            .map(|list| sheet::insertion(text, list, id, order))
            .collect()
    }
}

/// Say of another pair what the shared rule files say of one.
pub(super) fn rename_pair(files: &mut Files, was: (&str, &str), is: (&str, &str)) {
    let quoted = |(old, new): (&str, &str)| format!("\"{old}..{new}\"");
    for (file, text) in files.iter_mut() {
        if shared(file).is_some() && text.contains(&quoted(was)) {
            *text = text.replace(&quoted(was), &quoted(is));
        }
    }
}

/// The text of a file without what it says of a revision in these entries of it.
pub(super) fn without(path: &str, text: &str, id: &str, held: &[&Held]) -> Result<String, Error> {
    let mut held = held.to_vec();
    held.sort_by_key(|one| one.entry.start());
    let mut out = text.to_owned();
    for one in held.into_iter().rev() {
        let lists = one.entry.lists().filter(|list| list.has(id));
        let alone = one
            .entry
            .list(LISTED)
            .is_some_and(|list| list.items().all(|item| item == id));
        let edits = match one.speaks {
            Speaks::Lists if !alone => lists.filter_map(|list| sheet::deletion(list, id)).collect(),
            Speaks::Lists | Speaks::Belongs | Speaks::Names => {
                vec![sheet::removal(&out, &one.entry)]
            }
        };
        out = sheet::edited(&out, edits);
    }
    sheet::without_empty_tables(path, out)
}
