//! `mcp-rev bridge`: sets up `mcp-bridge` as its arguments say, and runs it.

mod arguments;
pub(crate) mod entry;
mod guard;
mod json_log;
mod listen;
pub(crate) mod log;
mod loss_log;
mod metrics;
pub(crate) mod reach;
mod record;
#[cfg_attr(not(feature = "redis"), path = "without_replicas.rs")]
mod replicas;
mod several;
mod tools;
mod way;

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::Context as _;
use clap::ArgMatches;
use mcp_bridge::config::EntryVariables;
use mcp_bridge::{ClientSettings, RateLimit};
use mcp_revisions::RevisionSet;
use tracing::{error, info};

use crate::background::FLUSH;
use crate::stderr;
use crate::{OUTPUT_FAILED, SubcommandOutcome};
pub(crate) use arguments::{Arguments, with_separator};
use listen::Listen;
use loss_log::LossLog;
use reach::Reach;
pub(crate) use reach::UpstreamArguments;
use record::TrafficRecord;
pub(crate) use way::{ServerWay, way_to};

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

/// Runs the bridge; `given` says which arguments were given.
pub(crate) fn run(arguments: &Arguments, given: &ArgMatches) -> anyhow::Result<SubcommandOutcome> {
    arguments.check(given)?;
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

impl Arguments {
    /// Returns the settings for reaching servers.
    fn reach(&self, files: &BridgeFiles, signs_in: bool) -> Reach<'_> {
        // The password of the store, and that of the client that introspects tokens.
        let guard = self.guard.guard_client_secret_env.clone();
        Reach {
            arguments: &self.reach,
            is_of_file: self.config.is_some(),
            signs_in,
            secrets: guard.into_iter().chain([BACKPLANE.to_owned()]).collect(),
            variables: files.variables.clone(),
            log_format: self.log_format,
            likely: RevisionSet::none(),
        }
    }

    /// Returns the settings of clients, of the server of this name if there are several.
    fn clients(&self, files: &BridgeFiles, server: Option<&str>) -> ClientSettings {
        let (log, server) = (files.log.clone(), server.map(str::to_owned));
        let mut clients = ClientSettings::new()
            .with_unknown_fields(self.unknown_fields.into())
            .on_loss(move |report| log.write(report, server.as_deref()));
        if !self.client_revisions.is_empty() {
            clients = clients.with_revisions(self.client_revisions.iter().copied().collect());
        }
        if let Some(severity) = self.reject_loss {
            clients = clients.with_rejected_loss(severity);
        }
        if let Some(number) = self.max_servers {
            clients = clients.with_max_servers(number);
        }
        if let Some(number) = self.max_servers_per_client {
            clients = clients.with_max_servers_per_client(number);
        }
        // A second signal; SIGHUP is another request where there is a file to read again.
        match (&self.config, &self.listen) {
            (Some(_), Listen::Http(..)) => clients.with_early_end(listen::terminated()),
            _ => clients.with_early_end(listen::signalled()),
        }
    }
}

/// The shared parts of a bridge's servers: the files that it writes, and the count of requests.
struct BridgeFiles {
    rate_limit: Option<RateLimit>,
    log: LossLog,
    record: Option<TrafficRecord>,
    variables: EntryVariables,
    /// The entries of the file that cannot be used, as lines.
    wrong: Arc<Mutex<String>>,
}

impl BridgeFiles {
    fn open(arguments: &Arguments) -> Result<Self, Failed> {
        let record = arguments.record.as_deref().map(TrafficRecord::new);
        Ok(Self {
            rate_limit: arguments.rate_limit.map(RateLimit::per_minute),
            log: LossLog::open(&arguments.loss_log).map_err(Failed::place)?,
            record: record.transpose().map_err(Failed::place)?,
            variables: EntryVariables::default(),
            wrong: Arc::default(),
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
    if arguments.listen == Listen::Stdio && std::io::stdin().is_terminal() {
        info!(
            "waiting for a client on standard input, which writes a message per line: a host starts this command; --listen http://127.0.0.1:8000/mcp serves clients over HTTP"
        );
    }
    if let Some(file) = &arguments.config {
        return several::bridged(file, arguments, files).await;
    }
    let mut entry = entry::of_arguments(arguments).map_err(Failed::server)?;
    let found = entry::find(&mut entry, &arguments.reach).await;
    let likely = found.map_err(Failed::server)?;
    let mut bridge = entry::bridge(&entry, arguments, files, likely).map_err(Failed::place)?;
    match &arguments.listen {
        Listen::Stdio => {
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            let served = bridge.serve_stdio(input, output, listen::signalled_to_end());
            served.await.map_err(Failed::server)
        }
        Listen::Http(address, path) => {
            let mut options = listen::options(address, path, arguments).map_err(Failed::place)?;
            let url = arguments.backplane.clone();
            if let Some(url) = url.or_else(|| std::env::var(BACKPLANE).ok()) {
                let shared = replicas::shared(bridge, options, &url).await;
                (bridge, options) = shared.context("--backplane").map_err(Failed::place)?;
            }
            let served = listen::over_http(address, path, bridge.with_http_options(options));
            served.await.map_err(Failed::place)
        }
    }
}
