//! The stored part of a sign-in, and its JSON.

use serde_json::{Map, Value, json};

use crate::Secret;

/// The number of the format that this crate writes.
const FORMAT: u64 = 1;

/// The stored part of the sign-in to one server. Times are seconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredSignIn {
    /// The URL of the MCP server.
    pub server: String,
    /// The issuer that the rest belongs to.
    pub issuer: String,
    /// The `resource` parameter that was sent.
    pub resource: Option<String>,
    /// The registration of the client.
    pub registration: Option<Registration>,
    /// The tokens.
    pub tokens: Option<Tokens>,
    /// A sign-in that a person has not finished.
    pub pending: Option<PendingSignIn>,
    /// The key that tokens are bound to, in PKCS#8 and base64.
    pub dpop_key: Option<Secret>,
}

/// The registration of a client with one issuer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registration {
    /// The issuer.
    pub issuer: String,
    /// The client's id.
    pub client_id: String,
    /// Its secret.
    pub client_secret: Option<Secret>,
    /// The authentication at the token endpoint, as the registration names it.
    pub auth_method: Option<String>,
    /// The URLs that browsers come back to.
    pub redirect_uris: Vec<String>,
    /// The scopes that it was registered for; `None` if the registration named none.
    pub scope: Option<String>,
    /// When the secret ends; 0 is never.
    pub expires_at: u64,
    /// Set if the client was registered by the flow itself.
    pub is_dynamic: bool,
}

impl Registration {
    fn to_value(&self) -> Value {
        let secret = self.client_secret.as_ref().map(Secret::expose);
        json!({"issuer": self.issuer, "client_id": self.client_id, "client_secret": secret,
            "auth_method": self.auth_method, "redirect_uris": self.redirect_uris, "scope": self.scope,
            "expires_at": self.expires_at, "dynamic": self.is_dynamic})
    }

    fn from_value(from: &Value) -> Self {
        let uris = from["redirect_uris"].as_array().into_iter().flatten();
        Self {
            issuer: text(from, "issuer").unwrap_or_default(),
            client_id: text(from, "client_id").unwrap_or_default(),
            client_secret: secret(from, "client_secret"),
            auth_method: text(from, "auth_method"),
            redirect_uris: uris
                .filter_map(|it| it.as_str().map(str::to_owned))
                .collect(),
            scope: text(from, "scope"),
            expires_at: from["expires_at"].as_u64().unwrap_or_default(),
            is_dynamic: from["dynamic"].as_bool().unwrap_or_default(),
        }
    }
}

fn text(from: &Value, name: &str) -> Option<String> {
    from[name].as_str().map(str::to_owned)
}

fn secret(from: &Value, name: &str) -> Option<Secret> {
    text(from, name).map(Secret::from)
}

/// Tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The access token.
    pub access: Secret,
    /// The refresh token.
    pub refresh: Option<Secret>,
    /// Set if the token is bound to a key.
    pub is_dpop: bool,
    /// The scopes that the token has, as far as the response says.
    pub scope: Option<String>,
    /// The scopes that were requested.
    pub requested: Option<String>,
    /// When the access token ends, if that is known.
    pub expires_at: Option<u64>,
    /// When it was issued.
    pub obtained_at: u64,
}

impl Tokens {
    /// Returns whether the token should be refreshed: 60 seconds before its end, or half its lifetime if that is less.
    #[must_use]
    pub fn is_due(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| {
            let lifetime = end.saturating_sub(self.obtained_at);
            now >= end.saturating_sub((lifetime / 2).min(60))
        })
    }
}

/// A sign-in that a person has not finished.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingSignIn {
    /// The client that signs in. The tokens that are kept beside it may be another one's.
    pub registration: Registration,
    /// The `state` parameter.
    pub state: Secret,
    /// The PKCE verifier.
    pub verifier: Secret,
    /// The issuer.
    pub issuer: String,
    /// The URL that the browser comes back to.
    pub redirect_uri: String,
    /// The requested scopes.
    pub scope: Option<String>,
    /// When it began.
    pub started_at: u64,
}

impl StoredSignIn {
    /// Drops the registration if it is that of this client.
    pub(crate) fn forget(&mut self, client: &Registration) {
        (self.registration).take_if(|it| it.client_id == client.client_id);
    }

    /// Returns the JSON that a store keeps. It has secrets.
    #[must_use]
    pub fn to_json(&self) -> String {
        let exposed = |it: &Option<Secret>| it.as_ref().map(|it| it.expose().to_owned());
        let registration = self.registration.as_ref().map(Registration::to_value);
        let tokens = self.tokens.as_ref().map(|it| {
            json!({"access": it.access.expose(), "refresh": exposed(&it.refresh),
                "type": if it.is_dpop { "DPoP" } else { "Bearer" }, "scope": it.scope, "requested": it.requested,
                "expires_at": it.expires_at, "obtained_at": it.obtained_at})
        });
        let pending = self.pending.as_ref().map(|it| {
            json!({"registration": it.registration.to_value(), "state": it.state.expose(),
                "verifier": it.verifier.expose(), "issuer": it.issuer, "redirect_uri": it.redirect_uri,
                "scope": it.scope, "started_at": it.started_at})
        });
        json!({"format": FORMAT, "server": self.server, "issuer": self.issuer, "resource": self.resource,
            "registration": registration, "tokens": tokens, "pending": pending,
            "dpop_key": exposed(&self.dpop_key)})
        .to_string()
    }

    /// Reads the JSON of a store.
    ///
    /// # Errors
    /// Returns why it cannot be used: it is not JSON, or of another format. The text has nothing of the content.
    pub fn from_json(json: &str) -> Result<Self, String> {
        let all: Map<String, Value> =
            serde_json::from_str(json).map_err(|_| "it is not a JSON object".to_owned())?;
        let format = all.get("format").and_then(Value::as_u64);
        if format != Some(FORMAT) {
            return Err(format!(
                "expected `format` {FORMAT}: another version wrote it"
            ));
        }
        let all = Value::Object(all);
        let registration = (all["registration"].is_object())
            .then(|| Registration::from_value(&all["registration"]));
        let tokens = all["tokens"].is_object().then(|| {
            let from = &all["tokens"];
            Tokens {
                access: secret(from, "access").unwrap_or_default(),
                refresh: secret(from, "refresh"),
                is_dpop: from["type"].as_str() == Some("DPoP"),
                scope: text(from, "scope"),
                requested: text(from, "requested"),
                expires_at: from["expires_at"].as_u64(),
                obtained_at: from["obtained_at"].as_u64().unwrap_or_default(),
            }
        });
        let pending = all["pending"].is_object().then(|| {
            let from = &all["pending"];
            PendingSignIn {
                registration: Registration::from_value(&from["registration"]),
                state: secret(from, "state").unwrap_or_default(),
                verifier: secret(from, "verifier").unwrap_or_default(),
                issuer: text(from, "issuer").unwrap_or_default(),
                redirect_uri: text(from, "redirect_uri").unwrap_or_default(),
                scope: text(from, "scope"),
                started_at: from["started_at"].as_u64().unwrap_or_default(),
            }
        });
        Ok(Self {
            server: text(&all, "server").unwrap_or_default(),
            issuer: text(&all, "issuer").unwrap_or_default(),
            resource: text(&all, "resource"),
            registration,
            tokens: tokens.filter(|it| !it.access.expose().is_empty()),
            pending,
            dpop_key: secret(&all, "dpop_key"),
        })
    }
}
