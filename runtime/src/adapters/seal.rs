//! Tickets that a peer carries and cannot make: what `requestState` holds while a call is parked.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use mcp_wire::{Json, JsonObject, Kind, Map};
use sha2::Sha256;

/// Gives out tickets, and seals them by HMAC-SHA256 under a key of the server.
pub(crate) struct Seal {
    key: Option<[u8; 32]>,
    next: AtomicU64,
}

/// Why a ticket is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    /// It is not one that this server sealed for this request and this principal.
    Forged,
    /// It was, but its time is over.
    Lapsed,
}

/// What a ticket is good for, beside its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound<'a> {
    pub(crate) method: &'a str,
    /// What the request asks for: a text that is equal only for requests which ask for the same.
    pub(crate) subject: &'a str,
    pub(crate) principal: Option<&'a str>,
}

impl Seal {
    /// A key that nobody knows; none if the system has no randomness, and then nothing is sealed.
    pub(crate) fn random() -> Self {
        let mut key = [0_u8; 32];
        let key = getrandom::fill(&mut key).is_ok().then_some(key);
        Self {
            key,
            next: AtomicU64::new(first()),
        }
    }

    pub(crate) fn of_key(key: [u8; 32]) -> Self {
        Self {
            key: Some(key),
            next: AtomicU64::new(first()),
        }
    }

    /// A ticket that no other connection of this server has, nor a replica that seals under the same key.
    pub(crate) fn ticket(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The text of a ticket.
    pub(crate) fn seal(&self, ticket: u64, until: Duration, bound: Bound<'_>) -> Option<String> {
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        let mut bytes = [ticket.to_be_bytes(), until.to_be_bytes()].concat();
        let tag = self.mac(&bytes, bound)?.finalize().into_bytes();
        bytes.extend_from_slice(&tag);
        Some(BASE64_URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The ticket of a text, if it is good for this request at this time.
    pub(crate) fn open(&self, text: &str, now: Duration, bound: Bound<'_>) -> Result<u64, Broken> {
        let bytes = BASE64_URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| Broken::Forged)?;
        let (said, tag) = bytes.split_at_checked(16).ok_or(Broken::Forged)?;
        let mac = self.mac(said, bound).ok_or(Broken::Forged)?;
        mac.verify_slice(tag).map_err(|_| Broken::Forged)?;
        let number = |bytes: Option<&[u8]>| bytes?.try_into().ok().map(u64::from_be_bytes);
        let ticket = number(said.get(..8)).ok_or(Broken::Forged)?;
        let until = number(said.get(8..)).ok_or(Broken::Forged)?;
        match Duration::from_millis(until) > now {
            true => Ok(ticket),
            false => Err(Broken::Lapsed),
        }
    }

    fn mac(&self, said: &[u8], bound: Bound<'_>) -> Option<Hmac<Sha256>> {
        let Bound {
            method,
            subject,
            principal,
        } = bound;
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_ref()?).ok()?;
        mac.update(said);
        // Each with its length, so that no two requests run into the same bytes.
        for part in [method, subject, principal.unwrap_or_default()] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac.update(&[u8::from(principal.is_some())]);
        Some(mac)
    }
}

/// Where the tickets of a server begin: replicas begin elsewhere.
fn first() -> u64 {
    let mut bytes = [0_u8; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_be_bytes(bytes),
        Err(_) => 1,
    }
}

/// What a request asks for: its name, URI and arguments, however their members are ordered and spaced.
pub(crate) fn subject(params: &Json) -> String {
    let mut text = String::new();
    if let Ok(object) = JsonObject::try_from(params.clone()) {
        for name in ["name", "uri", "arguments"] {
            text.push('/');
            if let Some(value) = object.get(name) {
                canonical(&value, &mut text);
            }
        }
    }
    text
}

/// Writes a value in one way, however its members are ordered and spaced.
pub(crate) fn canonical(json: &Json, text: &mut String) {
    match json.kind() {
        Kind::Object => {
            let object: Map<Json> = json.read().unwrap_or_default();
            let members: BTreeMap<String, Json> = object.into_iter().collect();
            text.push('{');
            for (name, value) in members {
                mcp_wire::write_to(name.as_str(), text);
                text.push(':');
                canonical(&value, text);
                text.push(',');
            }
            text.push('}');
        }
        Kind::Array => {
            let items: Vec<Json> = json.read().unwrap_or_default();
            text.push('[');
            for item in items {
                canonical(&item, text);
                text.push(',');
            }
            text.push(']');
        }
        _ => text.push_str(json.text()),
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(..)")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn a_ticket_is_good_for_its_request_its_principal_and_its_time_alone() {
        let seal = Seal::of_key([7; 32]);
        let bound = Bound {
            method: "tools/call",
            subject: "{}",
            principal: Some("ada"),
        };
        let (until, now) = (Duration::from_secs(60), Duration::from_secs(1));
        let text = seal.seal(5, until, bound).unwrap();
        assert_eq!(seal.open(&text, now, bound), Ok(5));
        assert_eq!(seal.open(&text, until, bound), Err(Broken::Lapsed));
        for other in [
            Bound {
                method: "prompts/get",
                ..bound
            },
            Bound {
                subject: "[]",
                ..bound
            },
            Bound {
                principal: Some("eve"),
                ..bound
            },
            Bound {
                principal: None,
                ..bound
            },
            Bound {
                principal: Some(""),
                ..bound
            },
        ] {
            assert_eq!(
                seal.open(&text, now, other),
                Err(Broken::Forged),
                "{other:?}"
            );
        }
        assert_eq!(
            Seal::of_key([8; 32]).open(&text, now, bound),
            Err(Broken::Forged)
        );
        // A byte more, a byte less, a byte changed.
        for index in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            // The last digit holds bits that say nothing.
            if BASE64_URL_SAFE_NO_PAD.decode(&changed) != BASE64_URL_SAFE_NO_PAD.decode(&text) {
                assert_eq!(seal.open(&changed, now, bound), Err(Broken::Forged));
            }
        }
        assert_eq!(seal.open("", now, bound), Err(Broken::Forged));
    }
}
