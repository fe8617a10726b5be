//! A verifier of signed access tokens, with the keys of their authorization server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions_auth::{
    AuthError, FlowRequest, FlowResponse, InvalidToken, JwksEndpoint, KeySet,
};
use mcp_wire::JsonObject;
use tokio::time::Instant;

use super::super::super::options::Http;
use super::super::drive::FlowDriver;
use crate::transport::http::{TokenClaims, TokenRefusal};
use crate::transport::panics::lock;
use crate::transport::spawn::spawn;

/// Age at which the keys are fetched again.
const AGE: Duration = Duration::from_secs(300);
/// Age up to which keys are used while they cannot be fetched again.
const LAST_AGE: Duration = Duration::from_secs(86_400);
/// Time between two fetches, however many unknown keys tokens name.
const PAUSE: Duration = Duration::from_secs(5);

/// A verifier for a [`ResourceGuard`](crate::http::ResourceGuard) of signed access tokens (JWT, RFC 9068), with the keys of their
/// authorization server.
///
/// Keys are fetched when the first token comes, each 5 minutes, and when a token names a key that is not known, at most each
/// 5 seconds. The algorithms are RS, PS and ES with 256 or 384 bits, RS512, PS512 and EdDSA. A token is not revoked before it
/// expires: an [`Introspection`](crate::http::Introspection) sees that at once.
#[derive(Clone)]
pub struct Jwks(Arc<JwksShared>);

struct JwksShared {
    driver: FlowDriver,
    endpoint: JwksEndpoint,
    /// Held by the one fetch that runs.
    fetch: tokio::sync::Mutex<()>,
    fetched: Mutex<FetchedKeys>,
}

#[derive(Default)]
struct FetchedKeys {
    keys: Option<(Arc<KeySet>, Instant)>,
    /// The last fetch, and why it failed if it did.
    tried: Option<(Instant, Option<String>)>,
}

impl Jwks {
    /// Creates a verifier of the tokens of an issuer, the URL of `http`, whose metadata name its keys (`jwks_uri`).
    ///
    /// # Errors
    /// Returns an error if the URL is neither `https`, nor `http` on a loopback host.
    pub fn of_issuer(http: &Http) -> Result<Self, AuthError> {
        let endpoint = JwksEndpoint::new(&http.url().to_string(), None)?;
        Ok(Self::at(http, endpoint))
    }

    /// Creates a verifier of the tokens of this issuer with the keys at the URL of `http`.
    ///
    /// # Errors
    /// Returns an error if a URL is neither `https`, nor `http` on a loopback host.
    pub fn new(http: &Http, issuer: &str) -> Result<Self, AuthError> {
        let endpoint = JwksEndpoint::new(issuer, Some(&http.url().to_string()))?;
        Ok(Self::at(http, endpoint))
    }

    fn at(http: &Http, endpoint: JwksEndpoint) -> Self {
        Self(Arc::new(JwksShared {
            driver: FlowDriver::new(http, Arc::new(|_| {}), true),
            endpoint,
            fetch: tokio::sync::Mutex::default(),
            fetched: Mutex::default(),
        }))
    }

    /// Returns the claims of a token: the verifier of [`ResourceGuard::new`](crate::http::ResourceGuard::new).
    /// Cancel safe.
    ///
    /// # Errors
    /// Returns an error if the token is not authentic, or if there are no keys.
    pub async fn verify(&self, token: String) -> Result<TokenClaims, TokenRefusal> {
        let issuer = self.0.endpoint.issuer();
        let keys = self.keys(None).await?;
        let verified = match keys.verify(&token, issuer) {
            // The authorization server may have a new key.
            Err(InvalidToken::UnknownKey) => self.keys(Some(&keys)).await?.verify(&token, issuer),
            other => other,
        };
        let invalid = |why: String| TokenRefusal::Invalid(why);
        let claims = verified.map_err(|error| invalid(error.to_string()))?;
        let claims = JsonObject::from_text(&claims).map_err(|error| invalid(error.to_string()))?;
        Ok(TokenClaims::new(claims))
    }

    /// Returns the keys, or newer ones than these if they may be fetched again.
    async fn keys(&self, known: Option<&Arc<KeySet>>) -> Result<Arc<KeySet>, TokenRefusal> {
        if let Some((keys, age)) = self.0.current(known) {
            if age >= AGE && self.0.may_fetch() {
                // No request waits for keys that are good still.
                let shared = Arc::clone(&self.0);
                spawn(async move { shared.fetch(None).await });
            }
            return Ok(keys);
        }
        self.0.fetch(known).await;
        let fetched = lock(&self.0.fetched);
        match (&fetched.keys, &fetched.tried) {
            (Some((keys, at)), _) if at.elapsed() < LAST_AGE => Ok(Arc::clone(keys)),
            (_, Some((_, Some(why)))) => Err(TokenRefusal::Unavailable(why.clone())),
            _ => Err(TokenRefusal::Unavailable("there are no keys".to_owned())),
        }
    }
}

impl JwksShared {
    /// Returns the keys and their age, if they are other ones than those known.
    fn current(&self, known: Option<&Arc<KeySet>>) -> Option<(Arc<KeySet>, Duration)> {
        let fetched = lock(&self.fetched);
        let (keys, at) = fetched.keys.as_ref()?;
        let is_other = known.is_none_or(|known| !Arc::ptr_eq(known, keys));
        let age = at.elapsed();
        (is_other && age < LAST_AGE).then(|| (Arc::clone(keys), age))
    }

    fn may_fetch(&self) -> bool {
        let fetched = lock(&self.fetched);
        let tried = fetched.tried.as_ref();
        tried.is_none_or(|(at, _)| at.elapsed() >= PAUSE)
    }

    /// Fetches the keys, unless another task does, or has done so a moment ago.
    async fn fetch(&self, known: Option<&Arc<KeySet>>) {
        let _one = self.fetch.lock().await;
        let is_new = known.is_some() && self.current(known).is_some();
        if is_new || !self.may_fetch() {
            return;
        }
        // A fetch that is cancelled counts as one.
        let began = "the keys did not arrive in time".to_owned();
        lock(&self.fetched).tried = Some((Instant::now(), Some(began)));
        let keys = self.fetched_keys().await;
        let mut fetched = lock(&self.fetched);
        let why = match keys {
            Ok(keys) => {
                fetched.keys = Some((Arc::new(keys), Instant::now()));
                None
            }
            Err(why) => Some(why),
        };
        fetched.tried = Some((Instant::now(), why));
    }

    async fn fetched_keys(&self) -> Result<KeySet, String> {
        let failed = |error: AuthError| error.to_string();
        let mut request = self.endpoint.key_set_request(None).map_err(failed)?;
        for metadata in self.endpoint.metadata_requests() {
            if request.is_none() {
                let response = self.send(&metadata).await?;
                request = self
                    .endpoint
                    .key_set_request(Some(&response))
                    .map_err(failed)?;
            }
        }
        let issuer = self.endpoint.issuer();
        let of_keys = request.ok_or_else(|| format!("{issuer} has no metadata"))?;
        let response = self.send(&of_keys).await?;
        self.endpoint.key_set(&response).map_err(failed)
    }

    async fn send(&self, request: &FlowRequest) -> Result<FlowResponse, String> {
        let response = self.driver.send(request).await;
        response.map_err(|why| format!("{} cannot be read: {why}", request.url))
    }
}

impl std::fmt::Debug for Jwks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Jwks").field(&self.0.endpoint).finish()
    }
}
