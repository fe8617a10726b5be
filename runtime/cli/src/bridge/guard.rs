//! The options of a listener that wants access tokens of its own clients: the bridge as a protected resource.

use anyhow::Context as _;
use clap::Args;
use mcp_revisions::auth::Secret;
use mcp_revisions::http::{Introspection, ProtectedResource, ResourceGuard};

use crate::sign_in::SignInArguments;

/// The heading of the options.
pub(super) const HEADING: &str = "Access tokens of clients of an HTTP listener";

/// The options of a guard.
#[derive(Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct GuardArguments {
    /// Accept only requests with an access token for this URL, at which clients reach the HTTP listener
    ///
    /// The listener then serves the metadata by which clients find out where to sign in. Tokens are checked for issuer, audience
    /// and expiry, belong to the bridge only, and are never sent to its server. With --config and without --combine, one token is
    /// for all servers: give a parent of their URLs, such as `https://mcp.example.com/`.
    #[arg(long, value_name = "URL", requires_all = ["guard_issuer", "guard_introspection", "guard_client_id", "guard_client_secret_env"])]
    pub(super) guard: Option<String>,
    /// Issuer of the authorization server at which clients sign in, such as `https://auth.example.com`
    #[arg(long, value_name = "URL", requires = "guard")]
    guard_issuer: Option<String>,
    /// URL of its introspection endpoint (RFC 7662), which is asked about the token of each request
    #[arg(long, value_name = "URL", requires = "guard")]
    guard_introspection: Option<String>,
    /// Id of the bridge as a client of that endpoint
    #[arg(long, value_name = "ID", requires = "guard")]
    guard_client_id: Option<String>,
    /// Environment variable with the secret of that client
    #[arg(long, value_name = "VARIABLE", requires = "guard")]
    pub(super) guard_client_secret_env: Option<String>,
    /// Require this scope of each token; repeatable [default: none]
    #[arg(long, value_name = "SCOPE", requires = "guard")]
    guard_scope: Vec<String>,
    /// Accept tokens of this audience, too [default: only the URL of --guard]
    #[arg(long, value_name = "TEXT", requires = "guard")]
    guard_audience: Option<String>,
}

impl GuardArguments {
    /// Returns the guard of the listener, with the host that its clients name; `None` if tokens are not wanted.
    pub(super) fn guard(
        &self,
        sign_in: &SignInArguments,
    ) -> anyhow::Result<Option<(ResourceGuard, String)>> {
        let given = |it: &Option<String>| it.clone().unwrap_or_default();
        let Some(url) = &self.guard else {
            return Ok(None);
        };
        let variable = given(&self.guard_client_secret_env);
        let secret = std::env::var(&variable)
            .with_context(|| format!("--guard-client-secret-env {variable}"))?;
        let http = sign_in
            .http(&given(&self.guard_introspection))
            .context("--guard-introspection")?;
        let id = given(&self.guard_client_id);
        let introspection = Introspection::new(&http, id, Secret::from(secret))?;
        let listed = ProtectedResource::new(url, given(&self.guard_issuer))?
            .with_scopes(self.guard_scope.clone());
        let resource = match &self.guard_audience {
            Some(audience) => listed.with_audience(audience),
            None => listed,
        };
        let authority = url.split('/').nth(2).unwrap_or_default().to_owned();
        let verify = move |token| {
            let asked = introspection.clone();
            async move { asked.verify(token).await }
        };
        let guard =
            ResourceGuard::new(resource, verify).with_required_scopes(self.guard_scope.clone());
        Ok(Some((guard, authority)))
    }
}
