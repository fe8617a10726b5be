//! `mcp-rev lock`: writes the offers of servers to a file, and compares them with that file later.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use mcp_bridge::Bridge;
use mcp_bridge::config::{Config, EntryVariables, ServerEntry, ServerTarget};
use mcp_lock::{LISTS, LockFile, SCHEMA, ServerOffer, hidden_texts};
use mcp_revisions::RevisionSet;
use mcp_revisions_diff::command::UnreadOption;
use mcp_revisions_diff::command::diff::{self, ReportArguments};
use mcp_revisions_schema::Error;
use serde_json::Value;

use crate::bridge::log::LogFormat;
use crate::bridge::reach::{Reach, UpstreamArguments};
use crate::sign_in::SignInMode;
use crate::{colour, embedded, stderr};

/// The exit code if a server cannot be read, or a file.
const UNREAD: u8 = 3;

#[derive(Args)]
#[command(
    override_usage = "mcp-rev lock [OPTIONS] <URL>...\n       mcp-rev lock [OPTIONS] -- <COMMAND>...\n       mcp-rev lock [OPTIONS] --config <FILE> [NAME]..."
)]
pub(crate) struct Arguments {
    /// Servers: URLs, or names in --config [default: all servers of --config]
    #[arg(value_name = "TARGET", conflicts_with = "command")]
    targets: Vec<String>,
    /// Command that starts a stdio server, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// File of servers, as --config of `bridge` has it
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    config: Option<PathBuf>,
    /// Lock file, of which the servers that are named are replaced; `-` for standard output
    #[arg(short, long, value_name = "FILE", default_value = "mcp.lock.json")]
    output: PathBuf,
    /// Compare the servers with the lock file, and write nothing: exit with 1 if a change, or one of --fail-on, is found
    #[arg(long)]
    check: bool,
    /// Print the JSON Schema of a lock file
    #[arg(long)]
    schema: bool,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    reach: UpstreamArguments,
}

/// The offer of a server, under the name that a lock has for it.
struct ReadServer {
    name: String,
    offer: ServerOffer,
    notes: Vec<String>,
}

/// Writes or checks a lock. Returns the text to print, and the exit code.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<(String, u8)> {
    if arguments.schema {
        return Ok((SCHEMA.to_owned(), 0));
    }
    let entries = entries(arguments)?;
    let is_all = arguments.config.is_some() && arguments.targets.is_empty();
    let known = match read_file(&arguments.output) {
        Ok(known) => known,
        Err(why) => return Ok(failed(&why)),
    };
    if arguments.check && known.is_none() {
        let file = arguments.output.display();
        return Ok(failed(&anyhow::anyhow!(
            "{file} does not exist: `mcp-rev lock` without --check writes it"
        )));
    }
    let servers = match read_servers(&entries, &arguments.reach, arguments.config.is_some()) {
        Ok(servers) => servers,
        Err(why) => return Ok(failed(&why)),
    };
    let mut lock = known.unwrap_or_default();
    if arguments.check {
        return check(arguments, lock, servers, is_all);
    }
    if is_all {
        lock.servers.clear();
    }
    let mut told = String::new();
    for server in servers {
        tell(&mut told, &server);
        lock.servers.insert(server.name, server.offer);
    }
    let text = lock.to_text();
    if arguments.output == Path::new("-") {
        stderr::tell(&told);
        return Ok((text, 0));
    }
    let file = arguments.output.display();
    if let Err(why) = std::fs::write(&arguments.output, &text) {
        return Ok(failed(&anyhow::anyhow!("cannot write {file}: {why}")));
    }
    Ok((format!("{file}: {} bytes\n{told}", text.len()), 0))
}

fn failed(why: &anyhow::Error) -> (String, u8) {
    stderr::print_error(format_args!("{why:#}"));
    (String::new(), UNREAD)
}

/// Compares the servers that were read with those of the lock, if that has them.
fn check(
    arguments: &Arguments,
    mut known: LockFile,
    servers: Vec<ReadServer>,
    is_all: bool,
) -> anyhow::Result<(String, u8)> {
    let mut now = LockFile::default();
    for server in servers {
        server
            .notes
            .iter()
            .for_each(|note| stderr::tell(&format!("{}: {note}\n", server.name)));
        now.servers.insert(server.name, server.offer);
    }
    // One server is the one of the lock, under either name.
    if let ([(called, _)], [(name, _)]) = (
        &*now.servers.iter().collect::<Vec<_>>(),
        &*known.servers.iter().collect::<Vec<_>>(),
    ) && called != name
    {
        let (called, name) = ((*called).clone(), (*name).clone());
        if let Some(offer) = now.servers.remove(&called) {
            now.servers.insert(name, offer);
        }
    }
    if !is_all {
        known
            .servers
            .retain(|name, _| now.servers.contains_key(name));
    }
    let file = arguments.output.display().to_string();
    let sides = [(&*file, known.to_text()), ("now", now.to_text())];
    let has_colours = colour::is_on(std::io::stdout());
    let outcome = diff::run_locks(&arguments.report, embedded::spec, sides, has_colours)?;
    Ok((outcome.text, u8::from(!outcome.passed)))
}

/// Returns the lock of a server that `diff` was given the URL of; `None` for another name.
pub(crate) fn of_url(name: &str) -> Option<anyhow::Result<String>> {
    mcp_bridge::config::check_url(name).ok()?;
    let entry = of_target(name);
    let mut reach = UpstreamArguments::default();
    reach.sign_in.auth = SignInMode::Off;
    let read = read_servers(&[entry], &reach, false).map(|servers| {
        let all = servers.into_iter();
        let servers = all.map(|server| (String::new(), server.offer)).collect();
        LockFile { servers }.to_text()
    });
    let unread = |why: anyhow::Error| {
        let cause = std::io::Error::other(format!("{why:#}"));
        UnreadOption(Error::io("read the server at", name, cause)).into()
    };
    Some(read.map_err(unread))
}

/// Reads the lock file; `None` if there is none.
fn read_file(file: &Path) -> anyhow::Result<Option<LockFile>> {
    if file == Path::new("-") || !file.exists() {
        return Ok(None);
    }
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    Ok(Some(
        LockFile::parse(&text).with_context(|| name.to_string())?,
    ))
}

/// Returns the servers that the command line names.
fn entries(arguments: &Arguments) -> anyhow::Result<Vec<ServerEntry>> {
    let config = arguments.config.as_deref().map(Config::read).transpose()?;
    if let Some((program, _)) = arguments.command.split_first() {
        let target = ServerTarget::Process {
            command: arguments.command.clone(),
            env: BTreeMap::new(),
            folder: None,
        };
        return Ok(vec![ServerEntry::new(program, target)]);
    }
    let mut entries = Vec::new();
    let Some(config) = config else {
        for url in &arguments.targets {
            if let Err(why) = mcp_bridge::config::check_url(url) {
                bail!(
                    "invalid URL {url:?}: {why}; a name needs --config, and a command stands after `--`"
                );
            }
            entries.push(of_target(url));
        }
        if entries.is_empty() {
            bail!("name a server: a URL, a command after `--`, or --config FILE");
        }
        return Ok(entries);
    };
    for name in &arguments.targets {
        entries.push(config.clone().server(name)?);
    }
    if arguments.targets.is_empty() {
        entries = config.servers;
    }
    let names: BTreeSet<&str> = entries.iter().map(|entry| &*entry.name).collect();
    if names.len() < entries.len() {
        bail!("a server is named twice");
    }
    Ok(entries)
}

fn of_target(url: &str) -> ServerEntry {
    let target = ServerTarget::Url {
        url: url.to_owned(),
        headers: Vec::new(),
    };
    ServerEntry::new(url, target)
}

/// Reads servers, all at once. Returns an error that names each server that cannot be read: a lock without it would say that it
/// offers nothing.
fn read_servers(
    entries: &[ServerEntry],
    arguments: &UpstreamArguments,
    is_of_file: bool,
) -> anyhow::Result<Vec<ReadServer>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    stderr::begin();
    // A server is read in the thread of the others: most of the time all of them wait.
    let local = tokio::task::LocalSet::new();
    let read = local.block_on(&runtime, async {
        let reach = Reach {
            arguments,
            is_of_file,
            signs_in: arguments.sign_in.auth != SignInMode::Off,
            secrets: Vec::new(),
            variables: EntryVariables::default(),
            log_format: LogFormat::Text,
            likely: RevisionSet::none(),
        };
        let mut begun = Vec::new();
        for entry in entries {
            let upstream = crate::bridge::entry::upstream(entry, &reach)?;
            // A URL may have secrets, and a lock is for everybody.
            let name = match &entry.target {
                ServerTarget::Url { .. } if !is_of_file => upstream.name().to_owned(),
                _ => entry.name.clone(),
            };
            let mut bridge = Bridge::new(upstream).with_name(&name);
            let given = arguments
                .start_timeout
                .map(|it| Duration::from_secs(it as u64));
            if let Some(time) = entry.start_timeout.or(given) {
                bridge = bridge.with_start_timeout(time);
            }
            begun.push((name, tokio::task::spawn_local(bridge.offer())));
        }
        let (mut servers, mut wrong) = (Vec::new(), Vec::new());
        for (name, reading) in begun {
            match reading.await {
                Ok(Ok((offer, notes))) => servers.push(ReadServer { name, offer, notes }),
                Ok(Err(why)) => wrong.push(why.to_string()),
                Err(why) => wrong.push(format!("{name}: {why}")),
            }
        }
        if !wrong.is_empty() {
            bail!("{}", wrong.join("\n"));
        }
        Ok(servers)
    });
    runtime.shutdown_background();
    read
}

/// Describes the offer of a server, with the parts that people should look at.
fn tell(text: &mut String, server: &ReadServer) {
    let ReadServer { name, offer, notes } = server;
    let said = |member: &str| {
        let info = offer.fact("serverInfo").and_then(|info| info.get(member));
        info.and_then(Value::as_str).unwrap_or("?").to_owned()
    };
    let version = offer.fact("protocolVersion").and_then(Value::as_str);
    let counts = LISTS
        .iter()
        .filter_map(|list| match offer.entries(list).count() {
            0 => None,
            1 => Some(format!("1 {}", list.noun)),
            count => Some(format!("{count} {}s", list.noun)),
        });
    let listed: Vec<String> = counts.collect();
    let all = match listed.as_slice() {
        [] => "nothing".to_owned(),
        listed => listed.join(", "),
    };
    let _ = writeln!(
        text,
        "{name}: {} {}, protocol version {}: {all}",
        said("name"),
        said("version"),
        version.unwrap_or("?"),
    );
    for note in notes {
        let _ = writeln!(text, "  {note}");
    }
    for (way, shown) in hidden_texts(&offer.to_value()) {
        let shown = mcp_wire::excerpt(&shown, mcp_wire::EXCERPT);
        let _ = writeln!(text, "  hidden characters in {}: {shown}", way.join("."));
    }
}
