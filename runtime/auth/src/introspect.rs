//! Introspection of tokens (RFC 7662): the request of a server that has a token, and the claims in the response.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use url::Url;

use crate::address::is_loopback_url;
use crate::document::{oauth_error, object};
use crate::step::{FlowMethod, FlowPurpose, FlowRequest};
use crate::{AuthError, FlowResponse, Secret, form};

/// The introspection endpoint of an authorization server, and the credentials of the server that asks it.
#[derive(Debug, Clone)]
pub struct IntrospectionEndpoint {
    url: String,
    client_id: String,
    client_secret: Secret,
}

impl IntrospectionEndpoint {
    /// Creates one.
    ///
    /// # Errors
    /// Returns an error if the URL is neither `https`, nor `http` on a loopback host: the requests have tokens.
    pub fn new(
        endpoint: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: Secret,
    ) -> Result<Self, AuthError> {
        let url = endpoint.into();
        let parsed = Url::parse(&url);
        let is_protected = parsed.is_ok_and(|it| it.scheme() == "https") || is_loopback_url(&url);
        if !is_protected {
            return Err(AuthError::Address {
                whose: "the introspection endpoint".to_owned(),
                url,
                why: "expected https://, or http:// on a loopback host",
            });
        }
        Ok(Self {
            url,
            client_id: client_id.into(),
            client_secret,
        })
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the request for the claims of a token.
    #[must_use]
    pub fn request(&self, token: &Secret) -> FlowRequest {
        let parameters = [
            ("token", token.expose()),
            ("token_type_hint", "access_token"),
        ];
        let (id, secret) = (&self.client_id, self.client_secret.expose());
        let both = format!("{}:{}", form::encoded(id), form::encoded(secret));
        FlowRequest {
            purpose: FlowPurpose::Introspection,
            method: FlowMethod::Post,
            url: self.url.clone(),
            headers: vec![
                (
                    "Content-Type",
                    "application/x-www-form-urlencoded".to_owned(),
                ),
                ("Accept", "application/json".to_owned()),
                ("Authorization", format!("Basic {}", STANDARD.encode(both))),
            ],
            body: Some(form::encode(parameters)),
        }
    }

    /// Returns the claims of a token as the text of a JSON object; `None` if the token is not active.
    ///
    /// # Errors
    /// Returns an error if the response is not one of introspection: nothing is known of the token then.
    pub fn claims(&self, response: &FlowResponse) -> Result<Option<String>, AuthError> {
        let wrong = |why: String| AuthError::Document {
            url: self.url.clone(),
            why,
        };
        if response.status != 200 {
            let (code, words) = oauth_error(response);
            return Err(wrong(code + &words));
        }
        let claims = object(response).ok_or_else(|| wrong("expected a JSON object".to_owned()))?;
        match claims.get("active").and_then(Value::as_bool) {
            Some(true) => Ok(Some(Value::Object(claims).to_string())),
            Some(false) => Ok(None),
            None => Err(wrong("expected `active`".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    fn endpoint() -> IntrospectionEndpoint {
        let secret = Secret::from("s3cret of:it".to_owned());
        IntrospectionEndpoint::new("https://auth.example/introspect", "a b", secret).unwrap()
    }

    #[test]
    fn a_token_is_asked_about_in_the_body_with_the_credentials_of_the_server() {
        let request = endpoint().request(&Secret::from("t&k".to_owned()));
        assert_eq!(
            request.body.as_deref(),
            Some("token=t%26k&token_type_hint=access_token")
        );
        let (_, basic) = request.headers.last().unwrap();
        let basic = STANDARD.decode(basic.strip_prefix("Basic ").unwrap());
        assert_eq!(basic.unwrap(), b"a+b:s3cret+of%3Ait");
        let shown = format!("{:?} {request:?}", endpoint());
        assert!(
            !shown.contains("s3cret") && !shown.contains("t%26k"),
            "{shown}"
        );
    }

    #[test]
    fn only_a_response_that_says_active_is_about_a_token() {
        let read = |status, body: &str| {
            endpoint().claims(&FlowResponse {
                status,
                dpop_nonce: None,
                body: body.into(),
            })
        };
        let claims = read(200, r#"{"active":true,"sub":"ada"}"#)
            .unwrap()
            .unwrap();
        assert!(claims.contains(r#""sub":"ada""#), "{claims}");
        assert_eq!(read(200, r#"{"active":false}"#), Ok(None));
        for (status, body) in [
            (200, "{}"),
            (200, r#"{"active":"true"}"#),
            (200, "[]"),
            (401, r#"{"active":true}"#),
            (500, ""),
        ] {
            assert!(read(status, body).is_err(), "{status} {body}");
        }
    }

    #[test]
    fn tokens_are_sent_to_no_endpoint_in_clear() {
        let made = |url: &str| IntrospectionEndpoint::new(url, "a", Secret::default());
        assert!(made("http://localhost:9/i").is_ok());
        for url in ["http://auth.example/i", "file:///i", "auth.example", ""] {
            assert!(made(url).is_err(), "{url}");
        }
    }
}
