//! Import of an extension: its schema in canonical form, its facts as far as they are known, and where it has drifted
//! from the revision that it rests on.

use mcp_revisions_schema::sorted::SortedSet;

use serde_json::Value;
use toml::Spanned;

use super::{SpecDirectory, UpstreamFile, differs, keeps, sheet};
use crate::files::diff;
use mcp_revisions_schema::Error;
use mcp_revisions_schema::spec::extensions::{
    self, ExtensionRows, ExtensionStage, FACTS, FOLDER, StateRow, stage_named, stated_kind,
};
use mcp_revisions_schema::spec::methods::messages;
use mcp_revisions_schema::spec::rules::RuleFile;
use mcp_revisions_schema::spec::{Revision, RevisionStage, canonical, revisions};

/// Maximum number of differing lines shown of a definition.
const SHOWN_LINES: usize = 12;

/// The file to import, and its extension.
///
/// A state that is there already keeps its facts: an option that says otherwise is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtensionOptions {
    /// The name of its folder, or with the id of a state: `tasks@draft`. By default the state is the last one, and of a new
    /// extension one that is called like the revision.
    pub name: String,
    /// The publication status of a new state; by default a draft if it is called so, else released.
    pub status: Option<RevisionStage>,
    /// The stage of a new state; by default that of the folder in `source` or `reference` which is called like one, else none.
    pub stage: Option<ExtensionStage>,
    /// The identifier by which peers declare it; needed for a new one.
    pub identifier: Option<String>,
    /// The revision that it rests on; by default the one that handlers are written in.
    pub revision: Option<String>,
    /// The path of the file in the extension's repository; by default `schema/schema.json`.
    pub source: Option<String>,
    /// URL of the reference page, with `{anchor}` for a definition's name in lower case; by default the page of the name.
    pub reference: Option<String>,
}

/// The result of the import of an extension.
#[derive(Debug)]
pub struct ImportedExtension {
    /// The extension.
    pub name: String,
    /// The id of its state.
    pub state: String,
    /// The state was not there before.
    pub added: bool,
    /// The stage that its row has.
    pub stage: Option<ExtensionStage>,
    /// Its wire facts are others than before, or were not there.
    pub schema_changed: bool,
    /// SHA-256 of the upstream file.
    pub sha256: String,
    /// The revision that it rests on.
    pub revision: String,
    /// Number of its own definitions.
    pub own: usize,
    /// Number of definitions that it repeats of the revision, as they are there.
    pub repeated: usize,
    /// The definitions that it has otherwise than the revision, each with the lines that differ: `-` of the revision.
    pub drifted: Vec<(String, String)>,
    /// The messages of the state before that it has no more: their rows end there.
    pub ended: Vec<String>,
    /// The messages that began with a draft and that it has: their rows begin with it.
    pub begun: Vec<String>,
    /// Number of statements of a schema of ours that went, since upstream's schema stands in its place.
    pub superseded: usize,
    /// Facts that do not hold for the schema: the import stands, and they have to be looked at.
    pub stale: Option<Error>,
}

impl SpecDirectory {
    /// Takes an upstream schema as that of an extension, and starts its facts or brings their digest up to date. Fails for
    /// options that do not fit. Nothing has changed then.
    pub fn import_extension(
        &mut self,
        upstream: &UpstreamFile,
        options: &ExtensionOptions,
    ) -> Result<ImportedExtension, Error> {
        let (name, named_state) = match options.name.split_once('@') {
            Some((name, state)) => (name, Some(state)),
            None => (options.name.as_str(), None),
        };
        for (id, what) in [(Some(name), "an extension"), (named_state, "a state")] {
            if let Some(id) = id.filter(|id| !revisions::is_name(id)) {
                let problem = format!("`{id}` cannot name {what}");
                return Err(Error::usage(problem, revisions::NAME_HELP));
            }
        }
        // The core has to stand without the extension: what is imported may be what mends it.
        let mut core = self.clone();
        let folder = format!("{FOLDER}/");
        core.files.retain(|path, _| !path.starts_with(&folder));
        let core_spec = core.spec()?;
        let facts = self.file(&format!("{FOLDER}/{name}/{FACTS}"));
        let mut text = if facts.text.is_empty() {
            started(name, options)?
        } else {
            facts.text.clone()
        };
        let rows: ExtensionRows = RuleFile::new(facts.path.as_str(), text.as_str()).parse()?;
        let row = match named_state {
            Some(id) => rows.state.iter().find(|row| row.id.get_ref() == id),
            None => rows.state.last(),
        };
        let added = row.is_none();
        let base = match (row, &options.revision, rows.of_handlers()) {
            (Some(row), ..) => core_spec.revision(row.revision.get_ref())?,
            (None, Some(id), _) => core_spec.revision(id)?,
            (None, None, Some(state)) => core_spec.revision(state.revision.get_ref())?,
            (None, None, None) => {
                Revision::of_handlers(core_spec.revisions.iter()).ok_or_else(|| {
                    let problem = "no revision is released that the extension could rest on";
                    Error::usage(problem.to_owned(), "name one with --revision")
                })?
            }
        };
        let state = match row {
            Some(row) => row.id.get_ref().clone(),
            None => named_state.unwrap_or(&base.id).to_owned(),
        };
        keeps_its_facts(name, &rows, row, options)?;
        if let Some(row) = row {
            self.keeps_what_is_stable(name, row, upstream)?;
        }
        let before = match row {
            Some(_) => None,
            None => {
                let status = options.status.unwrap_or(match state.as_str() {
                    "draft" => RevisionStage::Draft,
                    _ => RevisionStage::Released,
                });
                let firm = |row: &&StateRow| {
                    status == RevisionStage::Draft || row.status != RevisionStage::Draft
                };
                let before = rows.state.iter().rfind(firm);
                text = with_state(
                    &facts.path,
                    &text,
                    (&state, status),
                    before,
                    base,
                    upstream,
                    options,
                )?;
                before.map(|row| row.id.get_ref().clone())
            }
        };
        let mut superseded = 0;
        if let Some(row) = row {
            let stands = row.sha256.as_ref().map(Spanned::span);
            let sha256 = sheet::quoted(&upstream.sha256);
            let below = row.revision.span().end;
            text = sheet::with_value(&text, ("sha256", stands), below, Some(&sha256));
            if let Some(source) = published_at(row, options) {
                superseded = supersede(&facts.path, &mut text, &state, source)?;
            }
        }
        if rows.state.is_empty() && rows_lack_settings(&text) {
            text = with_settings(&text, &upstream.canonical, base);
        }
        let all: SortedSet<&str> = messages(&upstream.canonical)
            .map(|(method, _)| method)
            .collect();
        let (begun, ended) = if added {
            let states = (before.as_deref(), state.as_str());
            with_ranges(&facts.path, &mut text, states, &all)?
        } else {
            (Vec::new(), Vec::new())
        };
        let after: ExtensionRows = RuleFile::new(facts.path, text.as_str()).parse()?;
        let own = after.method.iter().map(|row| row.name.get_ref().as_str());
        let theirs = messages(&base.schema).map(|(method, _)| method);
        let known: SortedSet<&str> = own.chain(theirs).collect();
        let mut new_rows = String::new();
        for (method, definition) in messages(&upstream.canonical) {
            if known.contains(method)
                || new_rows.contains(&format!("name = {}\n", sheet::quoted(method)))
            {
                continue;
            }
            let kind = stated_kind(method, definition)
                .map_or_else(String::new, |kind| format!("kind = \"{kind}\"\n"));
            let since = before
                .as_ref()
                .map_or_else(String::new, |_| format!("since = {state:?}\n"));
            let name = sheet::quoted(method);
            new_rows.push_str(&format!(
                "# To decide: client or server, or the words of [roles].\n[[method]]\nname = {name}\nsender = \"\"\n{kind}{since}\n"
            ));
        }
        if !new_rows.is_empty() {
            text = sheet::with_block(&text, text.len(), &format!("{}\n", new_rows.trim_end()));
        }
        let mut repeated = 0;
        let mut drifted = Vec::new();
        for (definition, copy, original) in extensions::copied(&upstream.canonical, base) {
            if copy == original {
                repeated += 1;
            } else {
                let [was, is] =
                    [original, copy].map(|of| serde_json::to_string_pretty(of).unwrap_or_default());
                drifted.push((definition.to_owned(), diff::lines(&was, &is, SHOWN_LINES)));
            }
        }
        let schema = canonical::to_text(&upstream.canonical);
        let path = extensions::schema_name(name, &state);
        let schema_changed = self.files.get(&path) != Some(&schema);
        let revision = base.id.clone();
        self.files.insert(path, schema);
        let facts = format!("{FOLDER}/{name}/{FACTS}");
        self.files.insert(facts, text);
        Ok(ImportedExtension {
            name: name.to_owned(),
            stage: (after.state.iter())
                .find(|row| *row.id.get_ref() == state)
                .and_then(StateRow::stage),
            state,
            added,
            ended,
            begun,
            superseded,
            schema_changed,
            sha256: upstream.sha256.clone(),
            revision,
            own: canonical::definitions(&upstream.canonical).count() - repeated - drifted.len(),
            repeated,
            drifted,
            stale: self.spec().err(),
        })
    }
}

impl SpecDirectory {
    /// Refuses another schema for a published state of an extension that is stable: what it says never changes, but for its prose.
    fn keeps_what_is_stable(
        &self,
        name: &str,
        row: &StateRow,
        upstream: &UpstreamFile,
    ) -> Result<(), Error> {
        let is_fixed = row.stage() == Some(ExtensionStage::Stable)
            && row.status == RevisionStage::Released
            && row.written_from.is_none();
        let id = row.id.get_ref();
        let stands = self.files.get(&extensions::schema_name(name, id));
        let schema = canonical::to_text(&upstream.canonical);
        match stands {
            Some(stands) if is_fixed && *stands != schema => {
                let problem = format!(
                    "state `{id}` of extension `{name}` is stable and published: it has another schema, and never changes"
                );
                let lines = diff::lines(stands, &schema, SHOWN_LINES);
                let help = format!(
                    "import the file as a state of its own: --extension {name}@ID, with the id of the core revision that it comes with"
                );
                Err(Error::usage(format!("{problem}\n{lines}"), help))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the facts of an extension that is new, without its states and messages.
fn started(name: &str, options: &ExtensionOptions) -> Result<String, Error> {
    let Some(identifier) = &options.identifier else {
        return Err(Error::usage(
            format!("extension `{name}` is new: its identifier has to be given"),
            "--identifier PREFIX/NAME, as peers declare it: io.modelcontextprotocol/tasks",
        ));
    };
    if !extensions::is_identifier(identifier) {
        let problem = format!("`{identifier}` is not the identifier of an extension");
        return Err(Error::usage(problem, extensions::IDENTIFIER));
    }
    Ok(format!(
        "# What no schema of the extension says. `cargo xtask spec import FILE --extension {name}@ID` writes its states\n\
         # and asks for the sender of each new message; comments stay.\n\
         #\n\
         # A result by which a request of the revision may be answered instead is a row of its own:\n\
         # [[result]]\n\
         # method = \"tools/call\"\n\
         # result = \"\"\n\
         #\n\
         # Messages that do not go between a client and a server have other sides:\n\
         # [roles]\n\
         # client = \"view\"\n\
         # server = \"host\"\n\
         \n\
         identifier = {}\n",
        sheet::quoted(identifier),
    ))
}

/// Finds where upstream publishes the schema of a state, if the one that stands was written from its page.
fn published_at<'o>(row: &StateRow, options: &'o ExtensionOptions) -> Option<&'o str> {
    let source = options.source.as_deref()?;
    let is_other = row.source.as_deref() != Some(source);
    (row.written_from.is_some() && is_other).then_some(source)
}

/// Puts upstream's schema in the place of ours: the row of the state says where it lies, and the statements on which ours rested
/// go. Returns their number.
fn supersede(path: &str, text: &mut String, state: &str, source: &str) -> Result<usize, Error> {
    let rows: ExtensionRows = RuleFile::new(path, text.as_str()).parse()?;
    let order = rows.order();
    let first = order.first().unwrap_or_default();
    let entries = sheet::entries(path, text)?;
    let rests = |entry: &&sheet::SheetEntry| {
        let since = entry.text_of("since").unwrap_or(first);
        entry.table == ["statement"] && order.holds(since, entry.text_of("until"), state)
    };
    let statements: Vec<_> = entries.iter().filter(rests).collect();
    let number = statements.len();
    let mut after = sheet::without(path, text, statements)?;
    for (key, value) in [
        ("source", Some(sheet::quoted(source))),
        ("written-from", None),
    ] {
        let entries = sheet::entries(path, &after)?;
        let is_row =
            |one: &&sheet::SheetEntry| one.table == ["state"] && one.text_of("id") == Some(state);
        if let Some(row) = entries.iter().find(is_row) {
            let place = (key, row.place_of(key));
            after = sheet::with_value(&after, place, row.span.end, value.as_deref());
        }
    }
    *text = after;
    Ok(number)
}

/// Returns whether the facts of a new extension do not name what peers declare.
fn rows_lack_settings(text: &str) -> bool {
    !text.lines().any(|line| line.starts_with("settings"))
}

/// Adds the definition that peers declare, below the identifier.
fn with_settings(text: &str, schema: &Value, base: &Revision) -> String {
    let line = settings(schema, base).map_or_else(
        || "# settings = \"\"\n".to_owned(),
        |settings| format!("settings = {}\n", sheet::quoted(settings)),
    );
    let about = "# The definition of what both sides declare under the identifier.\n";
    let at = text
        .find("\nidentifier")
        .map_or(text.len(), |at| sheet::line_end(text, at + 1));
    let (head, tail) = text.split_at(at);
    format!("{head}{about}{line}{tail}")
}

/// Adds the row of a state, after the one before it, or before the first one.
fn with_state(
    path: &str,
    text: &str,
    (id, status): (&str, RevisionStage),
    before: Option<&StateRow>,
    base: &Revision,
    upstream: &UpstreamFile,
    options: &ExtensionOptions,
) -> Result<String, Error> {
    let name = options.name.split('@').next().unwrap_or_default();
    let page = format!("https://modelcontextprotocol.io/extensions/{name}/overview");
    let stage =
        proposed_stage(options).map_or_else(String::new, |it| format!("stage = \"{it}\"\n"));
    let row = format!(
        "[[state]]\nid = {}\nstatus = \"{status}\"\n{stage}# The revision that it rests on: what the schema repeats of it are the types of that revision.\nrevision = {}\nsource = {}\nsha256 = {}\nreference = {}\n",
        sheet::quoted(id),
        sheet::quoted(&base.id),
        sheet::quoted(options.source.as_deref().unwrap_or("schema/schema.json")),
        sheet::quoted(&upstream.sha256),
        sheet::quoted(options.reference.as_deref().unwrap_or(&page)),
    );
    let entries = sheet::entries(path, text)?;
    let mut states = entries.iter().filter(|entry| entry.table == ["state"]);
    let place = match before.map(|row| row.id.get_ref().as_str()) {
        None => states.next().map(|first| first.span.start),
        id => (states.find(|entry| entry.text_of("id") == id))
            .map(|before| sheet::line_end(text, before.span.end)),
    };
    Ok(sheet::with_block(text, place.unwrap_or(text.len()), &row))
}

/// Finds the stage of a new state: a page lies in a folder that is called like it, `specification/beta/`.
fn proposed_stage(options: &ExtensionOptions) -> Option<ExtensionStage> {
    let places = [&options.source, &options.reference].into_iter().flatten();
    let of_folder = places
        .flat_map(|place| place.split('/'))
        .find_map(stage_named);
    options.stage.or(of_folder)
}

/// Fits the rows of messages to a new state: one that a draft began and that it has begins with it, and one that it has no
/// more ends with the state before it. Returns the methods of the former, and of the latter.
fn with_ranges(
    path: &str,
    text: &mut String,
    (before, state): (Option<&str>, &str),
    has: &SortedSet<&str>,
) -> Result<(Vec<String>, Vec<String>), Error> {
    let rows: ExtensionRows = RuleFile::new(path, text.as_str()).parse()?;
    let order = rows.order();
    let first = order.first().unwrap_or_default();
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    let mut edits = Vec::new();
    let entries = sheet::entries(path, text)?;
    for entry in entries.iter().filter(|entry| entry.table == ["method"]) {
        let name = entry.text_of("name").unwrap_or_default();
        let since = entry.text_of("since").unwrap_or(first);
        let holds = |id: &str| order.holds(since, entry.text_of("until"), id);
        if has.contains(name) {
            if order.at(state) < order.at(since) {
                edits.push((entry, "since", state));
                begun.push(name.to_owned());
            }
        } else if let Some(before) = before.filter(|before| holds(before) && holds(state)) {
            edits.push((entry, "until", before));
            ended.push(name.to_owned());
        }
    }
    // From the end, so that the places before stay true.
    for (entry, key, id) in edits.into_iter().rev() {
        let id = sheet::quoted(id);
        *text = sheet::with_value(text, (key, entry.place_of(key)), entry.span.end, Some(&id));
    }
    Ok((begun, ended))
}

/// Returns the one definition of its own that is called like a capability.
fn settings<'s>(schema: &'s Value, base: &Revision) -> Option<&'s str> {
    let names = canonical::definitions(schema).map(|(name, _)| name);
    let mut called = names.filter(|name| {
        let is_called = name.ends_with("Capability") || name.ends_with("Capabilities");
        is_called && base.definition(name).is_none()
    });
    let first = called.next()?;
    called.next().is_none().then_some(first)
}

fn keeps_its_facts(
    name: &str,
    rows: &ExtensionRows,
    row: Option<&StateRow>,
    options: &ExtensionOptions,
) -> Result<(), Error> {
    let renamed = differs(&options.identifier, Some(rows.identifier.get_ref()));
    let of_state = match row {
        Some(row) => [
            (
                "--revision",
                differs(&options.revision, Some(row.revision.get_ref())),
            ),
            (
                "--source",
                differs(&options.source, row.source.as_deref())
                    && published_at(row, options).is_none(),
            ),
            (
                "--reference",
                differs(&options.reference, Some(row.reference.get_ref())),
            ),
            (
                "--status",
                options.status.is_some_and(|it| it != row.status),
            ),
            (
                "--stage",
                options.stage.is_some() && options.stage != row.stage(),
            ),
        ],
        None => [("", false); 5],
    };
    let differing = [[("--identifier", renamed)].as_slice(), &of_state].concat();
    let what = format!("extension `{name}` is there");
    let help = "leave the option out, or change its extension.toml by hand";
    keeps(&what, &differing, help)
}
