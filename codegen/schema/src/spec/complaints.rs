//! What the readers of rule files complain of, as places: a fact that is tried, or a rule that nothing needs any more.

use super::{Files, Spec, errors, methods};
use crate::{Error, Problems};

/// Something wrong with a line of a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) file: String,
    pub(super) line: usize,
    /// The revision that it is about, where others of the line may be right.
    pub(super) revision: Option<String>,
    pub(super) problem: String,
}

/// What the readers of the rule files that name revisions say of them.
pub(super) fn complaints(root: &str, files: &Files) -> Vec<Complaint> {
    let Ok(spec) = Spec::load(root, files) else {
        return Vec::new();
    };
    let methods = methods::MethodRules::read(&spec).err();
    let errors = errors::ErrorRules::read(&spec).err();
    placed(methods.into_iter().chain(errors).collect())
}

/// Those errors that are about a line of a rule file.
pub(super) fn placed(errors: Vec<Error>) -> Vec<Complaint> {
    let mut found = Vec::new();
    for error in Problems::of(errors).iter().flat_map(Problems::iter) {
        if let Error::Rule {
            file,
            line,
            revision,
            problem,
            ..
        } = error
        {
            found.push(Complaint {
                file: file.to_string(),
                line: *line,
                revision: revision.as_deref().map(str::to_owned),
                problem: problem.to_string(),
            });
        }
    }
    found
}
