//! A spec directory in memory: what commands change in it, and how that is written back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::facts::{self, Fact, held};
use super::import::{self, ExtensionOptions, ImportOptions, Imported, ImportedExtension, Upstream};
use super::range::Order;
use super::remove::{self, Removed};
use super::revisions::{self, Row};
use super::{Files, REVISIONS, Spec, collect, revisions_file, root_of};
use crate::Error;
use crate::files::write_file;

/// The texts of a spec directory.
#[derive(Clone, Debug)]
pub struct Directory {
    root: String,
    pub(super) files: Files,
    /// The files on disk when it was read; `None` if it was made in memory.
    base: Option<Files>,
}

impl Directory {
    /// Reads a directory; a missing one is empty.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let files = Self::on_disk(dir)?;
        Ok(Self {
            root: root_of(dir),
            base: Some(files.clone()),
            files,
        })
    }

    fn on_disk(dir: &Path) -> Result<Files, Error> {
        match dir.exists() {
            true => collect(dir),
            false => Ok(Files::new()),
        }
    }

    /// Reads texts from memory, by their path below the spec directory, which errors print as `spec`.
    #[must_use]
    pub fn from_files(files: BTreeMap<String, String>) -> Self {
        Self {
            root: "spec".to_owned(),
            files,
            base: None,
        }
    }

    /// Returns the texts, by path below the directory.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// Reads its files as a spec.
    ///
    /// # Errors
    /// As [`Spec::read`].
    pub fn spec(&self) -> Result<Spec, Error> {
        Spec::load(&self.root, &self.files)
    }

    /// Takes an upstream schema as that of a revision, and ends before it what does not hold for it.
    ///
    /// # Errors
    /// Options that do not fit. Nothing has changed then.
    pub fn import(
        &mut self,
        upstream: &Upstream,
        options: &ImportOptions,
    ) -> Result<Imported, Error> {
        let mut files = self.files.clone();
        let imported = import::into(&self.root, &mut files, upstream, options)?;
        self.files = files;
        Ok(imported)
    }

    /// Takes an upstream schema as that of an extension.
    ///
    /// # Errors
    /// Options that do not fit. Nothing has changed then.
    pub fn import_extension(
        &mut self,
        upstream: &Upstream,
        options: &ExtensionOptions,
    ) -> Result<ImportedExtension, Error> {
        let mut files = self.files.clone();
        let imported = import::into_extension(&self.root, &mut files, upstream, options)?;
        self.files = files;
        Ok(imported)
    }

    /// Takes a revision out, and everything that speaks of it or that only it needed.
    ///
    /// # Errors
    /// A revision that is not there. Nothing has changed then.
    pub fn remove(&mut self, id: &str) -> Result<Removed, Error> {
        let mut files = self.files.clone();
        let removed = remove::remove(&self.root, &mut files, id)?;
        self.files = files;
        Ok(removed)
    }

    /// Returns what the rule files say of a revision by a range: its errata, rows and doc lines.
    ///
    /// # Errors
    /// A file that is not TOML.
    pub fn facts(&self, id: &str) -> Result<Vec<Fact>, Error> {
        facts::of(&self.root, &self.files, &self.order()?.0, id)
    }

    fn order(&self) -> Result<(Order, Vec<Row>), Error> {
        let rows = revisions::read(&revisions_file(&self.root, &self.files)?)?;
        Ok((Order::of(&rows), rows))
    }

    /// Returns the facts that hold for a revision, and are not confirmed since its import.
    ///
    /// # Errors
    /// A list of revisions, or another file, that cannot be read.
    pub fn unconfirmed(&self, id: &str) -> Result<Vec<Fact>, Error> {
        let (order, rows) = self.order()?;
        unconfirmed(&self.root, &self.files, &order, &rows, id)
    }

    /// Confirms that facts hold for a revision (`keep`), or ends them before it.
    ///
    /// No names stand for all of them. Returns the facts that it settled.
    ///
    /// # Errors
    /// A name that is not to be confirmed, and one to end that later revisions have, too.
    pub fn confirm(&mut self, id: &str, names: &[String], keep: bool) -> Result<Vec<Fact>, Error> {
        let (order, rows) = self.order()?;
        let open = unconfirmed(&self.root, &self.files, &order, &rows, id)?;
        let unknown = |name: &&String| open.iter().all(|fact| fact.as_str() != **name);
        if let Some(unknown) = names.iter().find(unknown) {
            return Err(Error::usage(
                format!("`{unknown}` is not among the facts of `{id}` that are to be confirmed"),
                match open.as_slice() {
                    [] => "there are none to confirm".to_owned(),
                    facts => format!("still to confirm: {}", listed(facts)),
                },
            ));
        }
        let meant =
            |fact: &Fact| names.is_empty() || names.iter().any(|name| name == fact.as_str());
        let (settled, left): (Vec<_>, Vec<_>) = open.into_iter().partition(meant);
        if !keep {
            self.end(&order, id, &settled)?;
        }
        let row = rows.iter().find(|row| row.id() == id);
        let mut confirmed: Vec<&str> = row.map(Row::confirmed).unwrap_or_default();
        if keep {
            confirmed.extend(settled.iter().map(Fact::as_str));
        }
        let confirmed = Some(confirmed.as_slice()).filter(|_| !left.is_empty());
        revisions::confirm(&self.root, &mut self.files, id, confirmed)?;
        Ok(settled)
    }

    /// Ends facts before a revision.
    fn end(&mut self, order: &Order, id: &str, settled: &[Fact]) -> Result<(), Error> {
        let mut changes = Vec::new();
        for held in held(&self.root, &self.files, order, id)? {
            if !settled.contains(&held.fact) {
                continue;
            }
            let Some(change) = held.without(order, id) else {
                let before = order.before(id).unwrap_or_default();
                return Err(Error::usage(
                    format!("`{}` holds for revisions after `{id}`, too", held.fact),
                    format!(
                        "in spec/{}, end it with `until = \"{before}\"`, and add a second one that begins after `{id}`",
                        held.file
                    ),
                ));
            };
            changes.push((held, change));
        }
        facts::change(&self.root, &mut self.files, changes)
    }

    /// Brings a directory on disk into this state: writes what differs, deletes what is gone.
    ///
    /// The list of revisions is written last: a command that was interrupted does the rest when it is run again.
    ///
    /// # Errors
    /// What cannot be written, and a directory that another command has changed since it was read.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let stands = Self::on_disk(dir)?;
        if let Some(base) = &self.base
            && let Some(name) = differing(base, &stands)
        {
            return Err(Error::file(
                dir.join(name).display().to_string(),
                "another command has changed it meanwhile; nothing was written",
                "",
                "run the command again",
            ));
        }
        let differs = |name: &&String| self.files.get(*name) != stands.get(*name);
        let names = self.files.keys().chain(stands.keys());
        let mut names: Vec<&String> = names.filter(differs).collect();
        names.sort_by_key(|name| *name == REVISIONS);
        for name in names {
            let path = dir.join(name);
            match self.files.get(name) {
                Some(text) => write_file(&path, text.as_bytes())?,
                None => delete(dir, &path)?,
            }
        }
        Ok(())
    }
}

/// Deletes a file that may be gone already, and its folder unless something of the user's is in it.
fn delete(dir: &Path, path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            return Err(Error::io("delete", path, cause));
        }
        _ => {}
    }
    if let Some(folder) = path.parent().filter(|folder| *folder != dir) {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// What holds for a revision, and is not confirmed by its row.
pub(super) fn unconfirmed(
    root: &str,
    files: &Files,
    order: &Order,
    rows: &[Row],
    id: &str,
) -> Result<Vec<Fact>, Error> {
    let row = rows.iter().find(|row| row.id() == id);
    let row = row.ok_or_else(|| revisions::unknown(id, rows))?;
    if row.confirmed.is_none() {
        return Ok(Vec::new());
    }
    let confirmed = row.confirmed();
    let mut open = facts::of(root, files, order, id)?;
    open.retain(|fact| !confirmed.contains(&fact.as_str()));
    Ok(open)
}

/// The first file that is not the same in both.
fn differing<'f>(base: &'f Files, stands: &'f Files) -> Option<&'f str> {
    let names: BTreeSet<&String> = base.keys().chain(stands.keys()).collect();
    let mut names = names.into_iter();
    let found = names.find(|name| base.get(*name) != stands.get(*name));
    found.map(String::as_str)
}

fn listed(facts: &[Fact]) -> String {
    let names: Vec<&str> = facts.iter().map(Fact::as_str).collect();
    names.join(", ")
}
