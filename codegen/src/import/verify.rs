//! Verify: that a spec directory is what import would make of the upstream files, and that its rules hold.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

use super::facts::Fact;
use super::{SpecDirectory, UpstreamFile};
use crate::files::diff;
use mcp_revisions_schema::Error;
use mcp_revisions_schema::sorted::SortedSet;
use mcp_revisions_schema::spec::extensions::{FOLDER, SignInExtension};
use mcp_revisions_schema::spec::revisions::{RevisionRow, RevisionStage};
use mcp_revisions_schema::spec::rules::RuleFile;
use mcp_revisions_schema::spec::{
    ExtensionSpec, Revision, canonical, errors, methods, schema_name,
};

/// Maximum number of differing lines in a failure.
const SHOWN_LINES: usize = 10;

/// The facts that were checked, and hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The revisions, in order.
    pub revisions: Vec<String>,
    /// The extensions, in order.
    pub extensions: Vec<String>,
    /// Number of errata that apply.
    pub errata: usize,
    /// The schemas were compared with upstream files.
    pub upstream: bool,
    /// The drafts whose upstream file is another one by now, and the candidates that have none any more: not compared.
    pub moved_on: Vec<String>,
}

/// Checks each revision and each state of an extension: its schema is in canonical form, its errata apply, no directory is
/// unlisted, and the shared rules match what they speak of. With `upstream` (a directory of `<id>/schema.json`) also: digest
/// and canonical form are those of the upstream file, unless a draft has changed there since it was imported. The error has all
/// failures, not the first alone.
pub fn verify(dir: &Path, upstream: Option<&Path>) -> Result<Verified, Error> {
    let directory = SpecDirectory::read_existing(dir)?;
    let list = directory.list()?;
    let (order, rows) = directory.order()?;
    let all = directory.errata(&order)?;
    let mut failures = Vec::new();
    let mut errata = 0;
    let mut moved_on = Vec::new();
    for row in &rows {
        match Revision::load(&directory, &list, &rows, row, &all) {
            Ok(of) => {
                errata += of.errata.len();
                let import = format!("--revision {}", of.id);
                let name = schema_name(&of.id);
                failures.extend(in_canonical_form(&directory, &name, &of.raw, &import));
            }
            Err(error) => failures.push(error),
        }
        failures.extend(unconfirmed(&directory, &list, row));
        if let Some(upstream) = upstream {
            match as_upstream(&directory, row, upstream) {
                Some(unlike) => failures.extend(unlike),
                None => moved_on.push(row.id().to_owned()),
            }
        }
    }
    let spec = directory.spec();
    let states = spec.as_ref().ok().map(|spec| spec.extensions.as_slice());
    failures.extend(unlisted(&directory, &rows, states));
    let mut extensions = Vec::new();
    match spec {
        Ok(spec) => {
            for of in &spec.extensions {
                errata += of.errata.len();
                let import = format!("--extension {}@{}", of.folder, of.state);
                let name = of.schema_file();
                failures.extend(in_canonical_form(&directory, &name, &of.raw, &import));
                extensions.push(of.name.clone());
            }
            failures.extend(methods::MethodRules::read(&spec).err());
            failures.extend(errors::ErrorRules::read(&spec).err());
            failures.extend(SignInExtension::read(&spec).err());
        }
        // An error that is among the failures already is listed once.
        Err(error) => failures.push(error),
    }
    Error::check(failures)?;
    Ok(Verified {
        revisions: rows.iter().map(|row| row.id().to_owned()).collect(),
        extensions,
        errata,
        upstream: upstream.is_some(),
        moved_on,
    })
}

/// Returns errors for the facts that the row of a revision confirms and that do not hold, and for those that a release has not
/// confirmed.
fn unconfirmed(directory: &SpecDirectory, list: &RuleFile, row: &RevisionRow) -> Vec<Error> {
    let Some(confirmed) = &row.confirmed else {
        return Vec::new();
    };
    let id = row.id();
    let (all, open) = match (directory.facts(id), directory.unconfirmed(id)) {
        (Ok(all), Ok(open)) => (all, open),
        (Err(error), _) | (_, Err(error)) => return vec![error],
    };
    let told = |problem: String, help: String| {
        let offset = confirmed.span().start;
        list.error(offset, format!("revision `{id}`"), problem, "", help)
    };
    let stands = |name: &&str| all.iter().any(|fact| fact.as_str() == *name);
    let gone = row.confirmed().into_iter().filter(|name| !stands(name));
    let mut failures: Vec<Error> = (gone.map(|name| {
        let problem =
            format!("`{name}` is confirmed, and no fact of that name holds for this revision");
        told(problem, "take the name out of `confirmed`".to_owned())
    }))
    .collect();
    if row.status == RevisionStage::Released && !open.is_empty() {
        let names: Vec<&str> = open.iter().map(Fact::as_str).collect();
        let problem = format!(
            "{} facts hold for it by their ranges, and are not confirmed: {}",
            names.len(),
            names.join(", ")
        );
        let help = format!(
            "hold each against the pages of `{id}`, then: cargo xtask spec confirm {id} FACT..., with --drop if it does not hold"
        );
        failures.push(told(problem, help));
    }
    failures
}

fn in_canonical_form(
    directory: &SpecDirectory,
    name: &str,
    raw: &Value,
    import: &str,
) -> Option<Error> {
    let help = format!("import it again: cargo xtask spec import FILE {import}");
    unlike(directory, name, raw, "not in canonical form", &help)
}

/// Returns the error of a schema that is not the text of a canonical one.
fn unlike(
    directory: &SpecDirectory,
    name: &str,
    canonical: &Value,
    problem: &str,
    help: &str,
) -> Option<Error> {
    let found = directory.files.get(name)?;
    let wanted = canonical::to_text(canonical);
    (*found != wanted).then(|| {
        let problem = format!("{problem} (- as it is, + as it should be)");
        let lines = diff::lines(found, &wanted, SHOWN_LINES);
        Error::file(directory.path(name), problem, lines, help)
    })
}

/// Returns the differences of a schema from upstream's; `None` for a draft that upstream had on another day, since it changes there at
/// any time, and here when it is imported, and for a candidate whose folder went with its release.
fn as_upstream(
    directory: &SpecDirectory,
    row: &RevisionRow,
    upstream: &Path,
) -> Option<Vec<Error>> {
    let (id, name) = (row.id(), schema_name(row.id()));
    let path = upstream.join(&name);
    let place = path.display().to_string();
    let upstream = match UpstreamFile::read(&path) {
        Ok(upstream) => upstream,
        Err(Error::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound => {
            if row.status == RevisionStage::Candidate {
                return None;
            }
            let problem = format!("revision `{id}` has no upstream file");
            return Some(vec![Error::file(place, problem, "", "")]);
        }
        Err(error) => return Some(vec![error]),
    };
    let help = format!("cargo xtask spec import {place} --revision {id}");
    let mut failures = Vec::new();
    if upstream.sha256 != row.sha256() {
        let recorded = match row.sha256() {
            "" => "nothing",
            _ if row.is_draft() => return None,
            digest => digest,
        };
        let problem = format!("not the file that was imported as revision `{id}`");
        let found = &upstream.sha256;
        let digests = format!("sha256 recorded: {recorded}\nsha256 found:    {found}");
        failures.push(Error::file(place.as_str(), problem, digests, help.as_str()));
    }
    let problem = format!("not the canonical form of {place}");
    let canonical = &upstream.canonical;
    failures.extend(unlike(directory, &name, canonical, &problem, &help));
    Some(failures)
}

/// Returns the errors of schemas that no list has; `states` are those of the extensions, `None` where they cannot be read.
fn unlisted(
    directory: &SpecDirectory,
    rows: &[RevisionRow],
    states: Option<&[ExtensionSpec]>,
) -> Vec<Error> {
    let of_states = states.iter().flat_map(|all| all.iter());
    let listed: SortedSet<String> = (rows.iter().map(|row| schema_name(row.id())))
        .chain(of_states.map(ExtensionSpec::schema_file))
        .collect();
    let folder = format!("{FOLDER}/");
    let schemas = directory.files.keys();
    schemas
        .filter(|name| name.ends_with("/schema.json") && !listed.contains(*name))
        .filter_map(|name| {
            let problem = match (name.starts_with(&folder), states) {
                (false, _) => "a schema of a revision that revisions.toml does not list",
                (true, Some(_)) => "a schema of a state that no extension.toml lists",
                (true, None) => return None,
            };
            let help = "import it, or delete the directory";
            Some(Error::file(directory.path(name), problem, "", help))
        })
        .collect()
}
