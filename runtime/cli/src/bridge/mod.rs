//! `mcp-rev bridge`: the command line of `mcp-bridge`.

mod config;
mod guard;
mod json_log;
mod listen;
mod log;
mod loss_log;
mod metrics;
mod record;
mod several;
mod tools;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::{ArgGroup, Args, ValueEnum};
use mcp_bridge::{Bridge, Gateway, RateLimit, Upstream};
use mcp_revisions::service::client::{Child, Http};
use mcp_revisions_core::{LossKind, Revision, UnknownFields};
use tokio::process::Command;
use tracing::{error, info};

use crate::background::FLUSH;
use crate::convert::UnknownFieldsArgument;
use crate::sign_in::{SignInArguments, SignInMode};
use crate::stderr;
use crate::{OUTPUT_FAILED, SubcommandOutcome};
use config::{Definition, ServerDefinition};
use guard::GuardArguments;
use listen::Listen;
use loss_log::LossLog;
use record::TrafficRecord;
use tools::ToolRules;

/// Environment variable with the URL of the store that bridges share.
const BACKPLANE: &str = "MCP_REV_BACKPLANE";

#[derive(Args)]
#[command(
    group(ArgGroup::new("server").required(true).args(["url", "command", "config"])),
    override_usage = "mcp-rev bridge [OPTIONS] <URL>\n       mcp-rev bridge [OPTIONS] -- <COMMAND>...\n       mcp-rev bridge [OPTIONS] --config <FILE>"
)]
pub(crate) struct Arguments {
    /// Address to accept clients at: `stdio`, or `http://ADDRESS:PORT/PATH` [default path: /mcp]
    #[arg(long, value_name = "WHERE", default_value = "stdio")]
    listen: Listen,
    /// Serve the `mcpServers` of this file, as hosts have them: each at `/NAME/mcp` of an HTTP listener
    ///
    /// Members: `command`, `args`, `env`, `cwd`, or `url`, `headers`; `type` and `disabled`. `${VAR}` and `${VAR:-default}` in
    /// their values are variables of the environment. SIGHUP reads the file again: servers that it defines as before go on.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "command", "header", "header_env", "http_sse", "backplane"])]
    config: Option<PathBuf>,
    /// Serve all servers of --config as one, whose tools and prompts have the name of their server before their own
    #[arg(long, requires = "config")]
    combine: bool,
    /// Accept only these protocol revisions from clients [default: all]
    #[arg(long, value_name = "ID,...", value_delimiter = ',', value_parser = negotiated)]
    client_revisions: Vec<Revision>,
    /// Speak this protocol revision with the server [default: that of each client, else the nearest that the server supports]
    #[arg(long, value_name = "ID", value_parser = negotiated)]
    upstream_revision: Option<Revision>,
    /// Wait this many seconds for a server that starts, before its client gets an error [default: 60]
    ///
    /// The time counts from the start of the process, or from the first request to the URL, until the server has said which
    /// revision it speaks. Commands that download packages or images, such as `npx`, `uvx` or `docker run`, may need more.
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    start_timeout: Option<usize>,
    /// Drop or preserve fields that only the newer revision defines
    #[arg(long, default_value = "drop")]
    unknown_fields: UnknownFieldsArgument,
    /// Log each loss, and each message that is rejected or dropped, as a line of JSON: a file, `stderr` or `off`
    #[arg(long, value_name = "FILE", default_value = "stderr")]
    loss_log: String,
    /// Send an error in place of a message that has a loss of this severity or worse [default: send all messages]
    #[arg(long, value_name = "SEVERITY")]
    reject_loss: Option<SeverityArgument>,
    /// Record the traffic with the server to this file, for `mcp-rev transcript`
    ///
    /// An HTTP listener starts several servers. With `session.jsonl`, the second one is recorded to `session.2.jsonl`. New
    /// files are readable by their owner only.
    #[arg(long, value_name = "FILE")]
    record: Option<String>,
    /// Send this header with each request to the server's URL, such as `Accept-Language: en`
    ///
    /// Headers that the transport or MCP sets, such as `Host` or `Mcp-Session-Id`, are refused.
    ///
    /// Other users of the machine can read command lines: pass secrets with --header-env.
    #[arg(long, value_name = "NAME:VALUE", value_parser = header, conflicts_with = "command")]
    header: Vec<(String, String)>,
    /// Send this header with the value of an environment variable, such as `Authorization=MCP_TOKEN`
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = header_env, conflicts_with = "command")]
    header_env: Vec<(String, String)>,
    /// Start a server for each connection of 2026-07-28 clients to an HTTP listener
    ///
    /// Without this option, 2026-07-28 clients of one address that send the same `clientInfo` and the same capabilities
    /// share a server. With it, a server ends with the connection of its client.
    #[arg(long)]
    isolate: bool,
    /// Maximum number of servers that an HTTP listener starts [default: 1000]
    ///
    /// Each session has a server of its own. 2026-07-28 clients of one address that send the same `clientInfo` and the
    /// same capabilities share one, unless --isolate is given.
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    max_servers: Option<usize>,
    /// Maximum number of servers for the clients of one address [default: a tenth of --max-servers, at least 10]
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    max_servers_per_client: Option<usize>,
    /// End a session of an HTTP listener, and its server, after this many seconds without a message [default: 1800]
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    idle_timeout: Option<usize>,
    /// Serve calls for this many seconds after a signal to end, while /readyz says no [default: 0]
    ///
    /// Set it to what the load balancer needs to notice: the interval of its checks times the failures that it waits for,
    /// and a second.
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    lame_duck: Option<usize>,
    /// Accept this `Host` of HTTP requests, besides localhost and the address of --listen
    ///
    /// Examples: `mcp.example.com`, `mcp.example.com:8443`, or `*` behind a proxy that checks it.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Accept requests of web pages from this origin, and let them read the responses (CORS)
    ///
    /// Requests with an origin of localhost are always accepted. Name such an origin to let its pages read the responses.
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Vec<String>,
    /// Serve HTTP+SSE, the transport of 2024-11-05, at this path of an HTTP listener, such as `/sse`
    #[arg(long, value_name = "PATH", value_parser = path)]
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
    log: Option<log::LogLevelArgument>,
    /// Show clients only the tools whose name fits this pattern, in which `*` stands for any text; repeatable
    ///
    /// Calls of other tools get an error. With --combine, the names are those with a prefix, such as `git_*`.
    #[arg(long, value_name = "PATTERN")]
    allow_tool: Vec<String>,
    /// Hide the tools whose name fits this pattern; repeatable, and stronger than --allow-tool
    #[arg(long, value_name = "PATTERN")]
    deny_tool: Vec<String>,
    /// Accept at most this many requests a minute of each client, which is an address for an HTTP listener [default: no limit]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    rate_limit: Option<u32>,
    /// Ask the server for each list and resource, in place of keeping results that it lets clients share
    #[arg(long)]
    no_cache: bool,
    /// Keep lists of a server before 2026-07-28 for this many seconds, and let all clients share them [default: not kept]
    #[arg(long, value_name = "SECONDS", value_parser = number, conflicts_with = "no_cache")]
    list_ttl: Option<usize>,
    /// With --combine, wait at most this many seconds for the list of a server [default: 20]
    #[arg(long, value_name = "SECONDS", value_parser = number, requires = "combine")]
    list_timeout: Option<usize>,
    /// Format of the log on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: log::LogFormat,
    /// Serve metrics, as text for Prometheus, at this path of an HTTP listener, such as `/metrics`
    #[arg(long, value_name = "PATH", value_parser = path)]
    metrics: Option<String>,
    #[command(flatten)]
    guard: GuardArguments,
    #[command(flatten)]
    sign_in: SignInArguments,
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
    checked(name, value)
}

/// Checks a header before a client waits for the server.
fn checked(name: &str, value: &str) -> Result<(String, String), String> {
    let (name, value) = (name.trim(), value.trim());
    Http::check_header(name, value).map_err(|why| why.to_string())?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Parses a revision that peers can negotiate: a candidate is converted as the release that it became, and never spoken.
fn negotiated(text: &str) -> Result<Revision, String> {
    let all = Revision::NEGOTIATED.iter();
    all.clone()
        .find(|revision| revision.id() == text)
        .copied()
        .ok_or_else(|| {
            let ids: Vec<&str> = all.map(|revision| revision.id()).collect();
            format!("expected one of {}", ids.join(", "))
        })
}

/// Parses a header whose value is in the environment.
fn header_env(text: &str) -> Result<(String, String), String> {
    let (name, variable) = text.split_once('=').ok_or("expected NAME=VARIABLE")?;
    match std::env::var(variable) {
        Ok(value) => checked(name, &value),
        Err(why) => Err(format!("environment variable `{variable}`: {why}")),
    }
}

/// Parses a limit, which nothing would pass if it were zero.
fn number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a whole number, 1 or more".to_owned()),
    }
}

/// Checks an origin as browsers send it.
fn origin(text: &str) -> Result<String, String> {
    match text.split_once("://") {
        Some((scheme, host)) if !scheme.is_empty() && !host.is_empty() && !host.contains('/') => {
            Ok(text.to_owned())
        }
        _ => Err("expected a scheme and a host, such as https://app.example.com".to_owned()),
    }
}

/// Checks the path of an endpoint.
fn path(text: &str) -> Result<String, String> {
    if text.starts_with('/') && text.len() > 1 {
        Ok(text.to_owned())
    } else {
        Err("expected a path, such as /sse".to_owned())
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

/// The gravity of a loss, by its name on the command line.
#[derive(Clone, Copy, ValueEnum)]
enum SeverityArgument {
    Cosmetic,
    Invalid,
    Semantic,
    Interaction,
    Safety,
}

impl From<SeverityArgument> for LossKind {
    fn from(severity: SeverityArgument) -> Self {
        match severity {
            SeverityArgument::Cosmetic => Self::Cosmetic,
            SeverityArgument::Invalid => Self::Invalid,
            SeverityArgument::Semantic => Self::Semantic,
            SeverityArgument::Interaction => Self::Interaction,
            SeverityArgument::Safety => Self::Safety,
        }
    }
}

impl Arguments {
    /// Returns an option that was given, and means nothing without an HTTP listener.
    fn of_a_listener(&self) -> Option<&'static str> {
        let mut given = [
            ("--isolate", self.isolate),
            ("--max-servers", self.max_servers.is_some()),
            (
                "--max-servers-per-client",
                self.max_servers_per_client.is_some(),
            ),
            ("--idle-timeout", self.idle_timeout.is_some()),
            ("--lame-duck", self.lame_duck.is_some()),
            ("--allow-host", !self.allow_host.is_empty()),
            ("--allow-origin", !self.allow_origin.is_empty()),
            ("--http-sse", self.http_sse.is_some()),
            ("--backplane", self.backplane.is_some()),
            ("--metrics", self.metrics.is_some()),
            ("--guard", self.guard.guard.is_some()),
        ]
        .into_iter()
        .filter(|(_, is_given)| *is_given);
        given.next().map(|(option, _)| option)
    }
}

impl Arguments {
    /// Returns whether the bridge signs in to its server: for a stdio client, which is one person, and for the clients of a
    /// listener only if its user says so and no other machine can reach it.
    fn signs_in(&self) -> Result<bool, Failed> {
        let mut headers = self.header.iter().chain(&self.header_env);
        let has_token = headers.any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        match (self.sign_in.auth, &self.listen) {
            (SignInMode::Off, _) => Ok(false),
            (_, _) if has_token => Ok(false),
            (SignInMode::Auto, Listen::Http(..)) => Ok(false),
            (SignInMode::Device, Listen::Http(..)) => {
                let why = "--auth device is the sign-in of one person: sign in for the clients of a listener with --auth shared";
                Err(Failed::place(anyhow::Error::msg(why)))
            }
            (SignInMode::Shared, Listen::Http(address, _)) if !address.ip().is_loopback() => {
                let why = "--auth shared is one sign-in for all clients: listen on a loopback address, such as 127.0.0.1";
                Err(Failed::place(anyhow::Error::msg(why)))
            }
            _ => Ok(true),
        }
    }
}

/// The failure of a bridge, and its exit code.
struct Failed {
    code: u8,
    error: anyhow::Error,
}

impl Failed {
    /// Returns the server cannot be used, or has ended first.
    fn server(error: impl Into<anyhow::Error>) -> Self {
        Self {
            code: 1,
            error: error.into(),
        }
    }

    /// Makes the error of a bridge that has no place to listen at, or cannot write a file.
    fn place(error: impl Into<anyhow::Error>) -> Self {
        Self {
            code: OUTPUT_FAILED,
            error: error.into(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<SubcommandOutcome> {
    if let (Listen::Stdio, Some(option)) = (&arguments.listen, arguments.of_a_listener()) {
        anyhow::bail!(
            "{option} is for an HTTP listener: give --listen http://ADDRESS:PORT/mcp as well"
        );
    }
    match (&arguments.config, &arguments.listen) {
        (Some(_), Listen::Stdio) if !arguments.combine => {
            anyhow::bail!(
                "--config has several servers: give --listen http://ADDRESS:PORT, or --combine to serve them as one"
            )
        }
        (Some(_), Listen::Http(_, path)) if !arguments.combine && path != listen::PATH => {
            anyhow::bail!(
                "the servers of --config are at /NAME/mcp: give --listen without a path, or --combine"
            )
        }
        _ => {}
    }
    log::begin(arguments.log, arguments.log_format).map_err(anyhow::Error::msg)?;
    // A client over stdio is one conversation: handing its messages from thread to thread costs more than it gains.
    let mut builder = match arguments.listen {
        Listen::Stdio => tokio::runtime::Builder::new_current_thread(),
        Listen::Http(..) => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build().context("cannot start")?;
    stderr::begin();
    let done = runtime.block_on(async {
        let files = BridgeFiles::open(arguments)?;
        let done = bridged(arguments, &files).await;
        files.finish();
        done
    });
    // A thread that reads standard input would be waited for as long as the client is silent.
    runtime.shutdown_background();
    let code = match done {
        Ok(()) => 0,
        Err(Failed { code, error }) => {
            stderr::print_error(&error);
            code
        }
    };
    let text = String::new();
    Ok(SubcommandOutcome { text, code })
}

/// The shared parts of a bridge's servers: the files that it writes, and the count of requests.
struct BridgeFiles {
    rate_limit: Option<RateLimit>,
    log: LossLog,
    record: Option<TrafficRecord>,
}

impl BridgeFiles {
    fn open(arguments: &Arguments) -> Result<Self, Failed> {
        let record = arguments.record.as_deref().map(TrafficRecord::new);
        Ok(Self {
            rate_limit: arguments.rate_limit.map(RateLimit::per_minute),
            log: LossLog::open(&arguments.loss_log).map_err(Failed::place)?,
            record: record.transpose().map_err(Failed::place)?,
        })
    }

    /// Waits a short time for what is not written yet, and tells how much never was.
    fn finish(&self) {
        let deadline = Instant::now() + FLUSH;
        let messages = self
            .record
            .as_ref()
            .map_or(0, |record| record.finish(deadline));
        if messages > 0 {
            error!("messages that are missing in the record: {messages}");
        }
        let lines = self.log.finish(deadline);
        if lines > 0 {
            error!("lines that are missing in the loss log: {lines}");
        }
    }
}

async fn bridged(arguments: &Arguments, files: &BridgeFiles) -> Result<(), Failed> {
    if let Some(file) = &arguments.config {
        return several::bridged(file, arguments, files).await;
    }
    let mut bridge = set_up(arguments, files, upstream(arguments, files)?, None);
    match &arguments.listen {
        Listen::Stdio => {
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            let served = bridge.serve_stdio(input, output, listen::signalled_to_end());
            served.await.map_err(Failed::server)
        }
        Listen::Http(address, path) => {
            let mut options = listen::options(*address, path, arguments).map_err(Failed::place)?;
            let url = arguments.backplane.clone();
            if let Some(url) = url.or_else(|| std::env::var(BACKPLANE).ok()) {
                let shared = listen::shared(bridge, options, &url).await;
                (bridge, options) = shared.context("--backplane").map_err(Failed::place)?;
            }
            let served = listen::over_http(*address, path, bridge.with_http_options(options));
            served.await.map_err(Failed::place)
        }
    }
}

/// Sets a bridge to a server up, which has a name if there are others.
fn set_up(
    arguments: &Arguments,
    files: &BridgeFiles,
    upstream: Upstream,
    name: Option<&str>,
) -> Bridge {
    let bridge = match name {
        Some(name) => Bridge::new(upstream).with_name(name),
        None => Bridge::new(upstream),
    };
    let rules = ToolRules::new(&arguments.allow_tool, &arguments.deny_tool);
    let bridge = match (rules.is_empty(), name.filter(|_| arguments.combine)) {
        (true, _) => bridge,
        (false, None) => bridge.with_tool_filter(move |tool, _| rules.admit(tool)),
        (false, Some(name)) => {
            let prefix = Gateway::prefix(name).unwrap_or_default();
            bridge.with_tool_filter(move |tool, _| rules.admit(&format!("{prefix}_{tool}")))
        }
    };
    let bridge = match &files.rate_limit {
        Some(limit) => bridge.with_rate_limit(limit.clone()),
        None => bridge,
    };
    let bridge = if arguments.no_cache {
        bridge.without_cache()
    } else {
        bridge
    };
    let bridge = match arguments.list_ttl {
        Some(seconds) => bridge.with_list_ttl(Duration::from_secs(seconds as u64)),
        None => bridge,
    };
    let (log, name) = (files.log.clone(), name.map(str::to_owned));
    let bridge = bridge
        .with_unknown_fields(UnknownFields::from(arguments.unknown_fields))
        .on_loss(move |report| log.write(report, name.as_deref()));
    // A second signal; SIGHUP is another request where there is a file to read again.
    let mut bridge = match arguments.config {
        Some(_) => bridge.with_early_end(listen::terminated()),
        None => bridge.with_early_end(listen::signalled()),
    };
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
    if let Some(number) = arguments.max_servers {
        bridge = bridge.with_max_servers(number);
    }
    if let Some(seconds) = arguments.start_timeout {
        bridge = bridge.with_start_timeout(Duration::from_secs(seconds as u64));
    }
    if let Some(seconds) = arguments.idle_timeout {
        bridge = bridge.with_idle_timeout(Duration::from_secs(seconds as u64));
    }
    if let Some(number) = arguments.max_servers_per_client {
        bridge = bridge.with_max_servers_per_client(number);
    }
    bridge
}

/// Sets up the process of a server.
fn child(
    command: &[String],
    env: &BTreeMap<String, String>,
    folder: Option<&str>,
    format: log::LogFormat,
) -> Child {
    let (program, arguments) = command.split_first().unzip();
    let mut command = Command::new(program.map_or("", String::as_str));
    command.args(arguments.unwrap_or_default());
    // It may hold the password of the store.
    command.env_remove(BACKPLANE);
    command.envs(env);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    if format == log::LogFormat::Json {
        return Child::new(command).on_error_line(|line| info!(line, "standard error of a server"));
    }
    // A server that waits for the reader of standard error would keep its client waiting; and its last lines tell the client
    // why it has ended.
    Child::new(command).on_error_line(stderr::tell_of_server)
}

/// Returns the transport to a URL, which is sent these headers.
fn at_url<'h>(
    url: &str,
    headers: impl Iterator<Item = &'h (String, String)>,
    arguments: &Arguments,
) -> Result<Http, Failed> {
    let http = arguments.sign_in.http(url).map_err(Failed::server)?;
    Ok(headers.fold(http, |http, (name, value)| http.with_header(name, value)))
}

/// Returns the server that the arguments name.
fn upstream(arguments: &Arguments, files: &BridgeFiles) -> Result<Upstream, Failed> {
    let upstream = match (&arguments.url, arguments.command.split_first()) {
        (Some(url), _) => {
            let headers = arguments.header.iter().chain(&arguments.header_env);
            let http = at_url(url, headers, arguments)?;
            Upstream::url(if arguments.signs_in()? {
                let oauth = arguments.sign_in.provider(&http, url, None);
                http.with_authorization(oauth.map_err(Failed::place)?)
            } else {
                http
            })
        }
        (None, Some(_)) => {
            let (command, format) = (arguments.command.clone(), arguments.log_format);
            Upstream::child(&command.join(" "), move || {
                child(&command, &BTreeMap::new(), None, format)
            })
        }
        (None, None) => {
            let error = anyhow::anyhow!("name a server: a URL, or a command after `--`");
            return Err(Failed::server(error));
        }
    };
    Ok(recorded(upstream, files))
}

/// Returns a server of a configuration file.
fn defined(
    definition: &Definition,
    arguments: &Arguments,
    files: &BridgeFiles,
) -> Result<Upstream, Failed> {
    let format = arguments.log_format;
    let upstream = match definition.server.clone() {
        ServerDefinition::Url { url, headers } => {
            Upstream::url(at_url(&url, headers.iter(), arguments)?)
        }
        ServerDefinition::Process {
            command,
            env,
            folder,
        } => Upstream::child(&definition.name, move || {
            child(&command, &env, folder.as_deref(), format)
        }),
    };
    Ok(recorded(upstream, files))
}

/// Records the traffic with a server, if there is a file for it.
fn recorded(upstream: Upstream, files: &BridgeFiles) -> Upstream {
    match files.record.clone() {
        Some(record) => upstream.with_tap(move || Ok(record.tap())),
        None => upstream,
    }
}
