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

use super::Login;
use crate::SubcommandOutcome;

/// Maximum time of a check.
const CHECK_TIME: Duration = Duration::from_secs(90);

/// Looks at the first refusal, and signs in to nothing.
struct Inspector {
    oauth: OAuth,
    outcome: Arc<Mutex<Option<Result<String, String>>>>,
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
            let found = forecast.map(|it| lines(&it)).map_err(|it| it.to_string());
            lock(&self.outcome).get_or_insert(found);
            checked
        })
    }
}

/// Returns a forecast as lines.
fn lines(forecast: &SignInForecast) -> String {
    let resource = forecast.resource.as_deref();
    let scopes = forecast
        .scopes
        .iter()
        .map(|(scope, is_listed)| match is_listed {
            Some(false) => format!("{scope} (not listed by the issuer, which may refuse it)"),
            _ => scope.clone(),
        });
    let listed: Vec<String> = scopes.collect();
    format!(
        "issuer: {}\nresource: {}\nclient: {}\nPKCE: {}\nscopes: {}\n",
        forecast.issuer,
        resource.unwrap_or("none, as in 2025-03-26"),
        forecast.client,
        if forecast.lists_pkce {
            "S256"
        } else {
            "not listed, and taken for granted"
        },
        if listed.is_empty() {
            "none".to_owned()
        } else {
            listed.join(", ")
        },
    )
}

pub(super) fn run(arguments: &Login) -> anyhow::Result<SubcommandOutcome> {
    let runtime = super::runtime()?;
    let lines = Arc::new(Mutex::new(String::new()));
    let outcome = Arc::new(Mutex::new(None));
    let done = runtime.block_on(async {
        let (url, sign_in) = arguments.target()?;
        let url = &url;
        let http = sign_in.http(url)?;
        let seen = Arc::clone(&lines);
        let oauth = sign_in.inspector(&http, url, move |line| {
            let mut lines = lock(&seen);
            lines.push_str(&line);
            lines.push('\n');
        })?;
        let inspector = Inspector {
            oauth,
            outcome: Arc::clone(&outcome),
        };
        let client = Client::builder(&mcp_revisions::program!())
            .with_start_timeout(CHECK_TIME)
            .http(http.with_authorization(inspector));
        Ok::<_, anyhow::Error>(client.within(CHECK_TIME).list_tools(None).await)
    });
    runtime.shutdown_background();
    let listed = done?;
    let mut text = std::mem::take(&mut *lock(&lines));
    let outcome = lock(&outcome).take();
    let code = match (outcome, listed) {
        (Some(Ok(found)), _) => {
            text.push_str(&found);
            0
        }
        (Some(Err(why)), _) => {
            text.push_str(&format!("failed: {why}\n"));
            1
        }
        (None, Ok(_)) => {
            text.push_str(&format!("{} wants no sign-in\n", arguments.url));
            0
        }
        (None, Err(error)) => return Err(error.into()),
    };
    Ok(SubcommandOutcome::for_people(&text, code))
}
