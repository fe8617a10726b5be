//! A server of the bridge: a URL or a command of the command line, or an entry of a file. Both become a bridge in the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_bridge::{Bridge, Gateway, ToolRules, Upstream};
use mcp_revisions::service::client::{Child, Http};
use tokio::process::Command;
use tracing::{info, warn};

use super::reach::Reach;
use super::{Arguments, BridgeFiles, log};
use crate::sign_in::EntrySignIn;
use crate::stderr;

/// Variables that every process needs: that an entry of a file names one does not keep it from the other servers.
const COMMON: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "PWD",
    "USERNAME",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "HOMEDRIVE",
    "HOMEPATH",
    "PATHEXT",
    "XDG_RUNTIME_DIR",
];

/// A server, with what is set for it alone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServerEntry {
    /// Its name in the file, else its program or its URL.
    pub(super) name: String,
    pub(super) target: ServerTarget,
    pub(crate) sign_in: EntrySignIn,
    pub(super) tools: ToolRules,
    pub(super) start_timeout: Option<Duration>,
    /// The variables of the environment that the entry names.
    pub(super) variables: BTreeSet<String>,
}

/// The command that starts a server, or its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerTarget {
    Process {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables of its environment; `None` for one that it does not get.
        env: BTreeMap<String, Option<String>>,
        folder: Option<String>,
    },
    Url {
        url: String,
        headers: Vec<(String, String)>,
    },
    /// An entry that cannot be used, and why.
    Wrong(String),
}

/// The variables that the entries of a file name: each is for the servers that name it.
pub(crate) type NamedVariables = Arc<Mutex<BTreeSet<String>>>;

impl ServerEntry {
    pub(super) fn new(name: &str, target: ServerTarget) -> Self {
        Self {
            name: name.to_owned(),
            target,
            sign_in: EntrySignIn::default(),
            tools: ToolRules::new(),
            start_timeout: None,
            variables: BTreeSet::new(),
        }
    }

    /// Returns the one server that the command line names.
    pub(super) fn of_arguments(arguments: &Arguments) -> anyhow::Result<Self> {
        let mut entry = match (&arguments.url, arguments.command.first()) {
            (Some(url), _) => Self::new(
                url,
                ServerTarget::Url {
                    url: url.clone(),
                    headers: Vec::new(),
                },
            ),
            (None, Some(program)) => Self::new(
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

    /// Returns the name of the server where there are others.
    fn label<'e>(&'e self, reach: &Reach<'_>) -> Option<&'e str> {
        reach.is_of_file.then_some(&*self.name)
    }

    /// Returns the way to the server.
    ///
    /// # Errors
    /// Returns why there is none, such as a file of certificates that cannot be read.
    pub(crate) fn upstream(&self, reach: &Reach<'_>) -> anyhow::Result<Upstream> {
        Ok(match &self.target {
            ServerTarget::Wrong(why) => Upstream::unusable(&self.name, why),
            ServerTarget::Url { url, headers } => Upstream::url(self.http(url, headers, reach)?),
            ServerTarget::Process {
                command,
                env,
                folder,
            } => {
                let (server, format) = (self.label(reach).map(str::to_owned), reach.log_format);
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
                let start = self.process((command, env, folder.as_deref()), reach, tell);
                Upstream::child(&self.name, start)
            }
        })
    }

    /// Returns the way to a server at a URL, with its headers and its sign-in.
    ///
    /// # Errors
    /// Returns an error for a file of certificates or a key that cannot be read.
    pub(crate) fn http(
        &self,
        url: &str,
        headers: &[(String, String)],
        reach: &Reach<'_>,
    ) -> anyhow::Result<Http> {
        let arguments = reach.arguments;
        let mut sign_in = arguments.sign_in.for_entry(&self.sign_in);
        if reach.is_of_file {
            sign_in = sign_in.of_several();
        }
        let own = |name: &str| headers.iter().any(|(it, _)| it.eq_ignore_ascii_case(name));
        let given = arguments.header.iter().chain(&arguments.header_env);
        let sent = given.filter(|(name, _)| !own(name)).chain(headers);
        let headers: Vec<_> = sent.collect();
        let mut http = sign_in.http(url)?;
        if arguments.no_cookies {
            http = http.without_cookies();
        }
        for (name, value) in &headers {
            http = http.with_header(name, value);
        }
        let is_credential =
            |(name, _): &&(String, String)| name.eq_ignore_ascii_case("authorization");
        if reach.signs_in && !headers.iter().any(is_credential) {
            let oauth = sign_in.provider(&http, url, None)?;
            http = http.with_authorization(oauth);
        }
        Ok(http)
    }

    /// Returns what sets up the process of the server: its command, environment and folder. `tell` gets the lines of its standard
    /// error.
    pub(crate) fn process<T: Fn(&str) + Clone + Send + Sync + 'static>(
        &self,
        (command, env, folder): (&[String], &BTreeMap<String, Option<String>>, Option<&str>),
        reach: &Reach<'_>,
        tell: T,
    ) -> impl Fn() -> Child + use<T> + Send + Sync + 'static {
        let (program, words) = match command.split_first() {
            Some((program, words)) => (program.clone(), words.to_vec()),
            None => Default::default(),
        };
        let (env, folder) = (env.clone(), folder.map(str::to_owned));
        let secrets = reach.secrets.clone();
        let (own, named) = (self.variables.clone(), Arc::clone(&reach.variables));
        move || {
            let mut command = Command::new(&program);
            command.args(&words);
            for variable in &secrets {
                command.env_remove(variable);
            }
            // Those of other servers of the file.
            let of_file = named.lock().unwrap_or_else(PoisonError::into_inner);
            for variable in of_file.difference(&own) {
                if !COMMON.contains(&&**variable) {
                    command.env_remove(variable);
                }
            }
            for (name, value) in &env {
                match value {
                    Some(value) => command.env(name, value),
                    None => command.env_remove(name),
                };
            }
            if let Some(folder) = &folder {
                command.current_dir(folder);
            }
            Child::new(command).on_error_line(tell.clone())
        }
    }

    /// Sets a bridge to the server up.
    ///
    /// # Errors
    /// As for its [`upstream`](Self::upstream).
    pub(super) fn bridge(
        &self,
        arguments: &Arguments,
        files: &BridgeFiles,
    ) -> anyhow::Result<Bridge> {
        let signs_in = arguments.signs_in()?;
        let reach = arguments.reach(files, signs_in);
        let mut upstream = self.upstream(&reach)?;
        if let Some(record) = files.record.clone() {
            upstream = upstream.with_tap(move || Ok(record.tap()));
        }
        let address = upstream.name().to_owned();
        let mut bridge = Bridge::new(upstream);
        let label = self.label(&reach);
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
        if matches!(self.target, ServerTarget::Url { .. }) {
            let server = match &arguments.config {
                Some(file) => format!("{} --config {}", self.name, file.display()),
                None => address,
            };
            let shares = if signs_in {
                ""
            } else {
                ", and give the bridge --auth shared"
            };
            bridge = bridge
                .with_sign_in_advice(&format!("sign in with `mcp-rev login {server}`{shares}"));
        }
        if !self.tools.is_empty() {
            bridge = bridge.with_tool_rules(self.tools.clone());
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
        if let Some(time) = self.start_timeout.or(given) {
            bridge = bridge.with_start_timeout(time);
        }
        if let Some(seconds) = arguments.idle_timeout {
            bridge = bridge.with_idle_timeout(Duration::from_secs(seconds as u64));
        }
        Ok(bridge)
    }

    /// Sets a bridge up to the server of a file; one that cannot be set up is one that cannot be used.
    pub(super) fn bridge_of_file(&self, arguments: &Arguments, files: &BridgeFiles) -> Bridge {
        self.bridge(arguments, files).unwrap_or_else(|why| {
            warn!(server = self.name, "it cannot be used: {why:#}");
            let upstream = Upstream::unusable(&self.name, &format!("{why:#}"));
            Bridge::new(upstream).with_name(&self.name)
        })
    }
}
