//! An entry of a file of servers: a command or a URL, and its own settings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::auth::{ResourceParameter, Secret, Settings};
use mcp_revisions::service::lock;
use tokio::process::Command;

use crate::ToolRules;

/// Variables that every process gets, even if an entry of the file names them.
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

/// A server of a file. It holds a command or a URL, and the settings of this server only.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerEntry {
    /// Its name in the file, else its program or its URL.
    pub name: String,
    /// Its command or its URL.
    pub target: ServerTarget,
    /// Its sign-in.
    pub sign_in: EntrySignIn,
    /// The rules of its tools.
    pub tools: ToolRules,
    /// Time that it may take to start.
    pub start_timeout: Option<Duration>,
    /// The variables of the environment that the entry names.
    pub(super) variables: BTreeSet<String>,
}

/// The command that starts a server, or its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerTarget {
    /// A command.
    Process {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables of its environment; `None` for one that it does not get.
        env: BTreeMap<String, Option<String>>,
        /// Its folder.
        folder: Option<String>,
    },
    /// A URL.
    Url {
        /// The URL.
        url: String,
        /// Headers of each request.
        headers: Vec<(String, String)>,
    },
    /// An entry that cannot be used, and why.
    Wrong(String),
}

/// The sign-in of one server of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntrySignIn {
    /// The id of a client that is registered with the authorization server.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// The scopes to request.
    pub scopes: Vec<String>,
    /// The only issuer to sign in with.
    pub issuer: Option<String>,
    /// The `resource` parameter.
    pub resource: Option<String>,
    /// The port that the browser comes back to.
    pub callback_port: Option<u16>,
}

impl EntrySignIn {
    /// Returns the settings of the sign-in to the server at this URL.
    pub(super) fn settings(&self, url: &str) -> Settings {
        let mut settings = Settings::new(url).with_scopes(self.scopes.clone());
        if let Some(id) = &self.client_id {
            settings = settings.with_client(id, self.client_secret.clone().map(Secret::from));
        }
        if let Some(issuer) = &self.issuer {
            settings = settings.with_issuer(issuer);
        }
        if let Some(resource) = &self.resource {
            settings = settings.with_resource(ResourceParameter::Fixed(resource.clone()));
        }
        settings
    }
}

/// The variables that the entries of a file name: each is for the servers that name it. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct EntryVariables(Arc<Mutex<BTreeSet<String>>>);

impl EntryVariables {
    /// Replaces them by those of a file that was read again.
    pub fn replace(&self, names: BTreeSet<String>) {
        *lock(&self.0) = names;
    }
}

impl ServerEntry {
    /// Creates an entry without settings of its own.
    #[must_use]
    pub fn new(name: &str, target: ServerTarget) -> Self {
        Self {
            name: name.to_owned(),
            target,
            sign_in: EntrySignIn::default(),
            tools: ToolRules::new(),
            start_timeout: None,
            variables: BTreeSet::new(),
        }
    }

    /// Returns the function that makes the command of the server, with its environment: without the variables of other entries and
    /// those in `hidden`, unless the entry sets them. Returns `None` for a server at a URL.
    #[must_use]
    pub fn command(
        &self,
        others: &EntryVariables,
        hidden: &[String],
    ) -> Option<impl Fn() -> Command + Send + Sync + use<>> {
        let ServerTarget::Process {
            command,
            env,
            folder,
        } = self.target.clone()
        else {
            return None;
        };
        let secrets = hidden.to_vec();
        let (own, named) = (self.variables.clone(), others.clone());
        Some(move || {
            let (program, words) = command.split_first().unzip();
            let mut command = Command::new(program.map_or("", String::as_str));
            command.args(words.unwrap_or_default());
            for variable in &secrets {
                command.env_remove(variable);
            }
            let of_file = lock(&named.0);
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
            command
        })
    }
}
