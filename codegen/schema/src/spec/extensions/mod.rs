//! Extensions: parts of the protocol with a schema of their own, beside the revision that they rest on.
//!
//! Each is a folder of `extensions/`: `extension.toml` with what no schema says, a folder per published state with its
//! canonical schema, and where there is need errata, doc lines, names and the rules of its conversions.

mod base;
mod dangling;
mod rows;
mod sign_in;
mod statements;

use crate::sorted::{SortedMap, SortedSet};

use mcp_wire::{Direction, MethodKind};
use serde::Deserialize;
use serde_json::Value;

use super::canonical::{dangling_references, definition};
use super::errata::{self, Erratum};
use super::methods::messages;
use super::range::Order;
use super::roles::lists;
use super::rules::RuleFile;
use super::{ERRATA, Lifecycle, Revision, RevisionStage, Spec, SpecSources, canonical, revisions};
use crate::pointer::escaped;
use crate::{Error, Markdown};
pub use base::{copied, on_for};
pub use dangling::{Dangling, without_dangling};
pub use mcp_wire::ExtensionStage;
pub use rows::{ExtensionRows, StateRow, stage_named, stated_kind};
pub use sign_in::SignInExtension;

/// The folder of the extensions, below the spec directory.
pub const FOLDER: &str = "extensions";
/// The file of the facts of an extension, in its folder.
pub const FACTS: &str = "extension.toml";

/// A published state of an extension of the protocol.
#[derive(Clone, Debug, Default)]
pub struct ExtensionSpec {
    /// The name: `tasks` for the state that handlers are written in, `tasks@draft` for another one.
    pub name: String,
    /// The name of its folder: `tasks`.
    pub folder: String,
    /// The id of the state, that of its folder below: `2026-07-28`, `draft`.
    pub state: String,
    /// The publication status of the state.
    pub status: Option<RevisionStage>,
    /// The stage of the extension's lifecycle, where its authors name one.
    pub stage: Option<ExtensionStage>,
    /// The day on which it came to that stage, `YYYY-MM-DD`, where that is known.
    pub stage_since: Option<String>,
    /// Set if other states are older.
    pub has_older: bool,
    /// The identifier by which peers declare it: `io.modelcontextprotocol/tasks`.
    pub identifier: String,
    /// The id of the revision that it rests on.
    pub revision: String,
    /// The path of its schema in its repository.
    pub source: String,
    /// SHA-256 of the upstream schema, in lower-case hex; empty where none was recorded.
    pub sha256: String,
    /// The repository and the commit of the page that the schema was written from, `OWNER/NAME@COMMIT`: such a schema is ours.
    /// `None` for one that upstream publishes.
    pub written_from: Option<String>,
    /// URL of its reference page; `{anchor}` stands for the name of a definition in lower case.
    pub reference: String,
    /// The definition of what peers declare under the identifier.
    pub settings: Option<String>,
    /// The only lifecycle whose peers have it; `None` if all have.
    pub lifecycle: Option<Lifecycle>,
    /// The sides between which its messages go.
    pub roles: Roles,
    /// Its messages, with what the schema does not say of them.
    pub methods: Vec<ExtensionMethod>,
    /// Results by which requests of the revision may be answered instead, as pairs of method and definition.
    pub results: Vec<(String, String)>,
    /// The entries of `_meta` in types of the revision.
    pub meta: Vec<MetaEntry>,
    /// The same feature in the core of an earlier revision; only the oldest state has it.
    pub core: Option<Core>,
    /// The same feature in the core of a later revision, which took it back; only the state that handlers are written in has it.
    pub later_core: Option<Core>,
    /// The schema in canonical form, errata applied; a definition that repeats one of the revision is that one, and a
    /// reference to nothing is gone.
    pub schema: Value,
    /// The schema in canonical form, as upstream has it.
    pub raw: Value,
    /// References to nothing, which no erratum mends.
    pub dangling: Vec<Dangling>,
    /// The prose of the schema, by pointer; empty for an extension of the spec, which has doc lines.
    pub prose: SortedMap<String, Markdown>,
    /// The repairs, in the order in which they were applied.
    pub errata: Vec<Erratum>,
}

/// The sides between which the messages of an extension go: the one that takes the part of the client, and of the server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roles {
    /// The side that asks first: `client`, or another one, such as `view`.
    pub client: String,
    /// The side that it asks: `server`, or another one, such as `host`.
    pub server: String,
}

impl Default for Roles {
    fn default() -> Self {
        Self {
            client: "client".to_owned(),
            server: "server".to_owned(),
        }
    }
}

/// A message of an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionMethod {
    /// The `method` string.
    pub name: String,
    /// The side that sends it; `None` while the row does not name one.
    pub sender: Option<Direction>,
    /// The kind of message; `None` if its method says it.
    pub kind: Option<MethodKind>,
    /// The definition of the result, where its name does not say it.
    pub result: Option<String>,
    /// The source file that its types live in, where its method does not say it.
    pub area: Option<String>,
    /// The member of its params that the header `Mcp-Name` repeats.
    pub named_by: Option<String>,
}

impl ExtensionMethod {
    /// Returns the kind of the message.
    pub fn kind(&self) -> MethodKind {
        self.kind
            .unwrap_or_else(|| super::roles::kind_of(&self.name))
    }
}

/// A name in `_meta` of types of the revision, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaEntry {
    /// The definition of the value.
    pub definition: String,
    /// The name.
    pub name: String,
    /// The definitions of the revision whose `_meta` it is.
    pub of: Vec<String>,
}

/// The feature of an extension in the core of another revision: the messages of the two are converted into each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// The id of the last revision whose core has the feature before the extension, or of the first one that has it again.
    pub revision: String,
    /// The methods that it has there.
    pub methods: Vec<String>,
}

impl ExtensionSpec {
    /// Reads the states of an extension, oldest first.
    pub(super) fn load(
        directory: &SpecSources,
        name: &str,
        revisions: &[Revision],
    ) -> Result<Vec<Self>, Error> {
        let folder = directory.path(&format!("{FOLDER}/{name}"));
        let facts = directory.file(&format!("{FOLDER}/{name}/{FACTS}"));
        let is_taken = revisions.iter().any(|one| one.id == name);
        if is_taken || !revisions::is_name(name) {
            let (detail, help) = if is_taken {
                ("a revision has that id", "call the folder otherwise")
            } else {
                ("", revisions::NAME_HELP)
            };
            let problem = format!("`{name}` cannot name an extension");
            return Err(Error::file(folder, problem, detail, help));
        }
        if facts.text.is_empty() {
            return Err(missing(facts.path, name));
        }
        let rows: ExtensionRows = facts.parse()?;
        if rows.state.is_empty() {
            let problem = "the extension has no state";
            let help = format!("cargo xtask spec import FILE --extension {name}@ID");
            return Err(Error::file(facts.path, problem, "", help));
        }
        Error::check(rows.list_faults(&facts, revisions))?;
        Error::check(rows.own_faults(&facts, revisions))?;
        let errata_file = directory.file(&format!("{FOLDER}/{name}/{ERRATA}"));
        let errata = errata::read(&errata_file, Some(&rows.order()))?;
        let states = rows.state.iter();
        Error::all(states.map(|state| {
            let mut base = revisions
                .iter()
                .filter(|one| one.id == *state.revision.get_ref());
            let Some(base) = base.next_back() else {
                return Err(Error::defect("extension", "the list of states was checked"));
            };
            Self::load_state(
                directory,
                name,
                (&facts, &rows, state),
                (&errata_file, &errata),
                (base, revisions),
            )
        }))
    }

    /// Reads one state by the rows of its extension.
    fn load_state(
        directory: &SpecSources,
        name: &str,
        (facts, rows, state): (&RuleFile, &ExtensionRows, &StateRow),
        (errata_file, errata): (&RuleFile, &[Erratum]),
        (base, revisions): (&Revision, &[Revision]),
    ) -> Result<Self, Error> {
        let id = state.id.get_ref();
        let schema_name = schema_name(name, id);
        let file = directory.file(&schema_name);
        if !directory.files.contains_key(&schema_name) {
            return Err(missing(file.path, &format!("{name}@{id}")));
        }
        let raw = canonical::of_text_with_dangling(&file.path, &file.text)?;
        let of_state = errata.iter().filter(|erratum| erratum.holds(id));
        let raw_on = on_for(&raw, base, of_state);
        let errata::Applied {
            mut schema, errata, ..
        } = errata::apply(&raw_on, errata, errata_file, id, state.status)?;
        let mut errors = rows.faults(facts, state, &schema, revisions);
        errors.extend(statements::faults(facts, rows, state, &schema, base));
        errors.extend(misnamed(
            &schema,
            &file.path,
            base,
            &directory.path(&format!("{FOLDER}/{name}")),
        ));
        Error::check(errors)?;
        let dangling = dangling::taken_out(&mut schema, &raw);
        let has_older = rows
            .state
            .first()
            .is_some_and(|first| first.id.get_ref() != id);
        let defines = |of: &String| definition(&schema, of).is_some();
        let methods = rows.methods(state, &schema);
        Ok(Self {
            name: match rows.of_handlers() {
                Some(main) if main.id.get_ref() != id => format!("{name}@{id}"),
                _ => name.to_owned(),
            },
            folder: name.to_owned(),
            state: id.clone(),
            status: Some(state.status),
            stage: state.stage(),
            stage_since: state.stage_since().map(str::to_owned),
            has_older,
            identifier: rows.identifier.get_ref().clone(),
            revision: base.id.clone(),
            source: state.source.clone().unwrap_or_default(),
            sha256: state
                .sha256
                .as_ref()
                .map(|of| of.get_ref().clone())
                .unwrap_or_default(),
            written_from: state.written_from.as_ref().map(|of| of.get_ref().clone()),
            reference: state.reference.get_ref().clone(),
            settings: (rows.settings.as_ref())
                .map(|of| of.get_ref().clone())
                .filter(defines),
            lifecycle: rows.lifecycle,
            roles: rows.roles.clone(),
            later_core: rows.later_core(state, &methods, revisions),
            methods,
            results: rows.results(state, &schema),
            meta: rows.meta(state, &schema),
            core: rows.core.as_ref().filter(|_| !has_older).map(|core| Core {
                revision: core.revision.get_ref().clone(),
                methods: core.methods.iter().map(|of| of.get_ref().clone()).collect(),
            }),
            schema,
            raw,
            dangling,
            prose: SortedMap::new(),
            errata,
        })
    }

    /// Mends the later core, and the revisions after it, that took definitions back exactly as upstream's schema of the extension
    /// has them: what is wrong in the one is wrong in the others.
    pub(super) fn mend_later_core(&self, revisions: &mut [Revision]) {
        let Some(core) = &self.later_core else {
            return;
        };
        let all = revisions.iter_mut();
        for later in all.skip_while(|one| one.id != core.revision) {
            self.lend_errata(later);
        }
    }

    /// Mends the definitions that a revision has exactly as the extension has them.
    fn lend_errata(&self, later: &mut Revision) {
        let is_alike = |pointer: &&String| {
            let within = pointer.strip_prefix("/$defs/").unwrap_or_default();
            let name = within.split('/').next().unwrap_or_default();
            let own = definition(&self.raw, name);
            own.is_some() && own == definition(&later.raw, name)
        };
        let rows = self.errata.iter().filter_map(|erratum| {
            let at: Vec<String> = erratum.at.iter().filter(is_alike).cloned().collect();
            (!at.is_empty()).then(|| Erratum {
                at,
                revisions: vec![later.id.clone()],
                ..erratum.clone()
            })
        });
        let lent: Vec<Erratum> = rows.collect();
        let (schema, fitting) = errata::fitting(later.schema.clone(), &lent, &later.id);
        later.schema = schema;
        later.errata.extend(fitting);
    }

    /// Returns the publication status; a schema that stands alone promises nothing.
    pub fn status(&self) -> RevisionStage {
        self.status.unwrap_or(RevisionStage::Draft)
    }

    /// Returns whether a name means this state: its own, or the one with its id, `tasks@2026-07-28`.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || format!("{}@{}", self.folder, self.state) == name
    }

    /// Returns the file of its schema, below the spec directory.
    pub fn schema_file(&self) -> String {
        schema_name(&self.folder, &self.state)
    }

    /// Returns the extension that a schema in canonical form is of: another state of one of the spec, or an unknown one
    /// on the released revision whose definitions it repeats. `None` for the schema of a whole revision, which lists its
    /// messages, and for one that repeats nothing.
    pub fn of_schema(raw: &Value, spec: &Spec, name: &str) -> Option<Self> {
        if lists(raw) || messages(raw).next().is_none() {
            return None;
        }
        if let Some(known) = extension_of(raw, spec) {
            let base = spec.revision(&known.revision).ok()?;
            return Some(known.with_schema(raw, base));
        }
        let copies = |base: &&Revision| {
            let same = copied(raw, base).filter(|(_, copy, original)| copy == original);
            same.count()
        };
        let released = |base: &&Revision| base.status == RevisionStage::Released;
        let base = spec.revisions.iter().filter(released).max_by_key(copies)?;
        if !rests_on(raw, base, false) {
            return None;
        }
        let methods = messages(raw).map(|(name, _)| ExtensionMethod {
            name: name.to_owned(),
            sender: None,
            kind: None,
            result: None,
            area: None,
            named_by: None,
        });
        let unknown = Self {
            name: name.to_owned(),
            folder: name.to_owned(),
            revision: base.id.clone(),
            // It has no page of its own that anybody knows.
            reference: base.reference.clone(),
            methods: methods.collect(),
            ..Self::default()
        };
        Some(unknown.with_schema(raw, base))
    }

    /// Returns the same extension with another schema, mended as far as its errata still apply, and with those of its facts
    /// that the schema bears out.
    fn with_schema(&self, raw: &Value, base: &Revision) -> Self {
        let (mut schema, _) =
            errata::fitting(on_for(raw, base, &self.errata), &self.errata, &self.name);
        let dangling = dangling::taken_out(&mut schema, raw);
        let defines = |name: &str| definition(&schema, name).is_some();
        let own: SortedSet<&str> = messages(raw).map(|(name, _)| name).collect();
        let has = |method: &&ExtensionMethod| own.contains(method.name.as_str());
        let results = self.results.iter().filter(|(_, it)| defines(it));
        let meta = self.meta.iter().filter(|one| defines(&one.definition));
        Self {
            settings: self.settings.clone().filter(|name| defines(name)),
            methods: self.methods.iter().filter(has).cloned().collect(),
            results: results.cloned().collect(),
            meta: meta.cloned().collect(),
            core: None,
            later_core: None,
            raw: raw.clone(),
            schema: schema.clone(),
            dangling,
            ..self.clone()
        }
    }

    /// Returns the file of its own doc lines, below the spec directory.
    pub fn docs_file(&self) -> String {
        format!("{FOLDER}/{}/docs.toml", self.folder)
    }
}

/// Returns the names of the folders of extensions.
pub(super) fn names(directory: &SpecSources) -> SortedSet<String> {
    let inner = |path: &String| {
        Some(
            path.strip_prefix(FOLDER)?
                .strip_prefix('/')?
                .split_once('/')?
                .0
                .to_owned(),
        )
    };
    directory.files.keys().filter_map(inner).collect()
}

/// Returns the schema of a state, below the spec directory.
pub fn schema_name(name: &str, state: &str) -> String {
    format!("{FOLDER}/{name}/{state}/schema.json")
}

/// Returns the error of a file that an import writes.
fn missing(path: String, name: &str) -> Error {
    let help = format!("cargo xtask spec import FILE --extension {name}");
    Error::file(path, "the file is missing", "", help)
}

/// Returns the orders of the states of all extensions, by folder.
pub(super) fn orders(extensions: &[ExtensionSpec]) -> SortedMap<String, Order> {
    let mut orders = SortedMap::new();
    for of in extensions.chunk_by(|a, b| a.folder == b.folder) {
        let firm = of
            .iter()
            .filter(|one| one.status() != RevisionStage::Draft)
            .count();
        let ids = of.iter().map(|one| one.state.clone()).collect();
        let folder = of.first().map(|one| one.folder.clone()).unwrap_or_default();
        orders.insert(folder, Order::of_states(ids, firm));
    }
    orders
}

/// Returns the extension that a schema is a state of: the first one that has most of its messages, and rests on the same
/// revision. A protocol of its own may have a method that is called like one of an extension.
pub fn extension_of<'s>(schema: &Value, spec: &'s Spec) -> Option<&'s ExtensionSpec> {
    if lists(schema) {
        return None;
    }
    let has = |extension: &&ExtensionSpec| {
        let Ok(base) = spec.revision(&extension.revision) else {
            return false;
        };
        let added = messages(schema).filter(|(_, name)| base.definition(name).is_none());
        let (own, others): (Vec<_>, Vec<_>) =
            added.partition(|(method, _)| extension.methods.iter().any(|own| own.name == *method));
        !own.is_empty()
            && own.len() >= others.len()
            && (others.is_empty() && own.len() == extension.methods.len()
                || rests_on(schema, base, others.is_empty()))
    };
    let is_main = |extension: &&ExtensionSpec| extension.name == extension.folder;
    let mut states = spec.extensions.iter().filter(has);
    (states.clone().find(is_main)).or_else(|| states.next())
}

/// Returns whether a schema repeats objects of a revision, most definitions that are called like one as they are there, or refers
/// to definitions of it that it has not. Another protocol may have a few that are alike, or have their names; of one that
/// `has_no_other` messages than an extension, one object that is alike says enough.
fn rests_on(schema: &Value, base: &Revision, has_no_other: bool) -> bool {
    let (same, others): (Vec<_>, Vec<_>) =
        copied(schema, base).partition(|(_, copy, original)| copy == original);
    let is_object = |copy: &Value| copy.get("properties").is_some() || copy.get("allOf").is_some();
    let has_object = same.iter().any(|(_, copy, _)| is_object(copy));
    let mut dangling = dangling_references(schema).into_iter();
    has_object && (has_no_other || same.len() >= others.len())
        || dangling.any(|(_, target)| {
            let name = target.strip_prefix("/$defs/");
            name.is_some_and(|name| base.definition(name).is_some())
        })
}

/// The form of an extension's identifier.
pub const IDENTIFIER: &str = "a prefix, `/` and a name: io.modelcontextprotocol/tasks";

/// Returns whether a text is an identifier of an extension: a prefix and a name.
pub fn is_identifier(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let part = |part: &str| !part.is_empty() && part.bytes().all(plain);
    text.split_once('/')
        .is_some_and(|(prefix, name)| part(prefix) && part(name))
}

/// Returns the text that lists the known revisions.
fn known(revisions: &[Revision]) -> String {
    let known: Vec<&str> = revisions.iter().map(|one| one.id.as_str()).collect();
    format!("known: {}", known.join(", "))
}

/// Returns the messages whose method is taken: by another message of the schema, or by the revision that the extension rests
/// on, where the schema does not repeat that message.
fn misnamed(schema: &Value, file: &str, base: &Revision, folder: &str) -> Vec<Error> {
    let theirs: SortedMap<&str, &str> = messages(&base.schema).collect();
    let mut said: SortedMap<&str, &str> = SortedMap::new();
    let taken = messages(schema).filter_map(|(method, name)| {
        let own = |by: &&str| format!("`{by}`");
        let core = |by: &&str| format!("`{by}` of {}", base.id);
        let by = match base.definition(name) {
            None => said.get(method).map(own).or_else(|| theirs.get(method).map(core)),
            Some(_) => None,
        };
        said.entry(method).or_insert(name);
        Some(Error::schema(
            file,
            &format!("/$defs/{}", escaped(name)),
            "a method that no other message has",
            format!("`{method}`, which is that of {}", by?),
            format!("give the message a method of its own, or mend it by an erratum in {folder}/{ERRATA}"),
        ))
    });
    taken.collect()
}
