//! The options by which a server is reached, which `bridge` shares with commands that look at servers.

use clap::Args;
use mcp_bridge::config::EntryVariables;
use mcp_revisions::RevisionSet;
use mcp_revisions::service::client::{FoundEndpoint, Http};

use super::arguments::{URL, number};
use super::log::LogFormat;
use crate::sign_in::SignInArguments;

/// The options by which a server is reached; a command that has them has an argument `command`, too.
#[derive(Args, Default)]
pub(crate) struct UpstreamArguments {
    /// Wait this many seconds for a server that starts, before its client gets an error [default: 60]
    ///
    /// The time counts from the start of the process, or from the first request to the URL, until the server has said which
    /// revision it speaks. Commands that download packages or images, such as `npx`, `uvx` or `docker run`, may need more.
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    pub(crate) start_timeout: Option<usize>,
    /// Send this header with each request to the server's URL, such as `Accept-Language: en`
    ///
    /// Headers that the transport or MCP sets, such as `Host` or `Mcp-Session-Id`, are refused.
    ///
    /// Other users of the machine can read command lines: pass secrets with --header-env.
    #[arg(long, help_heading = URL, value_name = "NAME:VALUE", value_parser = header, conflicts_with = "command")]
    pub(crate) header: Vec<(String, String)>,
    /// Send this header with the value of an environment variable, such as `Authorization=MCP_TOKEN`
    #[arg(long, help_heading = URL, value_name = "NAME=VARIABLE", value_parser = header_env, conflicts_with = "command")]
    pub(crate) header_env: Vec<(String, String)>,
    /// Send the server no cookies that it has set [default: they are kept per session]
    #[arg(long, help_heading = URL)]
    pub(crate) no_cookies: bool,
    #[command(flatten)]
    pub(crate) sign_in: SignInArguments,
}

/// What a program that reaches servers says of all of them.
pub(crate) struct Reach<'a> {
    pub(crate) arguments: &'a UpstreamArguments,
    /// Set if they are entries of a file: each has a name then.
    pub(crate) is_of_file: bool,
    /// Set if a server without credentials of its own is signed in to.
    pub(crate) signs_in: bool,
    /// Variables of the environment that are secrets of the program.
    pub(crate) secrets: Vec<String>,
    pub(crate) variables: EntryVariables,
    pub(crate) log_format: LogFormat,
    /// The revisions that the card of the one server names.
    pub(crate) likely: RevisionSet,
}

impl UpstreamArguments {
    /// Finds the endpoint of a server at a URL that only names its origin, by what the server publishes; `None` for another URL, and
    /// for one that is not valid.
    ///
    /// # Errors
    /// Returns an error if the origin has several servers.
    pub(crate) async fn find(&self, url: &str) -> anyhow::Result<Option<FoundEndpoint>> {
        let is_origin = |http: &Http| http.url().path() == "/" && http.url().query().is_none();
        let Some(http) = self.sign_in.http(url).ok().filter(is_origin) else {
            return Ok(None);
        };
        let headers = self.header.iter().chain(&self.header_env);
        let http = headers.fold(http, |http, (name, value)| http.with_header(name, value));
        http.find().await.map(Some).map_err(anyhow::Error::msg)
    }
}

/// Returns the URL of an endpoint with the user of the URL by which it was found.
pub(crate) fn with_user_of(given: &str, endpoint: &str) -> String {
    let authority = |url: &str| url.split('/').nth(2).unwrap_or_default().to_owned();
    match (
        authority(given).rsplit_once('@'),
        endpoint.split_once("://"),
    ) {
        (Some((user, _)), Some((scheme, rest))) => format!("{scheme}://{user}@{rest}"),
        _ => endpoint.to_owned(),
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

/// Parses a header whose value is in the environment.
fn header_env(text: &str) -> Result<(String, String), String> {
    let (name, variable) = text.split_once('=').ok_or("expected NAME=VARIABLE")?;
    match std::env::var(variable) {
        Ok(value) => checked(name, &value),
        Err(why) => Err(format!("environment variable `{variable}`: {why}")),
    }
}
