//! `mcp-rev bridge`: any client in front of any server, each spoken to in its own revision.
//!
//! ```text
//! client -- listen (stdio, HTTP) -- Server -- join -- servers -- upstream: Client -- wire (a process, a URL) -- server
//! ```
//! Both ends speak the revision of the server, once that is known: what its client speaks as well is not converted at all.

mod greeting;
mod identity;
mod join;
mod listen;
mod log;
mod loss_log;
mod losses;
mod patient;
mod servers;
mod spare;
mod upstream;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{ArgGroup, Args, ValueEnum};
use mcp_registry::{LossKind, Policy, Revision};
use mcp_revisions::server::{Caller, Server};
use mcp_revisions::{Limits, RevisionSet};

use crate::Outcome;
use crate::convert::UnknownFields;
use greeting::Greeting;
use join::Join;
use listen::Listen;
use loss_log::LossLog;
use losses::Losses;
use servers::{Room, Servers, Start};
use spare::Spare;
use upstream::{Negotiated, Upstream};
use wire::{Target, Wire};

#[derive(Args)]
#[command(
    group(ArgGroup::new("server").required(true).args(["url", "command"])),
    override_usage = "mcp-rev bridge [OPTIONS] <URL>\n       mcp-rev bridge [OPTIONS] -- <COMMAND>..."
)]
pub(crate) struct Arguments {
    /// Where to accept clients: `stdio`, or `http://ADDRESS:PORT/mcp`
    #[arg(long, value_name = "WHERE", default_value = "stdio")]
    listen: Listen,
    /// Accept only these protocol revisions from clients [default: all]
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    client_revisions: Vec<Revision>,
    /// Speak this protocol revision with the server [default: the latest that it supports]
    #[arg(long, value_name = "ID")]
    upstream_revision: Option<Revision>,
    /// Drop or preserve fields that the older revision does not define
    #[arg(long, default_value = "drop")]
    unknown_fields: UnknownFields,
    /// Log each loss, and each message that is rejected or dropped, as a line of JSON: a file, `stderr` or `off`
    #[arg(long, value_name = "FILE", default_value = "stderr")]
    loss_log: String,
    /// Send an error in place of a message that has a loss of this severity or worse [default: send all messages]
    #[arg(long, value_name = "SEVERITY")]
    reject_loss: Option<Severity>,
    /// Record the traffic with the server to this file, for `mcp-rev transcript`
    ///
    /// An HTTP listener starts several servers. With `session.jsonl`, the second one is recorded to `session.2.jsonl`.
    #[arg(long, value_name = "FILE")]
    record: Option<String>,
    /// Send this header with each request to the server's URL, such as `Accept-Language: en`
    ///
    /// Other users of the machine can read command lines: pass secrets with --header-env.
    #[arg(long, value_name = "NAME:VALUE", value_parser = header, requires = "url")]
    header: Vec<(String, String)>,
    /// Send this header with the value of an environment variable, such as `Authorization=MCP_TOKEN`
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = header_env, requires = "url")]
    header_env: Vec<(String, String)>,
    /// Maximum number of servers that an HTTP listener starts
    ///
    /// Each session has a server of its own. 2026-07-28 clients of one address that send the same `clientInfo` and the
    /// same capabilities share one.
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    max_servers: usize,
    /// Maximum number of servers for the clients of one address [default: a tenth of --max-servers, at least 10]
    #[arg(long, value_name = "NUMBER")]
    max_servers_per_client: Option<usize>,
    /// End a session of an HTTP listener, and its server, after this many seconds without a message
    #[arg(long, value_name = "SECONDS", default_value_t = 1_800)]
    idle_timeout: u64,
    /// Accept this `Host` of HTTP requests, besides localhost and the address of --listen
    ///
    /// Examples: `mcp.example.com`, `mcp.example.com:8443`, or `*` behind a proxy that checks it.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Accept requests of web pages from this origin, besides localhost, and let them read the responses (CORS)
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Serve HTTP+SSE, the transport of 2024-11-05, at this path of an HTTP listener, such as `/sse`
    #[arg(long, value_name = "PATH")]
    http_sse: Option<String>,
    /// Log level on standard error: off, error, warn, info, debug or trace [env: MCP_REV_LOG] [default: info]
    #[arg(long, value_name = "LEVEL")]
    log: Option<log::Level>,
    /// URL of a streamable HTTP or HTTP+SSE server
    #[arg(conflicts_with = "command", value_parser = url)]
    url: Option<String>,
    /// Command that starts a stdio server, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Parses a header of the command line.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("expected NAME:VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Parses a header whose value is in the environment.
fn header_env(text: &str) -> Result<(String, String), String> {
    let (name, variable) = text.split_once('=').ok_or("expected NAME=VARIABLE")?;
    match std::env::var(variable) {
        Ok(value) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        Err(why) => Err(format!("environment variable `{variable}`: {why}")),
    }
}

/// Checks the URL before a client waits for it.
fn url(text: &str) -> Result<String, String> {
    let rest = ["http://", "https://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    match rest {
        Some(rest) if !rest.starts_with(['/', '?', '#']) && !rest.is_empty() => Ok(text.to_owned()),
        Some(_) => Err("the URL has no host".to_owned()),
        None => Err("expected http:// or https://; put a command after `--`".to_owned()),
    }
}

/// How grave a loss is, as it is named on the command line.
#[derive(Clone, Copy, ValueEnum)]
enum Severity {
    Cosmetic,
    Semantic,
    Interaction,
    Safety,
}

impl From<Severity> for LossKind {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Cosmetic => Self::Cosmetic,
            Severity::Semantic => Self::Semantic,
            Severity::Interaction => Self::Interaction,
            Severity::Safety => Self::Safety,
        }
    }
}

/// What the bridge was told, ready to be used.
struct Setup {
    front: Front,
    served: RevisionSet,
    policy: Policy,
    losses: Arc<Losses>,
    wire: Wire,
    negotiated: Negotiated,
}

/// Where clients come from, with what is known of the one over standard streams.
enum Front {
    Stdio(Greeting, Arc<Caller>),
    Http(Http),
}

/// What an HTTP listener is told.
struct Http {
    address: SocketAddr,
    room: Room,
    hosts: Vec<String>,
    origins: Vec<String>,
    http_sse: Option<String>,
}

impl Http {
    fn new(address: SocketAddr, arguments: &Arguments) -> Self {
        let all = arguments.max_servers.max(1);
        let each = arguments.max_servers_per_client.unwrap_or(all / 10);
        let least = match arguments.max_servers_per_client {
            Some(_) => 1,
            None => 10,
        };
        Self {
            address,
            room: Room {
                all,
                each: each.max(least).min(all),
                idle: Duration::from_secs(arguments.idle_timeout.max(1)),
            },
            hosts: arguments.allow_host.clone(),
            origins: arguments.allow_origin.clone(),
            http_sse: arguments.http_sse.clone(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    log::begin(arguments.log).map_err(anyhow::Error::msg)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    let done = runtime.block_on(bridged(arguments));
    // A thread that reads standard input would be waited for as long as the client is silent.
    runtime.shutdown_background();
    match done {
        Ok(()) => Ok(Outcome {
            text: String::new(),
            code: 0,
        }),
        Err(error) => {
            crate::colour::print_error(&error);
            Ok(Outcome {
                text: String::new(),
                code: 1,
            })
        }
    }
}

async fn bridged(arguments: &Arguments) -> anyhow::Result<()> {
    let served: RevisionSet = match arguments.client_revisions.is_empty() {
        true => RevisionSet::all(),
        false => arguments.client_revisions.iter().copied().collect(),
    };
    let log = LossLog::open(&arguments.loss_log)?;
    let rejected = arguments.reject_loss.map(LossKind::from);
    let losses = Losses::new(rejected, move |report| log.write(report));
    let target = match &arguments.url {
        Some(url) => {
            let headers = arguments.header.iter().chain(&arguments.header_env);
            Target::Url(url.clone(), headers.cloned().collect())
        }
        None => Target::Command(arguments.command.clone()),
    };
    let wire = Wire::new(target, arguments.record.as_deref())?;
    let policy = Policy::from(arguments.unknown_fields);
    let spoken = match arguments.upstream_revision {
        Some(revision) => RevisionSet::none().with(revision),
        None => RevisionSet::all(),
    };
    let (front, negotiated) = match arguments.listen {
        Listen::Http(address) => {
            let anyone = identity::anyone();
            let aside = wire.aside();
            let negotiated = upstream::negotiate(&aside, &anyone, policy, spoken).await?;
            (Front::Http(Http::new(address, arguments)), negotiated)
        }
        // A client over stdio says in its first message what it can do, and so does the bridge then.
        Listen::Stdio => {
            let Some(greeting) = Greeting::wait().await? else {
                return Ok(());
            };
            let caller = Arc::new(greeting.caller());
            match upstream::negotiate(&wire, &caller, policy, spoken).await {
                Ok(negotiated) => (Front::Stdio(greeting, caller), negotiated),
                Err(error) => {
                    greeting.refuse(&format!("{error:#}")).await;
                    return Err(error);
                }
            }
        }
    };
    let setup = Setup {
        front,
        served,
        policy,
        losses: Arc::new(losses),
        wire,
        negotiated,
    };
    setup.bridge().await
}

impl Setup {
    /// Bridges to servers of the revision that was negotiated.
    async fn bridge(self) -> anyhow::Result<()> {
        let Self {
            front,
            served,
            policy,
            losses,
            wire,
            negotiated,
        } = self;
        let app = negotiated.facts.revision;
        let told = Arc::clone(&losses);
        let profile = identity::introduction(negotiated.facts.clone())?;
        let server = Server::new(app, profile)?
            .serving(served)
            .with_policy(policy)
            .with_other_methods()
            .on_loss(move |lost| told.report_of_server(lost));
        let (first, spare) = match &front {
            Front::Http(_) => (None, Some(negotiated)),
            Front::Stdio(..) => (Some(negotiated), None),
        };
        let spare = Arc::new(Spare::new(spare));
        let unused = Arc::clone(&spare);
        let (lost, reached) = (Arc::clone(&losses), wire.clone());
        let start: Start = Arc::new(move |caller| {
            let (wire, losses) = (reached.clone(), Arc::clone(&lost));
            let spare = Arc::clone(&spare);
            Box::pin(async move {
                match spare.take_for(app, &caller, &wire).await {
                    Some(mut spare) => {
                        spare.line.record_as(&wire)?;
                        Ok(Upstream::on(app, spare, &wire, &caller, policy, losses))
                    }
                    None => Upstream::start(app, &wire, &caller, policy, losses).await,
                }
            })
        });
        let (served, servers) = match front {
            Front::Stdio(greeting, caller) => {
                let upstream = match first {
                    Some(first) => {
                        let losses = Arc::clone(&losses);
                        Upstream::on(app, first, &wire, &caller, policy, losses)
                    }
                    None => start(caller).await?,
                };
                let ended = upstream.clone();
                let servers = Servers::one(upstream, start);
                let join = Join::new(servers.clone(), losses, app);
                let ended = async move { ended.ended().await };
                let served = listen::over_stdio(greeting, server, join, ended).await;
                (served, servers)
            }
            Front::Http(http) => {
                let limits = Limits {
                    sessions: http.room.all,
                    owner_sessions: http.room.each,
                    ..*server.limits()
                };
                let servers = Servers::each(start, http.room);
                let join = Join::new(servers.clone(), losses, app);
                let served = listen::over_http(http, server.with_limits(limits), join).await;
                (served, servers)
            }
        };
        servers.close().await;
        unused.end().await;
        served
    }
}
