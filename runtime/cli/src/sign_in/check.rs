//! `mcp-rev auth check`: what a sign-in would find.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::auth::SignInForecast;
use mcp_revisions::latest::CallServer as _;
use mcp_revisions::service::Client;
use mcp_revisions::service::client::{
    AuthFuture, AuthProvider, AuthRefusal, Credentials, HttpRequest, OAuth, RefusalFate,
};
use mcp_revisions::service::lock;

use super::{Login, SignInArguments};
use crate::SubcommandOutcome;

/// Maximum time of a check.
const CHECK_TIME: Duration = Duration::from_secs(90);

/// Looks at the first refusal, and signs in to nothing.
struct Inspector {
    oauth: OAuth,
    outcome: Arc<Mutex<Option<Result<SignInForecast, String>>>>,
}

impl AuthProvider for Inspector {
    fn credentials<'a>(
        &'a self,
        _: &'a HttpRequest<'a>,
    ) -> AuthFuture<'a, Result<Credentials, String>> {
        Box::pin(std::future::ready(Ok(Credentials::default())))
    }

    fn refused<'a>(&'a self, refusal: AuthRefusal<'a>) -> AuthFuture<'a, RefusalFate> {
        Box::pin(async move {
            let checked = RefusalFate::give_up("checked");
            let is_checked = lock(&self.outcome).is_some();
            if is_checked {
                return checked;
            }
            let forecast = self.oauth.check(refusal).await;
            let found = forecast.map_err(|it| it.to_string());
            lock(&self.outcome).get_or_insert(found);
            checked
        })
    }
}

pub(crate) fn lines(forecast: &SignInForecast) -> Vec<String> {
    let resource = forecast.resource.as_deref();
    let scopes = forecast
        .scopes
        .iter()
        .map(|(scope, is_listed)| match is_listed {
            Some(false) => format!("{scope} (not listed by the issuer, which may refuse it)"),
            _ => scope.clone(),
        });
    let listed: Vec<String> = scopes.collect();
    let pkce = if forecast.lists_pkce {
        "S256"
    } else {
        "not listed, and taken for granted"
    };
    let scopes = if listed.is_empty() {
        "none".to_owned()
    } else {
        listed.join(", ")
    };
    vec![
        format!("issuer: {}", forecast.issuer),
        format!("resource: {}", resource.unwrap_or("none, as in 2025-03-26")),
        format!("client: {}", forecast.client),
        format!("PKCE: {pkce}"),
        format!("scopes: {scopes}"),
    ]
}

/// The requests and the result of a look at the sign-in of a server.
pub(crate) struct Inspection {
    /// The requests for metadata, each with its status.
    pub(crate) requests: Vec<String>,
    /// The sign-in, or the rule that failed; `None` if none was wanted.
    pub(crate) outcome: Option<Result<SignInForecast, String>>,
    listed: Result<(), mcp_revisions::service::Error>,
}

/// Asks a server how to sign in, without signing in. Returns an error for options that are not valid.
pub(crate) async fn inspect(sign_in: &SignInArguments, url: &str) -> anyhow::Result<Inspection> {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let outcome = Arc::new(Mutex::new(None));
    let http = sign_in.http(url)?;
    let seen = Arc::clone(&requests);
    let oauth = sign_in.inspector(&http, url, move |line| {
        lock(&seen).push(line);
    })?;
    let inspector = Inspector {
        oauth,
        outcome: Arc::clone(&outcome),
    };
    let client = Client::builder(&mcp_revisions::program!())
        .with_start_timeout(CHECK_TIME)
        .http(http.with_authorization(inspector));
    let listed = client.within(CHECK_TIME).list_tools(None).await;
    let requests = std::mem::take(&mut *lock(&requests));
    let outcome = lock(&outcome).take();
    Ok(Inspection {
        requests,
        outcome,
        listed: listed.map(|_| ()),
    })
}

pub(super) fn run(arguments: &Login) -> anyhow::Result<SubcommandOutcome> {
    let runtime = super::runtime()?;
    let done = runtime.block_on(async {
        let (url, sign_in) = arguments.target()?;
        inspect(&sign_in, &url).await
    });
    runtime.shutdown_background();
    let Inspection {
        requests,
        outcome,
        listed,
    } = done?;
    let mut lines = requests;
    let code = match (outcome, listed) {
        (Some(Ok(found)), _) => {
            lines.extend(self::lines(&found));
            0
        }
        (Some(Err(why)), _) => {
            lines.push(format!("failed: {why}"));
            1
        }
        (None, Ok(())) => {
            lines.push(format!("{} wants no sign-in", arguments.url));
            0
        }
        (None, Err(error)) => return Err(error.into()),
    };
    let text = lines.join("\n") + "\n";
    Ok(SubcommandOutcome::for_people(&text, code))
}
