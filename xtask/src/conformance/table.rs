//! What scenarios came to, as a table, and whether all is as it was expected.

use mcp_revisions_schema::sorted::SortedMap;
use std::fmt::Write as _;

use mcp_revisions_diff::command::CommandOutcome;
use serde::Deserialize;
use serde_json::Value;

use crate::tally::Tally;

/// What scenarios came to, by revision.
pub(super) type Scores = SortedMap<String, SortedMap<&'static str, Score>>;

/// The failures that are expected.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectations {
    #[serde(default)]
    pub(super) expected: Vec<Expected>,
}

/// A failure that is expected, with its reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    pub(super) side: String,
    pub(super) scenario: String,
    pub(super) revision: String,
    pub(super) reason: String,
}

/// What a scenario came to: checks passed and failed, and which ones failed.
#[derive(Default)]
pub(super) struct Score {
    pub(super) passed: usize,
    pub(super) failed: Vec<String>,
}

impl Score {
    /// Counts the checks that the suite has written down.
    pub(super) fn count(&mut self, checks: &str) -> serde_json::Result<()> {
        let checks: Vec<Value> = serde_json::from_str(checks)?;
        for check in checks {
            match check["status"].as_str() {
                Some("SUCCESS") => self.passed += 1,
                Some("FAILURE") => {
                    let id = check["id"].as_str().unwrap_or("a check without a name");
                    self.failed.push(id.to_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds what another run of the scenario came to.
    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
    }
}

/// Returns the table, and whether all is as it was expected; `whole`: whether every scenario was run.
pub(super) fn judge(
    side: &str,
    revisions: &[&str],
    scores: &Scores,
    expected: &[&Expected],
    whole: bool,
) -> CommandOutcome {
    let heading = format!("{side}: scenario");
    let mut table = Tally::new(&[&heading], revisions);
    let mut totals = vec![(0, 0); revisions.len()];
    for (scenario, row) in scores {
        let _ = write!(table.text, "| {scenario} |");
        for (revision, total) in revisions.iter().zip(&mut totals) {
            let Some(score) = row.get(*revision) else {
                table.text.push_str(" |");
                continue;
            };
            let _ = write!(table.text, " {}/{} |", score.passed, score.failed.len());
            total.0 += score.passed;
            total.1 += score.failed.len();
            let is_it = |one: &&&Expected| one.scenario == *scenario && one.revision == **revision;
            let reason = expected.iter().find(is_it);
            match (reason, score.failed.is_empty()) {
                (Some(one), false) => {
                    let note = format!("{scenario}, {revision}: expected: {}", one.reason);
                    table.notes.insert(note);
                }
                (Some(_), true) => {
                    table.fail(format!("{scenario}, {revision}: passes, but is expected to fail: take it off xtask/conformance.toml"));
                }
                (None, false) => {
                    let failed = score.failed.join(", ");
                    table.fail(format!("{scenario}, {revision}: failed: {failed}"));
                }
                (None, true) => {}
            }
        }
        table.text.push('\n');
    }
    table.text.push_str("| all |");
    for (passed, failed) in totals {
        let _ = write!(table.text, " {passed}/{failed} |");
    }
    table.text.push('\n');
    for Expected {
        scenario, revision, ..
    } in expected.iter().filter(|_| whole)
    {
        let row = scores.get(scenario);
        if row.is_none_or(|row| !row.contains_key(revision.as_str())) {
            let why = "no such scenario was run: take it off xtask/conformance.toml";
            table.fail(format!("{scenario}, {revision}: {why}"));
        }
    }
    table.outcome()
}
