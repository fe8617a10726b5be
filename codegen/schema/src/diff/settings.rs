//! `diff.toml`: how bad a kind of change is held to be, and rows that are set aside, each with its reason.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::Diff;
use super::kind::ChangeKind;
use super::row::DiffRow;
use super::verdict::ChangeLevel;
use crate::Error;
use crate::spec::Spec;
use crate::spec::rules::RuleFile;

/// The decisions of `spec/diff.toml`.
#[derive(Debug, Default)]
pub struct DiffSettings {
    file: RuleFile,
    rows: DiffTables,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiffTables {
    #[serde(default)]
    severity: Vec<Spanned<KindLevel>>,
    #[serde(default)]
    ignore: Vec<Spanned<Ignore>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindLevel {
    kind: ChangeKind,
    level: ChangeLevel,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ignore {
    /// The pair that it holds for; `*` for any file or revision.
    between: [String; 2],
    kind: Option<ChangeKind>,
    path: Option<String>,
    fingerprint: Option<String>,
    reason: String,
}

/// A row that was set aside.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IgnoredChange {
    /// The row.
    pub row: DiffRow,
    /// Why.
    pub reason: String,
}

impl DiffSettings {
    /// The name of the file below the spec directory.
    pub const FILE: &str = "diff.toml";

    /// Reads the decisions of a spec.
    ///
    /// # Errors
    /// An unknown kind or level, and a rule that says too little.
    pub fn read(spec: &Spec) -> Result<Self, Error> {
        let file = spec.rules.get(Self::FILE);
        let rows: DiffTables = file.parse()?;
        let mut errors = Vec::new();
        for (at, row) in rows.severity.iter().enumerate() {
            let KindLevel { kind, reason, .. } = row.get_ref();
            let mut fail = |problem: &str| {
                let label = format!("severity of `{kind}`");
                errors.push(file.error(row.span().start, label, problem, "", ""));
            };
            if reason.trim().is_empty() {
                fail("it has no reason");
            }
            let mut before = rows.severity[..at].iter();
            if before.any(|other| other.get_ref().kind == *kind) {
                fail("another row says it already");
            }
        }
        for row in &rows.ignore {
            let ignore = row.get_ref();
            let mut fail = |problem: &str, help: &str| {
                errors.push(file.error(row.span().start, ignore.label(), problem, "", help));
            };
            if ignore.reason.trim().is_empty() {
                fail("it has no reason", "");
            }
            if ignore.kind.is_none() && ignore.path.is_none() && ignore.fingerprint.is_none() {
                let help = "give a kind, a path or a fingerprint";
                fail("it would set everything aside", help);
            }
            for id in ignore.between.iter().filter(|id| *id != "*") {
                if let Err(error) = spec.revision(id) {
                    fail(&error.to_string(), "give ids of revisions, or `*` for any");
                }
            }
        }
        Error::check(errors)?;
        Ok(Self { file, rows })
    }

    /// Sets levels and puts aside what is to be ignored.
    ///
    /// # Errors
    /// Each ignore of this pair that matches nothing; not in a comparison without errata.
    pub fn apply(&self, diff: &mut Diff) -> Result<(), Error> {
        for row in &mut diff.rows {
            let mut rules = self.rows.severity.iter().map(Spanned::get_ref);
            let rule = rules.find(|rule| rule.kind == row.kind);
            if let Some(KindLevel { level, reason, .. }) = rule
                && row.level != *level
            {
                row.level = *level;
                row.level_reason = Some(reason.clone());
            }
        }
        let mut errors = Vec::new();
        for rule in &self.rows.ignore {
            let ignore = rule.get_ref();
            if !ignore.is_about(&diff.old, &diff.new) {
                continue;
            }
            let reason = |row: &DiffRow| ignore.matches(row).then(|| ignore.reason.clone());
            if !diff.set_aside(reason) && !diff.raw {
                errors.push(self.file.error(
                    rule.span().start,
                    ignore.label(),
                    format!("it matches no row between {} and {}", diff.old, diff.new),
                    ignore.reason.as_str(),
                    "the change is gone or reads otherwise now: remove the ignore, or mend it",
                ));
            }
        }
        Error::check(errors)
    }
}

impl Ignore {
    fn label(&self) -> String {
        let [old, new] = &self.between;
        let what: Vec<&str> = [
            self.kind.map(ChangeKind::id),
            self.path.as_deref(),
            self.fingerprint.as_deref(),
        ]
        .into_iter()
        .flatten()
        .collect();
        format!("ignore `{}` between {old} and {new}", what.join(" "))
    }

    fn is_about(&self, old: &str, new: &str) -> bool {
        let [from, to] = &self.between;
        (from == "*" || from == old) && (to == "*" || to == new)
    }

    fn matches(&self, row: &DiffRow) -> bool {
        let has = |path: &String| row.paths.iter().any(|is| is.to_string() == *path);
        self.kind.is_none_or(|kind| kind == row.kind)
            && (self.fingerprint.as_ref()).is_none_or(|id| *id == row.fingerprint)
            && self.path.as_ref().is_none_or(has)
    }
}
