//! The way to one server, for a command that examines it: its URL, or what starts its process.

use std::collections::BTreeMap;
use std::path::Path;

use mcp_bridge::config::{Config, EntryVariables, ServerEntry, ServerTarget};
use mcp_revisions::RevisionSet;
use mcp_revisions::service::client::{Child, Http};

use super::entry::{http, process};
use super::log::LogFormat;
use super::reach::{Reach, UpstreamArguments};

pub(crate) enum ServerWay {
    Http(Box<Http>),
    Process(Box<dyn Fn() -> Child + Send + Sync>),
}

/// Returns the name of a server and the way to it: of a command, of a URL, or of the entry of this name in a file. Tokens that
/// are kept of a sign-in are used. Returns an error if the file has no such entry, or one that cannot be used.
pub(crate) fn way_to(
    server: Option<&str>,
    command: &[String],
    config: Option<&Path>,
    arguments: &UpstreamArguments,
) -> anyhow::Result<(String, ServerWay)> {
    let url = |url: &str| ServerTarget::Url {
        url: url.to_owned(),
        headers: Vec::new(),
    };
    let variables = EntryVariables::default();
    let entry = match (server, command, config) {
        (Some(name), _, Some(file)) => {
            let config = Config::read(file)?;
            variables.replace(config.variables.clone());
            config.server(name)?
        }
        (Some(server), _, None) => ServerEntry::new(server, url(server)),
        (None, command, _) => {
            let target = ServerTarget::Process {
                command: command.to_owned(),
                env: BTreeMap::new(),
                folder: None,
            };
            ServerEntry::new(&command.join(" "), target)
        }
    };
    let reach = Reach {
        arguments,
        is_of_file: false,
        signs_in: true,
        secrets: Vec::new(),
        variables,
        log_format: LogFormat::Text,
        likely: RevisionSet::none(),
    };
    let way = match &entry.target {
        ServerTarget::Wrong(why) => anyhow::bail!("{why}"),
        ServerTarget::Url { url, headers } => {
            ServerWay::Http(Box::new(http(&entry, url, headers, &reach)?))
        }
        ServerTarget::Process { .. } => match process(&entry, &reach, |_| {}) {
            Some(start) => ServerWay::Process(Box::new(start)),
            None => anyhow::bail!("name a server: a URL, or a command after `--`"),
        },
    };
    Ok((entry.name.clone(), way))
}
