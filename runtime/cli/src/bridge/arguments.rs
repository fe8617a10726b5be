//! The arguments of `mcp-rev bridge`: what each means, and which of them go together.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use mcp_revisions::service::client::Http;
use mcp_revisions_core::{Revision, Severity};

use super::guard::GuardArguments;
use super::listen::{Listen, PATH};
use super::log;
use crate::convert::UnknownFieldsArgument;
use crate::sign_in::{SignInArguments, SignInMode};

#[derive(Args)]
#[command(
    group(ArgGroup::new("server").required(true).args(["url", "command", "config"])),
    override_usage = "mcp-rev bridge [OPTIONS] <URL>\n       mcp-rev bridge [OPTIONS] -- <COMMAND>...\n       mcp-rev bridge [OPTIONS] --config <FILE>"
)]
pub(crate) struct Arguments {
    /// Address to accept clients at: `stdio`, or `http://ADDRESS:PORT/PATH` [default path: /mcp]
    #[arg(long, value_name = "WHERE", default_value = "stdio")]
    pub(super) listen: Listen,
    /// Serve the `mcpServers` of this file, as hosts have them: each at `/NAME/mcp` of an HTTP listener
    ///
    /// Members: `command`, `args`, `env`, `cwd`, or `url`, `headers`; `type` and `disabled`. `${VAR}` and `${VAR:-default}` in
    /// their values are variables of the environment. SIGHUP reads the file again: servers that it defines as before go on.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "command", "header", "header_env", "http_sse", "backplane"])]
    pub(super) config: Option<PathBuf>,
    /// Serve all servers of --config as one, whose tools and prompts have the name of their server before their own
    #[arg(long, requires = "config")]
    pub(super) combine: bool,
    /// Accept only these protocol revisions from clients [default: all]
    #[arg(long, value_name = "ID,...", value_delimiter = ',', value_parser = negotiated)]
    pub(super) client_revisions: Vec<Revision>,
    /// Speak this protocol revision with the server [default: that of each client, else the nearest that the server supports]
    #[arg(long, value_name = "ID", value_parser = negotiated)]
    pub(super) upstream_revision: Option<Revision>,
    /// Wait this many seconds for a server that starts, before its client gets an error [default: 60]
    ///
    /// The time counts from the start of the process, or from the first request to the URL, until the server has said which
    /// revision it speaks. Commands that download packages or images, such as `npx`, `uvx` or `docker run`, may need more.
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    pub(super) start_timeout: Option<usize>,
    /// Drop or preserve fields that only the newer revision defines
    #[arg(long, default_value = "drop")]
    pub(super) unknown_fields: UnknownFieldsArgument,
    /// Log each loss, and each message that is rejected or dropped, as a line of JSON: a file, `stderr` or `off`
    #[arg(long, value_name = "FILE", default_value = "stderr")]
    pub(super) loss_log: String,
    /// Send an error in place of a message that has a loss of this severity or worse [default: send all messages]
    #[arg(long, value_name = "SEVERITY")]
    pub(super) reject_loss: Option<SeverityArgument>,
    /// Record the traffic with the server to this file, for `mcp-rev transcript`
    ///
    /// An HTTP listener starts several servers. With `session.jsonl`, the second one is recorded to `session.2.jsonl`. New
    /// files are readable by their owner only.
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<String>,
    /// Send this header with each request to the server's URL, such as `Accept-Language: en`
    ///
    /// Headers that the transport or MCP sets, such as `Host` or `Mcp-Session-Id`, are refused.
    ///
    /// Other users of the machine can read command lines: pass secrets with --header-env.
    #[arg(long, value_name = "NAME:VALUE", value_parser = header, conflicts_with = "command")]
    pub(super) header: Vec<(String, String)>,
    /// Send this header with the value of an environment variable, such as `Authorization=MCP_TOKEN`
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = header_env, conflicts_with = "command")]
    pub(super) header_env: Vec<(String, String)>,
    /// Start a server for each connection of 2026-07-28 clients to an HTTP listener
    ///
    /// Without this option, 2026-07-28 clients of one address that send the same `clientInfo` and the same capabilities
    /// share a server. With it, a server ends with the connection of its client.
    #[arg(long)]
    pub(super) isolate: bool,
    /// Maximum number of servers that an HTTP listener starts [default: 1000]
    ///
    /// Each session has a server of its own. 2026-07-28 clients of one address that send the same `clientInfo` and the
    /// same capabilities share one, unless --isolate is given.
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pub(super) max_servers: Option<usize>,
    /// Maximum number of servers for the clients of one address [default: a tenth of --max-servers, at least 10]
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pub(super) max_servers_per_client: Option<usize>,
    /// End a session of an HTTP listener, and its server, after this many seconds without a message [default: 1800]
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    pub(super) idle_timeout: Option<usize>,
    /// Serve calls for this many seconds after a signal to end, while /readyz says no [default: 0]
    ///
    /// Set it to what the load balancer needs to notice: the interval of its checks times the failures that it waits for,
    /// and a second.
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    pub(super) lame_duck: Option<usize>,
    /// Accept this `Host` of HTTP requests, besides localhost and the address of --listen
    ///
    /// Examples: `mcp.example.com`, `mcp.example.com:8443`, or `*` behind a proxy that checks it.
    #[arg(long, value_name = "HOST")]
    pub(super) allow_host: Vec<String>,
    /// Accept requests of web pages from this origin, and let them read the responses (CORS)
    ///
    /// Requests with an origin of localhost are always accepted. Name such an origin to let its pages read the responses.
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub(super) allow_origin: Vec<String>,
    /// Serve HTTP+SSE, the transport of 2024-11-05, at this path of an HTTP listener, such as `/sse`
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub(super) http_sse: Option<String>,
    /// Share the sessions of an HTTP listener with other bridges through this Redis server, such as `redis://127.0.0.1/`
    ///
    /// `rediss://` is for TLS. Other users of the machine can read command lines: pass a URL with a password in the
    /// environment variable MCP_REV_BACKPLANE.
    ///
    /// Each bridge accepts requests of all sessions, and passes them to the one that runs the session. A session ends with
    /// the bridge that runs its server.
    #[arg(long, value_name = "URL")]
    pub(super) backplane: Option<String>,
    /// Log level on standard error: off, error, warn, info, debug or trace [env: MCP_REV_LOG] [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub(super) log: Option<log::LogLevelArgument>,
    /// Show clients only the tools whose name fits this pattern, in which `*` stands for any text; repeatable
    ///
    /// Calls of other tools get an error. With --combine, the names are those with a prefix, such as `git_*`.
    #[arg(long, value_name = "PATTERN")]
    pub(super) allow_tool: Vec<String>,
    /// Hide the tools whose name fits this pattern; repeatable, and stronger than --allow-tool
    #[arg(long, value_name = "PATTERN")]
    pub(super) deny_tool: Vec<String>,
    /// Accept at most this many requests a minute of each client, which is an address for an HTTP listener [default: no limit]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) rate_limit: Option<u32>,
    /// Ask the server for each list and resource, in place of keeping results that it lets clients share
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Keep lists of a server before 2026-07-28 for this many seconds, and let all clients share them [default: not kept]
    #[arg(long, value_name = "SECONDS", value_parser = number, conflicts_with = "no_cache")]
    pub(super) list_ttl: Option<usize>,
    /// With --combine, wait at most this many seconds for the list of a server [default: 20]
    #[arg(long, value_name = "SECONDS", value_parser = number, requires = "combine")]
    pub(super) list_timeout: Option<usize>,
    /// Format of the log on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) log_format: log::LogFormat,
    /// Serve metrics, as text for Prometheus, at this path of an HTTP listener, such as `/metrics`
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub(super) metrics: Option<String>,
    #[command(flatten)]
    pub(super) guard: GuardArguments,
    #[command(flatten)]
    pub(super) sign_in: SignInArguments,
    /// URL of a streamable HTTP or HTTP+SSE server
    #[arg(conflicts_with = "command", value_parser = url)]
    pub(super) url: Option<String>,
    /// Command that starts a stdio server, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

impl Arguments {
    /// Checks what the command line's parser cannot: options that mean nothing without a listener, and where several servers are.
    ///
    /// # Errors
    /// Such an option over standard streams, or a place that the servers of a file cannot be at.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if let (Listen::Stdio, Some(option)) = (&self.listen, self.of_a_listener()) {
            anyhow::bail!(
                "{option} is for an HTTP listener: give --listen http://ADDRESS:PORT/mcp as well"
            );
        }
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

    /// Returns whether the bridge signs in to its server: for a stdio client, which is one person, and for the clients of a
    /// listener only if its user says so and no other machine can reach it.
    pub(super) fn signs_in(&self) -> anyhow::Result<bool> {
        let mut headers = self.header.iter().chain(&self.header_env);
        let has_token = headers.any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        match (self.sign_in.auth, &self.listen) {
            (SignInMode::Off, _) => Ok(false),
            (_, _) if has_token => Ok(false),
            (SignInMode::Auto, Listen::Http(..)) => Ok(false),
            (SignInMode::Device, Listen::Http(..)) => {
                let why = "--auth device is the sign-in of one person: sign in for the clients of a listener with --auth shared";
                Err(anyhow::Error::msg(why))
            }
            (SignInMode::Shared, Listen::Http(address, _)) if !address.ip().is_loopback() => {
                let why = "--auth shared is one sign-in for all clients: listen on a loopback address, such as 127.0.0.1";
                Err(anyhow::Error::msg(why))
            }
            _ => Ok(true),
        }
    }
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
pub(super) fn url(text: &str) -> Result<String, String> {
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
pub(super) enum SeverityArgument {
    Cosmetic,
    Invalid,
    Semantic,
    Interaction,
    Safety,
}

impl From<SeverityArgument> for Severity {
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
