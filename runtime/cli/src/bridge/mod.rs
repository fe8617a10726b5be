//! `mcp-rev bridge`: the command line of `mcp-bridge`.

mod listen;
mod log;
mod loss_log;
mod record;

use std::time::Duration;

use anyhow::Context as _;
use clap::{ArgGroup, Args, ValueEnum};
use mcp_bridge::{Bridge, Upstream};
use mcp_protocol::{LossKind, Revision, UnknownFields};
use mcp_revisions::service::client::Http;

use crate::Outcome;
use crate::convert::UnknownFieldsArgument;
use listen::Listen;
use loss_log::LossLog;
use record::Record;

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
    unknown_fields: UnknownFieldsArgument,
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
    /// Start a server for each connection of 2026-07-28 clients to an HTTP listener
    ///
    /// Without this option, 2026-07-28 clients of one address that send the same `clientInfo` and the same capabilities
    /// share a server. With it, a server ends with the connection of its client.
    #[arg(long)]
    isolate: bool,
    /// Maximum number of servers that an HTTP listener starts
    ///
    /// Each session has a server of its own. 2026-07-28 clients of one address that send the same `clientInfo` and the
    /// same capabilities share one, unless --isolate is given.
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
    /// Share the sessions of an HTTP listener with other bridges through this Redis server, such as `redis://127.0.0.1/`
    ///
    /// `rediss://` is for TLS. Other users of the machine can read command lines: pass a URL with a password in the
    /// environment variable MCP_REV_BACKPLANE.
    ///
    /// Each bridge accepts requests of all sessions, and passes them to the one that runs the session. A session ends with
    /// the bridge that runs its server.
    #[arg(long, value_name = "URL")]
    backplane: Option<String>,
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
    let log = LossLog::open(&arguments.loss_log)?;
    let mut bridge = Bridge::new(upstream(arguments)?)
        .with_unknown_fields(UnknownFields::from(arguments.unknown_fields))
        .with_max_servers(arguments.max_servers)
        .with_idle_timeout(Duration::from_secs(arguments.idle_timeout.max(1)))
        .on_loss(move |report| log.write(report));
    if !arguments.client_revisions.is_empty() {
        bridge = bridge.with_client_revisions(arguments.client_revisions.iter().copied().collect());
    }
    if let Some(revision) = arguments.upstream_revision {
        bridge = bridge.with_upstream_revision(revision);
    }
    if let Some(severity) = arguments.reject_loss {
        bridge = bridge.with_rejected_loss(severity.into());
    }
    if arguments.isolate {
        bridge = bridge.with_isolation();
    }
    if let Some(number) = arguments.max_servers_per_client {
        bridge = bridge.with_max_servers_per_client(number);
    }
    match arguments.listen {
        Listen::Stdio => {
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            let served = bridge.serve_stdio(input, output, listen::told_to_end());
            Ok(served.await?)
        }
        Listen::Http(address) => {
            let mut options = listen::options(address, arguments);
            let url = arguments.backplane.clone();
            if let Some(url) = url.or_else(|| std::env::var("MCP_REV_BACKPLANE").ok()) {
                options = listen::shared(options, &url).await.context("--backplane")?;
            }
            listen::over_http(address, bridge.with_http_options(options)).await
        }
    }
}

/// The server that the arguments name.
fn upstream(arguments: &Arguments) -> anyhow::Result<Upstream> {
    let upstream = match (&arguments.url, arguments.command.split_first()) {
        (Some(url), _) => {
            let http = Http::new(url).with_context(|| format!("cannot reach {url}"))?;
            let headers = arguments.header.iter().chain(&arguments.header_env);
            Upstream::url(headers.fold(http, |http, (name, value)| http.with_header(name, value)))
        }
        (None, Some((program, arguments))) => Upstream::command(program, arguments),
        (None, None) => anyhow::bail!("name a server: a URL, or a command after `--`"),
    };
    Ok(match &arguments.record {
        Some(file) => {
            let record = Record::new(file)?;
            upstream.with_tap(move || record.tap())
        }
        None => upstream,
    })
}
