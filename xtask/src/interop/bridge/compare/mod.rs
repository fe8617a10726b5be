//! Popular servers alone and behind `mcp-rev bridge`: one scripted client of no SDK does the same with both, in several
//! revisions, and what differs must stand in the loss log.

mod difference;
mod servers;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use mcp_revisions_schema::sorted::SortedMap;
use serde_json::Value;

use super::Programs;
use super::servers::free_port;
use crate::interop::run::told;
use crate::process::RunningProcess;
use crate::tally::Tally;
use crate::workspace::root;
use servers::PopularServer;

/// The revisions that the scripted client speaks.
const CLIENTS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

/// The steps of one session, and the lines of the loss log that belong to it.
struct ComparedSession {
    steps: Vec<Value>,
    losses: Vec<Value>,
}

/// Compares the servers whose name starts with one of these, or all, and adds a row for each to the table.
pub(super) fn run(
    names: &[String],
    programs: &Programs,
    revisions: &[&str],
    table: &mut Tally,
) -> anyhow::Result<()> {
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|one| name.starts_with(one));
    for source in servers::ALL.iter().filter(|one| is_wanted(one.name)) {
        let server = match servers::install(source, &programs.folder) {
            Ok(server) => server,
            Err(why) => {
                (table.notes).insert(format!("{} was skipped: {why:#}", source.name));
                continue;
            }
        };
        for channel in server.channels() {
            let alone = direct(&server, programs, channel)?;
            if alone.is_empty() {
                table.fail(format!("{}, {channel}: it answers no client", server.name));
            }
            // Its own choice, and each revision that the server has.
            let spoken: Vec<&str> = alone.keys().map(String::as_str).collect();
            let forced = spoken.iter().map(|one| Some(*one));
            let upstreams = forced.filter(|_| !server.is_late());
            for upstream in std::iter::once(None).chain(upstreams) {
                let name = format!("{} {}", server.name, server.version);
                let speaks = upstream.unwrap_or("by itself");
                let _ = write!(
                    table.text,
                    "| scripted, server speaks {speaks} | {name} | {channel} |"
                );
                for revision in revisions {
                    if !CLIENTS.contains(revision) {
                        table.text.push_str(" - |");
                        continue;
                    }
                    let cell = format!("{name}, {channel}, {revision} before {speaks}");
                    let bridged = bridged(&server, programs, channel, revision, upstream)?;
                    let nearest = upstream.or_else(|| nearest(&spoken, revision));
                    let direct = nearest.and_then(|one| alone.get(one).map(|it| (one, it)));
                    let faults = match direct {
                        Some((one, direct)) => {
                            difference::faults(direct, &bridged, *revision == one)
                        }
                        None => vec!["nothing to compare it with".to_owned()],
                    };
                    eprintln!("{cell}: {} differences", faults.len());
                    table.text.push_str(if faults.is_empty() {
                        " ok |"
                    } else {
                        " **differs** |"
                    });
                    for fault in faults {
                        table.fail(format!("{cell}: {fault}"));
                    }
                }
                table.text.push('\n');
            }
        }
    }
    Ok(())
}

/// Returns the revision that a bridge chooses: that of the client, else the latest that the server has.
fn nearest<'a>(spoken: &[&'a str], revision: &str) -> Option<&'a str> {
    let same = spoken.iter().find(|one| **one == revision);
    same.or(spoken.last()).copied()
}

/// Returns the steps of the client with the server alone, in each revision that the server has.
fn direct(
    server: &PopularServer,
    programs: &Programs,
    channel: &str,
) -> anyhow::Result<SortedMap<String, Vec<Value>>> {
    let mut alone = SortedMap::new();
    for revision in CLIENTS {
        let steps = match channel {
            "http" => {
                let (_server, url) = server.listen(free_port()?)?;
                client(server, programs, revision, channel, &[url])?
            }
            _ => client(server, programs, revision, "stdio", &server.stdio)?,
        };
        let connected = steps.first().map(|step| &step["result"]);
        let has_it = connected.is_some_and(|it| match it.get("protocolVersion") {
            Some(version) => version == revision,
            None => it.is_object(),
        });
        if has_it {
            alone.insert(revision.to_owned(), steps);
        }
    }
    Ok(alone)
}

/// Returns the session of the client behind a bridge, with the losses that the bridge reports.
fn bridged(
    server: &PopularServer,
    programs: &Programs,
    channel: &str,
    revision: &str,
    upstream: Option<&str>,
) -> anyhow::Result<ComparedSession> {
    let log = programs.folder.join("compared.losses.jsonl");
    let _ = fs::remove_file(&log);
    let mut options = vec!["bridge", "--loss-log"]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    options.push(log.to_string_lossy().into_owned());
    if let Some(upstream) = upstream {
        options.extend(["--upstream-revision".to_owned(), upstream.to_owned()]);
    }
    let program = programs.bridge.to_string_lossy().into_owned();
    let quiet = ["--log", "off", "--"].map(str::to_owned);
    let listen = ["--listen", "http://127.0.0.1:0/mcp"].map(str::to_owned);
    let steps = if channel == "stdio" {
        let command = [&[program][..], &options, &quiet, &server.stdio].concat();
        client(server, programs, revision, "stdio", &command)?
    } else {
        let mut bridge = Command::new(program);
        bridge.args(options).args(listen);
        let listening = match channel {
            "http" => {
                let (running, url) = server.listen(free_port()?)?;
                bridge.arg(url);
                Some(running)
            }
            _ => {
                bridge.arg("--").args(&server.stdio);
                None
            }
        };
        let (_bridge, url) = RunningProcess::listening(&mut bridge, None)?;
        let steps = client(server, programs, revision, "http", &[url])?;
        drop(listening);
        steps
    };
    let lines = fs::read_to_string(&log).unwrap_or_default();
    let losses = lines
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok(ComparedSession {
        steps,
        losses: losses.collect(),
    })
}

/// Runs the client through the server's plan.
fn client(
    server: &PopularServer,
    programs: &Programs,
    revision: &str,
    channel: &str,
    target: &[String],
) -> anyhow::Result<Vec<Value>> {
    let script: PathBuf = root()?.join("tests/interop/bridge/compared.py");
    let mut command = Command::new("python3");
    command
        .arg(script)
        .args([&server.plan.to_string(), revision, channel])
        .args(target)
        .current_dir(&programs.folder);
    told(command)
}
