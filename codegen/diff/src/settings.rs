//! Reads `diff.toml`: the levels of kinds of change, each with its reason.

use serde::Deserialize;
use toml::Spanned;

use super::Diff;
use super::kind::ChangeKind;
use super::verdict::ChangeLevel;
use mcp_revisions_schema::Error;
use mcp_revisions_schema::spec::Spec;

/// The decisions of `spec/diff.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiffSettings {
    #[serde(default)]
    severity: Vec<Spanned<KindLevel>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindLevel {
    kind: ChangeKind,
    level: ChangeLevel,
    reason: String,
}

impl DiffSettings {
    /// The name of the file below the spec directory.
    pub const FILE: &str = "diff.toml";

    /// Reads the decisions of a spec. Fails for an unknown kind or level, a row without a reason, and a second row of a kind.
    pub fn read(spec: &Spec) -> Result<Self, Error> {
        let file = spec.rules.get(Self::FILE);
        let settings: Self = file.parse()?;
        let mut errors = Vec::new();
        for (at, row) in settings.severity.iter().enumerate() {
            let KindLevel { kind, reason, .. } = row.get_ref();
            let mut fail = |problem: &str| {
                let label = format!("severity of `{kind}`");
                errors.push(file.error(row.span().start, label, problem, "", ""));
            };
            if reason.trim().is_empty() {
                fail("it has no reason");
            }
            let mut before = settings.severity[..at].iter();
            if before.any(|other| other.get_ref().kind == *kind) {
                fail("another row says it already");
            }
        }
        Error::check(errors)?;
        Ok(settings)
    }

    /// Sets the levels of the kinds that it decides.
    pub fn apply(&self, diff: &mut Diff) {
        for row in &mut diff.rows {
            let mut rules = self.severity.iter().map(Spanned::get_ref);
            let rule = rules.find(|rule| rule.kind == row.kind);
            if let Some(KindLevel { level, reason, .. }) = rule
                && row.level != *level
            {
                row.level = *level;
                row.level_reason = Some(reason.clone());
            }
        }
    }
}
