//! The sign-in of a server in a file of servers.

use std::path::Path;

use anyhow::Context as _;
use mcp_bridge::config::{Config, ServerTarget};

use super::SignInArguments;

/// Returns the URL of a server, and the options of its sign-in: as they were given, or of the entry of this name in a file.
/// Returns an error if the file has no such entry at a URL.
pub(super) fn target(
    config: Option<&Path>,
    server: &str,
    given: &SignInArguments,
) -> anyhow::Result<(String, SignInArguments)> {
    let Some(file) = config else {
        return Ok((server.to_owned(), given.clone()));
    };
    let entry = Config::read(file)?.server(server)?;
    let context = || format!("{}: server `{server}`", file.display());
    match &entry.target {
        ServerTarget::Url { url, .. } => Ok((url.clone(), given.for_entry(&entry.sign_in))),
        ServerTarget::Wrong(why) => Err(anyhow::Error::msg(why.clone())).with_context(context),
        _ => Err(anyhow::anyhow!("it is a process, which wants no sign-in")).with_context(context),
    }
}
