//! Everything that is open in a spec, as one list: what an import leads to.

use mcp_revisions_plans::plan_pair;
use mcp_revisions_schema::decision::Decision;
use mcp_revisions_schema::spec::extensions::FOLDER;
use mcp_revisions_schema::{Error, Models, Spec, Undocumented};

/// The decisions, lines and mends that a spec lacks.
#[derive(Debug, Default)]
pub struct SpecGaps {
    /// Decisions, each once; a draft takes a safe answer for its own until they are made.
    pub decisions: Vec<Decision>,
    /// Definitions without a doc line, by revision and extension.
    pub undocumented: Vec<Undocumented>,
    /// The other problems, each once.
    pub problems: Vec<Error>,
}

impl SpecGaps {
    /// Returns the gaps of a spec.
    pub fn of(spec: &Spec) -> Self {
        let mut open = Self::default();
        let models = match Models::and_idle(spec) {
            Ok((models, idle)) => {
                open.problems = idle;
                models
            }
            Err(errors) => {
                open.take(errors);
                return open;
            }
        };
        let revisions = models.revisions.iter().flat_map(|of| &of.decisions);
        let extensions = models.extensions.iter().flat_map(|of| &of.decisions);
        open.decisions = revisions.chain(extensions).cloned().collect();
        for pair in models.all_pairs() {
            match plan_pair(&models, &pair, spec.rules.get(&pair.file())) {
                Ok(plan) => open.decisions.extend(plan.open),
                Err(errors) => open.take(errors),
            }
        }
        open.decisions.sort();
        open.decisions.dedup();
        let (undocumented, unused) = models.doc_gaps();
        open.problems.extend(unused);
        // A draft that is a release is documented there.
        let is_told_elsewhere = |id: &str| {
            spec.revision(id).is_ok_and(|mine| {
                let mut all = spec.revisions.iter();
                let first = all.find(|other| other.schema == mine.schema);
                first.is_some_and(|first| first.id != id)
            })
        };
        open.undocumented = (undocumented.into_iter())
            .filter(|one| !one.missing.is_empty() && !is_told_elsewhere(&one.of))
            .collect();
        open
    }

    /// Keeps what is settled in the folder of an extension.
    pub fn of_extension(mut self, name: &str) -> Self {
        let folder = format!("{FOLDER}/{name}/");
        let is_own = |file: &str| file.starts_with(&folder);
        self.decisions.retain(|one| is_own(&one.settle.file));
        self.undocumented.retain(|one| is_own(&one.file));
        self
    }

    /// Returns whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty() && self.undocumented.is_empty() && self.problems.is_empty()
    }

    fn take(&mut self, errors: Error) {
        for error in errors {
            match error {
                Error::Open(decision) => self.decisions.push(*decision),
                other => self.problems.push(other),
            }
        }
    }
}
