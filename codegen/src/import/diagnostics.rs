//! Diagnostics about lines of rule files: facts that do not hold, and rules that nothing needs anymore.

use super::SpecDirectory;
use mcp_revisions_schema::error::FaultKind;
use mcp_revisions_schema::spec::{ERRATA, REVISIONS, errata, errors, methods};
use mcp_revisions_schema::{Error, FileLocation, SpecDiagnostic};

/// Returns the diagnostics of the rule files that name revisions.
pub(super) fn diagnostics(directory: &SpecDirectory) -> Vec<SpecDiagnostic> {
    let spec = match directory.spec() {
        Ok(spec) => spec,
        Err(error) => return placed(vec![error]),
    };
    let methods = methods::MethodRules::read(&spec).err();
    let errors = errors::ErrorRules::read(&spec).err();
    placed(methods.into_iter().chain(errors).collect())
}

/// Returns diagnostics for the facts that begin before a draft, do not hold for it, and are skipped there.
pub(super) fn passed_over(directory: &SpecDirectory, draft: &str) -> Vec<SpecDiagnostic> {
    let Ok(spec) = directory.spec() else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    if let Ok(revision) = spec.revision(draft) {
        let errata = directory.errata(&spec.rules.order).unwrap_or_default();
        let file = directory.file(ERRATA);
        let applied = errata::apply(&revision.raw, &errata, &file, draft, revision.status);
        errors.extend(applied.into_iter().flat_map(|applied| applied.passed));
    }
    errors.extend(methods::MethodRules::read_all(&spec).map_or(Vec::new(), |(_, passed)| passed));
    errors.extend(errors::ErrorRules::read_all(&spec).map_or(Vec::new(), |(_, passed)| passed));
    let mut found = placed(errors);
    found.retain(|one| one.revision.as_deref() == Some(draft));
    found
}

/// Returns the diagnostics of the errors that are about a line of a rule file.
pub(super) fn placed(errors: Vec<Error>) -> Vec<SpecDiagnostic> {
    let list = format!("/{REVISIONS}");
    let is_placed = |of: &SpecDiagnostic| {
        let line = matches!(of.place, FileLocation::Line(_));
        line && of.fault == FaultKind::Input && !of.file.ends_with(&list)
    };
    let errors = Error::of(errors).into_iter().flatten();
    let diagnostics = errors.filter_map(|error| match error {
        Error::Wrong(of) => Some(*of),
        _ => None,
    });
    diagnostics.filter(is_placed).collect()
}
