//! A crate from a schema that is not a revision of the spec.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::path::Path;

use super::crates::extension_alone;
use super::{Crate, GENERATED};
use crate::emit::{COMMAND, CrateFacts, crate_files, pieces};
use mcp_revisions_schema::decision::Scope;
use mcp_revisions_schema::docs::{Docs, TypeDocs};
use mcp_revisions_schema::model::{BuiltModel, Model};
use mcp_revisions_schema::names::package;
use mcp_revisions_schema::rules::Rules;
use mcp_revisions_schema::spec::methods::MethodRules;
use mcp_revisions_schema::spec::{ExtensionSpec, Lifecycle, Spec, canonical, json};
use mcp_revisions_schema::{Error, Models, prose};

/// Refuses what cargo and rustc would refuse as the name of a package.
fn check_package(name: &str) -> Result<(), Error> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(plain) {
        return Ok(());
    }
    Err(Error::usage(
        format!("`{name}` is not a valid package name"),
        "letters, digits, `-` and `_`, a letter first: `mcp-draft`",
    ))
}

/// Returns the dependency on a folder in a manifest.
fn dependency(folder: &str) -> String {
    format!("{{ path = {} }}", toml::Value::from(folder))
}

/// Returns the dependency on a generated crate in the checkout of `wire`.
fn generated_dependency(wire: &str, package: &str) -> String {
    let checkout = wire
        .trim_end_matches('/')
        .strip_suffix("runtime/wire")
        .map_or_else(|| format!("{wire}/../../"), str::to_owned);
    dependency(&format!("{checkout}{GENERATED}/{package}"))
}

/// A schema that is not a revision of the spec, such as a new draft.
#[derive(Debug, Clone)]
pub struct Alone<'a> {
    /// The text of the file, in upstream form.
    pub text: &'a str,
    /// The name of the file, for errors and headers.
    pub file: &'a str,
    /// The name of the package.
    pub package: &'a str,
    /// The folder of `mcp-wire`, as the manifest is to name it.
    pub wire: &'a str,
    /// The digest of the file.
    pub sha256: &'a str,
}

impl Alone<'_> {
    /// Returns the name of the file in line comments, the same on every machine.
    fn source(&self) -> String {
        let path = Path::new(self.file);
        let name = if path.is_absolute() {
            path.file_name().unwrap_or_default().display().to_string()
        } else {
            self.file.to_owned()
        };
        name.replace(['\n', '\r'], " ")
    }
}

/// Emits the crate of an extension.
fn of_extension(spec: &Spec, alone: &Alone<'_>, extension: ExtensionSpec) -> Result<Crate, Error> {
    let (id, base) = (extension.revision.clone(), package(&extension.revision));
    let spec = Spec {
        extensions: vec![extension],
        ..spec.clone()
    };
    // Rules that other extensions alone use have none here.
    let (mut models, _) = Models::and_idle(&spec)?;
    // A type that the file repeats is described as its revision describes it, or it would be another one.
    let revision = models.get(&id)?;
    let repeated: SortedSet<String> = (revision.model.types.values())
        .map(|def| def.doc_key.clone())
        .collect();
    for of in &mut models.extensions {
        let is_own = |key: &str| {
            key.split('.')
                .next()
                .is_none_or(|name| !repeated.contains(name))
        };
        of.prose.retain(|key, _| is_own(key));
    }
    extension_alone(&models, |facts| {
        facts.package = alone.package.to_owned();
        facts.source = alone.source();
        facts.sha256 = alone.sha256.to_owned();
        facts.command = format!("{COMMAND} --schema");
        facts.dependencies = Some([
            dependency(alone.wire),
            generated_dependency(alone.wire, &base),
        ]);
    })
}

/// Emits a crate from any MCP schema in upstream form, with the rules of the spec; that of an extension uses the types of the
/// revision that it rests on. Fails for text that is not such a schema, and what the rules leave undecided.
pub fn alone(spec: &Spec, alone: &Alone<'_>) -> Result<Crate, Error> {
    check_package(alone.package)?;
    let rules = Rules::read(&spec.rules)?;
    let methods = MethodRules::read(spec)?;
    let docs = Docs::read(&spec.rules)?;
    let upstream = json::parse(alone.file, alone.text)?;
    let (schema, dangling) = canonical::with_dangling(&upstream, alone.file)?;
    let prose = prose::collect(&upstream, &schema);
    if let Some(extension) = ExtensionSpec::of_schema(&schema, spec, alone.package) {
        return of_extension(spec, alone, ExtensionSpec { prose, ..extension });
    }
    // Only references of an extension may lead nowhere.
    canonical::refuse_dangling(&dangling, alone.file)?;
    let scope = Scope::Schema(alone.file.to_owned());
    let BuiltModel {
        model,
        prose,
        decisions,
    } = Model::build(&schema, &scope, &rules, &methods, &prose)?;
    let lifecycle = match model.definition("InitializeRequest") {
        Some(_) => Lifecycle::Handshake,
        None => Lifecycle::PerRequest,
    };
    let facts = CrateFacts {
        package: alone.package.to_owned(),
        revision: alone.package.to_owned(),
        wire: alone.package.to_owned(),
        lifecycle: lifecycle.as_str().to_owned(),
        source: alone.source(),
        sha256: alone.sha256.to_owned(),
        command: format!("{COMMAND} --schema"),
        dependencies: Some([dependency(alone.wire), String::new()]),
        deprecated: SortedMap::new(),
        extension: None,
    };
    let docs = TypeDocs {
        prose: &prose,
        ..TypeDocs::new(&docs, alone.package)
    };
    let pieces = pieces(&model, &docs)?;
    Ok(Crate {
        files: crate_files(&model, &pieces, &SortedSet::new(), &docs, &facts)?,
        package: facts.package,
        types: model.types.len(),
        methods: model.methods.len(),
        reexports: None,
        decisions,
    })
}
