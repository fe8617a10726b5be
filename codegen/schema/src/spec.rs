//! The spec directory: facts of each revision, the decisions about them, and how they are read, imported and verified.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Error;

pub mod canonical;
mod diagnostics;
mod directory;
pub(crate) mod errata;
pub mod errors;
pub mod extensions;
mod facts;
mod import;
pub mod json;
pub mod methods;
pub(crate) mod range;
mod remove;
mod revisions;
pub mod roles;
pub mod rules;
mod scaffold;
mod sheet;
mod verify;

pub use directory::Directory;
pub use errata::Erratum;
pub use extensions::Extension;
pub use facts::Fact;
pub use import::{
    ExtensionOptions, ImportOptions, Imported, ImportedExtension, Left, Upstream, import, sha256,
};
pub use remove::Removed;
pub use revisions::{Lifecycle, Status};
pub use rules::{RuleFile, RuleTexts};
pub use verify::{Verified, verify};

/// The list of revisions in a spec directory.
const REVISIONS: &str = "revisions.toml";

/// The errata of all revisions, in a spec directory.
pub(crate) const ERRATA: &str = "errata.toml";

/// Everything that spec/ says.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The revisions in the order of revisions.toml: oldest first, drafts last.
    pub revisions: Vec<Revision>,
    /// The extensions, in order of their names.
    pub extensions: Vec<Extension>,
    /// The rule files that all revisions share, unread.
    pub rules: RuleTexts,
}

/// One published state of the protocol.
#[derive(Clone, Debug)]
pub struct Revision {
    /// Its name, and that of its directory.
    pub id: String,
    /// The version string that it goes by on the wire.
    pub wire: String,
    /// How it settles which version is spoken.
    pub lifecycle: Lifecycle,
    /// How far it has come.
    pub status: Status,
    /// Whether its row says that handlers are written in it; see [`Revision::of_handlers`].
    pub handlers: bool,
    /// Where the schema stands in the specification's repository.
    pub source: String,
    /// SHA-256 of the upstream schema, in lower-case hex; empty where none was recorded.
    pub sha256: String,
    /// URL of the reference page of a definition; `{anchor}` stands for its name in lower case.
    pub reference: String,
    /// The schema in canonical form, errata applied.
    pub schema: Value,
    /// The schema in canonical form, as upstream has it.
    pub raw: Value,
    /// The repairs, in the order in which they were applied.
    pub errata: Vec<Erratum>,
}

impl Spec {
    /// Reads a spec directory.
    ///
    /// # Errors
    /// Every file that cannot be read or is not a schema, and every erratum that does not apply, not only the first.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        Self::load(&root_of(dir), &collect(dir)?)
    }

    /// Reads texts from memory, by their path below the spec directory, which errors print as `spec`.
    ///
    /// # Errors
    /// As [`Spec::read`].
    pub fn from_files(files: BTreeMap<String, String>) -> Result<Self, Error> {
        Self::load("spec", &files)
    }

    fn load(root: &str, files: &Files) -> Result<Self, Error> {
        let list = revisions_file(root, files)?;
        let rows = revisions::read(&list)?;
        let order = range::Order::of(&rows);
        let errata_file = errata_file(root, files);
        let errata = errata::read(&errata_file, Some(&order))?;
        let (mut revisions, mut errors) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in &rows {
            match Revision::load(root, files, &list, (&rows, row), (&errata, &errata_file)) {
                Ok(revision) => revisions.push(revision),
                Err(error) => errors.push(error),
            }
        }
        // An extension is read on its revision: without one of them, nothing can be said of it.
        Error::check(errors)?;
        let mut errors = Vec::new();
        let extensions = Extension::all(root, files, &revisions, &mut errors);
        Error::check(errors)?;
        let mut rules = RuleTexts::new(root, order);
        for (name, text) in files {
            let of_revision = rows
                .iter()
                .any(|row| name.split('/').next() == Some(row.id()));
            if name.ends_with(".toml") && name != REVISIONS && !of_revision {
                rules.insert(name, text.clone());
            }
        }
        Ok(Self {
            revisions,
            extensions,
            rules,
        })
    }

    /// Returns the revision of that id.
    ///
    /// # Errors
    /// An id that is not there, with the ids that there are.
    pub fn revision(&self, id: &str) -> Result<&Revision, Error> {
        self.revisions
            .iter()
            .find(|revision| revision.id == id)
            .ok_or_else(|| {
                let known = self.revisions.iter().map(|known| known.id.as_str());
                Error::unknown_revision(id, known)
            })
    }
}

impl Revision {
    fn load(
        root: &str,
        files: &Files,
        list: &RuleFile,
        (rows, row): (&[revisions::Row], &revisions::Row),
        (errata, errata_file): (&[Erratum], &RuleFile),
    ) -> Result<Self, Error> {
        let id = row.id();
        let name = schema_name(id);
        let text = files.get(&name).ok_or_else(|| {
            list.error(
                row.id.span().start,
                format!("revision `{id}`"),
                format!("there is no {root}/{name}"),
                "",
                format!("cargo xtask spec import FILE --revision {id}"),
            )
        })?;
        let path = format!("{root}/{name}");
        let raw = canonical::canonicalize(&json::parse(&path, text)?, &path)?;
        let status = *row.status.get_ref();
        let of = outlived(files, rows, row).unwrap_or(row);
        let mut errata = errata.to_vec();
        errata.retain(|erratum| erratum.revisions.iter().any(|other| other == of.id()));
        let errata::Applied { schema, errata, .. } =
            errata::apply(&raw, &errata, errata_file, of.id(), *of.status.get_ref())?;
        Ok(Self {
            id: id.to_owned(),
            wire: row.wire().to_owned(),
            lifecycle: *row.lifecycle.get_ref(),
            status,
            handlers: row.handlers(),
            source: revisions::text(&row.source).unwrap_or_default().to_owned(),
            sha256: row.sha256().to_owned(),
            reference: revisions::text(&row.reference)
                .unwrap_or_default()
                .to_owned(),
            schema,
            raw,
            errata,
        })
    }

    /// Returns the revision that handlers are written in: the one whose row says so, else the latest release.
    #[must_use]
    pub fn of_handlers<'r>(
        revisions: impl DoubleEndedIterator<Item = &'r Self> + Clone,
    ) -> Option<&'r Self> {
        let released = |of: &&Self| of.status == Status::Released;
        let mut said = revisions.clone();
        said.find(|of| of.handlers)
            .or_else(|| revisions.rev().find(released))
    }

    /// Returns the definitions of [`Revision::schema`], by name.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &Value)> {
        let defs = self.schema.get("$defs").and_then(Value::as_object);
        defs.into_iter()
            .flatten()
            .map(|(name, definition)| (name.as_str(), definition))
    }

    /// Returns one of them.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<&Value> {
        self.schema.get("$defs")?.get(name)
    }

    /// Returns the reference page of a definition.
    #[must_use]
    pub fn reference_of(&self, definition: &str) -> String {
        self.reference
            .replace("{anchor}", &definition.to_lowercase())
    }
}

/// Texts by their path below the spec directory.
type Files = BTreeMap<String, String>;

fn schema_name(id: &str) -> String {
    format!("{id}/schema.json")
}

fn errata_file(root: &str, files: &Files) -> RuleFile {
    RuleFile::new(
        format!("{root}/{ERRATA}"),
        files.get(ERRATA).map_or("", String::as_str),
    )
}

fn revisions_file(root: &str, files: &Files) -> Result<RuleFile, Error> {
    let path = format!("{root}/{REVISIONS}");
    match files.get(REVISIONS) {
        Some(text) => Ok(RuleFile::new(path, text.as_str())),
        None => {
            let help = "is this a spec directory? `cargo xtask spec import` starts one";
            Err(Error::file(
                path,
                "the list of revisions is missing",
                "",
                help,
            ))
        }
    }
}

/// The release that a draft is the same as, though others came after that: the errata of that one are the draft's.
fn outlived<'r>(
    files: &Files,
    rows: &'r [revisions::Row],
    row: &revisions::Row,
) -> Option<&'r revisions::Row> {
    let text = |row: &revisions::Row| files.get(&schema_name(row.id()));
    let draft = *row.status.get_ref() == Status::Draft;
    let firm = |row: &&revisions::Row| *row.status.get_ref() != Status::Draft;
    let mut earlier = rows.iter().filter(firm).rev();
    let latest = earlier.next().filter(|_| draft)?;
    let other = earlier.find(|other| text(other) == text(row));
    other.filter(|_| text(latest) != text(row))
}

/// The directory as failures print it.
fn root_of(dir: &Path) -> String {
    dir.display().to_string().trim_end_matches('/').to_owned()
}

/// Every `.toml` of the directory, its direct subdirectories and the folders of extensions, and their `schema.json`.
fn collect(dir: &Path) -> Result<Files, Error> {
    let mut files = Files::new();
    collect_folder(dir, "", &mut files)?;
    Ok(files)
}

fn collect_folder(dir: &Path, below: &str, files: &mut Files) -> Result<(), Error> {
    for (name, is_dir) in entries(&dir.join(below))? {
        let path = format!("{below}{name}");
        match is_dir {
            false => collect_file(dir, path, files)?,
            true if below.is_empty() || below == format!("{}/", extensions::FOLDER) => {
                collect_folder(dir, &format!("{path}/"), files)?;
            }
            true => {}
        }
    }
    Ok(())
}

fn collect_file(dir: &Path, name: String, files: &mut Files) -> Result<(), Error> {
    if name.ends_with(".toml") || name.ends_with("/schema.json") {
        let path = dir.join(&name);
        let text = fs::read_to_string(&path).map_err(|cause| Error::io("read", &path, cause))?;
        files.insert(name, text);
    }
    Ok(())
}

/// Names in a directory, and whether each is a directory itself; hidden ones are left out.
fn entries(dir: &Path) -> Result<Vec<(String, bool)>, Error> {
    let unreadable = |cause| Error::io("read", dir, cause);
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let is_dir = fs::metadata(entry.path()).map_err(unreadable)?.is_dir();
        match entry.file_name().into_string() {
            Ok(name) if !name.starts_with('.') => names.push((name, is_dir)),
            _ => {}
        }
    }
    Ok(names)
}
