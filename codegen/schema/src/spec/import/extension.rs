//! Import of an extension: its schema in canonical form, its facts as far as they are known, and where it has drifted
//! from the revision that it rests on.

use crate::sorted::SortedSet;

use serde_json::Value;
use toml::Spanned;

use super::{Upstream, differs, keeps};
use crate::Error;
use crate::files::diff;
use crate::spec::extensions::{self, FACTS, FOLDER, Rows};
use crate::spec::methods::messages;
use crate::spec::rules::RuleFile;
use crate::spec::{Directory, Revision, canonical, revisions, sheet};

/// How many differing lines are shown of a definition.
const SHOWN_LINES: usize = 12;

/// What is to be imported as which extension.
///
/// An extension that is there already keeps its facts: an option that says otherwise is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtensionOptions {
    /// The name of its folder.
    pub name: String,
    /// The identifier by which peers declare it; needed for a new one.
    pub identifier: Option<String>,
    /// The revision that it rests on; by default the one that handlers are written in.
    pub revision: Option<String>,
    /// Where the file stands in the extension's repository; by default `schema/schema.json`.
    pub source: Option<String>,
    /// URL of the reference page, with `{anchor}` for a definition's name in lower case; by default the page of the name.
    pub reference: Option<String>,
}

/// What the import of an extension did.
#[derive(Debug)]
pub struct ImportedExtension {
    /// The extension.
    pub name: String,
    /// It was not there before.
    pub added: bool,
    /// Its wire facts are others than before, or were not there.
    pub schema_changed: bool,
    /// SHA-256 of the upstream file.
    pub sha256: String,
    /// The revision that it rests on.
    pub revision: String,
    /// How many definitions are its own.
    pub own: usize,
    /// How many definitions it repeats of the revision, as they are there.
    pub repeated: usize,
    /// The definitions that it has otherwise than the revision, each with the lines that differ: `-` of the revision.
    pub drifted: Vec<(String, String)>,
    /// Facts that do not hold for the schema: the import stands, and they have to be looked at.
    pub stale: Option<Error>,
}

impl Directory {
    /// Takes an upstream schema as that of an extension, and starts its facts or brings their digest up to date.
    ///
    /// # Errors
    /// Options that do not fit. Nothing has changed then.
    pub fn import_extension(
        &mut self,
        upstream: &Upstream,
        options: &ExtensionOptions,
    ) -> Result<ImportedExtension, Error> {
        let name = options.name.as_str();
        if !revisions::is_id(name) {
            let problem = format!("`{name}` cannot name an extension");
            return Err(Error::usage(problem, revisions::ID_HELP));
        }
        // The core has to stand without the extension: what is imported may be what mends it.
        let mut core = self.clone();
        let folder = format!("{FOLDER}/");
        core.files.retain(|path, _| !path.starts_with(&folder));
        let core = core.spec()?;
        let facts = self.file(&format!("{FOLDER}/{name}/{FACTS}"));
        let added = facts.text.is_empty();
        let (base, mut text) = match added {
            true => {
                let base = match &options.revision {
                    Some(id) => core.revision(id)?,
                    None => Revision::of_handlers(core.revisions.iter()).ok_or_else(|| {
                        let problem = "no revision is released that the extension could rest on";
                        Error::usage(problem.to_owned(), "name one with --revision")
                    })?,
                };
                (base, started(upstream, base, options)?)
            }
            false => {
                let rows: Rows = facts.parse()?;
                keeps_its_facts(name, &rows, options)?;
                let base = core.revision(rows.revision.get_ref())?;
                let stands = rows.sha256.as_ref().map(Spanned::span);
                let sha256 = sheet::quoted(&upstream.sha256);
                let below = rows.revision.span().end;
                let text = sheet::with_value(&facts.text, ("sha256", stands), below, Some(&sha256));
                (base, text)
            }
        };
        let said: Rows = RuleFile::new(facts.path, text.as_str()).parse()?;
        let said = said.method.iter().map(|row| row.name.get_ref().as_str());
        let theirs = messages(&base.schema).map(|(method, _)| method);
        let known: SortedSet<&str> = said.chain(theirs).collect();
        let all = messages(&upstream.canonical).map(|(method, _)| method);
        let all: SortedSet<&str> = all.collect();
        for method in all.iter().filter(|method| !known.contains(*method)) {
            let name = sheet::quoted(method);
            let row = format!(
                "# To decide: client or server.\n[[method]]\nname = {name}\nsender = \"\"\n"
            );
            text = sheet::with_block(&text, text.len(), &row);
        }
        let mut repeated = 0;
        let mut drifted = Vec::new();
        for (name, copy, original) in extensions::copied(&upstream.canonical, base) {
            if copy == original {
                repeated += 1;
            } else {
                let [was, is] =
                    [original, copy].map(|of| serde_json::to_string_pretty(of).unwrap_or_default());
                drifted.push((name.to_owned(), diff::lines(&was, &is, SHOWN_LINES)));
            }
        }
        let schema = canonical::to_text(&upstream.canonical);
        let path = format!("{FOLDER}/{name}/schema.json");
        let schema_changed = self.files.get(&path) != Some(&schema);
        let revision = base.id.clone();
        self.files.insert(path, schema);
        let facts = format!("{FOLDER}/{name}/{FACTS}");
        self.files.insert(facts, text);
        Ok(ImportedExtension {
            name: name.to_owned(),
            added,
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

/// The facts of an extension that is new, without its messages.
fn started(
    upstream: &Upstream,
    base: &Revision,
    options: &ExtensionOptions,
) -> Result<String, Error> {
    let name = &options.name;
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
    let page = format!("https://modelcontextprotocol.io/extensions/{name}/overview");
    let settings = settings(&upstream.canonical, base).map_or_else(
        || "# settings = \"\"\n".to_owned(),
        |settings| format!("settings = {}\n", sheet::quoted(settings)),
    );
    Ok(format!(
        "# What the schema of the extension does not say. `cargo xtask spec import FILE --extension {name}` writes the digest\n\
         # and asks for the sender of each new message; comments stay.\n\
         #\n\
         # A result by which a request of the revision may be answered instead is a row of its own:\n\
         # [[result]]\n\
         # method = \"tools/call\"\n\
         # result = \"\"\n\
         \n\
         identifier = {}\n\
         # The revision that it rests on: what the schema repeats of it are the types of that revision.\n\
         revision = {}\n\
         source = {}\n\
         sha256 = {}\n\
         reference = {}\n\
         # The definition of what both sides declare under the identifier.\n\
         {settings}",
        sheet::quoted(identifier),
        sheet::quoted(&base.id),
        sheet::quoted(options.source.as_deref().unwrap_or("schema/schema.json")),
        sheet::quoted(&upstream.sha256),
        sheet::quoted(options.reference.as_deref().unwrap_or(&page)),
    ))
}

/// The one definition of its own that is called like a capability.
fn settings<'s>(schema: &'s Value, base: &Revision) -> Option<&'s str> {
    let names = canonical::definitions(schema).map(|(name, _)| name);
    let mut called = names.filter(|name| {
        let is_called = name.ends_with("Capability") || name.ends_with("Capabilities");
        is_called && base.definition(name).is_none()
    });
    let first = called.next()?;
    called.next().is_none().then_some(first)
}

fn keeps_its_facts(name: &str, rows: &Rows, options: &ExtensionOptions) -> Result<(), Error> {
    let (identifier, revision) = (rows.identifier.get_ref(), rows.revision.get_ref());
    let reference = rows.reference.get_ref();
    let renamed = differs(&options.identifier, Some(identifier));
    let differing = [
        ("--identifier", renamed),
        ("--revision", differs(&options.revision, Some(revision))),
        ("--source", differs(&options.source, rows.source.as_deref())),
        ("--reference", differs(&options.reference, Some(reference))),
    ];
    let what = format!("extension `{name}` is there");
    let help = "leave the option out, or change its extension.toml by hand";
    keeps(&what, &differing, help)
}
