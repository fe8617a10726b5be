//! `cargo xtask conformance`: the official conformance suite against the conformance server and the example client.
//!
//! The suite and, where there is none new enough, Node come from the npm registry into a folder below target/. It needs
//! the network and is no part of `cargo test`; without npm it is skipped, and the output says so.

mod client;
mod table;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use toml::Table;

use crate::progress::Progress;
use mcp_schema::command::Outcome;

use crate::replicas::{Balancer, Redis};
use table::{Expected, Score, Scores};

/// The suite, as its package is named, and the version that the expectations were written for.
const SUITE: &str = "@modelcontextprotocol/conformance";
const VERSION: &str = "0.2.0-alpha.12";
/// The Node that the suite asks for.
const NODE: u32 = 22;
/// The revisions that the suite has scenarios of.
const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];
/// Its scenarios of the extension of tasks, which belong to no revision: they run in the last one, which that rests on.
const TASKS: [&str; 10] = [
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
    /// Run the server as this many replicas, of which each request gets the next one [default: 1]
    ///
    /// They share a Redis server if `redis-server` is on the PATH, else memory.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    replicas: u32,
    /// Start each of three replicas as a process of its own, behind haproxy
    #[arg(long, conflicts_with = "replicas")]
    haproxy: bool,
    /// Run only the scenarios of this side
    #[arg(long, value_enum)]
    side: Option<Side>,
}

/// Which example the suite tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Side {
    Server,
    Client,
}

impl Side {
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
    /// A command of it.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.node);
        command.arg((self.folder.join("node_modules").join(SUITE)).join("dist/index.js"));
        command
    }
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let expected = expectations(&workspace.join("xtask/conformance.toml"))?;
    let folder = workspace.join("target/conformance");
    let node = match install(&folder) {
        Ok(node) => node,
        Err(why) => {
            let text = format!("skipped: {why:#}\n");
            return Ok(Outcome { text, passed: true });
        }
    };
    let suite = Suite { folder, node };
    let only = arguments.scenario.as_deref();
    let mut outcome = Outcome {
        text: String::new(),
        passed: true,
    };
    for side in [Side::Server, Side::Client] {
        if arguments.side.is_some_and(|wanted| wanted != side) {
            continue;
        }
        let (scores, notes) = match side {
            Side::Server if arguments.haproxy => match balanced(&workspace, &suite, only)? {
                Some(scores) => (scores, Vec::new()),
                None => {
                    let missing = "skipped: haproxy and redis-server have to be on the PATH (apt-get install haproxy redis-server)\n";
                    outcome.text.push_str(missing);
                    continue;
                }
            },
            Side::Server => (
                served(&workspace, &suite, only, arguments.replicas)?,
                Vec::new(),
            ),
            Side::Client => client::run(&workspace, &suite, only)?,
        };
        let of_side = expected.iter().filter(|one| one.side == side.name());
        let expected: Vec<&Expected> = of_side.collect();
        let judged = table::judge(side.name(), &scores, &expected, only.is_none());
        outcome.text.push_str(&judged.text);
        for note in notes {
            outcome.text.push_str(&format!("- {note}\n"));
        }
        outcome.text.push('\n');
        outcome.passed &= judged.passed;
    }
    Ok(outcome)
}

/// The server's side: all scenarios of all revisions.
fn served(
    workspace: &Path,
    suite: &Suite,
    only: Option<&str>,
    replicas: u32,
) -> anyhow::Result<Scores> {
    let redis = match replicas {
        0 | 1 => None,
        _ => Redis::start(&suite.folder),
    };
    if replicas > 1 && redis.is_none() {
        eprintln!("redis-server is not on the PATH: the replicas share memory");
    }
    let server = Server::start(workspace, replicas, redis.as_ref())?;
    scored(suite, &server.url, only)
}

/// The server's side, against three processes behind haproxy; `None` without it, or without Redis.
fn balanced(workspace: &Path, suite: &Suite, only: Option<&str>) -> anyhow::Result<Option<Scores>> {
    let Some(redis) = Redis::start(&suite.folder) else {
        return Ok(None);
    };
    let servers = (0..3).map(|_| Server::start(workspace, 1, Some(&redis)));
    let servers: Vec<Server> = servers.collect::<anyhow::Result<_>>()?;
    let urls: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    match Balancer::start(workspace, &urls)? {
        Some(balancer) => {
            let url = format!("http://{}/mcp", balancer.address);
            scored(suite, &url, only).map(Some)
        }
        None => Ok(None),
    }
}

/// All scenarios of all revisions, against the server at a URL.
fn scored(suite: &Suite, url: &str, only: Option<&str>) -> anyhow::Result<Scores> {
    let mut scores = Scores::new();
    let mut progress = Progress::of(REVISIONS.len());
    for revision in REVISIONS {
        progress.step(format_args!("scenarios of {revision}"));
        let only_tasks = only.is_some_and(|only| TASKS.contains(&only));
        let mut all = match only_tasks {
            true => BTreeMap::new(),
            false => run_server(suite, url, revision, only)?,
        };
        if REVISIONS.last() == Some(&revision) {
            let is_wanted = |scenario: &str| only.is_none_or(|only| only == scenario);
            for scenario in TASKS.into_iter().filter(|it| is_wanted(it)) {
                all.extend(run_server(suite, url, revision, Some(scenario))?);
            }
        }
        for (scenario, score) in all {
            scores.entry(scenario).or_default().insert(revision, score);
        }
    }
    Ok(scores)
}

/// The list of the failures that are expected.
fn expectations(path: &Path) -> anyhow::Result<Vec<Expected>> {
    let place = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {place}"))?;
    let table: Table = text
        .parse()
        .with_context(|| format!("cannot read {place}"))?;
    let rows = table.get("expected").and_then(toml::Value::as_array);
    let expected = rows.into_iter().flatten().map(|row| {
        let member = |name: &str| {
            let text = row
                .get(name)
                .and_then(toml::Value::as_str)
                .filter(|text| !text.trim().is_empty());
            text.map(str::to_owned)
                .with_context(|| format!("{place}: an [[expected]] without `{name}`"))
        };
        Ok(Expected {
            side: member("side")?,
            scenario: member("scenario")?,
            revision: member("revision")?,
            reason: member("reason")?,
        })
    });
    expected.collect()
}

/// Installs the suite; the program that runs it.
fn install(folder: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let mut packages = vec![format!("{SUITE}@{VERSION}")];
    let own = newest_enough();
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
    let package = format!("node-{os}-{arch}");
    if !own {
        packages.push(format!("{package}@{NODE}"));
    }
    let manifest = folder.join("package.json");
    if !manifest.exists() {
        std::fs::write(&manifest, "{\"private\": true}\n")?;
    }
    eprintln!("installing {}", packages.join(" "));
    let output = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--silent"])
        .args(&packages)
        .current_dir(folder)
        .output()
        .context("there is no npm: install Node with npm, then run this again")?;
    if !output.status.success() {
        bail!(
            "npm cannot install {}: {}",
            packages.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(match own {
        true => PathBuf::from("node"),
        false => folder.join("node_modules").join(package).join("bin/node"),
    })
}

/// Whether the Node on the path is new enough.
fn newest_enough() -> bool {
    let output = Command::new("node").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let major = text.ok().and_then(|text| {
        text.trim_start_matches('v')
            .split('.')
            .next()?
            .parse::<u32>()
            .ok()
    });
    major.is_some_and(|major| major >= NODE)
}

/// The example server, which ends with this.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(workspace: &Path, replicas: u32, redis: Option<&Redis>) -> anyhow::Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut child = Command::new(cargo)
            .args([
                "run",
                "--quiet",
                "-p",
                "mcp-test-programs",
                "--bin",
                "conformance_server",
            ])
            .args(redis.map(|_| ["--features", "redis"]).into_iter().flatten())
            .args(["--", "0", &replicas.to_string()])
            .args(redis.map(|redis| &redis.url))
            .current_dir(workspace)
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the conformance server")?;
        let stdout = child
            .stdout
            .take()
            .context("the conformance server has no output")?;
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url)?;
        let url = url.trim().to_owned();
        let server = Self { child, url };
        ensure!(
            server.url.starts_with("http://"),
            "the conformance server did not say where it listens"
        );
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the suite in a revision, and reads what it has written.
fn run_server(
    suite: &Suite,
    url: &str,
    revision: &str,
    scenario: Option<&str>,
) -> anyhow::Result<BTreeMap<String, Score>> {
    let results = suite.folder.join("results").join(revision);
    if results.exists() {
        std::fs::remove_dir_all(&results)?;
    }
    let mut command = suite.command();
    command
        .args(["server", "--url", url, "--spec-version", revision])
        .arg("--output-dir")
        .arg(&results);
    match scenario {
        Some(scenario) if TASKS.contains(&scenario) => {
            command.args(["--scenario", scenario, "--force"])
        }
        Some(scenario) => command.args(["--scenario", scenario]),
        None => command.args(["--suite", "all"]),
    };
    // It fails if a check does; which ones stands in its files.
    let output = command
        .output()
        .with_context(|| format!("cannot run {}", suite.node.display()))?;
    if !results.exists() {
        bail!(
            "the suite has written nothing: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for entry in std::fs::read_dir(&results)? {
        let path = entry?.path();
        let checks = path.join("checks.json");
        let Ok(text) = std::fs::read_to_string(&checks) else {
            continue;
        };
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let score = scores
            .entry(scenario_of(&name.unwrap_or_default()))
            .or_default();
        score
            .count(&text)
            .with_context(|| format!("cannot read {}", checks.display()))?;
    }
    Ok(scores)
}

/// The scenario of a folder such as `server-ping-2026-01-01T00-00-00-000Z`.
fn scenario_of(folder: &str) -> String {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    let stamp = name.char_indices().find(|&(index, _)| {
        let rest = name.get(index..).unwrap_or_default();
        rest.starts_with("-20") && rest.get(5..6) == Some("-") && rest.contains('T')
    });
    stamp
        .and_then(|(index, _)| name.get(..index))
        .unwrap_or(name)
        .to_owned()
}
