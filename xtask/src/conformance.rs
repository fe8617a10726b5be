//! `cargo xtask conformance`: the official conformance suite against the example server.
//!
//! The suite and, where there is none new enough, Node come from the npm registry into a folder below target/. It needs
//! the network and is no part of `cargo test`; without npm it is skipped, and the output says so.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde_json::Value;
use toml::Table;

use mcp_codegen::command::Outcome;

/// The suite, as its package is named, and the version that the expectations were written for.
const SUITE: &str = "@modelcontextprotocol/conformance";
const VERSION: &str = "0.2.0-alpha.12";
/// The Node that the suite asks for.
const NODE: u32 = 22;
/// The revisions that the suite has scenarios of.
const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

#[derive(Args)]
pub(crate) struct Arguments {
    /// One scenario alone
    #[arg(long)]
    scenario: Option<String>,
}

/// A failure that is expected, with its reason.
struct Expected {
    scenario: String,
    revision: String,
    reason: String,
}

/// What a scenario came to: checks passed and failed, and which ones failed.
#[derive(Default)]
struct Score {
    passed: usize,
    failed: Vec<String>,
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
    let server = Server::start(&workspace)?;
    let mut scores: BTreeMap<String, BTreeMap<&str, Score>> = BTreeMap::new();
    for revision in REVISIONS {
        eprintln!("{revision}: running");
        let found = suite(
            &folder,
            &node,
            &server.url,
            revision,
            arguments.scenario.as_deref(),
        )?;
        for (scenario, score) in found {
            scores.entry(scenario).or_default().insert(revision, score);
        }
    }
    Ok(judge(&scores, &expected, arguments.scenario.is_none()))
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
    fn start(workspace: &Path) -> anyhow::Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut child = Command::new(cargo)
            .args([
                "run",
                "--quiet",
                "-p",
                "mcp-revisions",
                "--features",
                "http",
                "--example",
                "conformance_server",
            ])
            .args(["--", "0"])
            .current_dir(workspace)
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the example server")?;
        let stdout = child
            .stdout
            .take()
            .context("the example server has no output")?;
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url)?;
        let url = url.trim().to_owned();
        let server = Self { child, url };
        ensure!(
            server.url.starts_with("http://"),
            "the example server did not say where it listens"
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
fn suite(
    folder: &Path,
    node: &Path,
    url: &str,
    revision: &str,
    scenario: Option<&str>,
) -> anyhow::Result<BTreeMap<String, Score>> {
    let results = folder.join("results").join(revision);
    if results.exists() {
        std::fs::remove_dir_all(&results)?;
    }
    let mut command = Command::new(node);
    command
        .arg(
            folder
                .join("node_modules")
                .join(SUITE)
                .join("dist/index.js"),
        )
        .args(["server", "--url", url, "--spec-version", revision])
        .arg("--output-dir")
        .arg(&results);
    match scenario {
        Some(scenario) => command.args(["--scenario", scenario]),
        None => command.args(["--suite", "all"]),
    };
    // It fails if a check does; which ones stands in its files.
    let output = command
        .output()
        .with_context(|| format!("cannot run {}", node.display()))?;
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
        let checks: Vec<Value> = serde_json::from_str(&text)
            .with_context(|| format!("cannot read {}", checks.display()))?;
        for check in checks {
            match check["status"].as_str() {
                Some("SUCCESS") => score.passed += 1,
                Some("FAILURE") => {
                    let id = check["id"].as_str().unwrap_or("a check without a name");
                    score.failed.push(id.to_owned());
                }
                _ => {}
            }
        }
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

/// The table, and whether all is as it was expected; `whole`: whether every scenario was run.
fn judge(
    scores: &BTreeMap<String, BTreeMap<&str, Score>>,
    expected: &[Expected],
    whole: bool,
) -> Outcome {
    let mut text = String::from("| scenario |");
    for revision in REVISIONS {
        let _ = write!(text, " {revision} |");
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(REVISIONS.len()));
    text.push('\n');
    let mut notes = BTreeSet::new();
    let mut totals = [(0, 0); REVISIONS.len()];
    let mut passed = true;
    for (scenario, row) in scores {
        let _ = write!(text, "| {scenario} |");
        for (revision, total) in REVISIONS.iter().zip(&mut totals) {
            let Some(score) = row.get(revision) else {
                text.push_str(" |");
                continue;
            };
            let _ = write!(text, " {}/{} |", score.passed, score.failed.len());
            total.0 += score.passed;
            total.1 += score.failed.len();
            let reason = expected
                .iter()
                .find(|one| one.scenario == *scenario && one.revision == *revision);
            match (reason, score.failed.is_empty()) {
                (Some(one), false) => {
                    notes.insert(format!("{scenario}, {revision}: expected: {}", one.reason));
                }
                (Some(_), true) => {
                    passed = false;
                    notes.insert(format!("{scenario}, {revision}: passes, but is expected to fail: take it off xtask/conformance.toml"));
                }
                (None, false) => {
                    passed = false;
                    notes.insert(format!(
                        "{scenario}, {revision}: failed: {}",
                        score.failed.join(", ")
                    ));
                }
                (None, true) => {}
            }
        }
        text.push('\n');
    }
    text.push_str("| all |");
    for (passed, failed) in totals {
        let _ = write!(text, " {passed}/{failed} |");
    }
    text.push_str("\n\n");
    for one in expected.iter().filter(|_| whole) {
        if !scores
            .get(&one.scenario)
            .is_some_and(|row| row.contains_key(one.revision.as_str()))
        {
            passed = false;
            notes.insert(format!(
                "{}, {}: no such scenario was run: take it off xtask/conformance.toml",
                one.scenario, one.revision
            ));
        }
    }
    for note in notes {
        let _ = writeln!(text, "- {note}");
    }
    Outcome { text, passed }
}
