//! `cargo xtask conformance`: the official conformance suite against the conformance server and the example client.
//!
//! The suite and, where there is none new enough, Node come from the npm registry into a folder below target/. It needs
//! the network and is not a part of `cargo test`; without npm it is skipped, and the output says so.

mod client;
mod table;

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use mcp_revisions_diff::command::CommandOutcome;

use crate::process::{Built, RunningProcess, npm_install, output};
use crate::progress::ProgressLine;
use crate::replicas::{Balancer, RedisServer, SKIPPED};
use crate::workspace::root;
use table::{Expectations, Expected, Score, Scores};

/// The file with the checks of a scenario.
const CHECKS: &str = "checks.json";
/// The package of the programs that the suite tries, and its server.
const PROGRAMS: &str = "mcp-test-programs";
const SERVER: &str = "conformance_server";
/// The suite, as its package is named, and the version that the expectations were written for.
const SUITE: &str = "@modelcontextprotocol/conformance";
const VERSION: &str = "0.2.0-alpha.12";
/// The Node that the suite asks for.
const NODE: u32 = 22;
/// The revisions that the suite has scenarios of.
const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];
/// Its scenarios of servers for extensions, which belong to no revision: they run in the last one, which those rest on.
const EXTENSIONS: [&str; 13] = [
    "sep-2640-skills-directory",
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
    "tasks-capability-negotiation",
    "tasks-dispatch-and-envelope",
    "tasks-lifecycle",
    "tasks-mrtr-composition",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-request-state-removal",
    "tasks-required-task-error",
    "tasks-status-notifications",
    "tasks-wire-fields",
];

#[derive(Args)]
pub(crate) struct Arguments {
    /// Run only this scenario
    #[arg(long)]
    scenario: Option<String>,
    /// Start the server as three processes behind haproxy
    #[arg(long)]
    haproxy: bool,
    /// Run only the scenarios of this side
    #[arg(long, value_enum)]
    side: Option<ExampleSide>,
}

/// Which example the suite tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExampleSide {
    Server,
    Client,
}

impl ExampleSide {
    fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

/// The suite, installed.
struct Suite {
    folder: PathBuf,
    node: PathBuf,
}

impl Suite {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.node);
        command.arg((self.folder.join("node_modules").join(SUITE)).join("dist/index.js"));
        command
    }

    /// Runs a command of it that writes into a folder of its own; returns what it prints, and what its checks came to by
    /// the names of their folders.
    fn checks(
        &self,
        command: &mut Command,
        results: &Path,
    ) -> anyhow::Result<(Output, SortedMap<String, Score>)> {
        if results.exists() {
            std::fs::remove_dir_all(results)?;
        }
        let output = command
            .arg("--output-dir")
            .arg(results)
            .output()
            .with_context(|| format!("cannot run {}", self.node.display()))?;
        let folders = check_folders(results).with_context(|| {
            let why = String::from_utf8_lossy(&output.stderr);
            format!("the suite has written nothing: {}", why.trim())
        })?;
        let mut scores = SortedMap::new();
        for folder in folders {
            let checks = folder.join(CHECKS);
            let Ok(text) = std::fs::read_to_string(&checks) else {
                continue;
            };
            let mut score = Score::default();
            score
                .count(&text)
                .with_context(|| format!("cannot read {}", checks.display()))?;
            let name = folder.file_name().unwrap_or_default();
            scores.insert(name.to_string_lossy().into_owned(), score);
        }
        Ok((output, scores))
    }

    /// Returns the scenarios of a side that the suite lists.
    fn listed(&self, side: ExampleSide, arguments: &[&str]) -> anyhow::Result<SortedSet<String>> {
        let mut command = self.command();
        let output = command.arg("list").args(arguments).output()?;
        ensure!(
            output.status.success(),
            "the suite cannot list its scenarios of {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let heading = match side {
            ExampleSide::Server => "Server scenarios",
            ExampleSide::Client => "Client scenarios",
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines = text.lines();
        lines.find(|line| line.starts_with(heading));
        let of_side = lines.take_while(|line| !line.trim().is_empty());
        let names = of_side.filter_map(|line| line.trim().strip_prefix("- ")?.split(' ').next());
        Ok(names.map(str::to_owned).collect())
    }
}

/// Returns the folders of the checks of a run: a scenario with a slash in its name has its folder in another one.
fn check_folders(results: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(results)? {
        let folder = entry?.path();
        if folder.is_dir() && !folder.join(CHECKS).exists() {
            folders.extend(check_folders(&folder)?);
        } else {
            folders.push(folder);
        }
    }
    Ok(folders)
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<CommandOutcome> {
    let Expectations { expected } = expectations()?;
    let folder = root()?.join("target/conformance");
    let node = match install(&folder) {
        Ok(node) => node,
        Err(why) => return Ok(CommandOutcome::passed(format!("skipped: {why:#}\n"))),
    };
    let suite = Suite { folder, node };
    let only = arguments.scenario.as_deref();
    let mut outcome = CommandOutcome::passed(String::new());
    for side in [ExampleSide::Server, ExampleSide::Client] {
        if arguments.side.is_some_and(|wanted| wanted != side) {
            continue;
        }
        let (scores, notes) = match side {
            ExampleSide::Server if arguments.haproxy => match balanced(&suite, only)? {
                Some(scores) => (scores, Vec::new()),
                None => {
                    outcome.text.push_str(SKIPPED);
                    continue;
                }
            },
            ExampleSide::Server => {
                let (_server, url) = start(None)?;
                (scored(&suite, &url, only)?, Vec::new())
            }
            ExampleSide::Client => client::run(&suite, only)?,
        };
        let of_side = expected.iter().filter(|one| one.side == side.name());
        let expected: Vec<&Expected> = of_side.collect();
        let judged = table::judge(side.name(), &REVISIONS, &scores, &expected, only.is_none());
        outcome.text.push_str(&judged.text);
        for note in notes {
            outcome.text.push_str(&format!("- {note}\n"));
        }
        outcome.text.push('\n');
        outcome.passed &= judged.passed;
        if side == ExampleSide::Client {
            let scores = client::authorization(&suite, only)?;
            let columns = &client::COLUMNS;
            let judged = table::judge("authorization of clients", columns, &scores, &[], false);
            outcome.text.push_str(&judged.text);
            outcome.passed &= judged.passed;
        }
    }
    Ok(outcome)
}

/// Returns the server's side, against three processes behind haproxy; `None` without it, or without Redis.
fn balanced(suite: &Suite, only: Option<&str>) -> anyhow::Result<Option<Scores>> {
    let Some(redis) = RedisServer::start(&suite.folder) else {
        return Ok(None);
    };
    let servers: Vec<(RunningProcess, String)> = (0..3)
        .map(|_| start(Some(&redis)))
        .collect::<anyhow::Result<_>>()?;
    let urls: Vec<String> = servers.iter().map(|(_, url)| url.clone()).collect();
    let balancer = Balancer::start(&urls)?;
    let scores = balancer.map(|balancer| scored(suite, &balancer.url, only));
    scores.transpose()
}

/// Builds the example server, and starts it.
fn start(redis: Option<&RedisServer>) -> anyhow::Result<(RunningProcess, String)> {
    let features = redis.map_or("", |_| " --features redis");
    let built = Built::of(&format!("--package {PROGRAMS} --bin {SERVER}{features}"))?;
    let mut server = Command::new(built.program(SERVER)?);
    server.arg("0").args(redis.map(|redis| &redis.url));
    RunningProcess::listening(&mut server, None)
}

/// All scenarios of all revisions, against the server at a URL.
fn scored(suite: &Suite, url: &str, only: Option<&str>) -> anyhow::Result<Scores> {
    let mut scores = Scores::new();
    let mut progress = ProgressLine::of(REVISIONS.len());
    for revision in REVISIONS {
        progress.step(format_args!("scenarios of {revision}"));
        let only_extension = only.is_some_and(|only| EXTENSIONS.contains(&only));
        let mut all = if only_extension {
            SortedMap::new()
        } else {
            run_server(suite, url, revision, only)?
        };
        if REVISIONS.last() == Some(&revision) {
            let is_wanted = |scenario: &str| only.is_none_or(|only| only == scenario);
            for scenario in EXTENSIONS.into_iter().filter(|it| is_wanted(it)) {
                all.extend(run_server(suite, url, revision, Some(scenario))?);
            }
        }
        for (scenario, score) in all {
            scores.entry(scenario).or_default().insert(revision, score);
        }
    }
    Ok(scores)
}

/// Returns the list of the failures that are expected.
fn expectations() -> anyhow::Result<Expectations> {
    let path = root()?.join("xtask/conformance.toml");
    let place = path.display();
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {place}"))?;
    let all: Expectations =
        toml::from_str(&text).with_context(|| format!("cannot read {place}"))?;
    let is_said = |one: &Expected| !one.reason.trim().is_empty();
    let are_said = all.expected.iter().all(is_said);
    ensure!(are_said, "{place}: an [[expected]] without `reason`");
    Ok(all)
}

/// Installs the suite; the program that runs it.
fn install(folder: &Path) -> anyhow::Result<PathBuf> {
    output(Command::new("npm").arg("--version"))
        .context("there is no npm: install Node with npm, then run this again")?;
    eprintln!("installing {SUITE}@{VERSION}");
    npm_install(&format!("{SUITE}@{VERSION}"), folder)?;
    if newest_enough() {
        return Ok(PathBuf::from("node"));
    }
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win",
        other => other,
    };
    let package = format!("node-{os}-{arch}@{NODE}");
    eprintln!("installing {package}");
    let (folder, _) = npm_install(&package, folder)?;
    Ok(folder.join("bin/node"))
}

/// Returns whether the Node on the path is new enough.
fn newest_enough() -> bool {
    let version = output(Command::new("node").arg("--version")).unwrap_or_default();
    let mut numbers = version.trim_start_matches('v').split('.');
    let major = numbers.next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= NODE)
}

/// Runs the scenarios of servers that the suite has in a revision, or one of them, and reads what it has written.
fn run_server(
    suite: &Suite,
    url: &str,
    revision: &str,
    scenario: Option<&str>,
) -> anyhow::Result<SortedMap<String, Score>> {
    let mut command = suite.command();
    command.args(["server", "--url", url, "--spec-version", revision]);
    let mut expected = suite.listed(ExampleSide::Server, &["--spec-version", revision])?;
    match scenario {
        Some(scenario) if EXTENSIONS.contains(&scenario) => {
            expected = [scenario.to_owned()].into_iter().collect();
            command.args(["--scenario", scenario, "--force"])
        }
        Some(scenario) => {
            expected.retain(|it| it == scenario);
            command.args(["--scenario", scenario])
        }
        None => command.args(["--suite", "all"]),
    };
    if expected.is_empty() {
        return Ok(SortedMap::new());
    }
    let results = suite.folder.join("results").join(revision);
    let (output, written) = suite.checks(&mut command, &results)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let scores = by_scenario(&expected, written, &errors);
    // It fails if a check does; which ones stands in its files.
    ensure!(
        output.status.success() || scores.values().any(|score| !score.failed.is_empty()),
        "{revision}: the suite failed, and no check did: {}",
        errors.trim()
    );
    Ok(scores)
}

/// Returns the scores of scenarios by the folders that the suite has written; one without a folder has failed.
fn by_scenario(
    expected: &SortedSet<String>,
    written: SortedMap<String, Score>,
    errors: &str,
) -> SortedMap<String, Score> {
    let mut scores: SortedMap<String, Score> = SortedMap::new();
    for (folder, score) in written {
        scores.entry(scenario_of(&folder)).or_default().add(score);
    }
    for scenario in expected.iter() {
        scores.entry(scenario.clone()).or_insert_with(|| {
            let start = format!("Failed to run scenario {scenario}: ");
            let mut reasons = errors.lines().filter_map(|line| line.strip_prefix(&start));
            let why = reasons.next().unwrap_or("the suite wrote no checks");
            Score {
                passed: 0,
                failed: vec![why.to_owned()],
            }
        });
    }
    scores
}

/// Returns the scenario of a folder such as `server-ping-2026-01-01T00-00-00-000Z`.
fn scenario_of(folder: &str) -> String {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    // The name of a scenario may end with a date itself.
    let mut stamps = name.match_indices("-20").filter(|(index, _)| {
        let rest = name.get(*index..).unwrap_or_default();
        rest.get(5..6) == Some("-") && rest.get(11..12) == Some("T")
    });
    let stamp = stamps.next().and_then(|(index, _)| name.get(..index));
    stamp.unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Score, by_scenario};

    #[test]
    fn a_scenario_without_checks_has_failed() {
        let ran = Score {
            passed: 8,
            failed: Vec::new(),
        };
        let folder = "server-json-schema-2020-12-2026-11-28T17-20-42-791Z";
        let written = [(folder.to_owned(), ran)].into_iter().collect();
        let expected = ["json-schema-2020-12", "ping", "tools-list"].map(str::to_owned);
        let errors = "Failed to run scenario ping: TypeError: fetch failed\n    at node:internal\n";
        let scores = by_scenario(&expected.into_iter().collect(), written, errors);
        let found: Vec<(&str, usize, Vec<&str>)> = (scores.iter())
            .map(|(name, score)| {
                let failed = score.failed.iter().map(String::as_str);
                (name.as_str(), score.passed, failed.collect())
            })
            .collect();
        let expected = [
            ("json-schema-2020-12", 8, vec![]),
            ("ping", 0, vec!["TypeError: fetch failed"]),
            ("tools-list", 0, vec!["the suite wrote no checks"]),
        ];
        assert_eq!(found, expected);
    }
}
