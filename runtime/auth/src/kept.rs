//! The stored part of a sign-in, and its JSON.

use serde_json::{Map, Value, json};

use crate::{AuthError, Secret};

/// The number of the format that this crate writes.
const FORMAT: u64 = 1;

/// The stored part of the sign-in to one server. Times are seconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
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
    /// When the last sign-ins began, of all processes: a person is not shown page after page.
    pub sign_ins: Vec<u64>,
}

/// Number of sign-ins within [`SIGN_INS_SECONDS`].
const SIGN_INS: usize = 3;
/// The time in which sign-ins are counted, and that a person has for one, in seconds.
const SIGN_INS_SECONDS: u64 = 600;

/// Why a stored text is not a sign-in. Nothing of the text is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidStore {
    /// It is not a JSON object.
    #[error("it is not a JSON object")]
    NotJson,
    /// It has another format.
    #[error("expected `format` {FORMAT}: another version wrote it")]
    Format,
}

/// The registration of a client with one issuer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
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
    /// The scopes that it was to be registered for, though its server may register none; `None` if there were none.
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
#[non_exhaustive]
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
    /// When the sign-in was, which refreshes do not renew.
    pub signed_in_at: u64,
    /// Set if the server refused the token when it was new.
    pub is_refused: bool,
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
#[non_exhaustive]
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
    /// The URL of the page that the person has to look at.
    pub page: String,
    /// When it began.
    pub started_at: u64,
}

impl PendingSignIn {
    /// Returns whether a person may still finish it.
    #[must_use]
    pub fn is_open(&self, now: u64) -> bool {
        !self.page.is_empty() && now < self.started_at.saturating_add(SIGN_INS_SECONDS)
    }
}

impl StoredSignIn {
    /// Drops the registration if it is that of this client.
    pub(crate) fn forget(&mut self, client: &Registration) {
        (self.registration).take_if(|it| it.client_id == client.client_id);
    }

    pub(crate) fn count_sign_in(&mut self, now: u64) -> Result<(), AuthError> {
        (self.sign_ins).retain(|at| now < at.saturating_add(SIGN_INS_SECONDS));
        if self.sign_ins.len() >= SIGN_INS {
            return Err(AuthError::TooManySignIns {
                server: self.server.clone(),
                count: SIGN_INS,
            });
        }
        self.sign_ins.push(now);
        Ok(())
    }

    /// Forgets what keeps a person from another sign-in: the count of those before, and tokens that the server refuses. Returns
    /// whether there was anything.
    pub fn begin_anew(&mut self) -> bool {
        let refused = self.tokens.take_if(|it| it.is_refused);
        let counted = std::mem::take(&mut self.sign_ins);
        refused.is_some() || !counted.is_empty()
    }

    /// Returns whether the server refuses the tokens of a recent sign-in, so that another sign-in would not help.
    #[must_use]
    pub fn is_refused(&self, now: u64) -> bool {
        let tokens = self.tokens.as_ref().filter(|it| it.is_refused);
        tokens.is_some_and(|it| now < it.signed_in_at.saturating_add(SIGN_INS_SECONDS))
    }

    /// Returns the JSON that a store keeps. It has secrets.
    #[must_use]
    pub fn to_json(&self) -> String {
        let exposed = |it: &Option<Secret>| it.as_ref().map(|it| it.expose().to_owned());
        let registration = self.registration.as_ref().map(Registration::to_value);
        let tokens = self.tokens.as_ref().map(|it| {
            json!({"access": it.access.expose(), "refresh": exposed(&it.refresh),
                "type": if it.is_dpop { "DPoP" } else { "Bearer" }, "scope": it.scope, "requested": it.requested,
                "expires_at": it.expires_at, "obtained_at": it.obtained_at, "signed_in_at": it.signed_in_at,
                "refused": it.is_refused})
        });
        let pending = self.pending.as_ref().map(|it| {
            json!({"registration": it.registration.to_value(), "state": it.state.expose(),
                "verifier": it.verifier.expose(), "issuer": it.issuer, "redirect_uri": it.redirect_uri,
                "page": it.page, "started_at": it.started_at})
        });
        json!({"format": FORMAT, "server": self.server, "issuer": self.issuer, "resource": self.resource,
            "registration": registration, "tokens": tokens, "pending": pending,
            "dpop_key": exposed(&self.dpop_key), "sign_ins": self.sign_ins})
        .to_string()
    }

    /// Reads the JSON of a store.
    ///
    /// # Errors
    /// Returns an error if it is not a JSON object, or has another format.
    pub fn from_json(json: &str) -> Result<Self, InvalidStore> {
        let all: Map<String, Value> =
            serde_json::from_str(json).map_err(|_| InvalidStore::NotJson)?;
        let format = all.get("format").and_then(Value::as_u64);
        if format != Some(FORMAT) {
            return Err(InvalidStore::Format);
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
                signed_in_at: from["signed_in_at"].as_u64().unwrap_or_default(),
                is_refused: from["refused"].as_bool().unwrap_or_default(),
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
                page: text(from, "page").unwrap_or_default(),
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
            sign_ins: (all["sign_ins"].as_array().into_iter().flatten())
                .filter_map(Value::as_u64)
                .take(SIGN_INS)
                .collect(),
        })
    }
}
