//! `mcp-rev probe`: finds out why a server cannot be reached, which revisions it speaks, and where it breaks their rules.
//!
//! Each step is a function of the [`Probe`], which has the facts and the findings so far: the connection ([`reach`]), the revisions
//! one after the other ([`revisions`]) with the checks of each lifecycle ([`handshake`], [`per_request`], [`offers`], [`origins`]),
//! the published [`card`], and the [`forecast`] for a bridge. The rules are data: `spec/probe.toml`, read by [`checks`].

mod card;
mod certificate;
mod checks;
mod forecast;
mod handshake;
mod json;
mod judge;
mod link;
mod offers;
mod origins;
mod per_request;
mod reach;
mod revisions;
mod sign_in;
mod state;
mod text;

use std::io::stdout;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::{ArgGroup, Args};
use mcp_revisions::service::client::{Http, RawHttp};
use serde_json::Value;

use crate::SubcommandOutcome;
use crate::bridge::reach::with_user_of;
use crate::bridge::{ServerWay, UpstreamArguments, way_to};
use crate::colour::Paint;
use checks::{Checks, FindingSeverity};
use link::{HttpLink, LIMIT, ProbeLink, StdioLink};
use state::{NamedCall, Probe};

/// The exit code of a server that does not answer, or not without a sign-in.
const NOT_REACHED: u8 = 2;
/// Seconds that a server has to start.
const START: u64 = 60;
/// Time for the end of the last process.
const GRACE: Duration = Duration::from_secs(12);

#[derive(Args)]
#[command(
    group(ArgGroup::new("target").required(true).args(["server", "command"])),
    override_usage = "mcp-rev probe [OPTIONS] <URL>\n       mcp-rev probe [OPTIONS] -- <COMMAND>...\n       mcp-rev probe [OPTIONS] --config <FILE> <NAME>"
)]
pub(crate) struct Arguments {
    /// URL of a server, or its name in the file of --config
    #[arg(conflicts_with = "command", value_name = "SERVER")]
    server: Option<String>,
    /// Command that starts a stdio server, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// File of servers, as --config of `bridge` has it, in which the server is named
    #[arg(long, value_name = "FILE", requires = "server")]
    config: Option<PathBuf>,
    /// Call this tool with these arguments, a JSON object, and check the result; without it nothing has an effect
    #[arg(long, num_args = 2, value_names = ["NAME", "ARGUMENTS"])]
    call: Vec<String>,
    /// Least severity of a finding for exit code 1
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    fail_on: FindingSeverity,
    /// Maximum number of seconds for all of it
    #[arg(long, value_name = "SECONDS", default_value_t = 180)]
    timeout: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reach: UpstreamArguments,
}

/// Examines a server.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<SubcommandOutcome> {
    let call = match arguments.call.as_slice() {
        [tool, text] => {
            let arguments: Value = serde_json::from_str(text).context("--call")?;
            anyhow::ensure!(arguments.is_object(), "--call: expected a JSON object");
            Some(NamedCall {
                tool: tool.clone(),
                arguments,
            })
        }
        _ => None,
    };
    let runtime = crate::sign_in::runtime()?;
    let done = runtime.block_on(async {
        let config = arguments.config.as_deref();
        let mut server = arguments.server.clone();
        let (mut found, begun) = (None, Instant::now());
        if let Some(url) = server.as_deref().filter(|_| config.is_none()) {
            found = arguments.reach.find(url).await?;
        }
        let took = begun.elapsed();
        let by_card = found.as_ref().filter(|found| found.card.is_some());
        let endpoint = by_card.map(|found| found.http.url().to_string());
        if let (Some(url), Some(endpoint)) = (&mut server, &endpoint) {
            *url = with_user_of(url, endpoint);
        }
        let way = way_to(
            server.as_deref(),
            &arguments.command,
            config,
            &arguments.reach,
        );
        let (name, way) = way?;
        let checks = Checks::load()?;
        let mut probe = match way {
            ServerWay::Http(http) => over_http(*http, checks),
            ServerWay::Process(start) => {
                let mut probe = Probe::new(
                    name,
                    ProbeLink::Stdio(Box::new(StdioLink::new(start))),
                    checks,
                );
                let seconds = arguments.reach.start_timeout.map_or(START, |it| it as u64);
                probe.patience = Duration::from_secs(seconds);
                probe
            }
        };
        probe.call = call;
        if let Some(endpoint) = endpoint {
            probe.step("catalog", took, format!("leads to {endpoint}"));
        }
        for note in found.map(|found| found.notes).unwrap_or_default() {
            probe.report("server-card", None, probe.target.clone(), note);
        }
        probe.sign_in_arguments = Some(arguments.reach.sign_in.clone());
        let time = Duration::from_secs(arguments.timeout);
        if tokio::time::timeout(time, examine(&mut probe))
            .await
            .is_err()
        {
            let found = format!("{} s have passed", arguments.timeout);
            probe.report("time", None, probe.target.clone(), found);
        }
        forecast::run(&mut probe);
        if let ProbeLink::Stdio(stdio) = &mut probe.link {
            let _ = tokio::time::timeout(GRACE, stdio.end()).await;
        }
        Ok::<_, anyhow::Error>(probe)
    });
    runtime.shutdown_background();
    let probe = done?;
    let mut severities = probe.findings.iter().map(|it| it.check.severity);
    let code = if probe.is_reached {
        u8::from(severities.any(|it| it >= arguments.fail_on))
    } else {
        NOT_REACHED
    };
    let text = if arguments.json {
        json::render(&probe)
    } else {
        text::render(&probe, Paint::of(stdout()))
    };
    Ok(SubcommandOutcome { text, code })
}

/// Returns the probe of a server at a URL.
fn over_http(http: Http, checks: Checks) -> Probe {
    let url = http.url().to_string();
    let link = HttpLink {
        raw: RawHttp::new(http.clone(), LIMIT),
        url: url.clone(),
        events: None,
    };
    let mut probe = Probe::new(http.shown(), ProbeLink::Http(Box::new(link)), checks);
    probe.http = Some(http);
    probe
}

/// Runs the steps, until one of them breaks.
async fn examine(probe: &mut Probe) -> ControlFlow<()> {
    if let Some(http) = probe.http.take() {
        reach::run(probe, &http).await?;
    }
    let tried = revisions::run(probe).await;
    card::run(probe).await;
    tried?;
    per_request::refused_initialize(probe);
    ControlFlow::Continue(())
}
