//! The servers of a file as one, for a host that calls them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::mcp_wire::service::{ClientSide, Serves};
use mcp_revisions::service::client::{Child, ClientBuilder, ClientContext, FileStore, Http, OAuth};
use mcp_revisions::service::{Client, boxed, lock};
use mcp_revisions_core::Spoken;
use tracing::{info, warn};

use super::Config;
use super::server::{EntryVariables, ServerEntry, ServerTarget};
use crate::{Bridge, Error, Gateway, Upstream};

/// Maximum number of bytes in the queue between the client and the gateway.
const PIPE: usize = 64 << 10;
/// Time that the calls of a server have once its entry is gone.
const GRACE: Duration = Duration::from_secs(10);
/// Maximum time that a call waits for a sign-in, which then goes on.
const SIGN_IN_WAIT: Duration = Duration::from_secs(5);

/// The servers of a file of a host, such as `mcp.json`, for a program that calls them as one: a [`Gateway`] in its own process.
///
/// Each is started with its first call, and again with the next one after it has ended. Their tools and prompts have the
/// [prefix](Gateway::prefix) of their server, and a change of one list is a change of the list of all.
///
/// ```no_run
/// use mcp_bridge::config::Clients;
/// use mcp_revisions::Client;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let servers = Clients::from_config("mcp.json")?.on_sign_in(|page| println!("sign in at {page}"));
/// let client = servers.connect(Client::builder(&mcp_revisions::program!()))?;
/// for tool in client.list_all_tools().await? {
///     println!("{}", tool.name);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Clients {
    file: PathBuf,
    config: Mutex<Config>,
    /// The entries that are served.
    served: Mutex<Vec<ServerEntry>>,
    gateway: Gateway,
    variables: EntryVariables,
    show: Arc<dyn Fn(&str) + Send + Sync>,
    tokens: Option<PathBuf>,
}

mcp_wire::debug_struct!([] Clients, "Clients", self, "file": self.file);

impl Clients {
    /// Reads the servers of a file as hosts write it: JSON with comments, or TOML if it ends in `.toml`. None is started.
    ///
    /// # Errors
    /// Returns an error if the file has no servers that can be read. A mistake in one entry costs that entry: see
    /// [`mistakes`](Self::mistakes).
    pub fn from_config(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let file: PathBuf = path.into();
        Ok(Self {
            config: Mutex::new(Config::read(&file)?),
            file,
            served: Mutex::default(),
            gateway: Gateway::builder().build(),
            variables: EntryVariables::default(),
            show: Arc::new(|page| warn!("a server wants a sign-in: open {page}")),
            tokens: None,
        })
    }

    /// Sets the hook that shows the page of a sign-in to the user [default: its URL is logged].
    #[must_use]
    pub fn on_sign_in(mut self, show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.show = Arc::new(show);
        self
    }

    /// Keeps the tokens of sign-ins in a folder [default: in memory].
    #[must_use]
    pub fn with_token_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.tokens = Some(folder.into());
        self
    }

    /// Returns the entries that cannot be used, with the reason. Calls of their tools get it, too.
    #[must_use]
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let config = lock(&self.config);
        let mistakes = config.mistakes();
        mistakes
            .map(|(name, why)| (name.to_owned(), why.to_owned()))
            .collect()
    }

    /// Returns a client of all servers. Its handlers answer all of them, and the servers that were started for it end with it.
    ///
    /// # Errors
    /// Returns an error if two servers have the same prefix.
    ///
    /// # Panics
    /// Panics outside of a runtime of tokio.
    pub fn connect<App, H>(&self, builder: ClientBuilder<App, H>) -> Result<Client<App>, Error>
    where
        App: Spoken,
        App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
        H: Send + Sync + 'static,
    {
        self.serve()?;
        let ((near, far), gateway) = (tokio::io::duplex(PIPE), self.gateway.clone());
        let (input, output) = tokio::io::split(far);
        tokio::spawn(async move {
            let never = boxed(std::future::pending());
            let served = gateway.serve_one((Box::new(input), Box::new(output)), never);
            if let Err(why) = served.await {
                warn!("the client of all servers: {why}");
            }
        });
        let (input, output) = tokio::io::split(near);
        Ok(builder.lines(input, output))
    }

    /// Reads the file again: servers with another entry are started again, and those without one end after their calls.
    ///
    /// # Errors
    /// Returns an error if the file cannot be used; all stays as it is then.
    pub fn reload(&self) -> Result<(), Error> {
        let config = Config::read(&self.file)?;
        *lock(&self.config) = config;
        self.serve()
    }

    /// Ends all servers, and waits until they have ended. Calls fail from then on.
    /// Await it to its end: dropping the future may leave servers at work.
    pub async fn close(self) {
        self.gateway.shutdown().await;
    }

    /// Serves the entries of the file. A server whose entry is the same goes on.
    fn serve(&self) -> Result<(), Error> {
        let config = lock(&self.config);
        self.variables.replace(config.variables.clone());
        let errors = config.serve(
            &mut lock(&self.served),
            |name| drop(tokio::spawn(self.gateway.remove(name, GRACE))),
            |entry| self.gateway.insert(&entry.name, self.bridge(entry)),
        );
        for note in &config.notes {
            info!("{}: {note}", self.file.display());
        }
        errors.into_iter().next().map_or(Ok(()), Err)
    }

    fn bridge(&self, entry: &ServerEntry) -> Bridge {
        let upstream = match &entry.target {
            ServerTarget::Wrong(why) => Upstream::unusable(&entry.name, why),
            ServerTarget::Url { url, headers } => match self.http(entry, url, headers) {
                Ok(http) => Upstream::url(http),
                Err(why) => Upstream::unusable(&entry.name, &why.to_string()),
            },
            ServerTarget::Process { .. } => match entry.command(&self.variables, &[]) {
                Some(command) => Upstream::child(&entry.name, move || Child::new(command())),
                None => Upstream::unusable(&entry.name, "no command"),
            },
        };
        let mut bridge = Bridge::new(upstream).with_name(&entry.name);
        if !entry.tools.is_empty() {
            bridge = bridge.with_tool_rules(entry.tools.clone());
        }
        match entry.start_timeout {
            Some(time) => bridge.with_start_timeout(time),
            None => bridge,
        }
    }

    /// Returns the transport to a URL, which signs in if the server wants it and no header has credentials.
    fn http(
        &self,
        entry: &ServerEntry,
        url: &str,
        headers: &[(String, String)],
    ) -> Result<Http, mcp_revisions::Error> {
        let mut http = Http::new(url)?;
        for (name, value) in headers {
            http = http.with_header(name, value);
        }
        let mut names = headers.iter().map(|(name, _)| name);
        if names.any(|name| name.eq_ignore_ascii_case("authorization")) {
            return Ok(http);
        }
        let show = Arc::clone(&self.show);
        let mut sign_in =
            OAuth::builder(&http, entry.sign_in.settings(url), move |page| show(page))
                .with_call_timeout(SIGN_IN_WAIT);
        if let Some(folder) = &self.tokens {
            let client = entry.sign_in.client_id.as_deref().unwrap_or_default();
            sign_in = sign_in.with_store(FileStore::new(folder, &[url, client]));
        }
        if let Some(port) = entry.sign_in.callback_port {
            sign_in = sign_in.with_callback_port(port);
        }
        Ok(http.with_authorization(sign_in.build()))
    }
}
