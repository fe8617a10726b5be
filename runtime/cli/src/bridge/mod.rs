//! `mcp-rev bridge`: sets up `mcp-bridge` as its arguments say, and runs it.

mod arguments;
mod config;
mod guard;
mod json_log;
mod listen;
mod log;
mod loss_log;
mod metrics;
mod record;
#[cfg_attr(not(feature = "redis"), path = "without_replicas.rs")]
mod replicas;
mod several;
mod tools;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use mcp_bridge::{Bridge, Gateway, RateLimit, Upstream};
use mcp_revisions::service::client::{Child, Http};
use mcp_revisions_core::UnknownFields;
use tokio::process::Command;
use tracing::{error, info};

use crate::background::FLUSH;
use crate::stderr;
use crate::{OUTPUT_FAILED, SubcommandOutcome};
pub(crate) use arguments::Arguments;
use config::{Definition, ServerDefinition};
use listen::Listen;
use loss_log::LossLog;
use record::TrafficRecord;
use tools::ToolRules;

/// Environment variable with the URL of the store that bridges share.
const BACKPLANE: &str = "MCP_REV_BACKPLANE";

/// The failure of a bridge, and its exit code.
struct Failed {
    code: u8,
    error: anyhow::Error,
}

impl Failed {
    /// Makes the error of a server that cannot be used, or has ended before its client.
    fn server(error: impl Into<anyhow::Error>) -> Self {
        Self {
            code: 1,
            error: error.into(),
        }
    }

    /// Makes the error of a bridge that has no place to listen at, or cannot read or write a file.
    fn place(error: impl Into<anyhow::Error>) -> Self {
        Self {
            code: OUTPUT_FAILED,
            error: error.into(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<SubcommandOutcome> {
    arguments.check()?;
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
                let shared = replicas::shared(bridge, options, &url).await;
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
    // A gateway counts the requests of its clients itself: of those to its servers it sends more.
    let bridge = match files.rate_limit.as_ref().filter(|_| !arguments.combine) {
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

/// Returns what sets up the process of a server.
fn process(
    command: &[String],
    env: &BTreeMap<String, String>,
    folder: Option<&str>,
    arguments: &Arguments,
) -> impl Fn() -> Child + use<> {
    let (program, words) = match command.split_first() {
        Some((program, words)) => (program.clone(), words.to_vec()),
        None => Default::default(),
    };
    let (env, folder) = (env.clone(), folder.map(str::to_owned));
    let secret = arguments.guard.guard_client_secret_env.clone();
    let format = arguments.log_format;
    move || {
        let mut command = Command::new(&program);
        command.args(&words);
        // Both may hold a secret of the bridge: the password of the store, and that of the client that introspects tokens.
        for variable in [Some(BACKPLANE), secret.as_deref()].into_iter().flatten() {
            command.env_remove(variable);
        }
        command.envs(&env);
        if let Some(folder) = &folder {
            command.current_dir(folder);
        }
        let child = Child::new(command);
        if format == log::LogFormat::Json {
            return child.on_error_line(|line| info!(line, "standard error of a server"));
        }
        // A server that waits for the reader of standard error would keep its client waiting; and its last lines tell the client
        // why it has ended.
        child.on_error_line(stderr::tell_of_server)
    }
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
            Upstream::url(if arguments.signs_in().map_err(Failed::place)? {
                let oauth = arguments.sign_in.provider(&http, url, None);
                http.with_authorization(oauth.map_err(Failed::place)?)
            } else {
                http
            })
        }
        (None, Some((program, _))) => {
            let start = process(&arguments.command, &BTreeMap::new(), None, arguments);
            Upstream::child(program, start)
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
    let upstream = match &definition.server {
        ServerDefinition::Url { url, headers } => {
            Upstream::url(at_url(url, headers.iter(), arguments)?)
        }
        ServerDefinition::Process {
            command,
            env,
            folder,
        } => {
            let start = process(command, env, folder.as_deref(), arguments);
            Upstream::child(&definition.name, start)
        }
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
