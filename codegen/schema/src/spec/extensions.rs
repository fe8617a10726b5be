//! Extensions: parts of the protocol with a schema of their own, beside the revision that they rest on.
//!
//! Each is a folder of `extensions/`: the canonical schema, `extension.toml` with what the schema does not say, and where
//! there is need errata and doc lines.

use crate::sorted::{SortedMap, SortedSet};

use mcp_wire::Direction;
use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::canonical::{definition, definitions};
use super::errata::{self, Erratum};
use super::methods::messages;
use super::roles::lists;
use super::rules::RuleFile;
use super::{Directory, ERRATA, Revision, Spec, Status, canonical, revisions};
use crate::Error;
use crate::pointer::{escaped, of_fragment, unescaped};

/// The folder of the extensions, below the spec directory.
pub(crate) const FOLDER: &str = "extensions";
/// The file of the facts of an extension, in its folder.
pub(crate) const FACTS: &str = "extension.toml";

/// An extension of the protocol.
#[derive(Clone, Debug, Default)]
pub struct Extension {
    /// The name of its folder.
    pub name: String,
    /// The identifier by which peers declare it: `io.modelcontextprotocol/tasks`.
    pub identifier: String,
    /// The id of the revision that it rests on.
    pub revision: String,
    /// Where its schema stands in its repository.
    pub source: String,
    /// SHA-256 of the upstream schema, in lower-case hex; empty where none was recorded.
    pub sha256: String,
    /// URL of its reference page; `{anchor}` stands for the name of a definition in lower case.
    pub reference: String,
    /// The definition of what peers declare under the identifier.
    pub settings: Option<String>,
    /// Its messages, with what the schema does not say of them.
    pub methods: Vec<ExtensionMethod>,
    /// Results by which requests of the revision may be answered instead, as pairs of method and definition.
    pub results: Vec<(String, String)>,
    /// The same feature in the core of an earlier revision.
    pub core: Option<Core>,
    /// The schema in canonical form, errata applied; a definition that repeats one of the revision is that one.
    pub schema: Value,
    /// The schema in canonical form, as upstream has it.
    pub raw: Value,
    /// What the schema says in words, by pointer; empty for an extension of the spec, which has doc lines.
    pub prose: SortedMap<String, String>,
    /// The repairs, in the order in which they were applied.
    pub errata: Vec<Erratum>,
}

/// A message of an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionMethod {
    /// The `method` string.
    pub name: String,
    /// The side that sends it; `None` while the row does not name one.
    pub sender: Option<Direction>,
    /// The definition of the result, where its name does not say it.
    pub result: Option<String>,
}

/// What `extension.toml` says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rows {
    pub(super) identifier: Spanned<String>,
    pub(super) revision: Spanned<String>,
    pub(super) source: Option<String>,
    pub(super) sha256: Option<Spanned<String>>,
    pub(super) reference: Spanned<String>,
    settings: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) method: Vec<MethodRow>,
    #[serde(default)]
    result: Vec<ResultRow>,
    core: Option<CoreRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MethodRow {
    pub(super) name: Spanned<String>,
    sender: Spanned<String>,
    result: Option<Spanned<String>>,
}

/// What an extension was before it left the core: the messages of the two are converted into each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// The id of the last revision whose core has the feature.
    pub revision: String,
    /// The methods that it has there.
    pub methods: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CoreRow {
    revision: Spanned<String>,
    methods: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultRow {
    method: Spanned<String>,
    result: Spanned<String>,
}

impl Extension {
    pub(super) fn load(
        directory: &Directory,
        name: &str,
        revisions: &[Revision],
    ) -> Result<Self, Error> {
        let folder = directory.path(&format!("{FOLDER}/{name}"));
        let of = |file: &str| directory.file(&format!("{FOLDER}/{name}/{file}"));
        let (facts, schema) = (of(FACTS), of("schema.json"));
        let missing = |file: RuleFile| {
            let help = format!("cargo xtask spec import FILE --extension {name}");
            Error::file(file.path, "the file is missing", "", help)
        };
        let is_taken = revisions.iter().any(|one| one.id == name);
        if is_taken || !revisions::is_id(name) {
            let (detail, help) = match is_taken {
                true => ("a revision has that id", "call the folder otherwise"),
                false => ("", revisions::ID_HELP),
            };
            let problem = format!("`{name}` cannot name an extension");
            return Err(Error::file(folder, problem, detail, help));
        }
        if facts.text.is_empty() {
            return Err(missing(facts));
        }
        let rows: Rows = facts.parse()?;
        let schema_name = format!("{FOLDER}/{name}/schema.json");
        if !directory.files.contains_key(&schema_name) {
            return Err(missing(schema));
        }
        let raw = canonical::of_text(&schema.path, &schema.text)?;
        let errata_file = of(ERRATA);
        let errata = errata::read(&errata_file, None)?;
        let Some(base) = (revisions.iter()).find(|one| one.id == *rows.revision.get_ref()) else {
            let (at, rule) = (rows.revision.span().start, format!("extension `{name}`"));
            let problem = format!("no revision `{}`", rows.revision.get_ref());
            return Err(facts.error(at, rule, problem, "", known(revisions)));
        };
        let mut raw_on = on(&raw, base);
        let replaced = errata.iter().filter_map(|erratum| erratum.replace.as_ref());
        let named: SortedSet<String> = replaced.flat_map(referred).collect();
        with_definitions(&mut raw_on, base, named);
        let errata::Applied { schema, errata, .. } =
            errata::apply(&raw_on, &errata, &errata_file, name, Status::Released)?;
        let mut errors = faults(&facts, &rows, &schema, revisions);
        errors.extend(misnamed(&schema, base, &folder));
        Error::check(errors)?;
        let methods = rows.method.into_iter().map(|row| ExtensionMethod {
            name: row.name.into_inner(),
            sender: sender_of(row.sender.get_ref()).flatten(),
            result: row.result.map(Spanned::into_inner),
        });
        let results =
            (rows.result.into_iter()).map(|row| (row.method.into_inner(), row.result.into_inner()));
        Ok(Self {
            name: name.to_owned(),
            identifier: rows.identifier.into_inner(),
            revision: base.id.clone(),
            source: rows.source.unwrap_or_default(),
            sha256: rows.sha256.map(Spanned::into_inner).unwrap_or_default(),
            reference: rows.reference.into_inner(),
            settings: rows.settings.map(Spanned::into_inner),
            methods: methods.collect(),
            results: results.collect(),
            core: rows.core.map(|core| Core {
                revision: core.revision.into_inner(),
                methods: core.methods.into_iter().map(Spanned::into_inner).collect(),
            }),
            schema,
            raw,
            prose: SortedMap::new(),
            errata,
        })
    }

    /// Returns the extension that a schema in canonical form is of: another state of one of the spec, or an unknown one
    /// on the released revision whose definitions it repeats. `None` for the schema of a whole revision, which lists its
    /// messages, and for one that repeats nothing.
    #[must_use]
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
        let released = |base: &&Revision| base.status == Status::Released;
        let base = spec.revisions.iter().filter(released).max_by_key(copies)?;
        if copies(&base) == 0 {
            return None;
        }
        let methods = messages(raw).map(|(name, _)| ExtensionMethod {
            name: name.to_owned(),
            sender: None,
            result: None,
        });
        let unknown = Self {
            name: name.to_owned(),
            revision: base.id.clone(),
            // It has no page of its own that anybody knows.
            reference: base.reference.clone(),
            methods: methods.collect(),
            ..Self::default()
        };
        Some(unknown.with_schema(raw, base))
    }

    /// The same extension with another schema, mended as far as its errata still apply, and with those of its facts that
    /// the schema bears out.
    fn with_schema(&self, raw: &Value, base: &Revision) -> Self {
        let (schema, _) = errata::fitting(on(raw, base), &self.errata, &self.name);
        let defines = |name: &str| definition(&schema, name).is_some();
        let own: SortedSet<&str> = messages(raw).map(|(name, _)| name).collect();
        let has = |method: &&ExtensionMethod| own.contains(method.name.as_str());
        let results = self.results.iter().filter(|(_, it)| defines(it));
        Self {
            settings: self.settings.clone().filter(|name| defines(name)),
            methods: self.methods.iter().filter(has).cloned().collect(),
            results: results.cloned().collect(),
            core: None,
            raw: raw.clone(),
            schema: schema.clone(),
            ..self.clone()
        }
    }

    /// Returns the file of its own doc lines, below the spec directory.
    #[must_use]
    pub fn docs_file(&self) -> String {
        format!("{FOLDER}/{}/docs.toml", self.name)
    }
}

/// The names of the folders of extensions.
pub(super) fn names(directory: &Directory) -> SortedSet<String> {
    let inner = |path: &String| {
        let path = path.strip_prefix(FOLDER)?.strip_prefix('/')?;
        Some(path.split_once('/')?.0.to_owned())
    };
    directory.files.keys().filter_map(inner).collect()
}

/// The schema of an extension on its revision: a definition that repeats one of the revision is that one, with its errata.
pub(crate) fn on(raw: &Value, base: &Revision) -> Value {
    let mut schema = raw.clone();
    let repeated: SortedMap<String, Value> = (copied(raw, base))
        .filter(|(_, copy, original)| copy == original)
        .filter_map(|(name, ..)| Some((name.to_owned(), base.definition(name)?.clone())))
        .collect();
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        definitions.extend(repeated);
    }
    schema
}

/// Adds definitions of the revision that a schema does not repeat, with all that they refer to: an erratum names them.
fn with_definitions(schema: &mut Value, base: &Revision, named: SortedSet<String>) {
    let Some(Value::Object(definitions)) = schema.get_mut("$defs") else {
        return;
    };
    let mut open: Vec<String> = named.into_iter().collect();
    while let Some(name) = open.pop() {
        if !definitions.contains_key(&name)
            && let Some(own) = base.definition(&name)
        {
            open.extend(referred(own));
            definitions.insert(name, own.clone());
        }
    }
}

/// The names of the definitions that a schema refers to.
fn referred(schema: &Value) -> SortedSet<String> {
    let mut names = SortedSet::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                let target = members.get("$ref").and_then(Value::as_str);
                let target = target.and_then(|target| of_fragment(target.strip_prefix('#')?));
                let name = target.as_deref().and_then(|at| at.strip_prefix("/$defs/"));
                names.extend(
                    name.filter(|name| !name.contains('/'))
                        .map(|name| unescaped(name).into_owned()),
                );
                open.extend(members.values());
            }
            Value::Array(values) => open.extend(values),
            _ => {}
        }
    }
    names
}

/// The definitions of a schema that have the name of one of a revision: the name, the schema's and the revision's.
pub(super) fn copied<'s>(
    raw: &'s Value,
    base: &'s Revision,
) -> impl Iterator<Item = (&'s str, &'s Value, &'s Value)> {
    definitions(raw).filter_map(|(name, copy)| Some((name, copy, definition(&base.raw, name)?)))
}

/// The extension that a schema is a state of: the first one that has one of its messages.
pub(crate) fn extension_of<'s>(schema: &Value, spec: &'s Spec) -> Option<&'s Extension> {
    if lists(schema) {
        return None;
    }
    let has = |extension: &&Extension| {
        messages(schema).any(|(name, _)| extension.methods.iter().any(|own| own.name == name))
    };
    spec.extensions.iter().find(has)
}

/// Returns the side that a word names: `Some(None)` for an empty word, `None` for an unknown one.
fn sender_of(word: &str) -> Option<Option<Direction>> {
    match word {
        "client" => Some(Some(Direction::ClientToServer)),
        "server" => Some(Some(Direction::ServerToClient)),
        "" => Some(None),
        _ => None,
    }
}

/// What an identifier of an extension is.
pub(super) const IDENTIFIER: &str = "a prefix, `/` and a name: io.modelcontextprotocol/tasks";

/// Whether a text is an identifier of an extension: a prefix and a name.
pub(super) fn is_identifier(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let part = |part: &str| !part.is_empty() && part.bytes().all(plain);
    text.split_once('/')
        .is_some_and(|(prefix, name)| part(prefix) && part(name))
}

/// What says which revisions there are.
fn known(revisions: &[Revision]) -> String {
    let known: Vec<&str> = revisions.iter().map(|one| one.id.as_str()).collect();
    format!("known: {}", known.join(", "))
}

/// What the facts of an extension have wrong.
fn faults(facts: &RuleFile, rows: &Rows, schema: &Value, revisions: &[Revision]) -> Vec<Error> {
    const UNDEFINED: &str = "the schema has no definition `{}`";
    const LEAVE_OUT: &str = "the name of a definition of the schema; or leave the line out";
    let mut errors = Vec::new();
    // `{}` in a problem is what the row says there.
    let mut fault = |at: &Spanned<String>, rule: &str, problem: &str, help: &str| {
        let problem = problem.replace("{}", at.get_ref());
        errors.push(facts.error(at.span().start, rule, problem, "", help));
    };
    let is_undefined = |name: &&Spanned<String>| definition(schema, name.get_ref()).is_none();
    if !is_identifier(rows.identifier.get_ref()) {
        let problem = "`{}` is not the identifier of an extension";
        fault(&rows.identifier, "identifier", problem, IDENTIFIER);
    }
    if rows.reference.get_ref().is_empty() {
        let help = "the URL of the page that the docs of the types are to link";
        let problem = "the extension names no reference page";
        fault(&rows.reference, "reference", problem, help);
    }
    if let Some(settings) = rows.settings.as_ref().filter(is_undefined) {
        fault(settings, "settings", UNDEFINED, LEAVE_OUT);
    }
    let own: SortedSet<&str> = messages(schema).map(|(method, _)| method).collect();
    let mut said = SortedSet::new();
    for row in &rows.method {
        let (name, sender) = (&row.name, &row.sender);
        let rule = format!("method `{}`", name.get_ref());
        if !own.contains(name.get_ref().as_str()) {
            let problem = "the schema has no message of that method";
            fault(name, &rule, problem, "remove the row, or correct the name");
        }
        if !said.insert(name.get_ref()) {
            let help = "leave one of the rows, with its sender";
            fault(name, &rule, "another row says it", help);
        }
        if sender_of(sender.get_ref()).is_none() {
            fault(sender, &rule, "`{}` is neither side", "client or server");
        }
        if let Some(result) = row.result.as_ref().filter(is_undefined) {
            fault(result, &rule, UNDEFINED, LEAVE_OUT);
        }
    }
    if let Some(CoreRow { revision, methods }) = &rows.core {
        let id = revision.get_ref();
        let before = revisions.iter().find(|one| one.id == *id);
        match before.map(|before| before.status) {
            None => fault(revision, "core", "no revision `{}`", &known(revisions)),
            Some(Status::Released) => {}
            Some(status) => {
                let problem = format!("revision `{{}}` is a {status}");
                let help = "the last released revision whose core has the feature: its messages are converted";
                fault(revision, "core", &problem, help);
            }
        }
        let has = |before: &Revision, name: &str| {
            messages(&before.schema).any(|(method, _)| method == name)
        };
        for method in methods {
            if before.is_some_and(|before| !has(before, method.get_ref())) {
                let problem = format!("revision `{id}` has no method `{{}}`");
                let help = "the methods of the feature as that revision has them";
                fault(method, "core", &problem, help);
            }
        }
    }
    let theirs = revisions.iter().flat_map(|one| messages(&one.schema));
    let theirs: SortedSet<&str> = theirs.map(|(method, _)| method).collect();
    for ResultRow { method, result } in &rows.result {
        let rule = format!("result of `{}`", method.get_ref());
        if !theirs.contains(method.get_ref().as_str()) {
            let help = "a request of the revision, such as tools/call";
            fault(method, &rule, "no revision has such a method", help);
        }
        if is_undefined(&result) {
            let help = "the name of a definition of the schema; or remove the row";
            fault(result, &rule, UNDEFINED, help);
        }
    }
    errors
}

/// The messages whose method is taken: by another message of the schema, or by the revision that the extension rests on,
/// where the schema does not repeat that message.
fn misnamed(schema: &Value, base: &Revision, folder: &str) -> Vec<Error> {
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
            &format!("{folder}/schema.json"),
            &format!("/$defs/{}", escaped(name)),
            "a method that no other message has",
            format!("`{method}`, which is that of {}", by?),
            format!("give the message a method of its own, or mend it by an erratum in {folder}/{ERRATA}"),
        ))
    });
    taken.collect()
}
