//! Entries of the rule files that a new schema has no use for, and how they are taken out.

use super::SpecDirectory;
use super::diagnostics::placed;
use super::facts::Left;
use super::sheet::{self, SheetEntry, at_line};
use mcp_revisions_schema::spec::SpecSources;
use mcp_revisions_schema::{Error, Models, SpecDiagnostic};

/// Returns names, shapes, unions and doc lines that no revision uses; empty if the revisions cannot be typed.
pub(super) fn needless(directory: &SpecDirectory) -> Result<Vec<NamedEntry>, Error> {
    let found = directory
        .spec()
        .ok()
        .and_then(|spec| Models::needless(&spec).ok());
    entries_of(directory, &placed(found.unwrap_or_default()))
}

/// An entry of a shared rule file, with a name for people.
pub(super) struct NamedEntry {
    file: String,
    entry: SheetEntry,
    /// The name of the entry, and its fault.
    left: Left,
}

/// Returns the entries that diagnostics are about.
pub(super) fn entries_of(
    directory: &SpecDirectory,
    diagnostics: &[SpecDiagnostic],
) -> Result<Vec<NamedEntry>, Error> {
    let mut found: Vec<NamedEntry> = Vec::new();
    for (file, text) in &directory.files {
        let path = directory.path(file);
        let here = || diagnostics.iter().filter(|one| *one.file == path);
        if here().next().is_none() {
            continue;
        }
        let entries = directory.entries(file)?;
        for diagnostic in here() {
            let line = diagnostic.line();
            let Some(entry) = line.and_then(|line| at_line(text, &entries, line)) else {
                continue;
            };
            let fact = format!("{file}: {}", entry.label());
            if !found.iter().any(|other| other.left.fact == fact) {
                let why = diagnostic.problem.to_string();
                found.push(NamedEntry {
                    file: file.clone(),
                    entry: entry.clone(),
                    left: Left { fact, why },
                });
            }
        }
    }
    Ok(found)
}

/// Takes entries out of their files until there are none to take: the end of one can leave another one without use.
pub(super) fn prune(
    directory: &mut SpecDirectory,
    gone: impl Fn(&SpecDirectory) -> Result<Vec<NamedEntry>, Error>,
) -> Result<Vec<Left>, Error> {
    let mut left = Vec::new();
    loop {
        let gone = gone(directory)?;
        if gone.is_empty() {
            return Ok(left);
        }
        without(directory, gone.iter().map(|one| (&one.file, &one.entry)))?;
        left.extend(gone.into_iter().map(|one| one.left));
    }
}

/// Takes entries out of their files.
fn without<'e>(
    directory: &mut SpecDirectory,
    gone: impl Iterator<Item = (&'e String, &'e SheetEntry)> + Clone,
) -> Result<(), Error> {
    let SpecSources { root, files } = &mut **directory;
    for (file, text) in files.iter_mut() {
        let own = gone
            .clone()
            .filter(|(of, _)| *of == file)
            .map(|(_, entry)| entry);
        if own.clone().next().is_some() {
            *text = sheet::without(&format!("{root}/{file}"), text, own)?;
        }
    }
    Ok(())
}
