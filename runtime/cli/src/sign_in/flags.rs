//! The options of a sign-in, which `bridge`, `login` and others share.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use mcp_bridge::config::EntrySignIn;
use mcp_revisions::auth::{
    Algorithm, Grant, PrivateKey, ResourceParameter, Secret, Settings, StoredSignIn,
};
use mcp_revisions::service::client::{
    FileStore, Http, MemoryStore, OAuth, OAuthBuilder, StoreError, StoreGuard, TokenStore,
};

use super::browser::{self, PageScreen};
use crate::stderr;

/// Environment variable with the folder of the store.
const STORE: &str = "MCP_REV_AUTH_STORE";

/// The heading of the options.
pub(crate) const HEADING: &str = "Sign-in to a server at a URL";

/// The options of a sign-in to a URL.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = HEADING)]
pub(crate) struct SignInArguments {
    /// Sign in to a server that wants it in this way [default: auto, for a stdio client with a browser, else off]
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        hide_default_value = true
    )]
    pub(crate) auth: SignInMode,
    /// Id of a client that is registered with the authorization server
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Environment variable with the secret of that client
    #[arg(long, value_name = "VARIABLE", requires = "client_id")]
    client_secret_env: Option<String>,
    /// The secret itself, of an entry of a file.
    #[arg(skip)]
    client_secret: Option<String>,
    /// File with the private key of that client, in PKCS#8 as PEM, of P-256 or RSA
    #[arg(
        long,
        value_name = "FILE",
        requires = "client_id",
        conflicts_with = "client_secret_env"
    )]
    private_key_file: Option<PathBuf>,
    /// URL of a client id metadata document, which is the id of the client where it is supported
    #[arg(long, value_name = "URL", conflicts_with = "client_id")]
    client_metadata_url: Option<String>,
    /// Request this scope [default: those that the server wants]
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// Sign in only with this issuer, such as one whose metadata are not those that the server names
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
    /// Read the metadata of the authorization server at this URL, where its issuer does not lead to them
    #[arg(long, value_name = "URL")]
    issuer_metadata: Option<String>,
    /// Send this `resource` parameter, or `none` for an authorization server that refuses it [default: that of the server]
    #[arg(long, value_name = "URI")]
    resource: Option<String>,
    /// Port that the browser comes back to [default: one of 8 that belong to the URL]
    #[arg(long, value_name = "PORT")]
    callback_port: Option<u16>,
    /// Host that the browser comes back to: `127.0.0.1` or `localhost` [default: 127.0.0.1]
    #[arg(long, value_name = "HOST")]
    callback_host: Option<CallbackHost>,
    /// Folder that tokens are kept in, readable by its owner only [env: MCP_REV_AUTH_STORE] [default: the user's state folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) auth_store: Option<PathBuf>,
    /// Name that tells several sign-ins to one URL apart
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Do not open a browser: print the URL of the page on standard error
    #[arg(long)]
    no_browser: bool,
    /// Maximum number of seconds that a call waits for a sign-in, which then goes on [default: 45]
    #[arg(long, value_name = "SECONDS")]
    auth_wait: Option<u64>,
    /// Add this parameter to the authorization request, such as `prompt=consent`
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    authorize_parameter: Vec<(String, String)>,
    /// Send this `scope` with a refresh [default: none]
    #[arg(long, value_name = "SCOPE")]
    refresh_scope: Option<String>,
    /// Take for granted that the authorization server supports PKCE with S256, where its metadata do not list it
    #[arg(long)]
    assume_pkce: bool,
    /// Allow authorization servers in private networks
    #[arg(long)]
    allow_private_addresses: bool,
    /// Trust the certificates of this file in PEM as well [env: SSL_CERT_FILE]
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

/// The way to sign in.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignInMode {
    /// With a browser, for a stdio client only
    #[default]
    Auto,
    /// Not at all
    Off,
    /// With a browser, once for all clients of a listener on a loopback address
    Shared,
    /// As the client itself, with its secret or private key
    ClientCredentials,
    /// With a code that a person enters at a page, on any device
    Device,
}

/// The host of the redirect URL.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CallbackHost {
    #[value(name = "127.0.0.1")]
    Address,
    Localhost,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Returns the folder of the store.
pub(crate) fn folder(given: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    if let Some(folder) = given {
        return Ok(folder.clone());
    }
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|it| !it.is_empty())
            .map(PathBuf::from)
    };
    if let Some(folder) = variable(STORE) {
        return Ok(folder);
    }
    let state = match () {
        () if cfg!(windows) => variable("LOCALAPPDATA"),
        () if cfg!(target_os = "macos") => {
            variable("HOME").map(|home| home.join("Library/Application Support"))
        }
        () => variable("XDG_STATE_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".local/state"))),
    }
    .context("there is no home folder: name one with --auth-store")?;
    Ok(state.join("mcp-rev/auth"))
}

/// The store where there is no folder for one.
struct NoStore(String);

impl TokenStore for NoStore {
    fn load(&self) -> Result<Option<StoredSignIn>, StoreError> {
        Ok(None)
    }

    fn save(&self, _: &StoredSignIn) -> Result<(), StoreError> {
        Err(StoreError::Missing(self.0.clone()))
    }

    fn try_lock(&self) -> Result<Option<StoreGuard>, StoreError> {
        Err(StoreError::Missing(self.0.clone()))
    }
}

impl SignInArguments {
    /// Returns the options for one server, whose entry may say other things.
    pub(crate) fn for_entry(&self, entry: &EntrySignIn) -> Self {
        let said = entry.clone();
        let mut own = self.clone();
        if said.client_id.is_some() {
            own.client_id = said.client_id;
            own.client_secret = said.client_secret;
            (own.client_secret_env, own.private_key_file) = (None, None);
        }
        if !said.scopes.is_empty() {
            own.scope = said.scopes;
        }
        own.issuer = said.issuer.or(own.issuer);
        own.resource = said.resource.or(own.resource);
        own.callback_port = said.callback_port.or(own.callback_port);
        own
    }

    /// Lets a call wait shortly for the sign-in of one of several servers, unless an option says how long: the others are not kept
    /// waiting, and the client may call again.
    pub(crate) fn of_several(mut self) -> Self {
        self.auth_wait.get_or_insert(5);
        self
    }

    /// Returns the transport to a URL, which trusts the certificates that are named.
    pub(crate) fn http(&self, url: &str) -> anyhow::Result<Http> {
        // The error says the words of its source as well.
        let http = Http::new(url).map_err(|why| anyhow::anyhow!("{why}"))?;
        match &self.ca_file {
            Some(file) => http.with_ca_file(file).context("--ca-file"),
            None => Ok(http),
        }
    }

    /// Returns the settings of a sign-in to a URL.
    fn settings(&self, url: &str) -> anyhow::Result<Settings> {
        let mut settings = Settings::new(url);
        settings.client_name = "mcp-rev".to_owned();
        settings.client_id.clone_from(&self.client_id);
        settings
            .client_metadata_url
            .clone_from(&self.client_metadata_url);
        settings.scopes.clone_from(&self.scope);
        settings.issuer.clone_from(&self.issuer);
        settings.issuer_metadata.clone_from(&self.issuer_metadata);
        settings.allows_private_addresses = self.allow_private_addresses;
        settings
            .authorize_parameters
            .clone_from(&self.authorize_parameter);
        settings.refresh_scope.clone_from(&self.refresh_scope);
        settings.assumes_pkce = self.assume_pkce;
        settings.resource = match self.resource.as_deref() {
            None => ResourceParameter::Discovered,
            Some("none") => ResourceParameter::None,
            Some(resource) => ResourceParameter::Fixed(resource.to_owned()),
        };
        if let Some(variable) = &self.client_secret_env {
            let secret = std::env::var(variable)
                .with_context(|| format!("--client-secret-env {variable}"))?;
            settings.client_secret = Some(Secret::from(secret));
        }
        if let Some(secret) = &self.client_secret {
            settings.client_secret = Some(Secret::from(secret.clone()));
        }
        if let Some(file) = &self.private_key_file {
            let pem = std::fs::read_to_string(file)
                .with_context(|| format!("--private-key-file {}", file.display()))?;
            // A P-256 key in PKCS#8 has about 240 letters, an RSA key 1,600 and more.
            let algorithm = if pem.len() < 800 {
                Algorithm::Es256
            } else {
                Algorithm::Rs256
            };
            settings.private_key = Some(PrivateKey {
                pem: Secret::from(pem),
                algorithm,
            });
        }
        if self.auth == SignInMode::Device {
            settings.grant = Grant::Device;
        }
        if self.auth == SignInMode::ClientCredentials {
            if settings.client_secret.is_none() && settings.private_key.is_none() {
                bail!("--auth client-credentials needs --client-secret-env or --private-key-file");
            }
            settings.grant = Grant::ClientCredentials;
        }
        Ok(settings)
    }

    /// Returns the store of a sign-in to a URL.
    pub(crate) fn store(&self, url: &str) -> anyhow::Result<FileStore> {
        let client = self
            .client_id
            .as_ref()
            .or(self.client_metadata_url.as_ref());
        let key = [
            url,
            client.map_or("", String::as_str),
            self.resource.as_deref().unwrap_or_default(),
            match self.auth {
                SignInMode::ClientCredentials => "client-credentials",
                SignInMode::Device => "device",
                SignInMode::Auto | SignInMode::Off | SignInMode::Shared => "code",
            },
            self.profile.as_deref().unwrap_or_default(),
        ];
        Ok(FileStore::new(folder(self.auth_store.as_ref())?, &key))
    }

    /// Returns the provider that signs in to a URL; calls wait for it as long as `wait` says, which only `login` sets.
    pub(crate) fn provider(
        &self,
        http: &Http,
        url: &str,
        wait: Option<Duration>,
    ) -> anyhow::Result<OAuth> {
        let screen = PageScreen {
            opens: !self.no_browser,
            takes_addresses: wait.is_some(),
        };
        let builder = OAuth::builder(http, self.settings(url)?, move |page| screen.show(page));
        let builder = match self.store(url) {
            Ok(store) => builder.with_store(store),
            // The store is not missed before there are tokens.
            Err(why) => builder.with_store(NoStore(format!("{why:#}"))),
        };
        let builder = builder
            .on_open_page(move |page| screen.show_again(page))
            .on_store_failure(|why| {
                let what = "the tokens are not stored, and last until this program ends";
                stderr::tell(&format!("{what}: {why}\n"));
            })
            .on_device_code(browser::show_code)
            .on_request(|request, answer| {
                let came = match answer {
                    Ok(answer) => answer.status.to_string(),
                    Err(why) => why.clone(),
                };
                // The query of a URL may have what no log should have.
                let url = request.url.split('?').next().unwrap_or_default();
                tracing::debug!("sign-in: {:?} {url}: {came}", request.purpose);
            });
        Ok(self.finished(builder, wait).build())
    }

    /// Returns a provider that only signs out, at the issuer that the tokens are of.
    pub(crate) fn signed_in(&self, kept: &StoredSignIn) -> anyhow::Result<OAuth> {
        let http = self.http(&kept.server)?;
        let mut settings = Settings::new(&kept.server);
        settings.issuer = Some(kept.issuer.clone()).filter(|it| !it.is_empty());
        settings.allows_private_addresses = self.allow_private_addresses;
        let store = MemoryStore::default();
        store.save(kept)?;
        let builder = OAuth::builder(&http, settings, |_| {});
        Ok(builder.with_store(store).build())
    }

    /// Returns the provider that asks a server how to sign in, and reports each request to `seen`.
    pub(crate) fn inspector(
        &self,
        http: &Http,
        url: &str,
        seen: impl Fn(String) + Send + Sync + 'static,
    ) -> anyhow::Result<OAuth> {
        let plain = OAuth::builder(http, self.settings(url)?, |_| {});
        let seeing = plain.on_request(move |request, answer| {
            let came = match answer {
                Ok(answer) => answer.status.to_string(),
                Err(why) => why.clone(),
            };
            seen(format!("{} {came}", request.url));
        });
        Ok(seeing.build())
    }

    fn finished(&self, mut builder: OAuthBuilder, wait: Option<Duration>) -> OAuthBuilder {
        let given = self.auth_wait.map(Duration::from_secs);
        if let Some(wait) = wait.or(given) {
            builder = builder.with_call_timeout(wait);
        }
        if let Some(port) = self.callback_port {
            builder = builder.with_callback_port(port);
        }
        if self.callback_host == Some(CallbackHost::Localhost) {
            builder = builder.with_callback_localhost();
        }
        builder
    }
}
