//! Verify: that a spec directory is what import would make of the upstream files, and that its rules hold.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

use super::extensions::FOLDER;
use super::facts::{self, Fact};
use super::import::Upstream;
use super::revisions::{self, Row, Status};
use super::{
    Files, Revision, Spec, canonical, carried, collect, errors, methods, remove, revisions_file,
    root_of, schema_name,
};
use crate::Error;
use crate::files::diff;

/// How many differing lines a failure shows.
const SHOWN_LINES: usize = 10;

/// What was checked, and held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The revisions, in order.
    pub revisions: Vec<String>,
    /// The extensions, in order.
    pub extensions: Vec<String>,
    /// How many errata apply.
    pub errata: usize,
    /// The schemas were compared with upstream files.
    pub upstream: bool,
    /// The drafts whose upstream file is another one by now, and that were not compared with it.
    pub moved_on: Vec<String>,
}

/// Check each revision: its schema is in canonical form, its errata apply, no directory is unlisted, and the shared
/// rules match what they speak of.
/// With `upstream` (a directory of `<id>/schema.json`) also: digest and canonical form are those of the upstream file,
/// unless a draft has changed there since it was imported.
///
/// # Errors
/// All failures, not the first alone.
pub fn verify(dir: &Path, upstream: Option<&Path>) -> Result<Verified, Error> {
    let root = root_of(dir);
    let files = collect(dir)?;
    let list = revisions_file(&root, &files)?;
    let rows = revisions::read(&list)?;
    let mut failures = Vec::new();
    let mut errata = 0;
    let mut moved_on = Vec::new();
    for row in &rows {
        match Revision::load(&root, &files, &list, row) {
            Ok(revision) => {
                errata += revision.errata.len();
                let import = format!("--revision {}", revision.id);
                let name = schema_name(&revision.id);
                failures.extend(in_canonical_form(
                    &root,
                    &files,
                    &name,
                    &revision.raw,
                    &import,
                ));
            }
            Err(error) => failures.push(error),
        }
        failures.extend(unconfirmed(&root, &files, row));
        if let Some(upstream) = upstream {
            match has_moved_on(row, upstream) {
                true => moved_on.push(row.id().to_owned()),
                false => failures.extend(as_upstream(&root, &files, row, upstream)),
            }
        }
    }
    failures.extend(unlisted(&root, &files, &rows));
    let mut extensions = Vec::new();
    match Spec::load(&root, &files) {
        Ok(spec) => {
            for of in &spec.extensions {
                errata += of.errata.len();
                let import = format!("--extension {}", of.name);
                let name = format!("{FOLDER}/{}/schema.json", of.name);
                failures.extend(in_canonical_form(&root, &files, &name, &of.raw, &import));
                extensions.push(of.name.clone());
            }
            failures.extend(methods::MethodRules::read(&spec).err());
            failures.extend(errors::ErrorRules::read(&spec).err());
        }
        // What a revision has wrong is among the failures already.
        Err(error) if failures.is_empty() => failures.push(error),
        Err(_) => {}
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

/// What was carried over to a revision and is not there any more, and, of a released one, what nobody has confirmed.
fn unconfirmed(root: &str, files: &Files, row: &Row) -> Vec<Error> {
    let id = row.id();
    let (record, held) = match (
        remove::record(root, files, id),
        facts::held(root, files, id),
    ) {
        (Ok(Some(record)), Ok(held)) => (record, held),
        (Ok(None), _) => return Vec::new(),
        (Err(error), _) | (_, Err(error)) => return vec![error],
    };
    let file = format!("{root}/{}", carried::file_name(id));
    let stands = |fact: &&Fact| {
        held.iter().any(|held| held.fact == **fact) || files.contains_key(&format!("{fact}.toml"))
    };
    let told = |problem: String, help: String| Error::File {
        file: file.as_str().into(),
        problem: problem.into(),
        detail: "".into(),
        help: help.into(),
    };
    let (there, gone): (Vec<&Fact>, Vec<&Fact>) = record.facts.iter().partition(stands);
    let mut failures: Vec<Error> = gone
        .into_iter()
        .map(|fact| {
            told(
                format!(
                    "`{fact}` was carried over, and nothing of that name is said of `{id}` any more"
                ),
                format!("take the line out: cargo xtask spec confirm {id} {fact}"),
            )
        })
        .collect();
    if *row.status.get_ref() == Status::Released && !there.is_empty() {
        let names = there.iter().map(|fact| fact.as_str()).collect::<Vec<_>>();
        failures.push(told(
            format!(
                "{} facts of a released revision were carried over from `{}`, and nobody has confirmed them: {}",
                names.len(),
                record.from,
                names.join(", ")
            ),
            format!("hold each against the pages of `{id}`, then: cargo xtask spec confirm {id} FACT..., with --drop if it does not hold"),
        ));
    }
    failures
}

fn in_canonical_form(
    root: &str,
    files: &Files,
    name: &str,
    raw: &Value,
    import: &str,
) -> Option<Error> {
    let found = files.get(name)?;
    let wanted = canonical::to_text(raw);
    (*found != wanted).then(|| Error::File {
        file: format!("{root}/{name}").into(),
        problem: "not in canonical form (- as it is, + as it should be)".into(),
        detail: diff::lines(found, &wanted, SHOWN_LINES).into(),
        help: format!("import it again: cargo xtask spec import FILE {import}").into(),
    })
}

/// Whether a draft is what upstream had on another day: it changes there at any time, and here when it is imported.
fn has_moved_on(row: &Row, upstream: &Path) -> bool {
    let path = upstream.join(schema_name(row.id()));
    *row.status.get_ref() == Status::Draft
        && !row.sha256().is_empty()
        && Upstream::read(&path).is_ok_and(|file| file.sha256 != row.sha256())
}

fn as_upstream(root: &str, files: &Files, row: &Row, upstream: &Path) -> Vec<Error> {
    let name = schema_name(row.id());
    let path = upstream.join(&name);
    let upstream = match Upstream::read(&path) {
        Ok(upstream) => upstream,
        Err(Error::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound => {
            return vec![Error::File {
                file: path.display().to_string().into(),
                problem: format!("revision `{}` has no upstream file", row.id()).into(),
                detail: "".into(),
                help: "".into(),
            }];
        }
        Err(error) => return vec![error],
    };
    let help = || {
        format!(
            "cargo xtask spec import {} --revision {}",
            path.display(),
            row.id()
        )
        .into()
    };
    let mut failures = Vec::new();
    if upstream.sha256 != row.sha256() {
        let recorded = if row.sha256().is_empty() {
            "nothing"
        } else {
            row.sha256()
        };
        failures.push(Error::File {
            file: path.display().to_string().into(),
            problem: format!("not the file that was imported as revision `{}`", row.id()).into(),
            detail: format!(
                "sha256 recorded: {recorded}\nsha256 found:    {}",
                upstream.sha256
            )
            .into(),
            help: help(),
        });
    }
    let wanted = canonical::to_text(&upstream.canonical);
    if let Some(found) = files.get(&name).filter(|found| **found != wanted) {
        failures.push(Error::File {
            file: format!("{root}/{name}").into(),
            problem: format!(
                "not the canonical form of {} (- as it is, + as it should be)",
                path.display()
            )
            .into(),
            detail: diff::lines(found, &wanted, SHOWN_LINES).into(),
            help: help(),
        });
    }
    failures
}

fn unlisted(root: &str, files: &Files, rows: &[Row]) -> Vec<Error> {
    let schemas = files
        .keys()
        .filter_map(|name| name.strip_suffix("/schema.json"));
    let extension = |id: &&str| id.starts_with(&format!("{}/", FOLDER));
    schemas
        .filter(|id| rows.iter().all(|row| row.id() != *id) && !extension(id))
        .map(|id| Error::File {
            file: format!("{root}/{id}/schema.json").into(),
            problem: "a schema of a revision that revisions.toml does not list".into(),
            detail: "".into(),
            help: "import it, or delete the directory".into(),
        })
        .collect()
}
