//! A server of the bridge: a URL or a command of the command line, or an entry of a file. Both become a bridge in the same way.

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_bridge::config::{ServerEntry, ServerTarget};
use mcp_bridge::{Bridge, Gateway, Upstream};
use mcp_revisions::RevisionSet;
use mcp_revisions::service::client::{Child, Http, without_secrets};
use tracing::{info, warn};

use super::reach::{Reach, UpstreamArguments, with_user_of};
use super::{Arguments, BridgeFiles, log};
use crate::stderr;

/// Returns the one server that the command line names.
pub(super) fn of_arguments(arguments: &Arguments) -> anyhow::Result<ServerEntry> {
    let mut entry = match (&arguments.url, arguments.command.first()) {
        (Some(url), _) => ServerEntry::new(
            url,
            ServerTarget::Url {
                url: url.clone(),
                headers: Vec::new(),
            },
        ),
        (None, Some(program)) => ServerEntry::new(
            program,
            ServerTarget::Process {
                command: arguments.command.clone(),
                env: BTreeMap::new(),
                folder: None,
            },
        ),
        (None, None) => anyhow::bail!("name a server: a URL, or a command after `--`"),
    };
    entry.tools = arguments.tools.rules();
    Ok(entry)
}

/// Puts the endpoint in the place of a URL that only names the origin of the server; returns the revisions that its card names.
///
/// # Errors
/// Returns an error if the origin has several servers.
pub(super) async fn find(
    entry: &mut ServerEntry,
    arguments: &UpstreamArguments,
) -> anyhow::Result<RevisionSet> {
    let ServerTarget::Url { url, .. } = &mut entry.target else {
        return Ok(RevisionSet::none());
    };
    let Some(found) = arguments.find(url).await? else {
        return Ok(RevisionSet::none());
    };
    for note in &found.notes {
        warn!("{note}");
    }
    if found.card.is_some() {
        let endpoint = found.http.url().to_string();
        info!(
            "{} leads to {endpoint}, by the server's card",
            without_secrets(url)
        );
        *url = with_user_of(url, &endpoint);
    }
    Ok(found.http.likely_revisions())
}

/// Returns the name of the server where there are others.
fn label<'e>(entry: &'e ServerEntry, reach: &Reach<'_>) -> Option<&'e str> {
    reach.is_of_file.then_some(&*entry.name)
}

/// Returns the way to the server. Returns an error if there is none, such as for a file of certificates that cannot be read.
pub(crate) fn upstream(entry: &ServerEntry, reach: &Reach<'_>) -> anyhow::Result<Upstream> {
    Ok(match &entry.target {
        ServerTarget::Wrong(why) => Upstream::unusable(&entry.name, why),
        ServerTarget::Url { url, headers } => Upstream::url(http(entry, url, headers, reach)?),
        ServerTarget::Process { .. } => {
            let (server, format) = (label(entry, reach).map(str::to_owned), reach.log_format);
            // A server that waits for the reader of standard error would keep its client waiting; and its last lines tell the
            // client why it has ended.
            let tell = move |line: &str| match (&server, format) {
                (server, log::LogFormat::Json) => {
                    info!(server, line, "standard error of a server");
                }
                (Some(server), log::LogFormat::Text) => {
                    stderr::tell_of_server(&format!("{server}: {line}"));
                }
                (None, log::LogFormat::Text) => stderr::tell_of_server(line),
            };
            match process(entry, reach, tell) {
                Some(start) => Upstream::child(&entry.name, start),
                None => Upstream::unusable(&entry.name, "it has no command"),
            }
        }
    })
}

/// Returns the way to a server at a URL, with its headers and its sign-in. Returns an error for a file of certificates or a key
/// that cannot be read.
pub(crate) fn http(
    entry: &ServerEntry,
    url: &str,
    headers: &[(String, String)],
    reach: &Reach<'_>,
) -> anyhow::Result<Http> {
    let arguments = reach.arguments;
    let mut sign_in = arguments.sign_in.for_entry(&entry.sign_in);
    if reach.is_of_file {
        sign_in = sign_in.of_several();
    }
    let own = |name: &str| headers.iter().any(|(it, _)| it.eq_ignore_ascii_case(name));
    let given = arguments.header.iter().chain(&arguments.header_env);
    let sent = given.filter(|(name, _)| !own(name)).chain(headers);
    let headers: Vec<_> = sent.collect();
    let mut http = sign_in.http(url)?.with_likely_revisions(reach.likely);
    if arguments.no_cookies {
        http = http.without_cookies();
    }
    for (name, value) in &headers {
        http = http.with_header(name, value);
    }
    let is_credential = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("authorization");
    // A server on a Unix socket has no sign-in.
    if reach.signs_in && http.socket().is_none() && !headers.iter().any(is_credential) {
        let oauth = sign_in.provider(&http, url, None)?;
        http = http.with_authorization(oauth);
    }
    Ok(http)
}

/// Returns the function that sets up the process of a server, or `None` for one at a URL. `tell` gets the lines of its standard error.
pub(crate) fn process<T: Fn(&str) + Clone + Send + Sync + 'static>(
    entry: &ServerEntry,
    reach: &Reach<'_>,
    tell: T,
) -> Option<impl Fn() -> Child + use<T> + Send + Sync + 'static> {
    let command = entry.command(&reach.variables, &reach.secrets)?;
    Some(move || Child::new(command()).on_error_line(tell.clone()))
}

/// Sets a bridge to the server up. Fails as for its [`upstream`].
pub(super) fn bridge(
    entry: &ServerEntry,
    arguments: &Arguments,
    files: &BridgeFiles,
    likely: RevisionSet,
) -> anyhow::Result<Bridge> {
    let signs_in = arguments.signs_in()?;
    let reach = Reach {
        likely,
        ..arguments.reach(files, signs_in)
    };
    let mut upstream = upstream(entry, &reach)?;
    if let Some(record) = files.record.clone() {
        upstream = upstream.with_tap(move || Ok(record.tap()));
    }
    let address = upstream.name().to_owned();
    let mut bridge = Bridge::new(upstream);
    let label = label(entry, &reach);
    if let Some(name) = label {
        bridge = bridge.with_name(name);
        let mut rules = arguments.tools.rules();
        if arguments.combine {
            rules = rules.with_prefix(&format!("{}_", Gateway::prefix(name)));
        }
        if !rules.is_empty() {
            bridge = bridge.with_tool_rules(rules);
        }
    }
    if matches!(entry.target, ServerTarget::Url { .. }) {
        let server = match &arguments.config {
            Some(file) => format!("{} --config {}", entry.name, file.display()),
            None => address.clone(),
        };
        let shares = if signs_in {
            ""
        } else {
            ", and give the bridge --auth shared"
        };
        bridge =
            bridge.with_sign_in_advice(&format!("sign in with `mcp-rev login {server}`{shares}"));
    }
    bridge = arguments.tools.locked(bridge, label.unwrap_or(&address))?;
    if !entry.tools.is_empty() {
        bridge = bridge.with_tool_rules(entry.tools.clone());
    }
    if arguments.no_cache {
        bridge = bridge.without_cache();
    }
    if let Some(seconds) = arguments.list_ttl {
        bridge = bridge.with_list_ttl(Duration::from_secs(seconds as u64));
    }
    let mut clients = arguments.clients(files, label);
    // A gateway counts the requests of its clients itself: of those to its servers it sends more.
    if let Some(limit) = files.rate_limit.as_ref().filter(|_| !arguments.combine) {
        clients = clients.with_rate_limit(limit.clone());
    }
    bridge = bridge.with_clients(clients);
    if let Some(revision) = arguments.upstream_revision {
        bridge = bridge.with_upstream_revision(revision);
    }
    if arguments.isolate {
        bridge = bridge.with_isolation();
    }
    let given = arguments
        .reach
        .start_timeout
        .map(|it| Duration::from_secs(it as u64));
    if let Some(time) = entry.start_timeout.or(given) {
        bridge = bridge.with_start_timeout(time);
    }
    if let Some(seconds) = arguments.idle_timeout {
        bridge = bridge.with_idle_timeout(Duration::from_secs(seconds as u64));
    }
    Ok(bridge)
}

/// Sets a bridge up to the server of a file; one that cannot be set up is one that cannot be used.
pub(super) fn bridge_of_file(
    entry: &ServerEntry,
    arguments: &Arguments,
    files: &BridgeFiles,
) -> Bridge {
    bridge(entry, arguments, files, RevisionSet::none()).unwrap_or_else(|why| {
        warn!(server = entry.name, "it cannot be used: {why:#}");
        let upstream = Upstream::unusable(&entry.name, &format!("{why:#}"));
        Bridge::new(upstream).with_name(&entry.name)
    })
}
