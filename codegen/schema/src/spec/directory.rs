//! A spec directory in memory: what commands change in it, and how that is written back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::carried::{self, Carried};
use super::carry;
use super::facts::{Fact, held};
use super::import::{self, ExtensionOptions, ImportOptions, Imported, ImportedExtension, Upstream};
use super::journal::Journal;
use super::remove::{self, Removed, record};
use super::{Files, Spec, collect, root_of};
use crate::Error;

/// The texts of a spec directory.
#[derive(Clone, Debug)]
pub struct Directory {
    root: String,
    pub(super) files: Files,
    /// What stood on disk when it was read; none for one that was made in memory.
    base: Option<Files>,
}

impl Directory {
    /// Read a directory; one that is not there is empty.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        Journal::complete(dir)?;
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

    /// The same from memory: texts by their path below the spec directory, which failures print as `spec`.
    #[must_use]
    pub fn from_files(files: BTreeMap<String, String>) -> Self {
        Self {
            root: "spec".to_owned(),
            files,
            base: None,
        }
    }

    /// The texts, by path below the directory.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// What it says.
    ///
    /// # Errors
    /// As [`Spec::read`].
    pub fn spec(&self) -> Result<Spec, Error> {
        Spec::load(&self.root, &self.files)
    }

    /// Take an upstream schema as that of a revision, and carry over what still holds.
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

    /// Take a revision out, and everything that speaks of it or that only it needed.
    ///
    /// # Errors
    /// A revision that is not there. Nothing has changed then.
    pub fn remove(&mut self, id: &str) -> Result<Removed, Error> {
        let mut files = self.files.clone();
        let removed = remove::remove(&self.root, &mut files, id)?;
        self.files = files;
        Ok(removed)
    }

    /// What the rule files say of a revision: its errata, the rows that list it, the lines of its own.
    ///
    /// # Errors
    /// A file that is not TOML.
    pub fn facts(&self, id: &str) -> Result<Vec<Fact>, Error> {
        let held = held(&self.root, &self.files, id)?;
        Ok(held.into_iter().map(|held| held.fact).collect())
    }

    /// What was carried over to a revision and is not confirmed.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn carried(&self, id: &str) -> Result<Option<Carried>, Error> {
        record(&self.root, &self.files, id)
    }

    /// Say that facts carried over to a revision hold (`keep`), or take them back.
    ///
    /// No names stand for all of them. Gives back the facts that it settled.
    ///
    /// # Errors
    /// A name that is not on the list.
    pub fn confirm(&mut self, id: &str, names: &[String], keep: bool) -> Result<Vec<Fact>, Error> {
        let open = self.carried(id)?.unwrap_or_default();
        if let Some(unknown) = names
            .iter()
            .find(|name| open.facts.iter().all(|fact| fact.as_str() != *name))
        {
            return Err(Error::Usage {
                problem: format!(
                    "`{unknown}` is not among the facts that were carried over to `{id}`"
                )
                .into(),
                help: match open.facts.as_slice() {
                    [] => "there are none to confirm".into(),
                    facts => format!("still to confirm: {}", listed(facts)).into(),
                },
            });
        }
        let meant =
            |fact: &Fact| names.is_empty() || names.iter().any(|name| name == fact.as_str());
        let (settled, left): (Vec<_>, Vec<_>) = open.facts.into_iter().partition(meant);
        if !keep {
            let all = held(&self.root, &self.files, id)?;
            let gone: Vec<_> = all
                .iter()
                .filter(|held| settled.contains(&held.fact))
                .collect();
            carry::take_out(&self.root, &mut self.files, id, &gone)?;
            for fact in &settled {
                self.files.remove(&format!("{fact}.toml"));
            }
        }
        // With the last fact settled the import is no longer one to be undone.
        let settled_all = left.is_empty();
        let record = Carried {
            from: open.from,
            facts: left,
            replaced: open.replaced.filter(|_| !settled_all),
            displaced: match settled_all {
                true => BTreeMap::new(),
                false => open.displaced,
            },
        };
        let name = carried::file_name(id);
        match record.text(id) {
            Some(text) => self.files.insert(name, text),
            None => self.files.remove(&name),
        };
        Ok(settled)
    }

    /// Bring a directory on disk into this state: write what differs, delete what is gone.
    ///
    /// All of it or nothing: what is to be done is noted first, and a note that was left behind is carried out by
    /// whoever reads the directory next.
    ///
    /// # Errors
    /// What cannot be written, and a directory that another command has changed since it was read.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let stands = Self::on_disk(dir)?;
        if let Some(base) = &self.base
            && let Some(name) = differing(base, &stands)
        {
            return Err(Error::File {
                file: dir.join(name).display().to_string().into(),
                problem: "another command has changed it meanwhile; nothing was written".into(),
                detail: "".into(),
                help: "run the command again".into(),
            });
        }
        let write: Files = (self.files.iter())
            .filter(|(name, text)| stands.get(*name) != Some(text))
            .map(|(name, text)| (name.clone(), text.clone()))
            .collect();
        let delete: BTreeSet<String> = (stands.keys())
            .filter(|name| !self.files.contains_key(*name))
            .cloned()
            .collect();
        if write.is_empty() && delete.is_empty() {
            return Ok(());
        }
        let journal = Journal { write, delete };
        journal.note(dir)?;
        journal.carry_out(dir)
    }
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
