//! The claims of an access token, by the names that signed tokens (RFC 9068) and introspection (RFC 7662) have for them.

use std::fmt;
use std::time::{Duration, SystemTime};

use mcp_wire::{Json, JsonObject};

/// The claims of an access token: the payload of a signed token, or the response of an introspection endpoint.
///
/// The guard reads `iss`, `sub` or `username`, `aud`, `exp`, `nbf`, `scope` or `scp`, `client_id` or `azp`, `cnf`, the kind of the
/// token and `active`; handlers read the others from [`claims`](Self::claims). Handlers get the value by `cx.peer().and_then(|peer| peer.extension::<TokenClaims>())`.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenClaims(JsonObject);

impl TokenClaims {
    /// Creates the claims of a token that its verifier has found to be authentic.
    #[must_use]
    pub fn new(claims: JsonObject) -> Self {
        Self(claims)
    }

    /// Returns all claims.
    #[must_use]
    pub fn claims(&self) -> &JsonObject {
        &self.0
    }

    /// Returns the issuer (`iss`), or `None`.
    #[must_use]
    pub fn issuer(&self) -> Option<String> {
        self.text("iss")
    }

    /// Returns the subject (`sub`, else `username`), or `None`.
    #[must_use]
    pub fn subject(&self) -> Option<String> {
        self.text("sub").or_else(|| self.text("username"))
    }

    /// Returns the principal of the token, as a text that no other person or client of the issuer has; `None` if the claims name no
    /// subject. `takes_clients` is whether a token without a subject is its client's own.
    pub(super) fn principal(&self, issuer: &str, takes_clients: bool) -> Option<String> {
        // No URL has a space, so that no two of these are one text.
        if let Some(subject) = self.text("sub") {
            return Some(format!("{issuer} {subject}"));
        }
        if let Some(name) = self.text("username") {
            return Some(format!("username {issuer} {name}"));
        }
        let client = self.client()?;
        (takes_clients || self.is_of_client()).then(|| format!("client {issuer} {client}"))
    }

    /// Returns whether the claims say that a client got the token by its own credentials.
    fn is_of_client(&self) -> bool {
        let grant = self.text("grant_type").or_else(|| self.text("gty"));
        let is_own = grant.is_some_and(|it| it.replace('-', "_") == "client_credentials");
        is_own || self.text("idtyp").as_deref() == Some("app")
    }

    /// Returns the reason why a bearer cannot use the token as an access token; `None` if it can.
    pub(super) fn misuse(&self) -> Option<&'static str> {
        let named = ["token_type", "typ", "token_use"].map(|name| self.text(name));
        let texts = named.into_iter().flatten();
        let kinds: Vec<String> = texts.map(|kind| kind.to_ascii_lowercase()).collect();
        let is = |words: &[&str]| kinds.iter().any(|kind| words.contains(&&**kind));
        if kinds.iter().any(|kind| kind.contains("refresh")) || is(&["offline", "rt+jwt"]) {
            return Some("the token is a refresh token: send an access token");
        }
        if is(&["id", "id_token", "logout", "logout+jwt"]) {
            return Some("the token is an ID token: send an access token");
        }
        // RFC 9449, section 7.1: who has stolen it has not the key.
        (self.claim("cnf").is_some() || is(&["dpop", "pop", "mac"])).then_some(
            "the access token is bound to a key, whose proof is not checked here: get one that is not bound",
        )
    }

    /// Returns the id of the OAuth client (`client_id`, else `azp`), or `None`.
    #[must_use]
    pub fn client(&self) -> Option<String> {
        self.text("client_id").or_else(|| self.text("azp"))
    }

    /// Returns the audience (`aud`): one text, or a list of them; empty if there is none.
    #[must_use]
    pub fn audience(&self) -> Vec<String> {
        self.texts("aud")
    }

    /// Returns the scopes: `scope`, separated by spaces, else `scp`, a text or a list.
    #[must_use]
    pub fn scopes(&self) -> Vec<String> {
        let texts = match self.texts("scope") {
            none if none.is_empty() => self.texts("scp"),
            scopes => scopes,
        };
        let each = texts.iter().flat_map(|text| text.split(' '));
        each.filter(|scope| !scope.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Returns the end of the token's life (`exp`, in seconds since 1970), or `None`.
    #[must_use]
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.time("exp")
    }

    /// Returns the start of the token's life (`nbf`, in seconds since 1970), or `None`.
    #[must_use]
    pub fn not_before(&self) -> Option<SystemTime> {
        self.time("nbf")
    }

    /// Returns a time in seconds since 1970, which some servers write as a text.
    fn time(&self, name: &str) -> Option<SystemTime> {
        let claim = self.claim(name)?;
        let written = claim.as_str().and_then(|text| text.trim().parse().ok());
        let seconds: f64 = written.or_else(|| Some(claim.as_number()?.as_f64()))?;
        let since = Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(since)
    }

    /// Returns whether an introspection endpoint has said that the token is not active.
    pub(super) fn is_inactive(&self) -> bool {
        self.0.get("active").and_then(|it| it.as_bool()) == Some(false)
    }

    /// Returns whether there is an end or a start of life, though not one that can be read.
    pub(super) fn has_odd_time(&self) -> bool {
        let is_odd = |name: &str| self.claim(name).is_some() && self.time(name).is_none();
        is_odd("exp") || is_odd("nbf")
    }

    /// Returns a claim; `null` is none.
    fn claim(&self, name: &str) -> Option<Json> {
        self.0.get(name).filter(|claim| !claim.is_null())
    }

    fn text(&self, name: &str) -> Option<String> {
        let text = self.claim(name)?.as_str()?.into_owned();
        (!text.is_empty()).then_some(text)
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let claim = self.claim(name).unwrap_or_else(Json::null);
        match claim.as_str() {
            Some(text) => vec![text.into_owned()],
            None => claim.read().unwrap_or_default(),
        }
    }
}

/// Only the names of claims are shown: some claims are about a person.
impl fmt::Debug for TokenClaims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, _)| name.to_string());
        f.debug_set().entries(names).finish()
    }
}

/// Why a verifier does not accept a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenRefusal {
    /// The token is not valid: its signature is wrong, it is not known, it was revoked. **The text is sent to the client.**
    #[error("{0}")]
    Invalid(String),
    /// The token could not be verified: the introspection endpoint does not answer. The text goes to the events of operators.
    #[error("{0}")]
    Unavailable(String),
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    fn claims(text: &str) -> TokenClaims {
        TokenClaims::new(JsonObject::from_text(text).unwrap())
    }

    #[test]
    fn claims_are_read_as_signed_tokens_and_introspection_write_them() {
        let signed = claims(
            r#"{"iss":"https://a","sub":"u","aud":["https://m","x"],"scp":["b","c"],"azp":"app","exp":1.5}"#,
        );
        assert_eq!(signed.issuer().as_deref(), Some("https://a"));
        assert_eq!(signed.subject().as_deref(), Some("u"));
        assert_eq!(signed.client().as_deref(), Some("app"));
        assert_eq!(signed.audience(), ["https://m", "x"]);
        assert_eq!(signed.scopes(), ["b", "c"]);
        let expected = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
        assert_eq!(signed.expires_at(), Some(expected));
        let introspected =
            claims(r#"{"active":true,"aud":"https://m","scope":"b  c","client_id":"app"}"#);
        assert_eq!(introspected.audience(), ["https://m"]);
        assert_eq!(introspected.scopes(), ["b", "c"]);
        assert_eq!(introspected.subject(), None);
        assert_eq!(introspected.expires_at(), None);
        assert!(!introspected.is_inactive() && claims(r#"{"active":false}"#).is_inactive());
    }

    #[test]
    fn claims_of_other_kinds_are_none() {
        for odd in [
            r#"{"sub":1,"aud":{},"scope":[1],"exp":"soon"}"#,
            r#"{"sub":"","exp":1e300}"#,
            r#"{"exp":true,"aud":null}"#,
        ] {
            let odd = claims(odd);
            assert_eq!((odd.subject(), odd.expires_at()), (None, None), "{odd:?}");
            assert!(odd.audience().is_empty() && odd.scopes().is_empty());
            assert!(odd.has_odd_time());
        }
    }

    #[test]
    fn each_subject_of_an_issuer_is_a_principal_of_its_own() {
        let mut seen: Vec<Option<String>> = Vec::new();
        for text in [
            r#"{"sub":"a","client_id":"c"}"#,
            r#"{"username":"a","client_id":"c"}"#,
            r#"{"username":"b","client_id":"c"}"#,
            r#"{"gty":"client-credentials","azp":"a"}"#,
            r#"{"client_id":"c"}"#,
        ] {
            let principal = claims(text).principal("https://a", false);
            assert!(!seen.contains(&principal), "{text}: {seen:?}");
            seen.push(principal);
        }
        assert_eq!(seen.last(), Some(&None));
        let allowed = claims(r#"{"client_id":"c"}"#).principal("https://a", true);
        assert_eq!(allowed.as_deref(), Some("client https://a c"));
    }

    #[test]
    fn debug_output_has_no_values_of_claims() {
        let shown = format!("{:?}", claims(r#"{"sub":"ada@example.com"}"#));
        assert_eq!(shown, r#"{"sub"}"#);
    }
}
