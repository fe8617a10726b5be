//! The options of a listener that wants access tokens of its own clients: the bridge as a protected resource.

use anyhow::Context as _;
use clap::Args;
use mcp_revisions::auth::Secret;
use mcp_revisions::http::{Introspection, Jwks, ProtectedResource, ResourceGuard};

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
    /// and expiry, belong to the bridge only, and are never sent to its server. Signed tokens are verified with the keys of the
    /// issuer, others with --guard-introspection. With --config and without --combine, one token is
    /// for all servers: give a parent of their URLs, such as `https://mcp.example.com/`.
    #[arg(long, value_name = "URL", requires = "guard_issuer")]
    pub(super) guard: Option<String>,
    /// Issuer of the authorization server at which clients sign in, such as `https://auth.example.com`
    #[arg(long, value_name = "URL", requires = "guard")]
    guard_issuer: Option<String>,
    /// URL of its keys for signed tokens [default: that of its metadata]
    #[arg(
        long,
        value_name = "URL",
        requires = "guard",
        conflicts_with = "guard_introspection"
    )]
    guard_jwks: Option<String>,
    /// URL of its introspection endpoint (RFC 7662), to ask about the token of each request in place of verifying its signature
    #[arg(long, value_name = "URL", requires_all = ["guard", "guard_client_id", "guard_client_secret_env"])]
    guard_introspection: Option<String>,
    /// Id of the bridge as a client of that endpoint
    #[arg(long, value_name = "ID", requires = "guard_introspection")]
    guard_client_id: Option<String>,
    /// Environment variable with the secret of that client
    #[arg(long, value_name = "VARIABLE", requires = "guard_introspection")]
    pub(super) guard_client_secret_env: Option<String>,
    /// Require this scope of each token; repeatable [default: none]
    #[arg(long, value_name = "SCOPE", requires = "guard")]
    guard_scope: Vec<String>,
    /// Accept tokens of this audience, too [default: only the URL of --guard]
    #[arg(long, value_name = "TEXT", requires = "guard")]
    guard_audience: Option<String>,
    /// Accept tokens that name no audience, too: only if the issuer issues tokens for this server alone
    #[arg(long, requires = "guard")]
    guard_no_audience: bool,
    /// Take tokens that name no person as their client's own: only if the issuer names the person in all others
    #[arg(long, requires = "guard")]
    guard_client_tokens: bool,
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
        let issuer = given(&self.guard_issuer);
        let mut resource =
            ProtectedResource::new(url, &issuer)?.with_scopes(self.guard_scope.clone());
        if let Some(audience) = &self.guard_audience {
            resource = resource.with_audience(audience);
        }
        if self.guard_no_audience {
            resource = resource.without_audience();
        }
        let authority = url.split('/').nth(2).unwrap_or_default().to_owned();
        let mut guard = match (&self.guard_introspection, &self.guard_jwks) {
            (Some(endpoint), _) => {
                let variable = given(&self.guard_client_secret_env);
                let secret = std::env::var(&variable)
                    .with_context(|| format!("--guard-client-secret-env {variable}"))?;
                let http = sign_in.http(endpoint).context("--guard-introspection")?;
                let id = given(&self.guard_client_id);
                let introspection = Introspection::new(&http, id, Secret::from(secret))?;
                ResourceGuard::new(resource, move |token| {
                    let asked = introspection.clone();
                    async move { asked.verify(token).await }
                })
            }
            (None, place) => {
                let jwks = match place {
                    Some(url) => Jwks::new(&sign_in.http(url).context("--guard-jwks")?, &issuer),
                    None => Jwks::of_issuer(&sign_in.http(&issuer).context("--guard-issuer")?),
                }?;
                ResourceGuard::new(resource, move |token| {
                    let keys = jwks.clone();
                    async move { keys.verify(token).await }
                })
            }
        };
        guard = guard.with_required_scopes(self.guard_scope.clone());
        if self.guard_client_tokens {
            guard = guard.with_client_tokens();
        }
        Ok(Some((guard, authority)))
    }
}
