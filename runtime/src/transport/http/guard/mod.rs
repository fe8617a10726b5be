//! A guard before a service: it serves the metadata of the resource, and lets requests pass whose access token is valid.

mod claims;
mod refusal;
pub(super) mod resource;
mod scopes;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    AUTHORIZATION, HeaderValue,
};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use mcp_wire::Json;

use super::answers::{exposed, json, refused};
use super::{Body, Options, Principal};
use crate::transport::panics::caught;
use crate::transport::spawn::{Boxed, boxed};

pub use claims::{TokenClaims, TokenRefusal};
use refusal::GuardRefusal;
pub use resource::{InvalidResource, ProtectedResource};
pub(super) use scopes::RequestScopes;

/// The path of the metadata of an authorization server (RFC 8414), at the root of an origin.
const SERVER_METADATA: &str = "/.well-known/oauth-authorization-server";

/// Maximum time by which the clock of an authorization server may be ahead.
const CLOCK_SKEW: Duration = Duration::from_secs(30);

/// Maximum time of a verifier.
const VERIFY_TIME: Duration = Duration::from_secs(10);

type Verify = dyn Fn(String) -> Boxed<'static, Result<TokenClaims, TokenRefusal>> + Send + Sync;
type Grants = dyn Fn(&[String], &str) -> bool + Send + Sync;

/// A guard of a service over HTTP: requests need an access token for its [`ProtectedResource`]
/// ([authorization](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization)).
///
/// The verifier says whether a token is authentic, and returns its claims. The guard checks the rest: that the token is for this
/// resource, of one of its authorization servers, is valid now, and is an access token that no key belongs to. Requests that pass have a [`Principal`], by issuer
/// and subject, and their [`TokenClaims`] in their extensions; the token itself does not reach handlers.
///
/// ```
/// use mcp_revisions::http::{Options, ProtectedResource, ResourceGuard, TokenClaims, TokenRefusal};
/// use mcp_revisions::mcp_wire::JsonObject;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let resource = ProtectedResource::new("https://mcp.example.com/mcp", "https://auth.example.com")?;
/// let guard = ResourceGuard::new(resource, |token: String| async move {
///     // Verify the signature of the token, or ask the authorization server for its claims.
///     let claims = JsonObject::from_text(&token);
///     let claims = claims.map_err(|_| TokenRefusal::Invalid("the token is not known".to_owned()))?;
///     Ok(TokenClaims::new(claims))
/// });
/// let options = Options::new().with_guard(guard);
/// # drop(options);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct ResourceGuard {
    resource: ProtectedResource,
    verify: Box<Verify>,
    grants: Box<Grants>,
    required: Vec<String>,
    takes_clients: bool,
    server_metadata: Option<Json>,
}

impl ResourceGuard {
    /// Creates a guard whose verifier is an async function from a token to its claims.
    ///
    /// The function is called with each request, and has 10 seconds; what it remembers of tokens is its own matter.
    pub fn new<F, A>(resource: ProtectedResource, verify: F) -> Self
    where
        F: Fn(String) -> A + Send + Sync + 'static,
        A: Future<Output = Result<TokenClaims, TokenRefusal>> + Send + 'static,
    {
        Self {
            resource,
            verify: Box::new(move |token| boxed(verify(token))),
            grants: Box::new(|granted, scope| granted.iter().any(|one| one == scope)),
            required: Vec::new(),
            takes_clients: false,
            server_metadata: None,
        }
    }

    /// Sets the scopes that each request needs [default: none]. Challenges name them; a request whose token lacks one gets
    /// status 403.
    pub fn with_required_scopes<S: Into<String>>(
        mut self,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        self.required = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the rule by which the scopes of a token grant a scope [default: it is one of them]: for scopes that imply others, such
    /// as `files:write` for `files:read`.
    pub fn with_scope_rule(
        mut self,
        grants: impl Fn(&[String], &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.grants = Box::new(grants);
        self
    }

    /// Takes a token without `sub` and `username` as the own one of its client [default: only if its claims name the grant, by
    /// `grant_type`, `gty` or `idtyp`]. Do so only if the authorization server names the person in each other token: people who share a
    /// client are one principal otherwise.
    pub fn with_client_tokens(mut self) -> Self {
        self.takes_clients = true;
        self
    }

    /// Serves the metadata of the authorization server at the root of the origin, too, for clients of 2025-03-26, which look
    /// for them there. `document` is that of the authorization server's own
    /// `/.well-known/oauth-authorization-server`. It is off by default.
    pub fn with_server_metadata(mut self, document: Json) -> Self {
        self.server_metadata = Some(document);
        self
    }

    /// Returns the resource.
    pub fn resource(&self) -> &ProtectedResource {
        &self.resource
    }

    /// Returns whether scopes grant one.
    fn grants(&self, granted: &[String], scope: &str) -> bool {
        (self.grants)(granted, scope)
    }

    /// Returns the text of the document at a path, if there is one.
    fn text_at(&self, path: &str) -> Option<String> {
        if self.resource.serves_metadata(path) {
            return Some(self.resource.metadata());
        }
        let own = self.server_metadata.as_ref();
        own.filter(|_| path == SERVER_METADATA)
            .map(|document| document.text().to_owned())
    }

    /// Returns the document that a request is for: metadata need no token, and any page may read them.
    fn document(&self, head: &Parts) -> Option<Response<Body>> {
        let document = self.text_at(head.uri.path())?;
        let mut response = match head.method {
            Method::GET | Method::HEAD => json(StatusCode::OK, document, None),
            Method::OPTIONS => super::answers::status(StatusCode::NO_CONTENT),
            _ => refused(StatusCode::METHOD_NOT_ALLOWED, "read metadata by GET"),
        };
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(
            ACCESS_CONTROL_ALLOW_METHODS,
            HeaderValue::from_static("GET"),
        );
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*"));
        Some(response)
    }

    /// Checks the token of a request, and puts its claims in its place.
    async fn admit(self: &Arc<Self>, head: &mut Parts) -> Result<(), GuardRefusal> {
        let token = token(head).map_err(|error| match error {
            None => GuardRefusal::no_token(&self.required),
            Some(why) => GuardRefusal::invalid_request(why),
        })?;
        let invalid = |why: &str| GuardRefusal::invalid_token(why, &self.required);
        let claims = self.verified(token).await?;
        if claims.is_inactive() {
            return Err(invalid("the access token is not active"));
        }
        let named = claims.issuer();
        let issuer = (self.resource.issuer(named.as_deref()))
            .ok_or_else(|| invalid("the access token is of another authorization server"))?;
        let audience = claims.audience();
        if !self.resource.is_audience(&audience) {
            return Err(match audience.as_slice() {
                [] => invalid("the access token names no audience (`aud`)").for_operators(
                    "the access token names no audience (`aud`): if its authorization server issues tokens for this resource only, \
                     allow that by ProtectedResource::without_audience or --guard-no-audience",
                ),
                _ => invalid("the access token is for another resource"),
            });
        }
        let now = SystemTime::now();
        if claims.has_odd_time() {
            return Err(invalid(
                "the access token has a time (`exp`, `nbf`) that is not a number",
            ));
        }
        if claims.expires_at().is_some_and(|end| end <= now) {
            return Err(invalid("the access token has expired"));
        }
        if claims
            .not_before()
            .is_some_and(|start| start > now + CLOCK_SKEW)
        {
            return Err(invalid("the access token is not valid yet (`nbf`)"));
        }
        if let Some(why) = claims.misuse() {
            return Err(invalid(why));
        }
        let principal = claims.principal(issuer, self.takes_clients).ok_or_else(|| {
            invalid("the access token names no subject").for_operators(
                "the access token has neither `sub` nor `username`: if it is the own token of its client, allow that by \
                 ResourceGuard::with_client_tokens or --guard-client-tokens",
            )
        })?;
        let scopes = RequestScopes::new(self, &claims, &head.headers);
        let required: Vec<&str> = self.required.iter().map(String::as_str).collect();
        scopes.require(&required)?;
        let principal = Principal(principal);
        head.headers.remove(AUTHORIZATION);
        head.extensions.insert(principal);
        head.extensions.insert(claims);
        Ok(())
    }

    /// Returns the claims of a token, by its verifier.
    async fn verified(&self, token: String) -> Result<TokenClaims, GuardRefusal> {
        // A verifier that panics refuses its token.
        let verify = boxed({
            let verified = (self.verify)(token);
            async move { Ok(verified.await) }
        });
        let why = match tokio::time::timeout(VERIFY_TIME, caught(verify)).await {
            Ok(Ok(Ok(claims))) => return Ok(claims),
            Ok(Ok(Err(TokenRefusal::Invalid(why)))) => {
                return Err(GuardRefusal::invalid_token(why, &self.required));
            }
            Ok(Ok(Err(TokenRefusal::Unavailable(why)))) => why,
            Ok(Err(_)) => "the verifier of access tokens has panicked".to_owned(),
            Err(_) => format!("the verifier of access tokens took over {VERIFY_TIME:?}"),
        };
        Err(GuardRefusal::unavailable(why))
    }
}

mcp_wire::debug_struct!([] ResourceGuard, "ResourceGuard", self, "resource": self.resource, "required": self.required);

/// Returns the token of a request. Returns the reason why the request is not valid; `None` if it has no token.
fn token(head: &Parts) -> Result<String, Option<&'static str>> {
    let query = head.uri.query().unwrap_or_default();
    if query.split('&').any(|one| one.starts_with("access_token=")) {
        return Err(Some("an access token is sent in a header, never in a URL"));
    }
    let mut values = head.headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(None)?;
    if values.next().is_some() {
        return Err(Some("the request has two `Authorization` headers"));
    }
    let (scheme, credentials) = value
        .to_str()
        .ok()
        .and_then(|value| value.split_once(' '))
        .ok_or(None)?;
    let token = credentials.trim();
    let is_letter = |byte: u8| byte.is_ascii_graphic() && byte != b',' && byte != b'"';
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(None);
    }
    if token.bytes().all(is_letter) {
        Ok(token.to_owned())
    } else {
        Err(Some("the access token has letters that no token has"))
    }
}

impl Options {
    /// Returns the metadata that a request is for, if the service has a guard.
    pub(super) fn guard_document(&self, head: &Parts) -> Option<Response<Body>> {
        self.guard.as_ref()?.document(head)
    }

    /// Returns whether a path is that of metadata by which clients find out where to sign in.
    #[doc(hidden)]
    #[must_use]
    pub fn serves_guard_document(&self, path: &str) -> bool {
        let guard = self.guard.as_ref();
        guard.is_some_and(|guard| guard.text_at(path).is_some())
    }

    /// Checks the access token of a request, if the service has a guard: for a service that does something before
    /// [`Service`](super::Service) sees the request, which takes one that has [`TokenClaims`] as checked. Cancel safe. Returns
    /// the response to a request that is refused.
    #[doc(hidden)]
    pub async fn authorize(&self, head: &mut Parts) -> Result<(), Box<Response<Body>>> {
        let Some(guard) = &self.guard else {
            return Ok(());
        };
        let is_checked = head.extensions.get::<TokenClaims>().is_some();
        if is_checked || head.method == Method::OPTIONS {
            return Ok(());
        }
        let reader = self.reader(&head.headers);
        guard.admit(head).await.map_err(|refusal| {
            let response = refusal.response(&guard.resource);
            Box::new(match reader {
                Some(reader) => exposed(reader, response),
                None => response,
            })
        })
    }

    /// Adds the scopes of a request that has passed the guard, for its handler.
    pub(super) fn add_scopes(&self, head: &mut Parts) -> Option<RequestScopes> {
        let guard = self.guard.as_ref()?;
        let claims = head.extensions.get::<TokenClaims>()?;
        let headers: &HeaderMap = &head.headers;
        let scopes = RequestScopes::new(guard, claims, headers);
        head.extensions.insert(scopes.clone());
        Some(scopes)
    }
}
