//! A crate from a schema that is no revision of the spec: a draft of the day.

use super::{COMMAND, Crate};
use crate::decision::Scope;
use crate::docs::{Docs, TypeDocs};
use crate::emit::{CrateFacts, crate_files};
use crate::model::{Built, Model};
use crate::rules::Rules;
use crate::spec::methods::MethodRules;
use crate::spec::{Era, Spec, canonical, json};
use crate::{Error, prose};

/// Refuses what cargo and rustc would refuse as the name of a package.
fn check_package(name: &str) -> Result<(), Error> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(plain) {
        return Ok(());
    }
    Err(Error::Usage {
        problem: format!("`{name}` is no name for a package").into(),
        help: "letters, digits, `-` and `_`, a letter first: `mcp-draft`".into(),
    })
}

/// A schema that is no revision of the spec: a draft of the day.
#[derive(Debug, Clone)]
pub struct Alone<'a> {
    /// The text of the file, in upstream form.
    pub text: &'a str,
    /// The name of the file, for errors and headers.
    pub file: &'a str,
    /// The name of the package.
    pub package: &'a str,
    /// The path of the `mcp-wire` crate that the package depends on.
    pub wire_path: &'a str,
    /// The digest of the file.
    pub sha256: &'a str,
}

/// Emits a crate from any MCP schema in upstream form, with the rules of the spec.
///
/// # Errors
/// Text that is no such schema, and what the rules leave undecided.
pub fn alone(spec: &Spec, alone: &Alone<'_>) -> Result<Crate, Error> {
    check_package(alone.package)?;
    let rules = Rules::read(&spec.rules)?;
    let methods = MethodRules::read(spec)?;
    let docs = Docs::read(&spec.rules)?;
    let upstream = json::parse(alone.file, alone.text)?;
    let schema = canonical::canonicalize(&upstream, alone.file)?;
    let upstream_prose = prose::collect(&upstream);
    let scope = Scope::Schema(alone.file.to_owned());
    let Built {
        model,
        prose,
        decisions,
    } = Model::build(&schema, &scope, &rules, &methods, &upstream_prose)?;
    let era = match model.definition("InitializeRequest") {
        Some(_) => Era::Handshake,
        None => Era::PerRequest,
    };
    let facts = CrateFacts {
        package: alone.package.to_owned(),
        revision: alone.package.to_owned(),
        wire: alone.package.to_owned(),
        era: era.as_str().to_owned(),
        // It is named in line comments.
        source: alone.file.replace(['\n', '\r'], " "),
        sha256: alone.sha256.to_owned(),
        command: format!("{COMMAND} --schema"),
        wire_path: Some(alone.wire_path.to_owned()),
    };
    let docs = TypeDocs {
        docs: &docs,
        revision: alone.package,
        reference: "",
        prose: &prose,
    };
    Ok(Crate {
        files: crate_files(&model, &docs, &facts)?,
        package: facts.package,
        revision: None,
        types: model.types.len(),
        methods: model.methods.len(),
        reexports: None,
        decisions,
    })
}
