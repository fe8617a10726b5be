//! A spec directory in memory, which commands change and write back.

use std::fs;
use std::io::ErrorKind;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use mcp_revisions_schema::Error;
use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use mcp_revisions_schema::spec::range::Order;
use mcp_revisions_schema::spec::{REVISIONS, SpecSources};

use super::facts::{Fact, RangedRow};
use super::list;
use super::sheet::{self, SheetEntry};
use crate::files::write_file;

/// Texts by their path below the spec directory.
type SpecFiles = SortedMap<String, String>;

/// A spec directory in memory. It holds the texts of its files, and those on disk when it was read.
#[derive(Clone, Debug)]
pub struct SpecDirectory {
    /// The texts as they are now.
    sources: SpecSources,
    /// The files on disk when it was read; `None` if it was made in memory.
    base: Option<SpecFiles>,
}

impl Deref for SpecDirectory {
    type Target = SpecSources;

    fn deref(&self) -> &SpecSources {
        &self.sources
    }
}

impl DerefMut for SpecDirectory {
    fn deref_mut(&mut self) -> &mut SpecSources {
        &mut self.sources
    }
}

impl SpecDirectory {
    /// Reads a directory; a missing one is empty. Returns an error for a file that cannot be read.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        if dir.exists() {
            return Self::read_existing(dir);
        }
        let root = dir.display().to_string();
        Ok(Self {
            sources: SpecSources::of(&root, SpecFiles::new()),
            base: Some(SpecFiles::new()),
        })
    }

    /// Reads a directory that has to exist.
    pub(super) fn read_existing(dir: &Path) -> Result<Self, Error> {
        let sources = SpecSources::read(dir)?;
        let base = Some(sources.files.clone());
        Ok(Self { sources, base })
    }

    /// Reads texts from memory, by their path below the spec directory, which errors print as `spec`.
    pub fn from_files(files: SortedMap<String, String>) -> Self {
        let sources = SpecSources::of("spec", files);
        Self {
            sources,
            base: None,
        }
    }

    /// Returns the texts, by path below the directory.
    pub fn files(&self) -> &SpecFiles {
        &self.files
    }

    /// Returns the rows and lines of a file.
    pub(super) fn entries(&self, name: &str) -> Result<Vec<SheetEntry>, Error> {
        sheet::entries(&self.path(name), self.text(name))
    }

    /// Returns the facts of a revision that are not confirmed since its import. Returns an error for a file that cannot be
    /// read.
    pub fn unconfirmed(&self, id: &str) -> Result<Vec<Fact>, Error> {
        let (_, rows) = self.order()?;
        let row = list::row(&rows, id)?;
        if row.confirmed.is_none() {
            return Ok(Vec::new());
        }
        let confirmed = row.confirmed();
        let mut open = self.facts(id)?;
        open.retain(|fact| !confirmed.contains(&fact.as_str()));
        Ok(open)
    }

    /// Confirms that facts hold for a revision (`keep`), or ends them before it.
    ///
    /// Without names, all of them. Returns the facts that it settled. Returns an error for a name that is not to be confirmed,
    /// and for a fact to end that later revisions have, too.
    pub fn confirm(&mut self, id: &str, names: &[String], keep: bool) -> Result<Vec<Fact>, Error> {
        let (order, rows) = self.order()?;
        let open = self.unconfirmed(id)?;
        let unknown = |name: &&String| open.iter().all(|fact| fact.as_str() != **name);
        if let Some(unknown) = names.iter().find(unknown) {
            let problem =
                format!("`{unknown}` is not among the facts of `{id}` that are to be confirmed");
            let names: Vec<&str> = open.iter().map(Fact::as_str).collect();
            let help = if names.is_empty() {
                "there are none to confirm".to_owned()
            } else {
                format!("still to confirm: {}", names.join(", "))
            };
            return Err(Error::usage(problem, help));
        }
        let meant =
            |fact: &Fact| names.is_empty() || names.iter().any(|name| name == fact.as_str());
        let (settled, left): (Vec<_>, Vec<_>) = open.into_iter().partition(meant);
        if !keep {
            self.end(&order, id, &settled)?;
        }
        let mut confirmed = list::row(&rows, id)?.confirmed();
        if keep {
            confirmed.extend(settled.iter().map(Fact::as_str));
        }
        let confirmed = Some(confirmed.as_slice()).filter(|_| !left.is_empty());
        list::confirm(self, id, confirmed)?;
        Ok(settled)
    }

    /// Ends facts before a revision.
    fn end(&mut self, order: &Order, id: &str, settled: &[Fact]) -> Result<(), Error> {
        let mut changes = Vec::new();
        for held in self.held(order, id)? {
            if !settled.contains(&held.fact) {
                continue;
            }
            let Some(change) = held.without(order, id) else {
                let RangedRow { fact, file, .. } = &held;
                let before = order.before(id).unwrap_or_default();
                let problem = format!("`{fact}` holds for revisions after `{id}`, too");
                let help = format!(
                    "in spec/{file}, end it with `until = \"{before}\"`, and add a second one that begins after `{id}`"
                );
                return Err(Error::usage(problem, help));
            };
            changes.push((held, change));
        }
        self.change(changes)
    }

    /// Writes the directory to disk: the files that differ, and deletes those that are gone.
    ///
    /// The list of revisions is written last, so that an interrupted command can be run again. Returns an error for a file that
    /// cannot be written, and for a directory that another command has changed since it was read.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let stands = Self::read(dir)?.sources.files;
        let changed = self.base.iter().flat_map(|base| differing(base, &stands));
        if let Some(name) = changed.into_iter().next() {
            let place = dir.join(name).display().to_string();
            let problem = "another command has changed it meanwhile; nothing was written";
            return Err(Error::file(place, problem, "", "run the command again"));
        }
        let mut names = differing(&self.files, &stands);
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

/// Deletes a file that may be gone already, and its folder if that is empty.
fn delete(dir: &Path, path: &Path) -> Result<(), Error> {
    if let Err(cause) = fs::remove_file(path)
        && cause.kind() != ErrorKind::NotFound
    {
        return Err(Error::io("delete", path, cause));
    }
    if let Some(folder) = path.parent().filter(|folder| *folder != dir) {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Returns the files that are not the same in both.
fn differing<'f>(one: &'f SpecFiles, other: &'f SpecFiles) -> Vec<&'f String> {
    let names: SortedSet<&String> = one.keys().chain(other.keys()).collect();
    let differs = |name: &&String| one.get(*name) != other.get(*name);
    names.into_iter().filter(differs).collect()
}
