//! Proofs of possession (RFC 9449): each request shows that its sender has the key of the token.

use serde_json::json;

use crate::sign::{Signer, digest};
use crate::{AuthError, Secret};

/// The key that tokens are bound to.
pub struct DpopKey(Signer);

/// The request that a proof belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Proof<'a> {
    /// The method of the request.
    pub method: &'a str,
    /// Its URL; the query and the fragment are left out.
    pub url: &'a str,
    /// The access token of the request, if it has one.
    pub token: Option<&'a Secret>,
    /// The nonce that the server wants.
    pub nonce: Option<&'a str>,
    /// A text that no other proof has.
    pub id: &'a str,
    /// Seconds since 1970.
    pub now: u64,
}

impl DpopKey {
    /// Reads a key that is [kept](crate::StoredSignIn::dpop_key).
    ///
    /// # Errors
    /// Returns an error if the text is not such a key.
    pub fn read(key: &Secret) -> Result<Self, AuthError> {
        Signer::generated(key).map(Self)
    }

    /// Returns the value of the header `DPoP`.
    ///
    /// # Errors
    /// Returns an error if the key does not sign.
    pub fn prove(&self, proof: &Proof<'_>) -> Result<String, AuthError> {
        let (x, y) = (self.0.coordinates()).ok_or(AuthError::Key("expected a P-256 key"))?;
        let header = json!({"typ": "dpop+jwt", "alg": "ES256",
            "jwk": {"kty": "EC", "crv": "P-256", "x": x, "y": y}});
        let url = proof.url.split(['?', '#']).next().unwrap_or_default();
        let mut claims =
            json!({"jti": proof.id, "htm": proof.method, "htu": url, "iat": proof.now});
        if let Some(token) = proof.token {
            claims["ath"] = json!(digest(token.expose()));
        }
        if let Some(nonce) = proof.nonce {
            claims["nonce"] = json!(nonce);
        }
        self.0.token(&header, &claims)
    }
}

impl std::fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DpopKey")
    }
}
