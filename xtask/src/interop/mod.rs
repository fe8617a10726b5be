//! `cargo xtask interop`: implementations of others, from the public registries, against the examples of the runtime.
//!
//! It installs into a folder below target/, needs the network, and is not a part of `cargo test`.
//! A peer whose runtime or package is not to be had is skipped, and the output says so.

mod auth;
mod bridge;
mod judge;
mod peers;
mod run;

use std::fmt::Write as _;

use clap::Args;
use mcp_revisions_diff::command::CommandOutcome;
use mcp_revisions_schema::Spec;
use mcp_revisions_schema::spec::RevisionStage;

use crate::progress::ProgressLine;
use crate::replicas::SKIPPED;
use crate::tally::Tally;
use crate::workspace::spec_dir;
use peers::InteropPeer;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Begins of the names of peers to test [default: all]
    peers: Vec<String>,
    /// Put `mcp-rev bridge` between clients of others and servers of others and our own
    #[arg(long)]
    bridge: bool,
    /// Sign `mcp-rev` in to a guarded bridge, with npm `oidc-provider` as the authorization server
    #[arg(long, conflicts_with_all = ["bridge", "haproxy", "peers"])]
    auth: bool,
    /// Run the clients over HTTP against three replicas of the example `replica`, behind haproxy
    #[arg(long, conflicts_with = "bridge")]
    haproxy: bool,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<CommandOutcome> {
    let spec = Spec::read(&spec_dir()?)?;
    let all = spec.revisions.iter();
    let released = all.filter(|one| one.status == RevisionStage::Released);
    let revisions: Vec<&str> = released.map(|one| one.id.as_str()).collect();
    if arguments.bridge {
        return bridge::run(&arguments.peers, &revisions);
    }
    if arguments.auth {
        return auth::run(&revisions);
    }
    let mut examples = run::Examples::build()?;
    if arguments.haproxy && !examples.share() {
        return Ok(CommandOutcome::passed(SKIPPED.to_owned()));
    }
    let mut table = Tally::new(&["peer", "is the", "opens with", "over"], &revisions);
    let names = &arguments.peers;
    let is_wanted =
        |peer: &InteropPeer| names.is_empty() || names.iter().any(|it| peer.name.starts_with(it));
    let peers: Vec<InteropPeer> = peers::all().into_iter().filter(is_wanted).collect();
    let cells = peers.iter().flat_map(|peer| {
        let modes = peer.modes.iter();
        let lines = modes.flat_map(|mode| peer.channels.iter().map(move |it| (mode, it)));
        lines.flat_map(|(mode, channel)| revisions.iter().filter(|one| mode.reaches(one, channel)))
    });
    let mut progress = ProgressLine::of(cells.count());
    for peer in peers {
        eprintln!("{}: installing", peer.name);
        let installed = match peers::install(&peer, &examples.folder) {
            Ok(installed) => installed,
            Err(why) => {
                (table.notes).insert(format!("{} was skipped: {why:#}", peer.name));
                continue;
            }
        };
        let (name, version) = (peer.name, &installed.version);
        let note = format!("{name} {version} as the {}: {}", peer.role, peer.tasks);
        table.notes.insert(note);
        for mode in peer.modes {
            for &channel in peer.channels {
                let is_asked = !arguments.haproxy
                    || peer.role == peers::InteropRole::Client && channel != "stdio";
                if !is_asked || !revisions.iter().any(|one| mode.reaches(one, channel)) {
                    continue;
                }
                let _ = write!(
                    table.text,
                    "| {name} {version} | {} | {} | {channel} |",
                    peer.role, mode.name
                );
                for &revision in &revisions {
                    let cell = if mode.reaches(revision, channel) {
                        progress.step(format_args!("{name} {} {channel} {revision}", mode.name));
                        let steps = run::one(&installed, &examples, mode, channel, revision);
                        judge::cell(&steps?, &peer, revision)
                    } else {
                        judge::Cell::NotSpoken
                    };
                    let _ = write!(table.text, " {cell} |");
                    if let judge::Cell::Failed(step, why) = cell {
                        let mode_name = mode.name;
                        table.fail(format!(
                            "{name} {mode_name}, {channel}, {revision}: {step}: {why}"
                        ));
                    }
                }
                table.text.push('\n');
            }
        }
    }
    Ok(table.outcome())
}
