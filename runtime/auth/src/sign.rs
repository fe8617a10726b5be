//! JSON Web Tokens that a client signs.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::Value;

use crate::{Algorithm, AuthError, PrivateKey, Secret};

/// A key that signs.
pub(crate) enum Signer {
    Es256(EcdsaKeyPair),
    Rs256(RsaKeyPair),
}

impl Signer {
    pub(crate) fn of(key: &PrivateKey) -> Result<Self, AuthError> {
        let pem: String = (key.pem.expose().lines())
            .map(str::trim)
            .filter(|line| !line.starts_with("-----"))
            .collect();
        let der = STANDARD
            .decode(pem)
            .map_err(|_| AuthError::Key("expected PKCS#8 as PEM"))?;
        match key.algorithm {
            Algorithm::Es256 => Self::es256(&der),
            Algorithm::Rs256 => RsaKeyPair::from_pkcs8(&der)
                .map(Self::Rs256)
                .map_err(|_| AuthError::Key("expected an RSA key in PKCS#8 (`BEGIN PRIVATE KEY`)")),
        }
    }

    fn es256(der: &[u8]) -> Result<Self, AuthError> {
        let random = SystemRandom::new();
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random)
            .map(Self::Es256)
            .map_err(|_| AuthError::Key("expected a P-256 key in PKCS#8 (`BEGIN PRIVATE KEY`)"))
    }

    /// Returns a new key for ES256, in PKCS#8 and base64.
    pub(crate) fn generate() -> Result<Secret, AuthError> {
        let random = SystemRandom::new();
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map(|der| Secret::from(STANDARD.encode(der.as_ref())))
            .map_err(|_| AuthError::Key("the system has no random numbers"))
    }

    /// Returns the key of [`generate`](Self::generate).
    pub(crate) fn generated(key: &Secret) -> Result<Self, AuthError> {
        let der = STANDARD.decode(key.expose());
        Self::es256(&der.map_err(|_| AuthError::Key("the stored key is not valid"))?)
    }

    /// Returns the public key as coordinates, of ES256 keys.
    pub(crate) fn coordinates(&self) -> Option<(String, String)> {
        let Self::Es256(pair) = self else { return None };
        let point = pair.public_key().as_ref();
        let (x, y) = (point.get(1..33)?, point.get(33..65)?);
        Some((URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y)))
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Self::Es256(_) => "ES256",
            Self::Rs256(_) => "RS256",
        }
    }

    /// Returns a signed token.
    pub(crate) fn token(&self, header: &Value, claims: &Value) -> Result<String, AuthError> {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(header), part(claims));
        let failed = |_| AuthError::Key("it does not sign");
        let random = SystemRandom::new();
        let signature = match self {
            Self::Es256(pair) => (pair.sign(&random, text.as_bytes()))
                .map_err(failed)?
                .as_ref()
                .to_vec(),
            Self::Rs256(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature)
                    .map_err(failed)?;
                signature
            }
        };
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// Returns the SHA-256 of a text, in base64 for URLs.
pub(crate) fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(hmac_sha256::Hash::hash(text.as_bytes()))
}
