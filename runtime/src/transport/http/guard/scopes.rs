//! Scopes of an operation: what a handler requires of the token of its call, and the response if the token lacks it.

use std::sync::{Arc, OnceLock};

use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, Response, StatusCode};
use mcp_revisions_core::{Lifecycle, Revision};
use mcp_revisions_sansio::NeededSignIn;
use mcp_wire::ErrorObject;

use super::super::{Body, text};
use super::refusal::GuardRefusal;
use super::{ResourceGuard, TokenClaims};
use crate::serve::Peer;
use crate::transport::observe;
use mcp_revisions_core::headers;

/// The scopes of one request: those that its token has, and those that its handler missed.
#[derive(Clone)]
pub(in crate::transport::http) struct RequestScopes {
    guard: Arc<ResourceGuard>,
    granted: Arc<[String]>,
    /// Set if clients unite the scopes of challenges with those that they have.
    unites: bool,
    /// The scopes that an operation needs, if the token lacks some of them.
    needed: Arc<OnceLock<Vec<String>>>,
}

impl RequestScopes {
    /// Returns the scopes of a request with these claims.
    pub(super) fn new(
        guard: &Arc<ResourceGuard>,
        claims: &TokenClaims,
        headers: &HeaderMap,
    ) -> Self {
        let version = text(headers, headers::PROTOCOL_VERSION);
        let revision = version.and_then(Revision::from_protocol_version);
        Self {
            guard: Arc::clone(guard),
            granted: claims.scopes().into(),
            unites: revision.is_some_and(|it| it.lifecycle() == Lifecycle::PerRequest),
            needed: Arc::default(),
        }
    }

    /// Checks whether the token has these scopes, and remembers them if it lacks some.
    pub(super) fn require(&self, scopes: &[&str]) -> Result<(), GuardRefusal> {
        let lacks = |scope: &&&str| !self.guard.grants(&self.granted, scope);
        let missing: Vec<&str> = scopes.iter().filter(lacks).copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let needed = scopes.iter().map(|scope| (*scope).to_owned());
        let _ = self.needed.set(needed.collect());
        Err(self.refusal(&missing.join(" "), scopes.iter().copied()))
    }

    /// Returns the refusal that names the scopes of the next token: those that are needed, and for clients that do not unite
    /// scopes also those that the token has.
    fn refusal<'s>(&'s self, missing: &str, needed: impl Iterator<Item = &'s str>) -> GuardRefusal {
        let granted = self.granted.iter().filter(|_| !self.unites);
        let mut scopes: Vec<String> = granted.cloned().collect();
        for scope in needed {
            if !scopes.iter().any(|one| one == scope) {
                scopes.push(scope.to_owned());
            }
        }
        GuardRefusal::insufficient_scope(missing, scopes)
    }

    /// Makes the response to a call whose token lacks scopes one that a client steps up by: status 403 with a challenge. A stream
    /// has begun with status 200, and stays as it is.
    pub(in crate::transport::http) fn step_up(&self, response: &mut Response<Body>) {
        let Some(needed) = self.needed.get() else {
            return;
        };
        let kind = text(response.headers(), CONTENT_TYPE.as_str());
        if kind == Some("text/event-stream") {
            return;
        }
        let names = needed.iter().map(String::as_str);
        let refusal = self.refusal(&needed.join(" "), names);
        observe::refused(refusal.status.as_u16(), &refusal.why);
        *response.status_mut() = StatusCode::FORBIDDEN;
        if let Some(challenge) = refusal.challenge(self.guard.resource()) {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
    }
}

impl Peer {
    /// Checks whether the access token of the request has these scopes, by the [guard](crate::http::ResourceGuard) of the
    /// service. Over stdio there are no tokens, and every scope is there.
    ///
    /// Return the error from the handler before it has sent anything: the response then has status 403 and names the scopes,
    /// and the client signs in again for them. Later the error is part of the stream, and clients do not follow it.
    ///
    /// # Errors
    /// Returns an error if the token lacks one of the scopes, or if the service has no guard.
    pub fn require_scopes<S: AsRef<str>>(
        &self,
        scopes: impl IntoIterator<Item = S>,
    ) -> Result<(), ErrorObject> {
        if self.headers().is_none() {
            return Ok(());
        }
        let owned: Vec<S> = scopes.into_iter().collect();
        let needed: Vec<&str> = owned.iter().map(AsRef::as_ref).collect();
        let Some(granted) = self.extension::<RequestScopes>() else {
            let why = "this call needs scopes, and the server has no guard that checks tokens: set one by `Options::with_guard`";
            return Err(mcp_revisions_sansio::errors::internal(why).error);
        };
        granted.require(&needed).map_err(|refusal| {
            let needed = NeededSignIn {
                resource: granted.guard.resource().url().to_owned(),
                scope: Some(refusal.scopes.join(" ")),
                lacks_scope: true,
                ..NeededSignIn::new(refusal.why)
            };
            // Another token would do: the server has not failed.
            ErrorObject {
                code: ErrorObject::INVALID_REQUEST.into(),
                ..needed.to_error()
            }
        })
    }
}
