//! Requests of tokens, with the authentication of the client and the proof of its key.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};

use crate::document::{ServerMetadata, names, oauth_error, object, text};
use crate::dpop::{DpopKey, Proof};
use crate::sign::Signer;
use crate::step::{Desk, FlowMethod, FlowPurpose, FlowRequest};
use crate::{AuthError, FlowResponse, PrivateKey, Registration, Secret, Tokens, form};

/// Lifetime of a client's assertion, in seconds.
const ASSERTION_SECONDS: u64 = 300;

/// Texts that no other token has.
pub(crate) struct Ids {
    seed: [u8; 32],
    count: u64,
}

impl Ids {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self { seed, count: 0 }
    }

    pub(crate) fn next(&mut self) -> String {
        self.count += 1;
        let id = hmac_sha256::HMAC::mac(self.count.to_be_bytes(), self.seed);
        URL_SAFE_NO_PAD.encode(id.get(..16).unwrap_or_default())
    }
}

/// The endpoint for tokens, and the authentication of the client there.
pub(crate) struct TokenEndpoint<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) server: &'a ServerMetadata,
    pub(crate) client: &'a Registration,
    pub(crate) private_key: Option<&'a PrivateKey>,
    pub(crate) dpop: Option<&'a DpopKey>,
}

impl TokenEndpoint<'_> {
    /// Requests a token; the second level of the result is the refusal of the server, with its code.
    pub(crate) async fn request(
        &self,
        parameters: &[(&str, &str)],
        ids: &mut Ids,
    ) -> Result<Result<Tokens, (String, AuthError)>, AuthError> {
        let url = &self.server.token_endpoint;
        let mut nonce: Option<String> = None;
        loop {
            let mut proofs = Vec::new();
            if let Some(key) = self.dpop {
                let proof = Proof {
                    method: "POST",
                    url,
                    token: None,
                    nonce: nonce.as_deref(),
                    id: &ids.next(),
                    now: self.desk.now(),
                };
                proofs.push(("DPoP", key.prove(&proof)?));
            }
            let posted = self.post(url, FlowPurpose::Token, parameters, proofs, ids);
            let answer = posted.await?;
            let is_refusal = object(&answer).is_some_and(|body| is_refusal(&body));
            if (200..300).contains(&answer.status) && !is_refusal {
                return read(&answer, url, self.desk.now()).map(Ok);
            }
            let (code, description) = oauth_error(&answer);
            if code == "use_dpop_nonce" && nonce.is_none() && answer.dpop_nonce.is_some() {
                nonce = answer.dpop_nonce;
                continue;
            }
            let denied = AuthError::Denied {
                issuer: self.server.issuer.clone(),
                code: code.clone(),
                description,
            };
            return Ok(Err((code, denied)));
        }
    }

    /// Posts parameters to an endpoint of the authorization server, as this client and with these headers.
    pub(crate) async fn post(
        &self,
        url: &str,
        purpose: FlowPurpose,
        parameters: &[(&str, &str)],
        more: Vec<(&'static str, String)>,
        ids: &mut Ids,
    ) -> Result<FlowResponse, AuthError> {
        let mut owned: Vec<(&str, String)> = Vec::new();
        let mut headers = vec![
            (
                "Content-Type",
                "application/x-www-form-urlencoded".to_owned(),
            ),
            ("Accept", "application/json".to_owned()),
        ];
        self.authenticate(&mut owned, &mut headers, ids)?;
        headers.extend(more);
        let own = owned.iter().map(|(name, value)| (*name, value.as_str()));
        let request = FlowRequest {
            purpose,
            method: FlowMethod::Post,
            url: url.to_owned(),
            headers,
            body: Some(form::encode(parameters.iter().copied().chain(own))),
        };
        self.desk.send(request).await
    }

    /// Adds what shows that the request is the client's.
    fn authenticate(
        &self,
        parameters: &mut Vec<(&str, String)>,
        headers: &mut Vec<(&'static str, String)>,
        ids: &mut Ids,
    ) -> Result<(), AuthError> {
        let id = &self.client.client_id;
        if let Some(key) = self.private_key {
            let signer = Signer::of(key)?;
            let now = self.desk.now();
            let header = json!({"alg": signer.algorithm(), "typ": "JWT"});
            let claims = json!({"iss": id, "sub": id, "aud": self.server.issuer, "jti": ids.next(),
                "iat": now, "exp": now + ASSERTION_SECONDS});
            let assertion = signer.token(&header, &claims)?;
            let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
            parameters.push(("client_id", id.clone()));
            parameters.push(("client_assertion_type", kind.to_owned()));
            parameters.push(("client_assertion", assertion));
            return Ok(());
        }
        let Some(secret) = &self.client.client_secret else {
            if !id.is_empty() {
                parameters.push(("client_id", id.clone()));
            }
            return Ok(());
        };
        let lists = |method: &str| {
            let methods = self.server.auth_methods.as_ref();
            methods.is_none_or(|all| all.iter().any(|one| one == method))
        };
        let method = match self.client.auth_method.as_deref() {
            Some(method) => method,
            None if lists("client_secret_basic") => "client_secret_basic",
            None => "client_secret_post",
        };
        match method {
            "client_secret_basic" => {
                // RFC 6749, section 2.3.1: both are encoded first.
                let both = format!("{}:{}", form::encoded(id), form::encoded(secret.expose()));
                headers.push(("Authorization", format!("Basic {}", STANDARD.encode(both))));
            }
            "none" => parameters.push(("client_id", id.clone())),
            _ => {
                parameters.push(("client_id", id.clone()));
                parameters.push(("client_secret", secret.expose().to_owned()));
            }
        }
        Ok(())
    }
}

/// Returns whether a body is an error, which some servers send with status 200.
fn is_refusal(body: &Map<String, Value>) -> bool {
    body.get("error").is_some_and(|it| !it.is_null()) && !body.contains_key("access_token")
}

fn read(answer: &FlowResponse, url: &str, now: u64) -> Result<Tokens, AuthError> {
    let wrong = |why: &str| AuthError::Document {
        url: url.to_owned(),
        why: why.to_owned(),
    };
    let body = object(answer).ok_or_else(|| wrong("expected a JSON object"))?;
    let is_sendable = |token: &String| {
        !token.is_empty() && token.bytes().all(|byte| (0x21..=0x7e).contains(&byte))
    };
    // Slack has the token of a person one level below that of a bot.
    let below = body.get("authed_user").and_then(Value::as_object);
    let mut places = [Some(&body), below].into_iter().flatten();
    let found = places.find_map(|it| Some((it, text(it, "access_token").filter(is_sendable)?)));
    let (body, access) = found.ok_or_else(|| wrong("expected `access_token` without spaces"))?;
    // A type that is not DPoP is a name for a bearer token: `user` of Slack, `N_A` of an exchanged assertion.
    let kind = text(body, "token_type").unwrap_or_default();
    let lifetime = body.get("expires_in").and_then(|it| {
        let digits = it.as_str().and_then(|digits| digits.parse().ok());
        let seconds = it.as_f64().filter(|seconds| *seconds >= 0.0);
        it.as_u64()
            .or(digits)
            .or(seconds.map(|seconds| seconds as u64))
    });
    let scopes = names(body, "scope").join(" ");
    Ok(Tokens {
        access: Secret::from(access),
        refresh: text(body, "refresh_token")
            .filter(is_sendable)
            .map(Secret::from),
        is_dpop: kind.trim().eq_ignore_ascii_case("dpop"),
        scope: Some(scopes).filter(|it| !it.is_empty()),
        expires_at: lifetime.map(|lifetime| now.saturating_add(lifetime)),
        obtained_at: now,
        signed_in_at: now,
        ..Tokens::default()
    })
}
