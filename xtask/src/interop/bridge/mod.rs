//! `cargo xtask interop --bridge`: clients of others in front of servers of others and our own, with `mcp-rev bridge` in
//! between, in each revision that the client speaks.

mod clients;
mod compare;
mod judge;
mod servers;
mod session;

use std::fmt::Write as _;
use std::path::PathBuf;

use mcp_revisions_diff::command::CommandOutcome;

use super::peers::{self, InteropRole};
use crate::process::Built;
use crate::tally::Tally;

/// What is built of this workspace for it.
struct Programs {
    bridge: PathBuf,
    peer: PathBuf,
    /// Where peers are installed.
    folder: PathBuf,
}

/// How a client reaches the bridge, and the bridge its server.
const CHANNELS: [&str; 2] = ["stdio", "http"];

/// Runs clients and popular servers whose name starts with one of these, or all.
pub(super) fn run(names: &[String], revisions: &[&str]) -> anyhow::Result<CommandOutcome> {
    let programs = Programs::build()?;
    let mut table = Tally::new(&["client", "server", "over"], revisions);
    compare::run(names, &programs, revisions, &mut table)?;
    let all = [&peers::all()[..], &peers::old()].concat();
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|one| name.starts_with(one));
    let clients: Vec<_> = all
        .iter()
        .filter(|peer| peer.role == InteropRole::Client && is_wanted(peer.name))
        .collect();
    let servers = if clients.is_empty() {
        Vec::new()
    } else {
        servers::all(&programs, revisions)?
    };
    for peer in clients {
        eprintln!("{}: installing", peer.name);
        let client = peers::install(peer, &programs.folder).and_then(clients::prepare);
        let (client, has_http) = match client {
            Ok(client) => client,
            Err(why) => {
                (table.notes).insert(format!("{} was skipped: {why:#}", peer.name));
                continue;
            }
        };
        for server in &servers {
            // What has no HTTP is tried over standard streams alone.
            for channel in CHANNELS
                .into_iter()
                .filter(|it| *it == "stdio" || (has_http && !server.http.is_empty()))
            {
                let _ = write!(
                    table.text,
                    "| {} {} | {} | {channel} |",
                    peer.name, client.version, server.name
                );
                for revision in revisions {
                    // A client that finds the revision by itself speaks no other one.
                    let mut modes = peer.modes.iter().filter(|mode| mode.name != "auto");
                    let Some(mode) = modes.find(|mode| mode.reaches(revision, channel)) else {
                        table.text.push_str(" - |");
                        continue;
                    };
                    let steps =
                        session::run(&client, mode.name, server, &programs, channel, revision);
                    let fault = judge::first_fault(&steps?, server, revision);
                    let came_to = fault.as_ref().map_or("ok", |(step, _)| step);
                    let cell = format!("{}, {}, {channel}, {revision}", peer.name, server.name);
                    eprintln!("{cell}: {came_to}");
                    match fault {
                        None => table.text.push_str(" ok |"),
                        Some((step, why)) => {
                            let _ = write!(table.text, " **{step}** |");
                            table.fail(format!("{cell}: {step}: {why}"));
                        }
                    }
                }
                table.text.push('\n');
            }
        }
    }
    Ok(table.outcome())
}

impl Programs {
    fn build() -> anyhow::Result<Self> {
        let built = Built::of("--package mcp-rev --bin mcp-rev --example peer")?;
        Ok(Self {
            folder: built.folder("mcp-rev")?,
            peer: built.program("peer")?,
            bridge: built.program("mcp-rev")?,
        })
    }
}
