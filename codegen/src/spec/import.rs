//! Import: an upstream schema.json becomes the schema of a revision, in canonical form, with its digest on record.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::revisions::{self, Era, NewRow, Row, Status};
use super::rules::RuleFile;
use super::{REVISIONS, canonical, collect, errata, errata_file, json, root_of, schema_name};
use crate::Error;
use crate::files::write_file;

/// How revisions.toml begins where there is none yet.
const HEADER: &str = "\
# The revisions of the protocol, oldest first, drafts last. Every other list in the tree is derived from this one.
# Written by `cargo xtask spec import`; comments stay.
";

/// What is to be imported as which revision.
///
/// A revision that is listed already keeps its facts: an option that says otherwise is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// The id.
    pub revision: String,
    /// The version string on the wire; by default the id.
    pub wire: Option<String>,
    /// Needed for a new id.
    pub era: Option<Era>,
    /// Needed for a new id.
    pub status: Option<Status>,
    /// The revision that a new one follows; by default the last one that is no draft, for a draft the last one.
    pub after: Option<String>,
    /// Where the file stands in the specification's repository; by default `schema/<id>/schema.json`.
    pub source: Option<String>,
    /// URL of the reference page, with `{anchor}` for a definition's name in lower case; by default the schema page of the id.
    pub reference: Option<String>,
}

/// What an import did.
#[derive(Debug)]
pub struct Imported {
    /// The revision.
    pub revision: String,
    /// It was not listed before.
    pub added: bool,
    /// Its wire facts are others than before, or were not there.
    pub schema_changed: bool,
    /// How many definitions the schema has.
    pub definitions: usize,
    /// SHA-256 of the upstream file.
    pub sha256: String,
    /// How many errata there are.
    pub errata: usize,
    /// Errata that no longer apply: the import stands, and they have to be looked at.
    pub stale: Option<Error>,
}

/// Write the schema in `file` below the spec directory `dir`, and record it in revisions.toml.
///
/// # Errors
/// When the file is no schema, or the options do not fit. Nothing has been written then.
pub fn import(dir: &Path, file: &Path, options: &ImportOptions) -> Result<Imported, Error> {
    let id = options.revision.as_str();
    if !revisions::is_id(id) {
        return Err(usage(
            format!("`{id}` cannot name a revision"),
            "letters, digits, `.`, `_` and `-`, beginning with a letter or digit",
        ));
    }
    let upstream = Upstream::read(file)?;
    let root = root_of(dir);
    let files = if dir.exists() {
        collect(dir)?
    } else {
        BTreeMap::new()
    };
    let text = files.get(REVISIONS).map_or(HEADER, String::as_str);
    let list = RuleFile::new(format!("{root}/{REVISIONS}"), text);
    let rows = revisions::read(&list)?;
    let row = rows.iter().find(|row| row.id() == id);

    let new_list = match row {
        Some(row) => {
            keeps_its_facts(row, options)?;
            revisions::with_sha256(&list, row, &upstream.sha256)
        }
        None => added(&list, &rows, options, &upstream.sha256)?,
    };
    revisions::read(&RuleFile::new(list.path.as_str(), new_list.as_str()))?;

    let schema = canonical::to_text(&upstream.canonical);
    let name = schema_name(id);
    let schema_changed = files.get(&name) != Some(&schema);
    if schema_changed {
        write_file(&dir.join(&name), schema.as_bytes())?;
    }
    if files.get(REVISIONS) != Some(&new_list) {
        write_file(&dir.join(REVISIONS), new_list.as_bytes())?;
    }

    let errata_file = errata_file(&root, &files, id);
    let read = errata::read(&errata_file);
    let errata = read.as_ref().map_or(0, Vec::len);
    let stale = read
        .and_then(|errata| errata::apply(&upstream.canonical, &errata, &errata_file))
        .err();
    Ok(Imported {
        revision: id.to_owned(),
        added: row.is_none(),
        schema_changed,
        definitions: upstream.definitions(),
        sha256: upstream.sha256,
        errata,
        stale,
    })
}

/// An upstream file, read, digested and brought into canonical form.
pub(super) struct Upstream {
    pub(super) canonical: serde_json::Value,
    pub(super) sha256: String,
}

/// SHA-256 in lower-case hex.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl Upstream {
    pub(super) fn read(file: &Path) -> Result<Self, Error> {
        let bytes = fs::read(file).map_err(|cause| Error::io("read", file, cause))?;
        let sha256 = sha256(&bytes);
        let text = String::from_utf8(bytes).map_err(|error| {
            Error::io(
                "read",
                file,
                std::io::Error::new(std::io::ErrorKind::InvalidData, error),
            )
        })?;
        let name = file.display().to_string();
        let canonical = canonical::canonicalize(&json::parse(&name, &text)?, &name)?;
        Ok(Self { canonical, sha256 })
    }

    fn definitions(&self) -> usize {
        self.canonical
            .get("$defs")
            .and_then(|defs| defs.as_object())
            .map_or(0, serde_json::Map::len)
    }
}

fn added(
    list: &RuleFile,
    rows: &[Row],
    options: &ImportOptions,
    sha256: &str,
) -> Result<String, Error> {
    let id = options.revision.as_str();
    let known = match rows {
        [] => "none".to_owned(),
        rows => rows.iter().map(Row::id).collect::<Vec<_>>().join(", "),
    };
    let (Some(era), Some(status)) = (options.era, options.status) else {
        return Err(usage(
            format!("revision `{id}` is new: its era and its status have to be given"),
            &format!(
                "--era handshake|per-request --status released|candidate|draft; known revisions: {known}"
            ),
        ));
    };
    let source = options
        .source
        .clone()
        .unwrap_or_else(|| format!("schema/{id}/schema.json"));
    let reference = options.reference.clone().unwrap_or_else(|| {
        format!("https://modelcontextprotocol.io/specification/{id}/schema#{{anchor}}")
    });
    let new = NewRow {
        id,
        wire: options.wire.as_deref().unwrap_or(id),
        era,
        status,
        source: &source,
        sha256,
        reference: &reference,
    };
    revisions::with_row(list, rows, &new, options.after.as_deref())
}

fn keeps_its_facts(row: &Row, options: &ImportOptions) -> Result<(), Error> {
    let ImportOptions {
        revision: _,
        wire,
        era,
        status,
        after,
        source,
        reference,
    } = options;
    let differs = |asked: &Option<String>, stands: Option<&str>| {
        asked.is_some() && asked.as_deref() != stands
    };
    let differing = [
        ("--wire", differs(wire, Some(row.wire()))),
        ("--era", era.is_some_and(|era| era != *row.era.get_ref())),
        (
            "--status",
            status.is_some_and(|status| status != *row.status.get_ref()),
        ),
        ("--after", after.is_some()),
        ("--source", differs(source, revisions::text(&row.source))),
        (
            "--reference",
            differs(reference, revisions::text(&row.reference)),
        ),
    ];
    match differing.iter().find(|(_, differs)| *differs) {
        Some((option, _)) => Err(usage(
            format!(
                "revision `{}` is listed already, and {option} says something else of it",
                row.id()
            ),
            "leave the option out, or change the entry in revisions.toml by hand",
        )),
        None => Ok(()),
    }
}

fn usage(problem: String, help: &str) -> Error {
    Error::Usage {
        problem: problem.into(),
        help: help.into(),
    }
}
