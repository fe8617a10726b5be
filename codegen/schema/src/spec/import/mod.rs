//! Import: an upstream schema.json becomes the schema of a revision, in canonical form, with its digest on record.

mod conversions;
mod extension;
mod source;
mod upstream;

use std::collections::BTreeMap;
use std::path::Path;

use super::carried::{self, Carried};
use super::carry::{self, Left, Named};
use super::directory::Directory;
use super::facts::{Fact, rename_pair};
use super::revisions::{self, Lifecycle, NewRow, Row, Status};
use super::rules::RuleFile;
use super::{Files, REVISIONS, canonical, errata, errata_file, remove, schema_name};
use crate::Error;

pub(super) use extension::into as into_extension;
pub use extension::{ExtensionOptions, ImportedExtension};
use source::source;
pub use upstream::{Upstream, sha256};

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
    pub lifecycle: Option<Lifecycle>,
    /// Needed for a new id.
    pub status: Option<Status>,
    /// The revision whose facts a new one takes over; by default the one that it follows, or the draft if that has the same schema.
    pub from: Option<String>,
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
    /// The revision that facts were taken over from.
    pub from: Option<String>,
    /// The facts that were taken over, to be confirmed.
    pub carried: Vec<Fact>,
    /// Facts that do not hold for this schema, and that it was left without.
    pub left: Vec<Left>,
    /// Files of rules between two revisions that are no neighbours any more.
    pub displaced: Vec<String>,
    /// Errata that no longer apply: the import stands, and they have to be looked at.
    pub stale: Option<Error>,
}

/// Write the schema in `file` below the spec directory `dir`, record it in revisions.toml, and carry over what still holds.
///
/// # Errors
/// When the file is no schema, or the options do not fit. Nothing has been written then.
pub fn import(dir: &Path, file: &Path, options: &ImportOptions) -> Result<Imported, Error> {
    let upstream = Upstream::read(file)?;
    let mut directory = Directory::read(dir)?;
    let imported = directory.import(&upstream, options)?;
    directory.write(dir)?;
    Ok(imported)
}

/// The same in memory.
pub(super) fn into(
    root: &str,
    files: &mut Files,
    upstream: &Upstream,
    options: &ImportOptions,
) -> Result<Imported, Error> {
    let id = options.revision.as_str();
    if !revisions::is_id(id) {
        return Err(usage(
            format!("`{id}` cannot name a revision"),
            revisions::ID_HELP,
        ));
    }
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
    let new_rows = revisions::read(&RuleFile::new(list.path.as_str(), new_list.as_str()))?;
    let schema = canonical::to_text(&upstream.canonical);
    let name = schema_name(id);
    let schema_changed = files.get(&name) != Some(&schema);
    let from = source(files, &new_rows, row.is_none(), &schema, options)?;
    files.insert(REVISIONS.to_owned(), new_list);
    files.insert(name, schema);

    let mut import = Import {
        root,
        files,
        id,
        rows: &new_rows,
        upstream,
        carried: Vec::new(),
        left: Vec::new(),
        displaced: BTreeMap::new(),
    };
    match (row, &from) {
        (None, from) => import.anew(from.as_deref())?,
        (Some(row), from) => import.again(row, from.as_deref(), schema_changed)?,
    }
    let Import {
        carried,
        left,
        displaced,
        ..
    } = import;

    let errata_file = errata_file(root, files, id);
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
        sha256: upstream.sha256.clone(),
        errata,
        from,
        carried,
        left,
        displaced: displaced.into_keys().collect(),
        stale,
    })
}

/// An import on its way: the schema and the row are in place.
struct Import<'i> {
    root: &'i str,
    files: &'i mut Files,
    id: &'i str,
    rows: &'i [Row],
    upstream: &'i Upstream,
    carried: Vec<Fact>,
    left: Vec<Left>,
    displaced: BTreeMap<String, String>,
}

impl Import<'_> {
    /// The first import of a revision.
    fn anew(&mut self, from: Option<&str>) -> Result<(), Error> {
        self.displace(from);
        let Some(from) = from else {
            return Ok(());
        };
        self.carry(from)?;
        self.record(from, None)
    }

    /// Another schema for a revision that is listed. `from`: it had been the same as that one, and differs now.
    fn again(&mut self, row: &Row, from: Option<&str>, changed: bool) -> Result<(), Error> {
        if *row.status.get_ref() == Status::Released || !changed {
            return Ok(());
        }
        let schema = &self.upstream.canonical;
        self.left = carry::errata_that_fit(self.root, self.files, self.id, schema)?;
        let gone = carry::complained(self.root, self.files, self.id, |_| true)?;
        self.left.extend(gone);
        if let Some(from) = from {
            let tried = carry::rows(self.root, self.files, from, self.id, &ids(self.rows))?;
            self.carried = tried.carried;
            // What was taken back a moment ago is refused again.
            let known: Vec<Fact> = self.left.iter().map(|left| left.fact.clone()).collect();
            let new = |left: &Left| !known.contains(&left.fact);
            self.left.extend(tried.left.into_iter().filter(new));
        }
        self.left
            .extend(conversions::without_need(self.root, self.files)?);
        let gone = conversions::without_use(self.root, self.files, self.id)?;
        self.left.extend(gone);
        let before = remove::record(self.root, self.files, self.id)?;
        let from = from
            .map(str::to_owned)
            .or_else(|| Some(before.as_ref()?.from.clone()));
        let gone: Vec<Fact> = self.left.iter().map(|left| left.fact.clone()).collect();
        let open = before.into_iter().flat_map(|before| before.facts);
        let mut all: Vec<Fact> = open.filter(|fact| !gone.contains(fact)).collect();
        all.append(&mut self.carried.clone());
        let record = Carried {
            from: from.unwrap_or_default(),
            facts: all,
            replaced: Some(row.sha256().to_owned()).filter(|digest| !digest.is_empty()),
            displaced: BTreeMap::new(),
        };
        self.write(&record);
        Ok(())
    }

    /// Rules between neighbours that are none any more: those of a draft that is released become those of the release.
    fn displace(&mut self, from: Option<&str>) {
        let at = |id: &str| self.rows.iter().position(|row| row.id() == id);
        let me = at(self.id);
        let candidate = me
            .and_then(|me| self.rows.get(me))
            .is_some_and(|row| *row.status.get_ref() == Status::Candidate);
        if candidate {
            return;
        }
        let between = |name: &&String| {
            remove::pair(name).is_some_and(|(old, new)| at(old) < me && me < at(new))
        };
        let names: Vec<String> = self.files.keys().filter(between).cloned().collect();
        for name in names {
            let Some(text) = self.files.remove(&name) else {
                continue;
            };
            if let Some((old, new)) = remove::pair(&name)
                && from == Some(new)
            {
                let pair = format!("{old}..{}", self.id);
                rename_pair(self.files, (old, new), (old, self.id));
                let renamed = remove::of_pair(&text, old, new, self.id);
                self.carried.push(Fact(format!("shims/{pair}")));
                self.files.insert(format!("shims/{pair}.toml"), renamed);
            }
            self.displaced.insert(name, text);
        }
    }

    fn carry(&mut self, from: &str) -> Result<(), Error> {
        // A draft that is the same gives its own lines away, and takes them over again on the day that it differs.
        if carry::twin_draft(self.files, self.rows, self.id) == Some(from) {
            let moved = carry::hand_on(self.root, self.files, from, self.id)?;
            self.carried.extend(moved);
        }
        let row = |id: &str| self.rows.iter().find(|row| row.id() == id);
        if let (Some(source), Some(target)) = (row(from), row(self.id)) {
            let (source, target): (Named<'_>, Named<'_>) =
                (carry::named(source), carry::named(target));
            let schema = &self.upstream.canonical;
            let tried = carry::errata(self.root, self.files, source, target, schema)?;
            self.carried.extend(tried.carried);
            self.left.extend(tried.left);
        }
        let tried = carry::rows(self.root, self.files, from, self.id, &ids(self.rows))?;
        self.carried.extend(tried.carried);
        self.left.extend(tried.left);
        Ok(())
    }

    fn record(&mut self, from: &str, replaced: Option<String>) -> Result<(), Error> {
        let record = Carried {
            from: from.to_owned(),
            facts: self.carried.clone(),
            replaced,
            displaced: self.displaced.clone(),
        };
        self.write(&record);
        Ok(())
    }

    fn write(&mut self, record: &Carried) {
        let name = carried::file_name(self.id);
        match record.text(self.id) {
            Some(text) => self.files.insert(name, text),
            None => self.files.remove(&name),
        };
    }
}

fn ids(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(Row::id).collect()
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
    let (Some(lifecycle), Some(status)) = (options.lifecycle, options.status) else {
        return Err(usage(
            format!("revision `{id}` is new: its lifecycle and its status have to be given"),
            &format!(
                "--lifecycle handshake|per-request --status released|candidate|draft; known revisions: {known}"
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
        lifecycle,
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
        lifecycle,
        status,
        from: _,
        after,
        source,
        reference,
    } = options;
    let differs = |asked: &Option<String>, stands: Option<&str>| {
        asked.is_some() && asked.as_deref() != stands
    };
    let differing = [
        ("--wire", differs(wire, Some(row.wire()))),
        (
            "--lifecycle",
            lifecycle.is_some_and(|lifecycle| lifecycle != *row.lifecycle.get_ref()),
        ),
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
