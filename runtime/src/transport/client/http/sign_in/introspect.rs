//! A verifier of access tokens that asks an introspection endpoint over HTTP.

use std::sync::Arc;

use mcp_revisions_auth::{AuthError, IntrospectionEndpoint, Secret};
use mcp_wire::JsonObject;

use super::super::options::Http;
use super::drive::FlowDriver;
use crate::transport::http::{TokenClaims, TokenRefusal};

/// A verifier for a [`ResourceGuard`](crate::http::ResourceGuard) that asks the authorization server for the claims of each
/// token (RFC 7662).
///
/// Nothing is remembered of a token, so that a revoked one is refused from its next request on.
#[derive(Clone)]
pub struct Introspection(Arc<IntrospectionShared>);

struct IntrospectionShared {
    driver: FlowDriver,
    endpoint: IntrospectionEndpoint,
}

impl Introspection {
    /// Creates a verifier that asks the URL of `http`, through its proxy and with its certificates, as this client of the
    /// authorization server.
    ///
    /// # Errors
    /// Returns an error if the URL is neither `https`, nor `http` on a loopback host.
    pub fn new(
        http: &Http,
        client_id: impl Into<String>,
        client_secret: Secret,
    ) -> Result<Self, AuthError> {
        let url = http.url().to_string();
        let endpoint = IntrospectionEndpoint::new(url, client_id, client_secret)?;
        let driver = FlowDriver::new(http, Arc::new(|_| {}), true);
        Ok(Self(Arc::new(IntrospectionShared { driver, endpoint })))
    }

    /// Returns the claims of a token: the verifier of [`ResourceGuard::new`](crate::http::ResourceGuard::new).
    ///
    /// # Errors
    /// Returns an error if the token is not active, or if the endpoint does not say so.
    pub async fn verify(&self, token: String) -> Result<TokenClaims, TokenRefusal> {
        let IntrospectionShared { driver, endpoint } = &*self.0;
        let request = endpoint.request(&Secret::from(token));
        let unavailable = |why: String| {
            TokenRefusal::Unavailable(format!("{} cannot be asked: {why}", endpoint.url()))
        };
        let response = driver.send(&request).await.map_err(unavailable)?;
        let claims = endpoint.claims(&response);
        match claims.map_err(|error| TokenRefusal::Unavailable(error.to_string()))? {
            Some(claims) => match JsonObject::from_text(&claims) {
                Ok(claims) => Ok(TokenClaims::new(claims)),
                Err(error) => Err(unavailable(error.to_string())),
            },
            None => {
                let why = "the access token is not active";
                Err(TokenRefusal::Invalid(why.to_owned()))
            }
        }
    }
}

impl std::fmt::Debug for Introspection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Introspection")
            .field(&self.0.endpoint)
            .finish()
    }
}
