//! `cargo xtask interop --bridge`: clients of others in front of servers of others and our own, with `mcp-rev bridge` in
//! between, in each revision that the client speaks.

mod clients;
mod judge;
mod servers;
mod talk;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use mcp_schema::command::Outcome;
use serde_json::Value;

use super::peers::{self, Role};

/// What is built of this workspace for it.
struct Programs {
    bridge: PathBuf,
    peer: PathBuf,
    /// Where peers are installed.
    folder: PathBuf,
}

/// How a client reaches the bridge, and the bridge its server.
const CHANNELS: [&str; 2] = ["stdio", "http"];

/// Runs clients whose name starts with one of these, or all.
pub(super) fn run(names: &[String], revisions: &[&str]) -> anyhow::Result<Outcome> {
    let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let programs = Programs::build(&workspace)?;
    let servers = servers::all(&programs, revisions)?;
    let mut text = heading(revisions);
    let mut notes = BTreeSet::new();
    let mut passed = true;
    let all = [&peers::all()[..], &peers::old()].concat();
    let clients = all.iter().filter(|peer| peer.role == Role::Client);
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|one| name.starts_with(one));
    for peer in clients.filter(|peer| is_wanted(peer.name)) {
        eprintln!("{}: installing", peer.name);
        let client = peers::install(peer, &workspace, &programs.folder)
            .and_then(|installed| clients::prepare(installed, &workspace));
        let client = match client {
            Ok(client) => client,
            Err(why) => {
                notes.insert(format!("{} was skipped: {why:#}", peer.name));
                continue;
            }
        };
        for server in &servers {
            // What has no HTTP is tried over standard streams alone.
            for channel in CHANNELS
                .into_iter()
                .filter(|it| *it == "stdio" || (client.has_http && !server.http.is_empty()))
            {
                let _ = write!(
                    text,
                    "| {} {} | {} | {channel} |",
                    peer.name, client.version, server.name
                );
                for revision in revisions {
                    // A client that finds the revision by itself speaks no other one.
                    let mut modes = peer.modes.iter().filter(|mode| mode.name != "auto");
                    let Some(mode) = modes.find(|mode| mode.reaches(revision, channel)) else {
                        let _ = write!(text, " - |");
                        continue;
                    };
                    let told = talk::one(&client, mode.name, server, &programs, channel, revision);
                    let fault = judge::first_fault(&told?, server, revision);
                    let came_to = fault.as_ref().map_or("ok", |(step, _)| step);
                    let (one, other) = (peer.name, &server.name);
                    eprintln!("{one}, {other}, {channel}, {revision}: {came_to}");
                    match fault {
                        None => text.push_str(" ok |"),
                        Some((step, why)) => {
                            passed = false;
                            let _ = write!(text, " **{step}** |");
                            notes.insert(format!(
                                "{}, {}, {channel}, {revision}: {step}: {why}",
                                peer.name, server.name
                            ));
                        }
                    }
                }
                text.push('\n');
            }
        }
    }
    text.push('\n');
    for note in notes {
        let _ = writeln!(text, "- {note}");
    }
    Ok(Outcome { text, passed })
}

fn heading(revisions: &[&str]) -> String {
    let mut text = String::from("| client | server | over |");
    for revision in revisions {
        let _ = write!(text, " {revision} |");
    }
    text.push_str("\n|---|---|---|");
    text.push_str(&"---|".repeat(revisions.len()));
    text.push('\n');
    text
}

impl Programs {
    fn build(workspace: &Path) -> anyhow::Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let wanted = "build --package mcp-rev --bin mcp-rev --example peer --message-format json";
        let output = Command::new(cargo)
            .args(wanted.split(' '))
            .current_dir(workspace)
            .stderr(Stdio::inherit())
            .output()
            .context("cargo cannot be started")?;
        if !output.status.success() {
            bail!("mcp-rev does not build");
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let built = |name: &str| {
            let mut messages = text
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let path = messages.find_map(|message| {
                let path = message["executable"].as_str()?;
                (message["target"]["name"] == name).then(|| PathBuf::from(path))
            });
            path.with_context(|| format!("cargo did not build `{name}`"))
        };
        let bridge = built("mcp-rev")?;
        // target/debug/mcp-rev
        let target = bridge.ancestors().nth(2);
        let folder = target.context("mcp-rev is not below a target folder")?;
        Ok(Self {
            folder: folder.join("interop"),
            peer: built("peer")?,
            bridge,
        })
    }
}
