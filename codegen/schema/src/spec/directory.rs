//! The texts of a spec directory, by path: read from the disk or handed over, and read as a spec.

use crate::sorted::SortedMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::errata::{self, Erratum};
use super::extensions::FOLDER;
use super::range::Order;
use super::revisions::{self, RevisionRow};
use super::rules::RuleFile;
use super::{ERRATA, REVISIONS, Spec, outlived};
use crate::Error;

/// The texts of a spec directory.
#[derive(Clone, Debug)]
pub struct SpecSources {
    /// The directory as failures print it.
    pub root: String,
    /// The texts, by path below the directory.
    pub files: SortedMap<String, String>,
}

impl SpecSources {
    /// Reads a directory that has to be there. Fails for a file that cannot be read.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let mut files = SortedMap::new();
        collect(dir, "", &mut files)?;
        Ok(Self::of(&dir.display().to_string(), files))
    }

    /// Takes texts by their path below a directory, which failures print by this name.
    pub fn of(root: &str, files: SortedMap<String, String>) -> Self {
        Self {
            root: root.trim_end_matches('/').to_owned(),
            files,
        }
    }

    /// Returns a file as failures print it.
    pub fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.root)
    }

    /// Returns the text of a file; an empty one where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.files.get(name).map_or("", String::as_str)
    }

    /// Returns the same with its path.
    pub fn file(&self, name: &str) -> RuleFile {
        RuleFile::new(self.path(name), self.text(name))
    }

    /// Returns the list of revisions, which has to be there.
    pub fn list(&self) -> Result<RuleFile, Error> {
        if self.files.contains_key(REVISIONS) {
            return Ok(self.file(REVISIONS));
        }
        let help = "is this a spec directory? `cargo xtask spec import` starts one";
        let problem = "the list of revisions is missing";
        Err(Error::file(self.path(REVISIONS), problem, "", help))
    }

    /// Returns the order of the revisions, and their rows.
    pub fn order(&self) -> Result<(Order, Vec<RevisionRow>), Error> {
        let rows = revisions::read(&self.list()?)?;
        let drafts = rows.iter().filter(|row| row.is_draft());
        let order = drafts.fold(Order::of(&rows), |order, draft| {
            match outlived(self, &rows, draft) {
                Some(release) => order.with_outlived(draft.id(), release.id()),
                None => order,
            }
        });
        Ok((order, rows))
    }

    /// Returns the errata of all revisions.
    pub fn errata(&self, order: &Order) -> Result<Vec<Erratum>, Error> {
        errata::read(&self.file(ERRATA), Some(order))
    }

    /// Reads its files as a spec. Fails as [`Spec::read`].
    pub fn spec(&self) -> Result<Spec, Error> {
        Spec::load(self)
    }
}

/// Collects every `.toml` of the directory, its direct subdirectories and the folders of extensions and their states, and
/// their `schema.json`. Hidden files are left out.
fn collect(dir: &Path, below: &str, files: &mut SortedMap<String, String>) -> Result<(), Error> {
    let folder = dir.join(below);
    let unreadable = |cause| Error::io("read", &folder, cause);
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(OsStr::to_str);
        let Some(name) = name.filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let name = format!("{below}{name}");
        if fs::metadata(&path).map_err(unreadable)?.is_dir() {
            if below.is_empty()
                || below.starts_with(&format!("{FOLDER}/")) && below.matches('/').count() < 3
            {
                collect(dir, &format!("{name}/"), files)?;
            }
        } else if name.ends_with(".toml") || name.ends_with("/schema.json") {
            let text = fs::read_to_string(&path);
            files.insert(name, text.map_err(|cause| Error::io("read", &path, cause))?);
        }
    }
    Ok(())
}
