//! The spec directory: facts of each revision, the decisions about them, and how they are read.

use crate::sorted::SortedMap;
use std::path::Path;

use serde_json::Value;

use crate::Error;

pub mod canonical;
pub mod changes;
mod digest;
mod directory;
pub mod errata;
pub mod errors;
pub mod extensions;
pub mod json;
pub mod methods;
pub mod range;
pub mod revisions;
pub mod roles;
pub mod rules;
pub mod toml_text;

pub use digest::sha256;
pub use directory::SpecSources;
pub use errata::Erratum;
pub use extensions::ExtensionSpec;
use revisions::RevisionRow;
pub use revisions::{Lifecycle, RevisionStage};
pub use rules::{RuleFile, RuleTexts};

/// The list of revisions in a spec directory.
pub const REVISIONS: &str = "revisions.toml";

/// The errata of all revisions, in a spec directory.
pub const ERRATA: &str = "errata.toml";

/// The doc lines of all revisions, in a spec directory.
pub const DOCS: &str = "docs.toml";

/// Everything that spec/ says.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The revisions in the order of revisions.toml: oldest first, drafts last.
    pub revisions: Vec<Revision>,
    /// The states of the extensions, in order of their folders, oldest first.
    pub extensions: Vec<ExtensionSpec>,
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
    /// The lifecycle: how it settles the version to speak.
    pub lifecycle: Lifecycle,
    /// The stage: draft, candidate or release.
    pub status: RevisionStage,
    /// Set if its row says that handlers are written in it; see [`Revision::of_handlers`].
    pub handlers: bool,
    /// The path of the schema in the specification's repository.
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
    /// Reads a spec directory. Fails for every file that cannot be read or is not a schema, and every erratum that does not
    /// apply, not only the first.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        SpecSources::read(dir)?.spec()
    }

    /// Reads texts from memory, by their path below the spec directory, which errors print as `spec`. Fails as [`Spec::read`].
    pub fn from_files(files: SortedMap<String, String>) -> Result<Self, Error> {
        SpecSources::of("spec", files).spec()
    }

    fn load(directory: &SpecSources) -> Result<Self, Error> {
        let list = directory.list()?;
        let (order, rows) = directory.order()?;
        let errata = directory.errata(&order)?;
        let load = |row| Revision::load(directory, &list, &rows, row, &errata);
        let mut revisions = Error::all(rows.iter().map(load))?;
        // An extension is read on its revision: without one of them, nothing can be said of it.
        let names = extensions::names(directory);
        let load = |name: &String| ExtensionSpec::load(directory, name, &revisions);
        let extensions: Vec<ExtensionSpec> = Error::all(names.iter().map(load))?
            .into_iter()
            .flatten()
            .collect();
        for extension in &extensions {
            extension.mend_later_core(&mut revisions);
        }
        let is_shared = |name: &&String| {
            let folder = name.split('/').next();
            let of_revision = rows.iter().any(|row| folder == Some(row.id()));
            name.ends_with(".toml") && *name != REVISIONS && !of_revision
        };
        let files = directory
            .files
            .keys()
            .filter(is_shared)
            .map(|name| (name.clone(), directory.file(name)));
        Ok(Self {
            rules: RuleTexts {
                root: directory.root.clone(),
                order,
                states: extensions::orders(&extensions),
                files: files.collect(),
            },
            revisions,
            extensions,
        })
    }

    /// Returns the revision of that id. Fails for an id that is not there, with the ids that there are.
    pub fn revision(&self, id: &str) -> Result<&Revision, Error> {
        let mut all = self.revisions.iter();
        let known = all.clone().map(|known| known.id.as_str());
        all.find(|revision| revision.id == id)
            .ok_or_else(|| Error::unknown_revision(id, known))
    }
}

impl Revision {
    /// Reads one revision of the list. Fails for a schema that is not there or is not one, and every erratum that does not
    /// apply.
    pub fn load(
        directory: &SpecSources,
        list: &RuleFile,
        rows: &[RevisionRow],
        row: &RevisionRow,
        errata: &[Erratum],
    ) -> Result<Self, Error> {
        let id = row.id();
        let name = schema_name(id);
        let schema = directory.file(&name);
        if !directory.files.contains_key(&name) {
            let (at, rule) = (row.id.span().start, format!("revision `{id}`"));
            let problem = format!("there is no {}", schema.path);
            let help = format!("cargo xtask spec import FILE --revision {id}");
            return Err(list.error(at, rule, problem, "", help));
        }
        let raw = canonical::of_text(&schema.path, &schema.text)?;
        let of = outlived(directory, rows, row).unwrap_or(row);
        let errata_file = directory.file(ERRATA);
        let errata::Applied { schema, errata, .. } =
            errata::apply(&raw, errata, &errata_file, of.id(), of.status)?;
        Ok(Self {
            id: id.to_owned(),
            wire: row.wire().to_owned(),
            lifecycle: row.lifecycle,
            status: row.status,
            handlers: row.handlers(),
            source: row.source.clone().unwrap_or_default(),
            sha256: row.sha256().to_owned(),
            reference: row.reference.clone().unwrap_or_default(),
            schema,
            raw,
            errata,
        })
    }

    /// Returns the revision that handlers are written in: the one whose row says so, else the latest release.
    pub fn of_handlers<'r>(
        revisions: impl DoubleEndedIterator<Item = &'r Self> + Clone,
    ) -> Option<&'r Self> {
        let released = |of: &&Self| of.status == RevisionStage::Released;
        let mut said = revisions.clone();
        said.find(|of| of.handlers)
            .or_else(|| revisions.rev().find(released))
    }

    /// Returns the definitions of [`Revision::schema`], by name.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &Value)> {
        canonical::definitions(&self.schema)
    }

    /// Returns one of them.
    pub fn definition(&self, name: &str) -> Option<&Value> {
        canonical::definition(&self.schema, name)
    }
}

/// Returns the name of the file that has the schema of a revision.
pub fn schema_name(id: &str) -> String {
    format!("{id}/schema.json")
}

/// Returns the release that a draft is the same as, though others came after that: the errata of that one are the draft's.
fn outlived<'r>(
    directory: &SpecSources,
    rows: &'r [RevisionRow],
    row: &RevisionRow,
) -> Option<&'r RevisionRow> {
    let text = |row: &RevisionRow| directory.files.get(&schema_name(row.id()));
    let firm = |row: &&RevisionRow| !row.is_draft();
    let mut earlier = rows.iter().filter(firm).rev();
    let latest = earlier.next().filter(|_| row.is_draft())?;
    let other = earlier.find(|other| text(other) == text(row));
    other.filter(|_| text(latest) != text(row))
}
