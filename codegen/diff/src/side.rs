//! One side of a comparison: a revision of the spec, a state of an extension, or a schema.json in upstream form.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::extension::{ExtractedFeature, MovedMethods, cores, features, with_lists};
use super::graph::Graph;
use super::lines::SourceLines;
use super::lock::{self, LockFacts, LockText};
use super::messages::{self, Message};
use super::remarks;
use super::variants::share;
use crate::words::joined;
use mcp_revisions_schema::Error;
use mcp_revisions_schema::schema::Schema;
use mcp_revisions_schema::spec::errors::ErrorRules;
use mcp_revisions_schema::spec::extensions::{self, extension_of};
use mcp_revisions_schema::spec::methods::{MethodRules, messages as methods_of};
use mcp_revisions_schema::spec::{
    Erratum, ExtensionSpec, Revision, Spec, canonical, errata, json, sha256,
};

/// A state of the protocol, ready to be compared.
#[derive(Debug, Default)]
pub struct ComparedSide {
    /// The revision's id, or the file as it was named.
    pub label: String,
    /// The revision whose facts outside the schema hold here, if any does.
    pub revision: Option<String>,
    /// The canonical schema that is compared.
    pub schema: Value,
    /// The errata that were applied to it.
    pub errata: Vec<Erratum>,
    /// URL of the reference page of a definition, `{anchor}` stands for its name in lower case; empty of a file.
    pub(crate) reference: String,
    /// Notes on this side, for the reader.
    pub notes: Vec<String>,
    /// Messages of the side that cannot be compared, and why.
    pub(crate) unlisted: Vec<String>,
    pub(crate) graph: Graph,
    pub(crate) messages: Vec<Message>,
    /// The lines of the file's parts.
    pub(crate) lines: Option<SourceLines>,
    /// The area of each method.
    pub(crate) areas: SortedMap<String, String>,
    /// Facts of the protocol outside its schema; none of a file.
    pub(crate) facts: Option<ErrorRules>,
    /// The methods that left the core for extensions.
    pub(crate) cores: Vec<MovedMethods>,
    /// The methods that extensions add to the side, or to a revision before it.
    pub(crate) features: Vec<MovedMethods>,
    /// What servers offer, if the side is a lock.
    pub(crate) lock: Option<LockFacts>,
    /// The methods of an extension, if the side is one.
    pub(crate) feature: Option<ExtractedFeature>,
}

impl ComparedSide {
    /// Returns the name of the definition that a node is; empty for an inline schema.
    pub(crate) fn name_of(&self, id: usize) -> String {
        self.graph.name(id).unwrap_or_default().to_owned()
    }
}

/// Reads a file as `git show` prints it: `main:schema/draft/schema.json`, with the path from the root of the repository.
fn committed(place: &str) -> Result<String, Error> {
    let at = Path::new(place);
    let output = Command::new("git")
        .args(["show", "--end-of-options", place])
        .output()
        .map_err(|cause| Error::io("run git to read", at, cause))?;
    let failed = |why: String| {
        let cause = std::io::Error::new(std::io::ErrorKind::InvalidData, why);
        Error::io("read from git", at, cause)
    };
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        let mut why = printed.trim().to_owned();
        if why.contains("invalid object name") || why.contains("bad revision") {
            why.push_str("; a shallow clone lacks it: `git fetch --unshallow`, or `fetch-depth: 0` of actions/checkout");
        }
        return Err(failed(why));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(error.to_string()))
}

/// Reads a committed file by `git:REF:PATH`, or a file by its path.
fn text_of(name: &str) -> Result<String, Error> {
    if let Some(place) = name.strip_prefix("git:") {
        return committed(place);
    }
    let path = Path::new(name);
    fs::read_to_string(path).map_err(|cause| Error::io("read", path, cause))
}

/// The spec and its rules, read once for any number of sides.
#[derive(Debug)]
pub struct SideSources<'s> {
    /// The spec.
    pub spec: &'s Spec,
    methods: MethodRules,
    errors: ErrorRules,
    /// Locks of servers as they are now, by the names that the user gave them.
    locks: SortedMap<String, String>,
}

impl<'s> SideSources<'s> {
    /// Reads the rules that comparisons need. Returns an error for each mistake in `methods.toml` and `errors.toml`.
    pub fn read(spec: &'s Spec) -> Result<Self, Error> {
        Ok(Self {
            methods: MethodRules::read(spec)?,
            errors: ErrorRules::read(spec)?,
            locks: SortedMap::new(),
            spec,
        })
    }

    /// Adds the text of a lock that is in no file, under a name for it.
    pub fn with_lock(mut self, name: &str, text: String) -> Self {
        self.locks.insert(name.to_owned(), text);
        self
    }

    /// Returns the lock of this name; `None` if it is the name of something else.
    fn lock(&self, name: &str) -> Option<LockText> {
        let name = name.to_owned();
        if let Some(text) = self.locks.get(&name) {
            let (text, is_file) = (text.clone(), false);
            return Some(LockText {
                name,
                text,
                is_file,
            });
        }
        let is_known = self.spec.revision(&name).is_ok()
            || self.spec.extensions.iter().any(|one| one.is_called(&name));
        let text = (!is_known).then(|| text_of(&name).ok())??;
        lock::is_lock(&text).then_some(LockText {
            name,
            text,
            is_file: true,
        })
    }

    /// Returns the methods of all revisions, by name.
    pub fn methods(&self) -> SortedSet<String> {
        let revisions = self.spec.revisions.iter();
        revisions
            .flat_map(mcp_revisions_schema::spec::methods::methods)
            .collect()
    }

    /// Reads a revision by its id, an extension by its name or the id of a state, a committed file by `git:REF:PATH`, or a file
    /// by its path. Fails for a name that is none of them, a file that cannot be read, and the errors of the schema.
    pub fn open(&self, name: &str, raw: bool) -> Result<ComparedSide, Error> {
        if name.starts_with("git:") {
            return self.of_text(name, &text_of(name)?, raw);
        }
        if let Ok(revision) = self.spec.revision(name) {
            return self.of_revision(revision, raw);
        }
        let path = Path::new(name);
        let means_a_file = name.contains(['/', '\\']) || name.ends_with(".json");
        if !means_a_file && !path.exists() {
            let extensions = &self.spec.extensions;
            if let Some(extension) = extensions.iter().find(|one| one.is_called(name)) {
                return self.of_state(name, extension, raw);
            }
            let ids = self.spec.revisions.iter().map(|revision| &*revision.id);
            let names = extensions.iter().map(|one| &*one.name);
            let known = ids.chain(names).chain(["or the path of a schema.json"]);
            return Err(Error::unknown_revision(name, known));
        }
        self.of_text(name, &text_of(name)?, raw)
    }

    /// Opens a revision as a side; `raw` leaves out its errata. Returns every fact of the revision that contradicts its schema.
    pub fn of_revision(&self, revision: &Revision, raw: bool) -> Result<ComparedSide, Error> {
        let file = format!("spec/{}/schema.json", revision.id);
        let (schema, errata) = if raw {
            (revision.raw.clone(), Vec::new())
        } else {
            (revision.schema.clone(), revision.errata.clone())
        };
        let mut side = self.side(&revision.id, &file, schema, &revision.id)?;
        side.facts = Some(self.errors.of(revision));
        side.revision = Some(revision.id.clone());
        side.reference = revision.reference.clone();
        side.errata = errata;
        Ok(side)
    }

    /// Opens an extension as a side, by the rules of the revision that it rests on; `raw` leaves out its errata.
    fn of_state(
        &self,
        label: &str,
        extension: &ExtensionSpec,
        raw: bool,
    ) -> Result<ComparedSide, Error> {
        let file = format!("spec/{}", extension.schema_file());
        let (schema, errata) = if raw {
            (extensions::without_dangling(&extension.raw), Vec::new())
        } else {
            (extension.schema.clone(), extension.errata.clone())
        };
        let mut side = self.side(label, &file, schema, &extension.revision)?;
        side.errata = errata;
        side.reference = extension.reference.clone();
        side.feature = Some(ExtractedFeature::of(extension, self.spec));
        Ok(side)
    }

    /// Opens a schema in upstream form as a side.
    ///
    /// A file that some revision was imported from is that revision. Any other takes over the errata of the revision that is
    /// nearest to it, as far as they still apply. Fails for text that is not a schema of MCP.
    pub fn of_text(&self, name: &str, text: &str, raw: bool) -> Result<ComparedSide, Error> {
        self.of_text_with(name, text, |_| !raw)
    }

    /// Opens two sides by their names, as [`SideSources::open`] does; of two files, an erratum mends both or none. A file that
    /// a revision was imported from is that revision, with all of its errata. Fails with those of [`SideSources::open`].
    pub fn open_both(&self, names: [&str; 2], raw: bool) -> Result<[ComparedSide; 2], Error> {
        let [old, new] = names;
        match names.map(|name| self.lock(name)) {
            [Some(old), Some(new)] => return lock::sides([old, new]),
            [None, None] => {}
            [lock, _] => {
                // A name that leads to nothing is told as such.
                self.open(if lock.is_some() { new } else { old }, raw)?;
                return Err(Error::usage(
                    format!("one of {old} and {new} is a lock file, and the other one is not"),
                    "compare two lock files, or two schemas",
                ));
            }
        }
        let sides = [self.open(old, raw)?, self.open(new, raw)?];
        let ids = |side: &ComparedSide| -> SortedSet<String> {
            side.errata
                .iter()
                .map(|erratum| erratum.id.clone())
                .collect()
        };
        let [olds, news] = [ids(&sides[0]), ids(&sides[1])];
        let is_a_file = |side: &ComparedSide| side.revision.is_none() && side.lines.is_some();
        if olds == news || !sides.iter().all(is_a_file) {
            return Ok(sides);
        }
        let fits_both =
            |erratum: &Erratum| olds.contains(&erratum.id) && news.contains(&erratum.id);
        let open = |name: &str| -> Result<ComparedSide, Error> {
            self.of_text_with(name, &text_of(name)?, fits_both)
        };
        Ok([open(old)?, open(new)?])
    }

    fn of_text_with(
        &self,
        name: &str,
        text: &str,
        mends: impl Fn(&Erratum) -> bool,
    ) -> Result<ComparedSide, Error> {
        let upstream = json::parse(name, text)?;
        let mut remarks = remarks::on_versions(name, &upstream, |path| text_of(path).ok());
        let digest = sha256(text.as_bytes());
        let mut revisions = self.spec.revisions.iter();
        if let Some(revision) = revisions.find(|known| known.sha256 == digest) {
            let raw = !revision.errata.iter().all(&mends);
            let mut side = self.of_revision(revision, raw)?;
            side.label = name.to_owned();
            side.lines = Some(SourceLines::of(name, text));
            side.notes.extend(remarks);
            side.notes
                .push(format!("{name} is the upstream file of {}", revision.id));
            return Ok(side);
        }
        remarks.extend(remarks::on_references(name, &upstream));
        let (mut schema, dangling) = canonical::with_dangling(&upstream, name)?;
        let of = extension_of(&schema, self.spec);
        if of.is_none() {
            canonical::refuse_dangling(&dangling, name)?;
        }
        let (nearest, known) = match of {
            Some(of) => (self.spec.revision(&of.revision).ok(), Some(&of.errata)),
            None => {
                let nearest = self.nearest(&schema);
                (nearest, nearest.map(|nearest| &nearest.errata))
            }
        };
        if let (Some(_), Some(base)) = (of, nearest.filter(|base| base.errata.iter().all(&mends))) {
            schema = extensions::on_for(&schema, base, known.into_iter().flatten());
        }
        let mut errata = Vec::new();
        let known: Vec<Erratum> = known
            .into_iter()
            .flatten()
            .filter(|one| mends(one))
            .cloned()
            .collect();
        if !known.is_empty() {
            (schema, errata) = errata::fitting(schema, &known, name);
        }
        if of.is_some() {
            schema = extensions::without_dangling(&schema);
        }
        let nearest_id = nearest.map_or("", |nearest| nearest.id.as_str());
        let mut side = self.side(name, name, schema, nearest_id)?;
        side.lines = Some(SourceLines::of(name, text));
        side.feature = of.map(|of| ExtractedFeature::of(of, self.spec));
        side.notes.extend(remarks);
        side.notes.push(format!(
            "HTTP headers and rules of {name} are not known: error codes are compared as far as the schemas carry them"
        ));
        if !errata.is_empty() {
            let ids = joined(errata.iter().map(|erratum| erratum.id.as_str()), ", ");
            side.notes.push(format!(
                "errata of {nearest_id} that still apply to {name}: {ids}"
            ));
        }
        side.errata = errata;
        Ok(side)
    }

    fn side(
        &self,
        label: &str,
        file: &str,
        schema: Value,
        rules_of: &str,
    ) -> Result<ComparedSide, Error> {
        let (schema, strangers) = with_lists(schema, self.spec);
        let mut unlisted: Vec<String> = (strangers.iter())
            .map(|method| format!("`{method}`: nothing says who sends it in {label}"))
            .collect();
        let mut graph = Graph::of(&Schema::parse(&schema, file)?)?;
        let mut messages = messages::read(&mut graph, &self.methods, rules_of, file)?;
        unlisted.extend(messages::remove_twins(&mut messages, &graph, label));
        let area = |name: &String| (name.clone(), self.methods.area(name).to_owned());
        let of_core = ExtractedFeature::is_of_core(&schema);
        for (method, definition) in methods_of(&schema).filter(|_| of_core) {
            let is_listed = messages.iter().any(|message| message.name == method);
            if !is_listed {
                unlisted.push(format!(
                    "`{method}`: no union of {label} lists `{definition}`, so that nothing says who sends it"
                ));
            }
        }
        Ok(ComparedSide {
            unlisted,
            areas: messages.iter().map(|it| area(&it.name)).collect(),
            label: label.to_owned(),
            schema,
            cores: cores(self.spec),
            features: features(self.spec, rules_of),
            graph,
            messages,
            ..ComparedSide::default()
        })
    }

    /// Returns the revision that shares most definitions with a schema.
    fn nearest(&self, schema: &Value) -> Option<&Revision> {
        let defs = schema.get("$defs")?.as_object()?;
        let names: SortedSet<&str> = defs.keys().map(String::as_str).collect();
        self.spec.revisions.iter().max_by_key(|revision| {
            let own: SortedSet<&str> = revision.definitions().map(|(name, _)| name).collect();
            // The later one wins a tie.
            share(&own, &names)
        })
    }
}
