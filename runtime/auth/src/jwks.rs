//! Signed access tokens (RFC 9068): the keys of an authorization server (RFC 7517), and the verification of a token with them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::{Map, Value};
use url::Url;

use crate::address::{check, is_same_issuer, issuer_places};
use crate::document::{oauth_error, object, text};
use crate::error::harmless;
use crate::step::{FlowMethod, FlowPurpose, FlowRequest};
use crate::{AuthError, FlowResponse};

/// Maximum number of keys that are read of a set.
const KEYS: usize = 64;
/// Maximum size of a token, in bytes.
const TOKEN_BYTES: usize = 16 << 10;

/// The public keys of an authorization server that can verify signatures.
#[derive(Clone)]
pub struct KeySet(Vec<VerificationKey>);

/// A public key.
#[derive(Clone)]
struct VerificationKey {
    id: Option<String>,
    /// The only algorithm that the key is for, if it names one.
    algorithm: Option<String>,
    material: KeyMaterial,
}

#[derive(Clone)]
enum KeyMaterial {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// Why a signed token is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidToken {
    /// It is not a signed token.
    #[error("the access token is not a signed token (JWT): {0}")]
    Format(&'static str),
    /// Its algorithm is not allowed.
    #[error(
        "the access token is signed with {0:?}: expected RS256, PS256, ES256, their longer forms, or EdDSA"
    )]
    Algorithm(String),
    /// The set has no key that it may be signed with; a newer set may have one.
    #[error("the access token is signed with a key that its authorization server does not list")]
    UnknownKey,
    /// Its signature is wrong.
    #[error("the signature of the access token is wrong")]
    Signature,
    /// It is of another issuer.
    #[error("the access token is of another authorization server")]
    Issuer,
    /// It has no expiry.
    #[error("the access token has no expiry (`exp`)")]
    Expiry,
}

impl KeySet {
    /// Reads a key set (`{"keys": [..]}`). Keys for other uses, and of kinds that verify no allowed algorithm, are left out.
    ///
    /// # Errors
    /// Returns an error if the text is not a key set.
    pub fn from_json(json: &[u8]) -> Result<Self, InvalidToken> {
        let response = FlowResponse {
            body: json.to_vec(),
            ..FlowResponse::default()
        };
        let set = object(&response);
        let listed = set.as_ref().and_then(|set| set.get("keys")?.as_array());
        let keys = listed.ok_or(InvalidToken::Format("expected `keys`"))?;
        let read = keys.iter().take(KEYS).filter_map(VerificationKey::read);
        Ok(Self(read.collect()))
    }

    /// Verifies the signature of a token of this issuer, and returns its claims as the text of a JSON object. Audience, expiry and
    /// subject are not checked.
    ///
    /// # Errors
    /// Returns an error if the token is not authentic.
    pub fn verify(&self, token: &str, issuer: &str) -> Result<String, InvalidToken> {
        if token.len() > TOKEN_BYTES {
            return Err(InvalidToken::Format("it is too long"));
        }
        let wrong = || InvalidToken::Format("expected three parts");
        let (message, signature) = token.rsplit_once('.').ok_or_else(wrong)?;
        let (header, payload) = message.split_once('.').ok_or_else(wrong)?;
        let header = decoded_object(header)?;
        // RFC 9068, section 4, and the older form without a type of its own. Tokens of other types are not access tokens.
        let kind = text(&header, "typ")
            .unwrap_or_default()
            .to_ascii_lowercase();
        if !["", "jwt", "at+jwt", "application/at+jwt"].contains(&&*kind) {
            return Err(InvalidToken::Format("expected the type at+jwt"));
        }
        if header.contains_key("crit") {
            return Err(InvalidToken::Format("it has a critical extension"));
        }
        let algorithm = text(&header, "alg").unwrap_or_default();
        let algorithm = SignatureAlgorithm::named(&algorithm)
            .ok_or_else(|| InvalidToken::Algorithm(harmless(&algorithm)))?;
        let id = text(&header, "kid");
        let mut candidates = (self.0.iter())
            .filter(|key| id.is_none() || key.id == id)
            .filter(|key| {
                key.algorithm
                    .as_deref()
                    .is_none_or(|it| it == algorithm.name)
            })
            .peekable();
        if candidates.peek().is_none() {
            return Err(InvalidToken::UnknownKey);
        }
        let signature = decoded(signature)?;
        if !candidates.any(|key| algorithm.verifies(key, message.as_bytes(), &signature)) {
            return Err(match id {
                Some(_) => InvalidToken::Signature,
                None => InvalidToken::UnknownKey,
            });
        }
        let claims = decoded_object(payload)?;
        if !text(&claims, "iss").is_some_and(|it| is_same_issuer(&it, issuer)) {
            return Err(InvalidToken::Issuer);
        }
        if claims.get("exp").is_none_or(Value::is_null) {
            return Err(InvalidToken::Expiry);
        }
        Ok(Value::Object(claims).to_string())
    }
}

fn decoded(part: &str) -> Result<Vec<u8>, InvalidToken> {
    let bytes = URL_SAFE_NO_PAD.decode(part);
    bytes.map_err(|_| InvalidToken::Format("expected base64url"))
}

fn decoded_object(part: &str) -> Result<Map<String, Value>, InvalidToken> {
    let response = FlowResponse {
        body: decoded(part)?,
        ..FlowResponse::default()
    };
    object(&response).ok_or(InvalidToken::Format("expected JSON objects"))
}

impl VerificationKey {
    /// Reads a key. Returns `None` if it is for another use or of an unknown kind.
    fn read(json: &Value) -> Option<Self> {
        let from = json.as_object()?;
        let is_other_use = text(from, "use").is_some_and(|it| it != "sig");
        let operations = from.get("key_ops").and_then(Value::as_array);
        let verifies = operations.is_none_or(|all| all.iter().any(|it| it == "verify"));
        if is_other_use || !verifies {
            return None;
        }
        let bytes = |name: &str| {
            let text = text(from, name)?;
            URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()
        };
        let point = |length: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            let is_whole = x.len() == length && y.len() == length;
            is_whole.then(|| [vec![4], x, y].concat())
        };
        let (kind, curve) = (text(from, "kty")?, text(from, "crv").unwrap_or_default());
        let material = match (&*kind, &*curve) {
            ("RSA", _) => KeyMaterial::Rsa {
                n: bytes("n")?,
                e: bytes("e")?,
            },
            ("EC", "P-256") => KeyMaterial::P256(point(32)?),
            ("EC", "P-384") => KeyMaterial::P384(point(48)?),
            ("OKP", "Ed25519") => KeyMaterial::Ed25519(bytes("x")?),
            _ => return None,
        };
        Some(Self {
            id: text(from, "kid"),
            algorithm: text(from, "alg"),
            material,
        })
    }
}

/// An allowed algorithm. Each is asymmetric: only the authorization server has the private key.
struct SignatureAlgorithm {
    name: &'static str,
    kind: AlgorithmKind,
}

enum AlgorithmKind {
    Rsa(&'static RsaParameters),
    P256,
    P384,
    Ed25519,
}

impl SignatureAlgorithm {
    /// Returns the allowed algorithm of a name.
    fn named(name: &str) -> Option<Self> {
        use AlgorithmKind::{Ed25519, P256, P384, Rsa};
        let allowed = [
            ("RS256", Rsa(&RSA_PKCS1_2048_8192_SHA256)),
            ("RS384", Rsa(&RSA_PKCS1_2048_8192_SHA384)),
            ("RS512", Rsa(&RSA_PKCS1_2048_8192_SHA512)),
            ("PS256", Rsa(&RSA_PSS_2048_8192_SHA256)),
            ("PS384", Rsa(&RSA_PSS_2048_8192_SHA384)),
            ("PS512", Rsa(&RSA_PSS_2048_8192_SHA512)),
            ("ES256", P256),
            ("ES384", P384),
            ("EdDSA", Ed25519),
            ("Ed25519", Ed25519),
        ];
        let (name, kind) = allowed.into_iter().find(|(one, _)| *one == name)?;
        Some(Self { name, kind })
    }

    /// Returns whether a key is of the algorithm's kind and has made a signature.
    fn verifies(&self, key: &VerificationKey, message: &[u8], signature: &[u8]) -> bool {
        let (algorithm, point): (&dyn VerificationAlgorithm, _) = match (&self.kind, &key.material)
        {
            (AlgorithmKind::Rsa(parameters), KeyMaterial::Rsa { n, e }) => {
                let key = RsaPublicKeyComponents { n, e };
                return key.verify(parameters, message, signature).is_ok();
            }
            (AlgorithmKind::P256, KeyMaterial::P256(point)) => (&ECDSA_P256_SHA256_FIXED, point),
            (AlgorithmKind::P384, KeyMaterial::P384(point)) => (&ECDSA_P384_SHA384_FIXED, point),
            (AlgorithmKind::Ed25519, KeyMaterial::Ed25519(point)) => (&ED25519, point),
            _ => return false,
        };
        let key = UnparsedPublicKey::new(algorithm, point);
        key.verify(message, signature).is_ok()
    }
}

/// The URL of the key set of an issuer, or the issuer whose metadata name it.
#[derive(Debug, Clone)]
pub struct JwksEndpoint {
    issuer: Url,
    key_set: Option<Url>,
}

impl JwksEndpoint {
    /// Creates the endpoint of an issuer; `key_set` is the URL of the key set, if the metadata do not name it.
    ///
    /// # Errors
    /// Returns an error if a URL is neither `https`, nor `http` on a loopback host.
    pub fn new(issuer: &str, key_set: Option<&str>) -> Result<Self, AuthError> {
        let url = |whose: &str, text: &str| {
            // A person has named each URL, so that neither has to be below the other.
            let own = Url::parse(text).map_err(|_| AuthError::Address {
                whose: whose.to_owned(),
                url: harmless(text),
                why: "it is not a valid URL",
            })?;
            check(whose, text, &own)
        };
        let named = key_set.map(|text| url("the key set", text));
        Ok(Self {
            issuer: url("the issuer", issuer)?,
            key_set: named.transpose()?,
        })
    }

    /// Returns the issuer.
    #[must_use]
    pub fn issuer(&self) -> &str {
        self.issuer.as_str()
    }

    /// Returns the requests for the metadata of the issuer, to be sent until one has a document. The list is empty if the URL of
    /// the key set is known.
    #[must_use]
    pub fn metadata_requests(&self) -> Vec<FlowRequest> {
        match &self.key_set {
            Some(_) => Vec::new(),
            None => {
                let places = issuer_places(&self.issuer).into_iter();
                places.map(|url| get(url, FlowPurpose::Server)).collect()
            }
        }
    }

    /// Returns the request for the key set, whose URL is in the response to a request for metadata; `None` if the response has no
    /// document.
    ///
    /// # Errors
    /// Returns an error if the document is of another issuer, or names no key set that may be requested.
    pub fn key_set_request(
        &self,
        metadata: Option<&FlowResponse>,
    ) -> Result<Option<FlowRequest>, AuthError> {
        if let Some(url) = &self.key_set {
            return Ok(Some(get(url.to_string(), FlowPurpose::Keys)));
        }
        let found = metadata.filter(|it| it.status == 200).and_then(object);
        let Some(body) = found else { return Ok(None) };
        let found = text(&body, "issuer").unwrap_or_default();
        if !is_same_issuer(&found, self.issuer()) {
            return Err(AuthError::Issuer {
                url: "the issuer's own place".to_owned(),
                expected: self.issuer().to_owned(),
                found: harmless(&found),
            });
        }
        let named = text(&body, "jwks_uri").ok_or_else(|| AuthError::Document {
            url: self.issuer().to_owned(),
            why: "its metadata name no key set (`jwks_uri`): its access tokens may not be signed"
                .to_owned(),
        })?;
        let url = check("jwks_uri", &named, &self.issuer)?;
        Ok(Some(get(url.to_string(), FlowPurpose::Keys)))
    }

    /// Reads the response to the request for the key set.
    ///
    /// # Errors
    /// Returns an error if it is not a key set.
    pub fn key_set(&self, response: &FlowResponse) -> Result<KeySet, AuthError> {
        let wrong = |why: String| AuthError::Document {
            url: format!("the key set of {}", self.issuer()),
            why,
        };
        if response.status != 200 {
            let (code, words) = oauth_error(response);
            return Err(wrong(code + &words));
        }
        KeySet::from_json(&response.body).map_err(|_| wrong("expected `keys`".to_owned()))
    }
}

fn get(url: String, purpose: FlowPurpose) -> FlowRequest {
    FlowRequest {
        purpose,
        method: FlowMethod::Get,
        url,
        headers: vec![("Accept", "application/json".to_owned())],
        body: None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use ring::rand::SystemRandom;
    use ring::signature::{Ed25519KeyPair, KeyPair as _};
    use serde_json::json;

    use super::*;
    use crate::sign::Signer;

    const ISSUER: &str = "https://auth.example";

    /// A key of an authorization server, and its public part.
    fn es256(id: &str) -> (Signer, Value) {
        let signer = Signer::generated(&Signer::generate().unwrap()).unwrap();
        let (x, y) = signer.coordinates().unwrap();
        let public = json!({"kty": "EC", "crv": "P-256", "kid": id, "use": "sig", "x": x, "y": y});
        (signer, public)
    }

    fn set(keys: &[&Value]) -> KeySet {
        KeySet::from_json(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
    }

    fn claims() -> Value {
        json!({"iss": ISSUER, "sub": "ada", "exp": 1_900_000_000})
    }

    #[test]
    fn a_token_is_good_with_a_key_of_its_issuer_and_with_no_other_header_or_key() {
        let ((one, public), (other, _)) = (es256("1"), es256("1"));
        let header = json!({"alg": "ES256", "kid": "1", "typ": "at+jwt"});
        let good = one.token(&header, &claims()).unwrap();
        let keys = set(&[&json!({"kty": "oct", "k": "AA"}), &json!(7), &public]);
        let found = keys.verify(&good, ISSUER).unwrap();
        assert!(found.contains(r#""sub":"ada""#), "{found}");
        assert!(keys.verify(&good, "https://auth.example/").is_ok());
        assert_eq!(
            keys.verify(&good, "https://evil.example"),
            Err(InvalidToken::Issuer)
        );
        let with = |name: &str, value: Value| {
            let mut header = header.clone();
            header[name] = value;
            one.token(&header, &claims()).unwrap()
        };
        let (message, _) = good.rsplit_once('.').unwrap();
        let mut renamed: Vec<&str> = good.split('.').collect();
        let payload = URL_SAFE_NO_PAD
            .encode(json!({"iss": ISSUER, "sub": "eve", "exp": 1_900_000_000}).to_string());
        renamed[1] = &payload;
        let format = |why| InvalidToken::Format(why);
        for (token, expected) in [
            (
                other.token(&header, &claims()).unwrap(),
                InvalidToken::Signature,
            ),
            (renamed.join("."), InvalidToken::Signature),
            (format!("{message}."), InvalidToken::Signature),
            (with("kid", json!("2")), InvalidToken::UnknownKey),
            (
                with("alg", json!("none")),
                InvalidToken::Algorithm("none".to_owned()),
            ),
            (
                with("alg", json!("HS256")),
                InvalidToken::Algorithm("HS256".to_owned()),
            ),
            (with("alg", json!("ES384")), InvalidToken::Signature),
            (with("alg", json!("RS256")), InvalidToken::Signature),
            (
                with("typ", json!("rt+jwt")),
                format("expected the type at+jwt"),
            ),
            (
                with("crit", json!(["x"])),
                format("it has a critical extension"),
            ),
            (
                one.token(&header, &json!({"iss": ISSUER})).unwrap(),
                InvalidToken::Expiry,
            ),
            (
                one.token(&header, &json!({"exp": 1_900_000_000})).unwrap(),
                InvalidToken::Issuer,
            ),
            ("opaque".to_owned(), format("expected three parts")),
            ("a.b.c".to_owned(), format("expected base64url")),
            (
                "e30.e30.".to_owned(),
                InvalidToken::Algorithm(String::new()),
            ),
            (
                format!("{}.e30.", "A".repeat(TOKEN_BYTES)),
                format("it is too long"),
            ),
        ] {
            assert_eq!(keys.verify(&token, ISSUER), Err(expected), "{token}");
        }
        // A key for encryption, or for another algorithm, verifies nothing.
        for (name, value) in [
            ("use", json!("enc")),
            ("alg", json!("ES384")),
            ("key_ops", json!(["sign"])),
        ] {
            let mut narrow = public.clone();
            narrow[name] = value;
            let refused = set(&[&narrow]).verify(&good, ISSUER);
            assert_eq!(refused, Err(InvalidToken::UnknownKey), "{name}");
        }
    }

    #[test]
    fn a_token_without_a_key_id_is_tried_with_each_key_of_its_kind() {
        let ((one, public), (_, other)) = (es256("1"), es256("2"));
        let token = one.token(&json!({"alg": "ES256"}), &claims()).unwrap();
        assert!(set(&[&other, &public]).verify(&token, ISSUER).is_ok());
        assert_eq!(
            set(&[&other]).verify(&token, ISSUER),
            Err(InvalidToken::UnknownKey)
        );
    }

    #[test]
    fn eddsa_is_verified_as_well() {
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pair.as_ref()).unwrap();
        let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(json!({"alg": "EdDSA"})), part(claims()));
        let signature = URL_SAFE_NO_PAD.encode(pair.sign(message.as_bytes()).as_ref());
        let x = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
        let keys = set(&[&json!({"kty": "OKP", "crv": "Ed25519", "x": x})]);
        assert!(
            keys.verify(&format!("{message}.{signature}"), ISSUER)
                .is_ok()
        );
    }

    #[test]
    fn a_key_set_is_found_by_the_metadata_of_its_own_issuer() {
        let endpoint = JwksEndpoint::new(ISSUER, None).unwrap();
        assert_eq!(endpoint.metadata_requests().len(), 2);
        let answered = |body: &str| {
            let (status, body) = (200, body.into());
            let response = FlowResponse {
                status,
                body,
                ..FlowResponse::default()
            };
            endpoint.key_set_request(Some(&response))
        };
        let found =
            answered(r#"{"issuer":"https://auth.example/","jwks_uri":"https://keys.example/k"}"#);
        assert_eq!(found.unwrap().unwrap().url, "https://keys.example/k");
        assert_eq!(answered("<html>"), Ok(None));
        for wrong in [
            r#"{"issuer":"https://evil.example","jwks_uri":"https://keys.example/k"}"#,
            r#"{"issuer":"https://auth.example"}"#,
            r#"{"issuer":"https://auth.example","jwks_uri":"http://keys.example/k"}"#,
            r#"{"issuer":"https://auth.example","jwks_uri":"http://127.0.0.1/k"}"#,
        ] {
            assert!(answered(wrong).is_err(), "{wrong}");
        }
        assert!(JwksEndpoint::new("http://auth.example", None).is_err());
        let known = JwksEndpoint::new(ISSUER, Some("https://keys.example/k")).unwrap();
        assert!(known.metadata_requests().is_empty());
        assert!(known.key_set_request(None).unwrap().is_some());
    }
}
