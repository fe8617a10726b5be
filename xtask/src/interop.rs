//! `cargo xtask interop`: implementations of others, from the public registries, against the examples of the runtime.
//!
//! It installs into a folder below target/, needs the network, and is no part of `cargo test`.
//! A peer whose runtime or package is not to be had is skipped, and the output says so.

mod bridge;
mod judge;
mod peers;
mod run;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use clap::Args;
use mcp_schema::Spec;
use mcp_schema::spec::Status;
use serde_json::Value;

use crate::progress::Progress;
use crate::spec::default_dir;
use crate::tally::Tally;
use mcp_schema::command::Outcome;
use peers::Peer;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Peers by the start of their name [default: all]
    peers: Vec<String>,
    /// Put `mcp-rev bridge` between clients of others and servers of others and our own
    #[arg(long)]
    bridge: bool,
    /// Run the clients over HTTP against three replicas of the example `replica`, behind haproxy
    #[arg(long, conflicts_with = "bridge")]
    haproxy: bool,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let spec = Spec::read(&default_dir())?;
    let released = spec.revisions.iter();
    let revisions: Vec<&str> = released
        .filter(|one| one.status == Status::Released)
        .map(|one| one.id.as_str())
        .collect();
    if arguments.bridge {
        return bridge::run(&arguments.peers, &revisions);
    }
    let mut examples = run::Examples::build(&workspace)?;
    if arguments.haproxy && !examples.share(workspace.clone()) {
        let text = "skipped: haproxy and redis-server have to be on the PATH (apt-get install haproxy redis-server)\n";
        return Ok(Outcome {
            text: text.to_owned(),
            passed: true,
        });
    }
    let mut table = Tally::new(&["peer", "is the", "opens with", "over"], &revisions);
    let names = &arguments.peers;
    let is_wanted =
        |peer: &Peer| names.is_empty() || names.iter().any(|it| peer.name.starts_with(it));
    let peers: Vec<Peer> = peers::all().into_iter().filter(is_wanted).collect();
    let cells = peers.iter().flat_map(|peer| {
        let lines = peer
            .modes
            .iter()
            .flat_map(|mode| peer.channels.iter().map(move |it| (mode, it)));
        lines.flat_map(|(mode, channel)| revisions.iter().filter(|one| mode.reaches(one, channel)))
    });
    let mut progress = Progress::of(cells.count());
    for peer in peers {
        eprintln!("{}: installing", peer.name);
        let installed = match peers::install(&peer, &workspace, &examples.folder) {
            Ok(installed) => installed,
            Err(why) => {
                (table.notes).insert(format!("{} was skipped: {why:#}", peer.name));
                continue;
            }
        };
        let (name, version) = (peer.name, &installed.version);
        table.notes.insert(format!(
            "{name} {version} as the {}: {}",
            peer.role, peer.tasks
        ));
        for mode in peer.modes {
            for &channel in peer.channels {
                let is_asked =
                    !arguments.haproxy || peer.role == peers::Role::Client && channel != "stdio";
                if !is_asked || !revisions.iter().any(|one| mode.reaches(one, channel)) {
                    continue;
                }
                let _ = write!(
                    table.text,
                    "| {} {} | {} | {} | {channel} |",
                    peer.name, installed.version, peer.role, mode.name
                );
                for &revision in &revisions {
                    let cell = match mode.reaches(revision, channel) {
                        true => {
                            progress.step(format_args!(
                                "{} {} {channel} {revision}",
                                peer.name, mode.name
                            ));
                            let steps = run::one(&installed, &examples, mode, channel, revision);
                            judge::cell(&steps?, &peer, revision)
                        }
                        false => judge::Cell::NotSpoken,
                    };
                    let _ = write!(table.text, " {cell} |");
                    if let judge::Cell::Failed(step, why) = cell {
                        table.fail(format!(
                            "{} {}, {channel}, {revision}: {step}: {why}",
                            peer.name, mode.name
                        ));
                    }
                }
                table.text.push('\n');
            }
        }
    }
    Ok(table.outcome())
}

/// What cargo built of this workspace, by its messages.
struct Built(Vec<Value>);

impl Built {
    /// Builds what the arguments of `cargo build` name.
    fn of(arguments: &str, workspace: &Path) -> anyhow::Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["build", "--message-format", "json"])
            .args(arguments.split(' '))
            .current_dir(workspace)
            .stderr(Stdio::inherit())
            .output()
            .context("cargo cannot be started")?;
        ensure!(output.status.success(), "{arguments}: it does not build");
        let text = String::from_utf8_lossy(&output.stdout);
        let messages = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        Ok(Self(messages.collect()))
    }

    /// Returns the program of a target.
    fn program(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.0.iter().find_map(|message| {
            let path = message["executable"].as_str()?;
            (message["target"]["name"] == name).then(|| PathBuf::from(path))
        });
        path.with_context(|| format!("cargo did not build `{name}`"))
    }

    /// Returns the folder that peers are installed in, beside the programs.
    fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let program = self.program(name)?;
        let mut folders = program.ancestors();
        let debug = folders.find(|folder| folder.ends_with("debug"));
        let target = debug.and_then(Path::parent);
        let target = target.with_context(|| format!("{name} is not below a target folder"))?;
        Ok(target.join("interop"))
    }
}
