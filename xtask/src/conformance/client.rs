//! The client's side: the suite starts the conformance client, once a scenario, and serves it.
//!
//! All scenarios run, in each revision that has them, and those of extensions in the last one. Those of authorization have a
//! table of their own, with columns for 2025-03-26 and for extensions.

use mcp_revisions_schema::sorted::SortedSet;
use std::path::Path;

use anyhow::{Context, ensure};

use super::table::{Score, Scores};
use super::{ExampleSide, PROGRAMS, REVISIONS, Suite};
use crate::process::Built;
use crate::progress::ProgressLine;

/// The client that the suite tries.
const CLIENT: &str = "conformance_client";

/// How the scenarios of authorization begin.
const AUTHORIZATION: &str = "auth/";
/// The columns of their table: each revision of the suite, and its extensions, which run in the last one.
pub(super) const COLUMNS: [&str; 5] = [
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
    EXTENSIONS,
];
/// The column of scenarios that belong to no revision.
const EXTENSIONS: &str = "extensions";

/// Runs the scenarios; what they came to, and what was left out.
pub(super) fn run(suite: &Suite, only: Option<&str>) -> anyhow::Result<(Scores, Vec<String>)> {
    let built = Built::of(&format!("--package {PROGRAMS} --bin {CLIENT}"))?;
    let client = built.program(CLIENT)?;
    let mut scores = Scores::new();
    let mut notes = Vec::new();
    let is_run = |it: &String| !it.starts_with(AUTHORIZATION);
    let is_wanted = |it: &String| only.is_none_or(|only| only == it);
    let mut of_revisions = SortedSet::new();
    for revision in REVISIONS {
        let mut scenarios = suite.listed(ExampleSide::Client, &["--spec-version", revision])?;
        let all = scenarios.len();
        scenarios.retain(is_run);
        let left_out = all - scenarios.len();
        notes.push(format!(
            "not run of {revision}: {left_out} of authorization, in the next table"
        ));
        of_revisions.extend(scenarios.iter().cloned());
        scenarios.retain(is_wanted);
        let mut progress = ProgressLine::of(scenarios.len());
        for scenario in scenarios {
            progress.step(format_args!("{revision}: {scenario}"));
            let score = one(suite, &client, revision, &scenario, false)?;
            scores.entry(scenario).or_default().insert(revision, score);
        }
    }
    // Those of extensions belong to no revision: they run in the last one.
    let Some(last) = REVISIONS.last() else {
        return Ok((scores, notes));
    };
    let mut of_extensions = suite.listed(ExampleSide::Client, &["--client"])?;
    of_extensions.retain(|it| is_run(it) && is_wanted(it) && !of_revisions.contains(it));
    for scenario in of_extensions {
        let score = one(suite, &client, last, &scenario, true)?;
        scores.entry(scenario).or_default().insert(last, score);
    }
    Ok((scores, notes))
}

/// Runs the scenarios of authorization, each in all of its revisions.
pub(super) fn authorization(suite: &Suite, only: Option<&str>) -> anyhow::Result<Scores> {
    let built = Built::of(&format!("--package {PROGRAMS} --bin {CLIENT}"))?;
    let client = built.program(CLIENT)?;
    let mut scores = Scores::new();
    let is_run = |it: &String| it.starts_with(AUTHORIZATION) && only.is_none_or(|only| only == it);
    let mut of_revisions = SortedSet::new();
    for column in COLUMNS {
        let is_extension = column == EXTENSIONS;
        let mut listed = if is_extension {
            suite.listed(ExampleSide::Client, &["--client"])?
        } else {
            suite.listed(ExampleSide::Client, &["--spec-version", column])?
        };
        listed.retain(is_run);
        if is_extension {
            listed.retain(|it| !of_revisions.contains(it));
        }
        let revision = if is_extension {
            REVISIONS.last().copied().unwrap_or(column)
        } else {
            column
        };
        let mut progress = ProgressLine::of(listed.len());
        for scenario in listed {
            progress.step(format_args!("{column}: {scenario}"));
            let score = one(suite, &client, revision, &scenario, is_extension)?;
            of_revisions.insert(scenario.clone());
            scores.entry(scenario).or_default().insert(column, score);
        }
    }
    Ok(scores)
}

/// One scenario. What only warns, and a client that fails, count as failed, as they do with the suite.
fn one(
    suite: &Suite,
    client: &Path,
    revision: &str,
    scenario: &str,
    is_forced: bool,
) -> anyhow::Result<Score> {
    let results = suite.folder.join("results/client").join(revision);
    let mut command = suite.command();
    command
        .args(["client", "--scenario", scenario, "--spec-version", revision])
        .arg("--command")
        .arg(client);
    if is_forced {
        command.arg("--force");
    }
    let (output, written) = suite
        .checks(&mut command, &results.join(scenario))
        .context(scenario.to_owned())?;
    let mut score = Score::default();
    written.into_values().for_each(|one| score.add(one));
    ensure!(
        score.passed + score.failed.len() > 0,
        "{scenario}: the suite has checked nothing"
    );
    if !output.status.success() && score.failed.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        let mut lines = said.lines().map(str::trim);
        let why = lines
            .rfind(|line| line.contains("Warning:") || line.starts_with("Error"))
            .unwrap_or("it warns, or the client ended with an error");
        score.failed.push(why.to_owned());
    }
    Ok(score)
}
