//! Signatures of the deliveries to webhooks of events: a profile of Standard Webhooks. Feature `ext-events`.

use std::fmt;
use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac_sha256::HMAC;

/// Prefix of the text of a secret.
const PREFIX: &str = "whsec_";
/// Number of bytes of a secret.
const SECRET_BYTES: RangeInclusive<usize> = 24..=64;
/// Prefix of a signature.
const VERSION: &str = "v1,";
/// Maximum number of seconds between the timestamp of a delivery and the clock of its receiver.
const FRESH_SECONDS: u64 = 300;

/// Secret of a webhook, by which its deliveries are signed. `Debug` does not show it.
///
/// ```
/// # use mcp_revisions_sansio::webhooks::{Delivery, InvalidDelivery, WebhookSecret};
/// let secret = WebhookSecret::random().expect("randomness");
/// // The text for `events/subscribe`.
/// assert!(secret.expose().starts_with("whsec_"));
/// // A handler has these from the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, and the body as it came.
/// let (body, now) = (br#"{"eventId":"7"}"#, 1_800_000_000);
/// let signature = secret.sign("7", now, body);
/// let delivery = Delivery { id: "7", timestamp: "1800000000", signature: &signature, body };
/// assert_eq!(secret.verify(&delivery, now), Ok(()));
/// assert_eq!(secret.verify(&delivery, now + 301), Err(InvalidDelivery::Stale));
/// ```
///
/// [Specification](https://modelcontextprotocol.io/seps/3415-events-extension)
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Vec<u8>);

/// A request to a webhook: the values of three of its headers, and its body as it came.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'d> {
    /// `webhook-id`: the id of the event, which is the same in each repetition.
    pub id: &'d str,
    /// `webhook-timestamp`: seconds since 1970.
    pub timestamp: &'d str,
    /// `webhook-signature`: one signature, or several with spaces between them.
    pub signature: &'d str,
    /// The bytes that were signed, before any parsing.
    pub body: &'d [u8],
}

/// Reason why a delivery is not to be processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidDelivery {
    /// Its time is not a number, or is more than 5 minutes from the receiver's clock.
    #[error(
        "the timestamp of the delivery is more than 5 minutes from this clock: check the clock, or drop a replay"
    )]
    Stale,
    /// None of its signatures is by this secret.
    #[error("no signature of the delivery is by the secret of the subscription: drop it")]
    Forged,
}

impl WebhookSecret {
    /// Creates a secret of 32 random bytes; `None` if the system has no randomness.
    #[must_use]
    pub fn random() -> Option<Self> {
        let mut bytes = vec![0; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// Reads a secret: `whsec_`, and 24 to 64 bytes in base64. Returns `None` for other texts.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let bytes = BASE64_STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        SECRET_BYTES.contains(&bytes.len()).then_some(Self(bytes))
    }

    /// Returns the text of the secret, which `events/subscribe` takes.
    #[must_use]
    pub fn expose(&self) -> String {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(&self.0))
    }

    /// Returns the signature of a delivery: `v1,` and base64. `timestamp` is in seconds since 1970.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        let mac = self.mac(id, &timestamp.to_string(), body).finalize();
        format!("{VERSION}{}", BASE64_STANDARD.encode(mac))
    }

    /// Checks the time and the signature of a delivery, in constant time. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// Returns the reason why the delivery is not to be processed.
    pub fn verify(&self, delivery: &Delivery<'_>, now: u64) -> Result<(), InvalidDelivery> {
        let Delivery {
            id,
            timestamp,
            signature,
            body,
        } = *delivery;
        let sent = timestamp.parse::<u64>();
        if !sent.is_ok_and(|sent| sent.abs_diff(now) <= FRESH_SECONDS) {
            return Err(InvalidDelivery::Stale);
        }
        let mac = self.mac(id, timestamp, body);
        let is_own = |signature: &str| {
            let encoded = signature.strip_prefix(VERSION);
            let bytes = encoded.and_then(|it| BASE64_STANDARD.decode(it).ok());
            let tag = bytes.and_then(|it| <[u8; 32]>::try_from(it).ok());
            tag.is_some_and(|tag| mac.clone().finalize_verify(&tag))
        };
        let is_signed = signature.split(' ').any(is_own);
        is_signed.then_some(()).ok_or(InvalidDelivery::Forged)
    }

    fn mac(&self, id: &str, timestamp: &str, body: &[u8]) -> HMAC {
        let mut mac = HMAC::new(&self.0);
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(..)")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn a_delivery_is_taken_by_any_signature_of_the_secret_within_five_minutes() {
        // The example of Standard Webhooks.
        let secret = WebhookSecret::from_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let (body, now) = (br#"{"test": 2432232314}"#, 1_614_265_330);
        let own = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        assert_eq!(secret.sign(id, now, body), own);
        let verify = |signature: &str, body: &[u8], now| {
            let timestamp = "1614265330";
            let delivery = Delivery {
                id,
                timestamp,
                signature,
                body,
            };
            secret.verify(&delivery, now)
        };
        let both = format!("v1a,{own} v1,AAAA {own}");
        for (signature, now) in [(own, now), (&both, now + 300), (own, now - 300)] {
            assert_eq!(verify(signature, body, now), Ok(()), "{signature}");
        }
        assert_eq!(verify(own, body, now + 301), Err(InvalidDelivery::Stale));
        assert_eq!(verify(own, b"{}", now), Err(InvalidDelivery::Forged));
        for signature in [
            "",
            &own[3..],
            &own.replace("v1", "v2"),
            &own.replace('g', "h"),
        ] {
            let found = verify(signature, body, now);
            assert_eq!(found, Err(InvalidDelivery::Forged), "{signature}");
        }
    }

    #[test]
    fn a_secret_has_a_prefix_and_24_to_64_bytes() {
        for (count, is_secret) in [(23, false), (24, true), (64, true), (65, false)] {
            let text = WebhookSecret(vec![7; count]).expose();
            assert_eq!(
                WebhookSecret::from_text(&text).is_some(),
                is_secret,
                "{text}"
            );
            assert_eq!(WebhookSecret::from_text(&text[6..]), None);
        }
        let random = WebhookSecret::random().unwrap();
        assert_eq!(WebhookSecret::from_text(&random.expose()), Some(random));
    }
}
