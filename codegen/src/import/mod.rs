//! Import: an upstream schema.json becomes the schema of a revision, in canonical form, with its digest on record.

mod conversions;
mod diagnostics;
mod directory;
mod extension;
mod facts;
mod gaps;
mod list;
mod prune;
mod scaffold;
mod sheet;
mod source;
mod upstream;
mod verify;

use diagnostics::{diagnostics, passed_over};
pub use directory::SpecDirectory;
pub use facts::{Fact, Left};
use facts::{FactChange, RangedRow};
pub use gaps::SpecGaps;
use mcp_revisions_schema::spec::extensions::{FACTS, FOLDER};
use mcp_revisions_schema::spec::range::Order;
use mcp_revisions_schema::spec::revisions::{self, Lifecycle, RevisionRow, RevisionStage};
use mcp_revisions_schema::spec::rules::RuleFile;
use mcp_revisions_schema::spec::{ERRATA, REVISIONS, canonical, errata, schema_name};
use mcp_revisions_schema::{Error, SpecDiagnostic};
use serde_json::Value;
pub use verify::{Verified, verify};

pub use extension::{ExtensionOptions, ImportedExtension};
use source::{handed_on, source};
pub use upstream::UpstreamFile;

/// The beginning of a revisions.toml that is new.
const HEADER: &str = "\
# The revisions of the protocol, oldest first, drafts last. Every other list in the tree is derived from this one.
# Written by `cargo xtask spec import`; comments stay.
";

/// The file to import, and its revision.
///
/// A revision that is listed already keeps its facts: an option that says otherwise is refused. A draft moves, and takes
/// another version string, lifecycle, source and reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// The id.
    pub revision: String,
    /// The version string on the wire; by default the id.
    pub wire: Option<String>,
    /// Needed for a new id.
    pub lifecycle: Option<Lifecycle>,
    /// Needed for a new id.
    pub status: Option<RevisionStage>,
    /// The revision after a new one whose own facts begin with the new one from then on; by default the draft, if that has
    /// the same schema.
    pub from: Option<String>,
    /// The revision that a new one follows; by default the last one that is not a draft, for a draft the last one.
    pub after: Option<String>,
    /// The path of the file in the specification's repository; by default `schema/<id>/schema.json`.
    pub source: Option<String>,
    /// URL of the reference page, with `{anchor}` for a definition's name in lower case; by default the schema page of the id.
    pub reference: Option<String>,
}

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// The revision.
    pub revision: String,
    /// It was not listed before.
    pub added: bool,
    /// Its wire facts are others than before, or were not there.
    pub schema_changed: bool,
    /// Number of definitions of the schema.
    pub definitions: usize,
    /// SHA-256 of the upstream file.
    pub sha256: String,
    /// SHA-256 of this file, where the published one is on record with another and has the same schema.
    pub respelled: Option<String>,
    /// Number of errata.
    pub errata: usize,
    /// The extensions whose feature its core has again, by their folders: `[later-core]` of each says so now.
    pub taken_back: Vec<String>,
    /// The revision after it whose own facts begin with it now.
    pub from: Option<String>,
    /// The facts that hold for it by a range, to be confirmed.
    pub held: Vec<Fact>,
    /// The facts that do not hold for this schema, and so end before it, or go, or are passed over in a draft.
    pub left: Vec<Left>,
    /// The facts that ended with the revision before already.
    pub ended: Vec<Fact>,
    /// Files of rules between two revisions that are not adjacent any more.
    pub displaced: Vec<String>,
    /// Errata that no longer apply: the import stands, and they have to be looked at.
    pub stale: Option<Error>,
}

impl SpecDirectory {
    /// Takes an upstream schema as that of a revision, records it in revisions.toml, and ends before it what does not hold for
    /// it. Fails for options that do not fit. Nothing has changed then.
    pub fn import(
        &mut self,
        upstream: &UpstreamFile,
        options: &ImportOptions,
    ) -> Result<Imported, Error> {
        let mut next = self.clone();
        let directory = &mut next;
        let id = options.revision.as_str();
        if !revisions::is_id(id) {
            let problem = format!("`{id}` cannot name a revision");
            return Err(Error::usage(problem, revisions::ID_HELP));
        }
        let list = directory.files.entry(REVISIONS.to_owned());
        list.or_insert_with(|| HEADER.to_owned());
        let list = directory.list()?;
        let rows = revisions::read(&list)?;
        let row = rows.iter().find(|row| row.id() == id);
        let schema = canonical::to_text(&upstream.canonical);
        let name = schema_name(id);
        let schema_changed = directory.files.get(&name) != Some(&schema);
        // The digest of a release is that of the published file, and not of another spelling of it.
        let on_record = row.filter(|row| !row.is_draft() && !schema_changed);
        let recorded = on_record
            .map(|row| row.sha256())
            .filter(|digest| !digest.is_empty());
        let digest = recorded.unwrap_or(&upstream.sha256).to_owned();
        let new_list = match row {
            Some(row) => {
                keeps_its_facts(row, options)?;
                let lifecycle = options.lifecycle.map(|of| of.as_str().to_owned());
                let facts = [
                    ("wire", &options.wire),
                    ("lifecycle", &lifecycle),
                    ("source", &options.source),
                    ("reference", &options.reference),
                    ("sha256", &Some(digest.clone())),
                ];
                let moves = |(key, _): &(&str, &Option<String>)| row.is_draft() || *key == "sha256";
                list::with_facts(&list, row, facts.into_iter().filter(moves))?
            }
            None => added(&list, &rows, options, &upstream.sha256)?,
        };
        directory.files.insert(REVISIONS.to_owned(), new_list);
        let new_rows = revisions::read(&directory.list()?)?;
        let from = source(directory, &new_rows, row.is_none(), &schema, options)?;
        directory.files.insert(name, schema);

        // A draft may be an earlier release by this schema, or no more.
        let (order, _) = directory.order()?;
        let status = list::row(&new_rows, id)?.status;
        let mut import = RevisionImport {
            directory,
            id,
            status,
            order,
            left: Vec::new(),
        };
        let mut held = Vec::new();
        let (mut ended, mut displaced) = (Vec::new(), Vec::new());
        let mut taken_back = Vec::new();
        if row.is_none() {
            import.begin(from.as_deref())?;
            taken_back = import.taken_back(&upstream.canonical)?;
            displaced = import.displaced();
            ended = import.ended()?;
            import.settle()?;
            held = import.ask()?;
        } else if schema_changed {
            import.settle()?;
            import.without_use()?;
        }
        let RevisionImport { order, left, .. } = import;

        let read = directory.errata(&order);
        let mine = |all: &Vec<errata::Erratum>| all.iter().filter(|one| one.holds(id)).count();
        let errata = read.as_ref().map_or(0, mine);
        let file = directory.file(ERRATA);
        let stale = read
            .and_then(|errata| errata::apply(&upstream.canonical, &errata, &file, id, status))
            .err();
        *self = next;
        Ok(Imported {
            revision: id.to_owned(),
            added: row.is_none(),
            schema_changed,
            definitions: canonical::definitions(&upstream.canonical).count(),
            respelled: (digest != upstream.sha256).then(|| upstream.sha256.clone()),
            sha256: digest,
            errata,
            from,
            taken_back,
            held,
            left,
            ended,
            displaced,
            stale,
        })
    }
}

/// An import on its way: the schema and the row are in place.
struct RevisionImport<'i> {
    directory: &'i mut SpecDirectory,
    id: &'i str,
    status: RevisionStage,
    order: Order,
    left: Vec<Left>,
}

impl RevisionImport<'_> {
    /// Lets the facts that began with the revision after it begin with it.
    fn begin(&mut self, from: Option<&str>) -> Result<(), Error> {
        let Some(from) = from else {
            return Ok(());
        };
        handed_on(self.directory, from, self.id)?;
        let begins = self
            .directory
            .ranged()?
            .into_iter()
            .filter(|held| held.since == from)
            .map(|held| (held, FactChange::Begins(self.id.to_owned())));
        self.directory.change(begins.collect())
    }

    /// Writes into the facts of each extension whose methods it has all in its core that it is the later core, unless they name
    /// one; returns their folders.
    fn taken_back(&mut self, schema: &Value) -> Result<Vec<String>, Error> {
        let has = |method: &str| {
            canonical::definitions(schema)
                .any(|(_, of)| of["properties"]["method"]["const"] == method)
        };
        let is_later = |id: &str| self.order.at(id) < self.order.at(self.id);
        let mut taken = Vec::new();
        let prefix = format!("{FOLDER}/");
        let folders = self.directory.files.keys().filter_map(|file| {
            let folder = file
                .strip_prefix(&prefix)?
                .strip_suffix(&format!("/{FACTS}"))?;
            Some((file.clone(), folder.to_owned()))
        });
        for (file, folder) in folders.collect::<Vec<_>>() {
            let entries = self.directory.entries(&file)?;
            let of = |table: &str, key: &str| -> Vec<&str> {
                let rows = entries.iter().filter(|entry| entry.table == [table]);
                rows.filter_map(|entry| entry.text_of(key)).collect()
            };
            let methods = of("method", "name");
            let is_named = entries.iter().any(|entry| entry.table == ["later-core"]);
            let rests_below = of("state", "revision").into_iter().all(is_later);
            if is_named || !rests_below || methods.is_empty() || !methods.into_iter().all(has) {
                continue;
            }
            let id = sheet::quoted(self.id);
            let text = self.directory.text(&file);
            let text = format!(
                "{text}\n# The core that has the feature again.\n[later-core]\nrevision = {id}\n"
            );
            self.directory.files.insert(file, text);
            taken.push(folder);
        }
        Ok(taken)
    }

    /// Returns the rules between two revisions that it stands between, which are looked at no more.
    fn displaced(&self) -> Vec<String> {
        if self.status == RevisionStage::Candidate {
            return Vec::new();
        }
        let at = |id: &str| self.order.at(id);
        let me = at(self.id);
        let between = |name: &&String| {
            conversions::pair(name).is_some_and(|(old, new)| at(old) < me && me < at(new))
        };
        (self.directory.files.keys().filter(between).cloned()).collect()
    }

    /// Returns the facts that ended with the revision before: whether they hold again is not known.
    fn ended(&self) -> Result<Vec<Fact>, Error> {
        let before = self.order.before(self.id);
        let mut ended = self.directory.ranged()?;
        ended.retain(|held| before.is_some() && held.until.as_deref() == before);
        Ok(ended.into_iter().map(|held| held.fact).collect())
    }

    /// Ends before it what its schema says does not hold, as far as nothing but drafts follows.
    ///
    /// Settles the facts that began with it: they begin with the revision after it, if that has them, and else go.
    fn settle(&mut self) -> Result<(), Error> {
        loop {
            let mut of_it = diagnostics(self.directory);
            of_it.retain(|one| one.revision.as_deref() == Some(self.id));
            let mut changes = Vec::new();
            for (held, why) in self.spoken_of(&of_it)? {
                if let Some(change) = held.without(&self.order, self.id) {
                    let fact = held.fact.clone();
                    self.left.push(Left { fact, why });
                    changes.push((held, change));
                }
            }
            if changes.is_empty() {
                break;
            }
            self.directory.change(changes)?;
        }
        if self.status == RevisionStage::Draft {
            for one in passed_over(self.directory, self.id) {
                let spoken_of = self.spoken_of(&[one])?.into_iter();
                let left = spoken_of.map(|(RangedRow { fact, .. }, why)| Left { fact, why });
                self.left.extend(left);
            }
            self.left.sort_by(|a, b| a.fact.cmp(&b.fact));
        }
        Ok(())
    }

    /// Returns the facts that diagnostics are about, each with the first of them.
    fn spoken_of(&self, diagnostics: &[SpecDiagnostic]) -> Result<Vec<(RangedRow, String)>, Error> {
        let mut found = Vec::new();
        if diagnostics.is_empty() {
            return Ok(found);
        }
        for held in self.directory.held(&self.order, self.id)? {
            let mut meant = diagnostics.iter();
            if let Some(diagnostic) = meant.find(|one| held.is_meant(self.directory, one)) {
                found.push((held, diagnostic.problem.to_string()));
            }
        }
        Ok(found)
    }

    /// Takes out what only the schema before had use for.
    fn without_use(&mut self) -> Result<(), Error> {
        (self.left).extend(prune::prune(self.directory, prune::needless)?);
        (self.left).extend(conversions::without_use(self.directory, self.id)?);
        Ok(())
    }

    /// Returns the facts that hold for it; its row says that none is confirmed. A draft needs no confirmation.
    fn ask(&mut self) -> Result<Vec<Fact>, Error> {
        let facts = self.directory.facts(self.id)?;
        if !facts.is_empty() && self.status != RevisionStage::Draft {
            list::confirm(self.directory, self.id, Some(&[]))?;
        }
        Ok(facts)
    }
}

fn added(
    list: &RuleFile,
    rows: &[RevisionRow],
    options: &ImportOptions,
    sha256: &str,
) -> Result<String, Error> {
    let id = options.revision.as_str();
    let known = match rows {
        [] => "none".to_owned(),
        rows => rows
            .iter()
            .map(RevisionRow::id)
            .collect::<Vec<_>>()
            .join(", "),
    };
    let (Some(lifecycle), Some(status)) = (options.lifecycle, options.status) else {
        let problem =
            format!("revision `{id}` is new: its lifecycle and its status have to be given");
        let help = format!(
            "--lifecycle handshake|per-request --status released|candidate|draft; known revisions: {known}"
        );
        return Err(Error::usage(problem, help));
    };
    let source = format!("schema/{id}/schema.json");
    let reference = format!("https://modelcontextprotocol.io/specification/{id}/schema#{{anchor}}");
    let members = [
        ("id", id),
        ("wire", options.wire.as_deref().unwrap_or(id)),
        ("lifecycle", lifecycle.as_str()),
        ("status", status.as_str()),
        ("source", options.source.as_deref().unwrap_or(&source)),
        ("sha256", sha256),
        (
            "reference",
            options.reference.as_deref().unwrap_or(&reference),
        ),
    ];
    list::with_row(list, rows, &members, status, options.after.as_deref())
}

fn keeps_its_facts(row: &RevisionRow, options: &ImportOptions) -> Result<(), Error> {
    let lifecycle = options.lifecycle.is_some_and(|it| it != row.lifecycle);
    let status = options.status.is_some_and(|it| it != row.status);
    let (source, reference) = (row.source.as_deref(), row.reference.as_deref());
    let is_firm = !row.is_draft();
    let differing = [
        (
            "--wire",
            is_firm && differs(&options.wire, Some(row.wire())),
        ),
        ("--lifecycle", is_firm && lifecycle),
        ("--status", status),
        ("--after", options.after.is_some()),
        ("--source", is_firm && differs(&options.source, source)),
        (
            "--reference",
            is_firm && differs(&options.reference, reference),
        ),
    ];
    let what = format!("revision `{}` is listed", row.id());
    let help = "leave the option out, or change the entry in revisions.toml by hand";
    keeps(&what, &differing, help)
}

/// Refuses an option that says something else of what is there already.
fn keeps(what: &str, options: &[(&str, bool)], help: &str) -> Result<(), Error> {
    let Some((option, _)) = options.iter().find(|(_, differs)| *differs) else {
        return Ok(());
    };
    let problem = format!("{what} already, and {option} says something else of it");
    Err(Error::usage(problem, help))
}

fn differs(asked: &Option<String>, stands: Option<&str>) -> bool {
    asked.is_some() && asked.as_deref() != stands
}
