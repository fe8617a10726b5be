//! A verifier of access tokens that asks an introspection endpoint over HTTP.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use mcp_revisions_auth::{AuthError, IntrospectionEndpoint, Secret};
use mcp_wire::JsonObject;
use tokio::sync::Semaphore;

use super::super::super::options::Http;
use super::super::drive::FlowDriver;
use crate::transport::http::{TokenClaims, TokenRefusal};
use crate::transport::panics::lock;

/// Maximum number of requests at a time about tokens that were active lately, and as many about all others.
const REQUESTS: usize = 32;
/// Number of tokens that are remembered as active.
const ACTIVE_TOKENS: usize = 4096;

/// A verifier for a [`ResourceGuard`](crate::http::ResourceGuard) that asks the authorization server for the claims of each
/// token (RFC 7662).
///
/// No answer is remembered, so that a revoked token is refused from its next request on. At most 64 requests run at a time, half of
/// them only for tokens that were active lately, so that made-up tokens do not hold up those of clients; others wait.
#[derive(Clone)]
pub struct Introspection(Arc<IntrospectionShared>);

struct IntrospectionShared {
    driver: FlowDriver,
    endpoint: IntrospectionEndpoint,
    for_active: Semaphore,
    for_others: Semaphore,
    /// Digests of tokens that were active, the latest last.
    active: Mutex<VecDeque<[u8; 32]>>,
}

impl IntrospectionShared {
    /// Remembers whether a token is active; returns whether it was before.
    fn remember(&self, digest: [u8; 32], is_active: Option<bool>) -> bool {
        let mut active = lock(&self.active);
        let Some(is_active) = is_active else {
            return active.contains(&digest);
        };
        let place = active.iter().position(|one| *one == digest);
        if let Some(place) = place {
            active.remove(place);
        }
        if is_active {
            active.push_back(digest);
        }
        if active.len() > ACTIVE_TOKENS {
            active.pop_front();
        }
        place.is_some()
    }
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
        Ok(Self(Arc::new(IntrospectionShared {
            driver,
            endpoint,
            for_active: Semaphore::new(REQUESTS),
            for_others: Semaphore::new(REQUESTS),
            active: Mutex::default(),
        })))
    }

    /// Returns the claims of a token: the verifier of [`ResourceGuard::new`](crate::http::ResourceGuard::new).
    /// Cancel safe.
    ///
    /// # Errors
    /// Returns an error if the token is not active, or if the endpoint does not say so.
    pub async fn verify(&self, token: String) -> Result<TokenClaims, TokenRefusal> {
        let IntrospectionShared {
            driver, endpoint, ..
        } = &*self.0;
        let digest = hmac_sha256::Hash::hash(token.as_bytes());
        let request = endpoint.request(&Secret::from(token));
        let unavailable = |why: String| {
            TokenRefusal::Unavailable(format!("{} cannot be asked: {why}", endpoint.url()))
        };
        let permits = if self.0.remember(digest, None) {
            &self.0.for_active
        } else {
            &self.0.for_others
        };
        let permit = permits.acquire().await;
        let response = driver.send(&request).await.map_err(unavailable)?;
        drop(permit);
        let read = endpoint.claims(&response);
        let claims = read.map_err(|error| TokenRefusal::Unavailable(error.to_string()))?;
        self.0.remember(digest, Some(claims.is_some()));
        match claims {
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
