//! Refusals of a guard: status, `WWW-Authenticate` (RFC 6750) and a body that says the same.

use std::fmt::Write as _;

use http::header::{CACHE_CONTROL, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use mcp_revisions_sansio::INSUFFICIENT_SCOPE;
use mcp_wire::{Json, Map};

use super::super::Body;
use super::super::answers::json;
use super::ProtectedResource;
use crate::transport::observe;

/// Why a request is refused.
pub(super) struct GuardRefusal {
    pub(super) status: StatusCode,
    /// The error of RFC 6750; `None` for a request without a token.
    pub(super) error: Option<&'static str>,
    /// The reason that the client gets.
    pub(super) why: String,
    /// The reason for operators, if the client gets another one.
    cause: Option<String>,
    /// The scopes that a token needs; empty if none is named.
    pub(super) scopes: Vec<String>,
}

impl GuardRefusal {
    fn new(
        (status, error): (StatusCode, Option<&'static str>),
        why: impl Into<String>,
        scopes: Vec<String>,
    ) -> Self {
        Self {
            status,
            error,
            why: why.into(),
            cause: None,
            scopes,
        }
    }

    /// Returns the refusal of a request without a token.
    pub(super) fn no_token(scopes: &[String]) -> Self {
        let why = "the request has no access token: sign in";
        Self::new((StatusCode::UNAUTHORIZED, None), why, scopes.to_vec())
    }

    /// Returns the refusal of a token.
    pub(super) fn invalid_token(why: impl Into<String>, scopes: &[String]) -> Self {
        let error = Some("invalid_token");
        Self::new((StatusCode::UNAUTHORIZED, error), why, scopes.to_vec())
    }

    /// Adds the reason for operators.
    pub(super) fn for_operators(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Returns the refusal of a request that is not valid.
    pub(super) fn invalid_request(why: &str) -> Self {
        let error = Some("invalid_request");
        Self::new((StatusCode::BAD_REQUEST, error), why, Vec::new())
    }

    /// Returns the refusal of a token that lacks scopes; `scopes` are those that the next token needs.
    pub(super) fn insufficient_scope(missing: &str, scopes: Vec<String>) -> Self {
        let why = format!("the access token lacks the scope {missing}");
        Self::new(
            (StatusCode::FORBIDDEN, Some(INSUFFICIENT_SCOPE)),
            why,
            scopes,
        )
    }

    /// Returns the refusal of a token that cannot be verified now; `cause` is for operators.
    pub(super) fn unavailable(cause: String) -> Self {
        let why = "the access token cannot be verified now: try again later";
        Self::new((StatusCode::SERVICE_UNAVAILABLE, None), why, Vec::new()).for_operators(cause)
    }

    /// Returns the value of `WWW-Authenticate`; `None` where signing in does not help.
    pub(super) fn challenge(&self, resource: &ProtectedResource) -> Option<HeaderValue> {
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            return None;
        }
        let mut challenge = "Bearer ".to_owned();
        let mut add = |name: &str, value: &str| {
            let separator = if challenge.ends_with(' ') { "" } else { ", " };
            let _ = write!(challenge, "{separator}{name}=\"{}\"", quotable(value));
        };
        if let Some(error) = self.error {
            add("error", error);
            add("error_description", &self.why);
        }
        if !self.scopes.is_empty() {
            add("scope", &self.scopes.join(" "));
        }
        add("resource_metadata", resource.metadata_url());
        HeaderValue::from_str(&challenge).ok()
    }

    pub(super) fn response(&self, resource: &ProtectedResource) -> Response<Body> {
        let cause = self.cause.as_deref().unwrap_or(&self.why);
        observe::refused(self.status.as_u16(), cause);
        let error = match self.status {
            StatusCode::SERVICE_UNAVAILABLE => "temporarily_unavailable",
            _ => self.error.unwrap_or("unauthorized"),
        };
        let body = [("error", error), ("error_description", &self.why)];
        let body = Map::from_iter(body.map(|(name, text)| (name, Json::of(text))));
        let mut response = json(self.status, Json::of(&body).into_text(), None);
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(challenge) = self.challenge(resource) {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// Returns a text as it may stand between quotes in a challenge: letters of RFC 6750, at most 300; others become `?`.
fn quotable(text: &str) -> String {
    let letters = text.chars().take(300);
    letters
        .map(|letter| match letter {
            '"' | '\\' => '\'',
            ' '..='~' => letter,
            _ => '?',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn no_text_ends_the_quotes_of_a_challenge_or_its_header() {
        let resource = ProtectedResource::new("https://a.example/mcp", "https://auth.example");
        let refusal = GuardRefusal::invalid_token("a \"b\", scope=\\x\r\nX: é", &[]);
        let challenge = refusal.challenge(&resource.unwrap()).unwrap();
        assert_eq!(
            challenge,
            "Bearer error=\"invalid_token\", error_description=\"a 'b', scope='x??X: ?\", \
             resource_metadata=\"https://a.example/.well-known/oauth-protected-resource/mcp\""
        );
    }
}
