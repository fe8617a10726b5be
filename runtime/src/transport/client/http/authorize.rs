//! The authorization of requests: what supplies it, and what handles a server's refusal.

use std::pin::Pin;

use ::http::header::WWW_AUTHENTICATE;
use ::http::{HeaderMap, Method, StatusCode, Uri};
use mcp_revisions_sansio::INSUFFICIENT_SCOPE;
use mcp_revisions_sansio::client::NeededSignIn;

use super::sign_in::needed_scope;

/// A future that an [`AuthProvider`] returns.
pub type AuthFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A source of credentials for requests. It also handles responses 401 and 403.
///
/// A `String` is a bearer token that does not change. Feature `client-auth` has `OAuth`, which signs in.
pub trait AuthProvider: Send + Sync + 'static {
    /// Returns the credentials of a request; without headers the request has none.
    ///
    /// # Errors
    /// Returns an error if the request must not be sent; the request fails with its text.
    fn credentials<'a>(
        &'a self,
        request: &'a HttpRequest<'a>,
    ) -> AuthFuture<'a, Result<Credentials, String>>;

    /// Handles a response 401 or 403, and returns what becomes of its request. It is called up to 3 times per request, such as
    /// for a missing token, for a missing scope, and for a nonce.
    ///
    /// It may wait for a person: that time does not count as answer time.
    fn refused<'a>(&'a self, refusal: AuthRefusal<'a>) -> AuthFuture<'a, RefusalFate> {
        let _ = refusal;
        Box::pin(std::future::ready(RefusalFate::GiveUp(None)))
    }
}

impl AuthProvider for String {
    fn credentials<'a>(
        &'a self,
        _: &'a HttpRequest<'a>,
    ) -> AuthFuture<'a, Result<Credentials, String>> {
        let credentials = Credentials::bearer(self);
        Box::pin(std::future::ready(Ok(credentials)))
    }
}

/// A request that wants credentials.
#[derive(Debug, Clone, Copy)]
pub struct HttpRequest<'a> {
    /// The method: POST, GET or DELETE.
    pub method: &'a Method,
    /// The URL, after redirects.
    pub url: &'a Uri,
}

/// Headers that authorize a request. `Debug` does not show their values.
#[derive(Clone, Default)]
pub struct Credentials {
    /// Names and values of headers.
    pub headers: Vec<(&'static str, String)>,
    /// The token in them, which a [`AuthRefusal`] names.
    pub token: Option<TokenId>,
}

impl Credentials {
    /// Returns the `Authorization` header with this bearer token.
    #[must_use]
    pub fn bearer(token: &str) -> Self {
        Self {
            headers: vec![("Authorization", format!("Bearer {token}"))],
            token: None,
        }
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| *name).collect();
        f.debug_struct("Credentials")
            .field("headers", &names)
            .field("token", &self.token)
            .finish()
    }
}

/// A number that tells the tokens of a provider apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenId(pub u64);

/// A response 401 or 403.
#[derive(Debug, Clone, Copy)]
pub struct AuthRefusal<'a> {
    /// The request.
    pub request: HttpRequest<'a>,
    /// The protocol version that the request named, if it did.
    pub protocol_version: Option<&'a str>,
    /// The status: 401 or 403.
    pub status: StatusCode,
    /// The headers of the response.
    pub headers: &'a HeaderMap,
    /// The token that the server refused, if the credentials named one.
    pub token: Option<TokenId>,
    /// Set if the request was refused before, with other credentials.
    pub is_repeated: bool,
    /// Set if no call waits for the request: a person who is asked to sign in for it may be away.
    pub is_unattended: bool,
}

impl AuthRefusal<'_> {
    /// Returns the values of all `WWW-Authenticate` headers that are text.
    pub fn challenges(&self) -> impl Iterator<Item = &str> {
        challenges(self.headers)
    }
}

/// Returns the values of all `WWW-Authenticate` headers that are text.
fn challenges(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(WWW_AUTHENTICATE).iter();
    all.filter_map(|value| std::str::from_utf8(value.as_bytes()).ok())
}

/// The fate of a request that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalFate {
    /// The request is sent again, with new credentials.
    Retry,
    /// The request fails because it needs this sign-in; `None` leaves the reason to the server's response.
    GiveUp(Option<Box<NeededSignIn>>),
}

impl RefusalFate {
    /// Returns the fate of a request that fails for a reason, which is for people.
    #[must_use]
    pub fn give_up(why: impl Into<String>) -> Self {
        Self::GiveUp(Some(Box::new(NeededSignIn::new(why))))
    }
}

/// Returns the sign-in that a response 401 or 403 calls for; `None` for 403 without a scope that the token lacks.
pub(super) fn needed_sign_in(status: StatusCode, headers: &HeaderMap) -> Option<NeededSignIn> {
    let lacks_scope = status == StatusCode::FORBIDDEN;
    if lacks_scope && !challenges(headers).any(|it| it.contains(INSUFFICIENT_SCOPE)) {
        return None;
    }
    let why = format!(
        "the server answered with HTTP status {}: pass credentials in a header",
        status.as_u16()
    );
    Some(NeededSignIn {
        lacks_scope,
        scope: needed_scope(challenges(headers)),
        ..NeededSignIn::new(why)
    })
}
