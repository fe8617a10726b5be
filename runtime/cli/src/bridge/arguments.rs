//! The arguments of `mcp-rev bridge`: what each means, and which of them go together.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{ArgGroup, ArgMatches, Args, Command};
use mcp_bridge::config::check_url;
use mcp_revisions_core::{Revision, Severity};

use super::guard::{self, GuardArguments};
use super::listen::{Listen, PATH};
use super::log;
use super::reach::UpstreamArguments;
use super::tools::ToolArguments;
use crate::convert::UnknownFieldsArgument;
use crate::sign_in::{self, SignInMode};

/// The headings of options, which say where an option has an effect.
const FILE: &str = "Servers of a file";
pub(super) const URL: &str = "Server at a URL";
const LISTENER: &str = "HTTP listener";
const LOAD: &str = "Limits, and results that are kept";
const LOGS: &str = "Losses, logs and records";

#[derive(Args)]
#[command(
    group(ArgGroup::new("server").required(true).args(["url", "command", "config"])),
    override_usage = "mcp-rev bridge [OPTIONS] <URL>\n       mcp-rev bridge [OPTIONS] -- <COMMAND>...\n       mcp-rev bridge [OPTIONS] --config <FILE>"
)]
pub(crate) struct Arguments {
    /// URL of a streamable HTTP or HTTP+SSE server
    #[arg(conflicts_with = "command", value_parser = url)]
    pub(super) url: Option<String>,
    /// Command that starts a stdio server, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// Address to accept clients at: `stdio`, `http://ADDRESS:PORT/PATH` or `unix:FILE:/PATH`, a socket [default path: /mcp]
    #[arg(long, value_name = "WHERE", default_value = "stdio")]
    pub(super) listen: Listen,
    /// Serve the `mcpServers` of this file, as hosts have them: each at `/NAME/mcp` of an HTTP listener
    ///
    /// Files of Claude, Copilot, Cursor, VS Code, Windsurf and Zed, as JSON, and of Codex, as TOML. `${VAR}` and `${VAR:-default}` in
    /// values are variables of the environment. SIGHUP reads the file again: servers that it defines as before go on.
    #[arg(long, help_heading = FILE, value_name = "FILE", conflicts_with_all = ["url", "command", "http_sse", "backplane"])]
    pub(super) config: Option<PathBuf>,
    /// Serve all servers of --config as one, whose tools and prompts have the name of their server before their own
    #[arg(long, help_heading = FILE)]
    pub(super) combine: bool,
    /// Accept only these protocol revisions from clients [default: all]
    #[arg(long, value_name = "ID,...", value_delimiter = ',', value_parser = negotiated)]
    pub(super) client_revisions: Vec<Revision>,
    /// Speak this protocol revision with the server [default: that of each client, else the nearest that the server supports]
    #[arg(long, value_name = "ID", value_parser = negotiated)]
    pub(super) upstream_revision: Option<Revision>,
    /// Drop or preserve fields that only the newer revision defines
    #[arg(long, default_value = "drop")]
    pub(super) unknown_fields: UnknownFieldsArgument,
    #[command(flatten)]
    pub(super) reach: UpstreamArguments,
    /// Log each loss, and each message that is rejected or dropped, as a line of JSON: a file, `stderr` or `off`
    #[arg(long, help_heading = LOGS, value_name = "FILE", default_value = "stderr")]
    pub(super) loss_log: String,
    /// Send an error in place of a message that has a loss of this severity or worse [default: send all messages]
    #[arg(long, help_heading = LOGS, value_name = "SEVERITY", value_parser = severity())]
    pub(super) reject_loss: Option<Severity>,
    /// Record the traffic with the server to this file, for `mcp-rev transcript`
    ///
    /// An HTTP listener starts several servers. With `session.jsonl`, the second one is recorded to `session.2.jsonl`. New
    /// files are readable by their owner only.
    #[arg(long, help_heading = LOGS, value_name = "FILE")]
    pub(super) record: Option<String>,
    /// Start a server for each connection of 2026-07-28 clients to an HTTP listener
    ///
    /// Without this option, 2026-07-28 clients of one address that send the same `clientInfo` and the same capabilities
    /// share a server. With it, a server ends with the connection of its client.
    #[arg(long, help_heading = LISTENER)]
    pub(super) isolate: bool,
    /// Maximum number of servers that an HTTP listener starts [default: 1000]
    ///
    /// Each session has a server of its own. 2026-07-28 clients of one address that send the same `clientInfo` and the
    /// same capabilities share one, unless --isolate is given.
    #[arg(long, help_heading = LISTENER, value_name = "NUMBER", value_parser = number)]
    pub(super) max_servers: Option<usize>,
    /// Maximum number of servers for the clients of one address [default: a tenth of --max-servers, at least 10]
    #[arg(long, help_heading = LISTENER, value_name = "NUMBER", value_parser = number)]
    pub(super) max_servers_per_client: Option<usize>,
    /// End a session of an HTTP listener, and its server, after this many seconds without a message [default: 1800]
    #[arg(long, help_heading = LISTENER, value_name = "SECONDS", value_parser = number)]
    pub(super) idle_timeout: Option<usize>,
    /// Serve calls for this many seconds after a signal to end, while /readyz says no [default: 0]
    ///
    /// Set it to what the load balancer needs to notice: the interval of its checks times the failures that it waits for,
    /// and a second.
    #[arg(long, help_heading = LISTENER, value_name = "SECONDS", value_parser = number)]
    pub(super) lame_duck: Option<usize>,
    /// Accept this `Host` of HTTP requests, besides localhost and the address of --listen
    ///
    /// Examples: `mcp.example.com`, `mcp.example.com:8443`, or `*` behind a proxy that checks it.
    #[arg(long, help_heading = LISTENER, value_name = "HOST")]
    pub(super) allow_host: Vec<String>,
    /// Accept requests of web pages from this origin, and let them read the responses (CORS)
    ///
    /// Requests with an origin of localhost are always accepted. Name such an origin to let its pages read the responses.
    #[arg(long, help_heading = LISTENER, value_name = "ORIGIN", value_parser = origin)]
    pub(super) allow_origin: Vec<String>,
    /// Publish a server card of each server, and a catalog of them, for clients that reach the HTTP listener at this URL
    ///
    /// The card is at /server-card below the URL, and the catalog at /.well-known/ai-catalog.json. Everybody may read them, also
    /// behind --guard. A server whose card is read first is started for that. With --config and without --combine, give the
    /// parent of the URLs, such as `https://mcp.example.com/`.
    #[arg(long, help_heading = LISTENER, value_name = "URL")]
    pub(super) server_card: Option<String>,
    /// Serve HTTP+SSE, the transport of 2024-11-05, at this path of an HTTP listener, such as `/sse`
    #[arg(long, help_heading = LISTENER, value_name = "PATH", value_parser = path)]
    pub(super) http_sse: Option<String>,
    /// Share the sessions of an HTTP listener with other bridges through this Redis server, such as `redis://127.0.0.1/`
    ///
    /// `rediss://` is for TLS. Other users of the machine can read command lines: pass a URL with a password in the
    /// environment variable MCP_REV_BACKPLANE.
    ///
    /// Each bridge accepts requests of all sessions, and passes them to the one that runs the session. A session ends with
    /// the bridge that runs its server.
    #[arg(long, help_heading = LISTENER, value_name = "URL")]
    pub(super) backplane: Option<String>,
    /// Log level on standard error: off, error, warn, info, debug or trace [env: MCP_REV_LOG] [default: info]
    #[arg(long, help_heading = LOGS, value_name = "LEVEL")]
    pub(super) log: Option<log::LogLevelArgument>,
    #[command(flatten)]
    pub(super) tools: ToolArguments,
    /// Accept at most this many requests a minute of each client, which is an address for an HTTP listener [default: no limit]
    #[arg(long, help_heading = LOAD, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) rate_limit: Option<u32>,
    /// Ask the server for each list and resource, in place of keeping results that it lets clients share
    #[arg(long, help_heading = LOAD)]
    pub(super) no_cache: bool,
    /// Keep lists of a server before 2026-07-28 for this many seconds, and let all clients share them [default: not kept]
    #[arg(long, help_heading = LOAD, value_name = "SECONDS", value_parser = number, conflicts_with = "no_cache")]
    pub(super) list_ttl: Option<usize>,
    /// With --combine, wait at most this many seconds for the list of a server [default: 20]
    #[arg(long, help_heading = FILE, value_name = "SECONDS", value_parser = number, requires = "combine")]
    pub(super) list_timeout: Option<usize>,
    /// Format of the log on standard error
    #[arg(long, help_heading = LOGS, value_name = "FORMAT", default_value = "text")]
    pub(super) log_format: log::LogFormat,
    /// Serve metrics, as text for Prometheus, at this path of an HTTP listener, such as `/metrics`
    #[arg(long, help_heading = LISTENER, value_name = "PATH", value_parser = path)]
    pub(super) metrics: Option<String>,
    #[command(flatten)]
    pub(super) guard: GuardArguments,
}

impl Arguments {
    /// Checks what the command line's parser cannot: options without an effect, and where several servers are. Returns an error
    /// that names such an option, or a place that the servers of a file cannot be at.
    pub(super) fn check(&self, given: &ArgMatches) -> anyhow::Result<()> {
        let known = Self::augment_args(Command::new("bridge"));
        for option in known.get_arguments() {
            let id = option.get_id().as_str();
            if given.value_source(id) == Some(ValueSource::CommandLine)
                && let Some(why) = self.why_without_effect(id, option.get_help_heading())
            {
                anyhow::bail!("--{} {why}", option.get_long().unwrap_or(id));
            }
        }
        self.signs_in()?;
        match (&self.config, &self.listen) {
            (Some(_), Listen::Stdio) if !self.combine => {
                anyhow::bail!(
                    "--config has several servers: give --listen http://ADDRESS:PORT, or --combine to serve them as one"
                )
            }
            (Some(_), Listen::Http(_, path)) if !self.combine && path != PATH => {
                anyhow::bail!(
                    "the servers of --config are at /NAME/mcp: give --listen without a path, or --combine"
                )
            }
            _ => Ok(()),
        }
    }

    /// Returns the reason why an option has no effect with the other arguments, by its id and its heading; `None` if it has one.
    fn why_without_effect(&self, id: &str, heading: Option<&str>) -> Option<&'static str> {
        // The guard asks an authorization server, by the same rules.
        let is_of_guard =
            self.guard.guard.is_some() && ["ca_file", "allow_private_addresses"].contains(&id);
        let (has_effect, why) = match heading? {
            LISTENER | guard::HEADING => (
                self.listen != Listen::Stdio,
                "is for an HTTP listener: give --listen http://ADDRESS:PORT/mcp as well",
            ),
            URL | sign_in::HEADING => (
                self.command.is_empty() || is_of_guard,
                "is for a server at a URL, and this one is a command",
            ),
            FILE => (
                self.config.is_some(),
                "is for the servers of a file: give --config FILE as well",
            ),
            _ => return None,
        };
        (!has_effect).then_some(why)
    }

    /// Returns whether the bridge signs in to servers without credentials of their own: for a stdio client, which is one person,
    /// and for the clients of a listener only if its user says so and no other machine can reach it.
    pub(super) fn signs_in(&self) -> anyhow::Result<bool> {
        match (self.reach.sign_in.auth, &self.listen) {
            (SignInMode::Off, _) | (SignInMode::Auto, Listen::Http(..)) => Ok(false),
            (SignInMode::Device, Listen::Http(..)) => {
                let why = "--auth device is the sign-in of one person: sign in for the clients of a listener with --auth shared";
                Err(anyhow::Error::msg(why))
            }
            (SignInMode::Shared, Listen::Http(address, _)) if !address.is_local() => {
                let why = "--auth shared is one sign-in for all clients: listen on a loopback address, such as 127.0.0.1";
                Err(anyhow::Error::msg(why))
            }
            _ => Ok(true),
        }
    }
}

/// Returns the words of a command line with `--` before the command of a server, which launchers such as `npx` leave out.
pub(crate) fn with_separator(mut words: Vec<OsString>, program: &Command) -> Vec<OsString> {
    let subcommand = first_positional(&words, 1, program).filter(|at| words[*at] == "bridge");
    let bridge = program.find_subcommand("bridge");
    let first = subcommand
        .zip(bridge)
        .and_then(|(at, bridge)| first_positional(&words, at + 1, bridge));
    if let Some(at) = first {
        let word = words[at].to_string_lossy();
        // One word alone may be a URL without its scheme.
        if at + 1 < words.len() && !word.contains("://") {
            words.insert(at, "--".into());
        }
    }
    words
}

/// Returns the place of the first word, from one on, that is neither an option nor its value; `None` if there is none before
/// `--`, or before an option that is not known.
fn first_positional(words: &[OsString], from: usize, command: &Command) -> Option<usize> {
    let mut at = from;
    while let Some(word) = words.get(at) {
        let text = word.to_string_lossy();
        let Some(option) = text.strip_prefix('-') else {
            return Some(at);
        };
        if text == "--" {
            return None;
        }
        if let Some(long) = option.strip_prefix('-').filter(|it| !it.contains('=')) {
            let mut all = command.get_arguments();
            let known = all.find(|it| it.get_long() == Some(long))?;
            at += usize::from(known.get_action().takes_values());
        }
        at += 1;
    }
    None
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

/// Parses a limit, which nothing would pass if it were zero.
pub(super) fn number(text: &str) -> Result<usize, String> {
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
    match check_url(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(why) => Err(format!("{why}; put a command after `--`")),
    }
}

/// Returns the parser of the name of a severity.
fn severity() -> impl TypedValueParser<Value = Severity> {
    PossibleValuesParser::new(Severity::ALL.map(Severity::as_str)).try_map(|name| {
        let mut all = Severity::ALL.into_iter();
        all.find(|it| it.as_str() == name).ok_or(name)
    })
}
