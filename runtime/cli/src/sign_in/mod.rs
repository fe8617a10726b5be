//! `mcp-rev login`, `logout` and `auth`: sign-ins to servers at URLs, which `bridge` uses.

mod browser;
mod check;
mod entry;
mod flags;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use mcp_revisions::auth::{AuthError, StoredSignIn, TokenKind};
use mcp_revisions::latest::CallServer as _;
use mcp_revisions::service::Client;
use mcp_revisions::service::client::{FileStore, StoreError, TokenStore as _};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::SubcommandOutcome;
pub(crate) use check::{inspect, lines as forecast_lines};
pub(crate) use flags::{HEADING, SignInArguments, SignInMode};

/// Time that a person has for `login`.
const LOGIN_TIME: Duration = Duration::from_secs(600);

#[derive(Args)]
pub(crate) struct Login {
    /// File of servers, as --config of `bridge` has it, in which the server is named
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// URL of the server, or its name in the file
    url: String,
    #[command(flatten)]
    sign_in: SignInArguments,
}

#[derive(Args)]
pub(crate) struct Logout {
    /// Remove the registration of the client as well
    #[arg(long)]
    registration: bool,
    /// Revoke the tokens of all servers, and remove everything that is kept of them
    #[arg(long, conflicts_with = "url")]
    all: bool,
    /// URL of the server
    #[arg(required_unless_present = "all")]
    url: Option<String>,
    #[command(flatten)]
    sign_in: SignInArguments,
}

#[derive(Args)]
pub(crate) struct Auth {
    #[command(subcommand)]
    command: AuthCommand,
}

#[derive(Subcommand)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one, and it is read once"
)]
enum AuthCommand {
    /// List the servers that are signed in to: issuer, client, scopes and expiry, without tokens
    Status(SignInStatus),
    /// Find out how a server wants a sign-in, without signing in: each request and its status, and the rule that failed
    Check(Login),
}

#[derive(Args)]
struct SignInStatus {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Folder that tokens are kept in [env: MCP_REV_AUTH_STORE] [default: the user's state folder]
    #[arg(long, value_name = "FOLDER")]
    auth_store: Option<PathBuf>,
    /// URL of a server [default: all]
    url: Option<String>,
}

impl Login {
    /// Returns the URL of the server, and the options of its sign-in.
    fn target(&self) -> anyhow::Result<(String, SignInArguments)> {
        entry::target(self.config.as_deref(), &self.url, &self.sign_in)
    }
}

/// Creates the runtime of a subcommand.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().context("cannot start")
}

/// Signs in, and keeps the tokens for `bridge`.
pub(crate) fn login(arguments: &Login) -> anyhow::Result<SubcommandOutcome> {
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let (url, sign_in) = arguments.target()?;
        let url = &url;
        let http = sign_in.http(url)?;
        let store = sign_in.store(url)?;
        // A store that cannot be written is an error before a person signs in for it.
        if let Some(_guard) = store.try_lock()?
            && let Some(mut kept) = store.load()?
            && kept.begin_anew()
        {
            store.save(&kept)?;
        }
        let oauth = sign_in.provider(&http, url, Some(LOGIN_TIME))?;
        let obtained_at = || {
            let kept = oauth.kept();
            kept.and_then(|kept| kept.tokens.map(|it| it.signed_in_at))
        };
        let before = obtained_at();
        let client = Client::builder(&mcp_revisions::program!())
            .with_start_timeout(LOGIN_TIME)
            .http(http.with_authorization(oauth.clone()));
        // The server says what it wants when it refuses a request.
        let listed = client.within(LOGIN_TIME).list_tools(None).await;
        if obtained_at().is_none() {
            if let Err(error) = listed {
                return Err(anyhow::Error::from(error));
            }
            return Ok(format!("{url} wants no sign-in\n"));
        }
        listed?;
        let kept = line(&oauth.kept().unwrap_or_default());
        if before.is_some() && before == obtained_at() {
            return Ok(format!(
                "signed in already: {kept}for another account, run `mcp-rev logout {url}` first\n"
            ));
        }
        Ok(format!("signed in: {kept}"))
    });
    runtime.shutdown_background();
    match done {
        Ok(text) => Ok(SubcommandOutcome::for_people(&text, 0)),
        Err(error) => {
            crate::stderr::print_error(format!("{error:#}"));
            Ok(SubcommandOutcome::for_people("", 1))
        }
    }
}

/// Revokes the tokens of a server or of all, and removes what is kept of them.
pub(crate) fn logout(arguments: &Logout) -> anyhow::Result<SubcommandOutcome> {
    let runtime = runtime()?;
    let outcome = match &arguments.url {
        Some(url) => runtime.block_on(logout_of(arguments, url)),
        None => runtime.block_on(logout_of_all(arguments)),
    };
    runtime.shutdown_background();
    outcome
}

/// Signs out of a server.
async fn logout_of(arguments: &Logout, url: &str) -> anyhow::Result<SubcommandOutcome> {
    let store = arguments.sign_in.store(url)?;
    let Some(kept) = store.load()? else {
        return Ok(SubcommandOutcome::for_people(
            &format!("{url} is not signed in to\n"),
            1,
        ));
    };
    let revoked = if kept.tokens.is_some() {
        let http = arguments.sign_in.http(url)?;
        let oauth = arguments.sign_in.provider(&http, url, None)?;
        oauth.sign_out().await.map_err(anyhow::Error::from)
    } else {
        Ok(Vec::new())
    };
    if arguments.registration {
        store.clear()?;
    }
    let text = signed_out(url, &kept, &revoked);
    Ok(SubcommandOutcome::for_people(&text, 0))
}

/// Signs out of all servers. A file is removed even if its tokens cannot be revoked.
async fn logout_of_all(arguments: &Logout) -> anyhow::Result<SubcommandOutcome> {
    let folder = flags::folder(arguments.sign_in.auth_store.as_ref())?;
    let mut all = FileStore::list(&folder)?;
    all.sort_by(|(_, one), (_, other)| server_of(one).cmp(server_of(other)));
    let (mut text, mut removed) = (String::new(), 0);
    for (path, kept) in &all {
        text.push_str(&match kept {
            Ok(kept) => signed_out(&kept.server, kept, &revoke(arguments, kept).await),
            Err(why) => format!("tokens that cannot be read were not revoked: {why}\n"),
        });
        match std::fs::remove_file(path) {
            Ok(()) => removed += 1,
            Err(why) => crate::stderr::print_error(format!("{}: {why}", path.display())),
        }
    }
    let _ = writeln!(text, "removed: {removed}");
    let code = u8::from(removed < all.len());
    Ok(SubcommandOutcome::for_people(&text, code))
}

/// Revokes the tokens of a file, if it has any.
async fn revoke(arguments: &Logout, kept: &StoredSignIn) -> anyhow::Result<Revocations> {
    if kept.tokens.is_none() {
        return Ok(Vec::new());
    }
    let oauth = arguments.sign_in.signed_in(kept)?;
    Ok(oauth.sign_out().await?)
}

/// The outcome for each token.
type Revocations = Vec<(TokenKind, Result<(), AuthError>)>;

/// Returns the line about a server: which tokens were revoked, and which were not.
fn signed_out(url: &str, kept: &StoredSignIn, revoked: &anyhow::Result<Revocations>) -> String {
    let mut text = format!("signed out of {url}");
    match revoked {
        Ok(revoked) => {
            let good = revoked.iter().filter(|(_, outcome)| outcome.is_ok());
            let done: Vec<String> = good.map(|(token, _)| token.to_string()).collect();
            if !done.is_empty() {
                let _ = write!(text, "; revoked: {}", done.join(", "));
            }
            for (token, outcome) in revoked {
                if let Err(why) = outcome {
                    let _ = write!(text, "; not revoked: {token} ({why})");
                }
            }
        }
        Err(why) => {
            let _ = write!(text, "; the tokens were not revoked there: {why:#}");
        }
    }
    let is_left = |(token, outcome): &(TokenKind, Result<(), AuthError>)| {
        *token == TokenKind::Access && outcome.is_err()
    };
    let end = kept.tokens.as_ref().and_then(|it| it.expires_at);
    if let Some(end) = end.filter(|_| revoked.as_ref().map_or(true, |all| all.iter().any(is_left)))
    {
        let _ = write!(text, "; the access token is {}", lifetime(end));
    }
    text.push('\n');
    text
}

/// Runs `mcp-rev auth`.
pub(crate) fn auth(arguments: &Auth) -> anyhow::Result<SubcommandOutcome> {
    let arguments = match &arguments.command {
        AuthCommand::Status(arguments) => arguments,
        AuthCommand::Check(arguments) => return check::run(arguments),
    };
    let folder = flags::folder(arguments.auth_store.as_ref())?;
    let mut all = FileStore::list(&folder)?;
    if let Some(url) = &arguments.url {
        all.retain(|(_, kept)| kept.as_ref().is_ok_and(|kept| kept.server == *url));
    }
    all.sort_by(|(_, one), (_, other)| server_of(one).cmp(server_of(other)));
    let mut text = String::new();
    for (_, kept) in &all {
        match kept {
            Ok(kept) if arguments.json => text.push_str(&format!("{}\n", object(kept))),
            Ok(kept) => text.push_str(&line(kept)),
            Err(why) => crate::stderr::print_error(why),
        }
    }
    if all.is_empty() && !arguments.json {
        text.push_str("not signed in\n");
    }
    let code = u8::from(all.is_empty());
    Ok(SubcommandOutcome::for_people(&text, code))
}

fn server_of(kept: &Result<StoredSignIn, StoreError>) -> &str {
    kept.as_ref().map_or("", |kept| kept.server.as_str())
}

/// Returns a sign-in in a line, without secrets.
fn line(kept: &StoredSignIn) -> String {
    let mut text = format!("{} at {}", kept.server, kept.issuer);
    if let Some(client) = &kept.registration {
        let _ = write!(text, ", client {}", client.client_id);
    }
    match &kept.tokens {
        None if kept.registration.is_none() => text.push_str(", not signed in yet"),
        None => text.push_str(", signed out"),
        Some(tokens) => {
            let scope = tokens.scope.as_ref().or(tokens.requested.as_ref());
            if let Some(scope) = scope {
                let _ = write!(text, ", scope {scope}");
            }
            if let Some(end) = tokens.expires_at {
                let _ = write!(text, ", {}", lifetime(end));
            }
            if tokens.refresh.is_some() {
                text.push_str(", refreshed by itself");
            }
        }
    }
    text.push('\n');
    text
}

/// Returns the remaining lifetime of a token.
fn lifetime(end: u64) -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    match end.checked_sub(since.map_or(0, |since| since.as_secs())) {
        Some(seconds) => format!("valid for {seconds} s"),
        None => "expired".to_owned(),
    }
}

/// Returns a sign-in as JSON, without secrets.
fn object(kept: &StoredSignIn) -> serde_json::Value {
    let tokens = kept.tokens.as_ref();
    json!({
        "server": kept.server, "issuer": kept.issuer, "resource": kept.resource,
        "clientId": kept.registration.as_ref().map(|it| it.client_id.as_str()),
        "signedIn": tokens.is_some(),
        "scope": tokens.and_then(|it| it.scope.as_ref().or(it.requested.as_ref())),
        "expiresAt": tokens.and_then(|it| it.expires_at),
        "hasRefreshToken": tokens.is_some_and(|it| it.refresh.is_some()),
    })
}
