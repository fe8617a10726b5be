//! Signed `requestState`: what a client carries from one request to the next, and can neither make nor change.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac_sha256::HMAC;
use mcp_wire::{Fault, Json, JsonObject, Kind, Members, Reader, UnknownMembers};

use super::spent::{SpentStates, TicketUse};
use crate::errors::{self, Refusal};
use crate::limits::deadline;

/// Bytes of a signature, and of what stands before the payload: what is signed, and until when it holds.
const TAG: usize = 32;
const HEAD: usize = 9;

/// Signs states by HMAC-SHA256, and counts the tickets of suspended requests.
#[derive(Clone)]
pub(crate) struct Seal {
    /// The first signs, all verify; empty if the system has no randomness, and then nothing is signed.
    keys: Vec<[u8; 32]>,
    /// Set if the keys were given, and so may be known to other processes.
    is_given: bool,
    /// The time since 1970 at which the clock of the driver is at zero.
    epoch: Duration,
    next: Arc<AtomicU64>,
    /// The number of this replica, once it has one.
    home: Option<u32>,
    /// Set if only this replica can go on with the application's own states.
    keeps_own: bool,
    /// The application's own states that were used, where each is good once.
    spent: Option<Arc<SpentStates>>,
}

/// The meaning of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IssuedState {
    /// A request that is suspended in one process, by its ticket.
    Suspended(u64),
    /// A request that failed, and starts over once its client has done what it failed for.
    Again,
    /// The application's own state, and the number of the replica that alone can go on with it, if it is one.
    Own(String, Option<u32>),
    /// The same, good for one retry, which its ticket tells from others.
    Once(u64, String, Option<u32>),
}

/// Why a state is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateFault {
    /// It was not signed by this server for this request and this principal.
    Forged,
    /// It was, but its time is over.
    Expired,
    /// It was, and is good for one retry, which was made.
    Spent,
    /// It was, and is good for one retry, which cannot be noted now.
    Full,
}

impl StateFault {
    /// Returns the error of a request with such a state.
    pub(crate) fn refusal(self) -> Box<Refusal> {
        match self {
            Self::Full => errors::busy(self.to_string()),
            _ => errors::invalid_params(&self.to_string()),
        }
    }
}

impl fmt::Display for StateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forged => {
                "`requestState` was not given out for this request by this server process, nor by one with the same \
                 key: make the request again, without `requestState` and `inputResponses`"
            }
            Self::Expired => {
                "`requestState` has expired: make the request again, without `requestState` and `inputResponses`"
            }
            Self::Spent => {
                "`requestState` was used, and is good for one retry: make the request again, without `requestState` \
                 and `inputResponses`"
            }
            Self::Full => {
                "`requestState` is good for one retry, and as many retries were made as this server remembers: send the \
                 request again later"
            }
        })
    }
}

/// The request that a state is valid for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound<'a> {
    pub(crate) method: &'a str,
    /// The subject of the request: a text that is equal only for requests which ask for the same.
    pub(crate) subject: &'a str,
    pub(crate) principal: Option<&'a str>,
}

impl IssuedState {
    fn kind(&self) -> u8 {
        match self {
            Self::Suspended(_) => 0,
            Self::Again => 1,
            Self::Own(_, None) => 2,
            Self::Own(_, Some(_)) => 3,
            Self::Once(_, _, None) => 4,
            Self::Once(_, _, Some(_)) => 5,
        }
    }

    fn payload(&self) -> Vec<u8> {
        match self {
            Self::Suspended(ticket) => ticket.to_be_bytes().to_vec(),
            Self::Again => Vec::new(),
            Self::Own(text, home) => own_payload(text, *home),
            Self::Once(ticket, text, home) => {
                [&ticket.to_be_bytes()[..], &own_payload(text, *home)].concat()
            }
        }
    }

    fn read(kind: u8, payload: &[u8]) -> Option<Self> {
        match kind {
            0 => Some(Self::Suspended(u64::from_be_bytes(
                payload.try_into().ok()?,
            ))),
            1 => Some(Self::Again),
            2 => Some(Self::Own(str::from_utf8(payload).ok()?.to_owned(), None)),
            3 => {
                let (home, text) = payload.split_first_chunk()?;
                let home = u32::from_be_bytes(*home);
                Some(Self::Own(str::from_utf8(text).ok()?.to_owned(), Some(home)))
            }
            4 | 5 => {
                let (ticket, rest) = payload.split_first_chunk()?;
                match Self::read(kind - 2, rest)? {
                    Self::Own(text, home) => {
                        Some(Self::Once(u64::from_be_bytes(*ticket), text, home))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Returns the payload of the application's own state: the replica that keeps it, if one does, and the text.
fn own_payload(text: &str, home: Option<u32>) -> Vec<u8> {
    let number = home.map_or(Vec::new(), |home| home.to_be_bytes().to_vec());
    [&number, text.as_bytes()].concat()
}

impl Seal {
    /// Returns a random key, known to this process only.
    pub(crate) fn random() -> Self {
        let mut key = [0_u8; 32];
        let key = getrandom::fill(&mut key).is_ok().then_some(key);
        Self {
            keys: Vec::from_iter(key),
            is_given: false,
            epoch: Duration::ZERO,
            next: Arc::new(AtomicU64::new(first())),
            home: None,
            keeps_own: false,
            spent: None,
        }
    }

    /// Takes a key in the place of the random one, or behind those that were given.
    pub(crate) fn add_key(&mut self, key: [u8; 32]) {
        if !std::mem::replace(&mut self.is_given, true) {
            self.keys.clear();
        }
        self.keys.push(key);
    }

    /// Sets the time since 1970 at which the clock of the driver is zero.
    pub(crate) fn set_epoch(&mut self, epoch: Duration) {
        self.epoch = epoch;
    }

    /// Counts the tickets of this replica.
    pub(crate) fn count_for(&mut self, home: u32) {
        self.next = Arc::new(AtomicU64::new(u64::from(home) << 32));
        self.home = Some(home);
    }

    /// Has only this replica go on with the application's own states.
    pub(crate) fn keep_own(&mut self) {
        self.keeps_own = true;
    }

    /// Returns the application's own state, as it is signed.
    pub(crate) fn own(&self, text: String) -> IssuedState {
        let home = self.home.filter(|_| self.keeps_own);
        match &self.spent {
            Some(_) => IssuedState::Once(self.ticket(), text, home),
            None => IssuedState::Own(text, home),
        }
    }

    /// Has each of the application's own states be good for one retry, in this process.
    pub(crate) fn spend_own(&mut self) {
        self.keeps_own = true;
        self.spent.get_or_insert_default();
    }

    /// Returns the state of a retry, which holds for `time` at most, and uses up a state that is good once.
    pub(crate) fn spend(
        &self,
        issued: IssuedState,
        now: Duration,
        time: Duration,
    ) -> Result<IssuedState, StateFault> {
        let IssuedState::Once(ticket, text, home) = issued else {
            return Ok(issued);
        };
        let spent = self.spent.as_ref().ok_or(StateFault::Spent)?;
        match spent.spend(ticket, now, deadline(now, time)) {
            TicketUse::First => Ok(IssuedState::Own(text, home)),
            TicketUse::Again => Err(StateFault::Spent),
            TicketUse::NoRoom => Err(StateFault::Full),
        }
    }

    /// Returns a ticket that no other connection of this server has, nor a replica that signs by the same key.
    pub(crate) fn ticket(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the text of a state.
    pub(crate) fn sign(
        &self,
        issued: &IssuedState,
        until: Duration,
        bound: Bound<'_>,
    ) -> Option<String> {
        let until = self.epoch.saturating_add(until).as_millis();
        let until = u64::try_from(until).unwrap_or(u64::MAX);
        let mut bytes = vec![issued.kind()];
        bytes.extend(until.to_be_bytes());
        bytes.extend(issued.payload());
        let tag = mac(self.keys.first()?, &bytes, bound).finalize();
        bytes.extend_from_slice(&tag);
        Some(BASE64_URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Returns the state of a text, if it is good for this request at this time.
    pub(crate) fn open(
        &self,
        text: &str,
        now: Duration,
        bound: Bound<'_>,
    ) -> Result<IssuedState, StateFault> {
        let bytes = BASE64_URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| StateFault::Forged)?;
        let (said, tag) = bytes.split_last_chunk::<TAG>().ok_or(StateFault::Forged)?;
        let is_signed_by = |key: &[u8; 32]| mac(key, said, bound).finalize_verify(tag);
        if !self.keys.iter().any(is_signed_by) {
            return Err(StateFault::Forged);
        }
        let (head, payload) = said.split_at_checked(HEAD).ok_or(StateFault::Forged)?;
        let (kind, until) = head.split_first().ok_or(StateFault::Forged)?;
        let bytes = until.try_into().map_err(|_| StateFault::Forged)?;
        let until = Duration::from_millis(u64::from_be_bytes(bytes));
        if until <= self.epoch.saturating_add(now) {
            return Err(StateFault::Expired);
        }
        IssuedState::read(*kind, payload).ok_or(StateFault::Forged)
    }
}

fn mac(key: &[u8; 32], said: &[u8], bound: Bound<'_>) -> HMAC {
    let Bound {
        method,
        subject,
        principal,
    } = bound;
    let mut mac = HMAC::new(key);
    // Each with its length, so that no two requests run into the same bytes.
    for part in [
        said,
        method.as_bytes(),
        subject.as_bytes(),
        principal.unwrap_or_default().as_bytes(),
    ] {
        mac.update((part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac.update([u8::from(principal.is_some())]);
    mac
}

/// Returns the first ticket of a server: replicas begin elsewhere.
fn first() -> u64 {
    let mut bytes = [0_u8; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_be_bytes(bytes),
        Err(_) => 1,
    }
}

/// Returns the subject of a request: its name, URI and arguments, however their members are ordered and spaced.
pub(crate) fn subject(params: &Json) -> String {
    let mut text = String::new();
    if let Ok(object) = JsonObject::try_from(params.clone()) {
        for name in ["name", "uri", "arguments"] {
            text.push('/');
            for (_, value) in object.iter().filter(|member| member.0 == name) {
                write_canonical(value, &mut text);
            }
        }
    }
    text
}

/// Writes a value in one way, however its members are ordered and spaced.
pub fn canonical(json: &Json, text: &mut String) {
    write_canonical(json.text(), text);
}

fn write_canonical(json: &str, text: &mut String) {
    let start = text.len();
    if canonical_value(&mut Reader::new(json), text).is_err() {
        text.truncate(start);
        text.push_str(json);
    }
}

/// Writes the value that a reader comes to in one way; each byte of it is read once.
fn canonical_value(reader: &mut Reader<'_>, text: &mut String) -> Result<(), Fault> {
    static NONE: Members = Members::open("", &[]);
    match reader.kind()? {
        Kind::Object => {
            let (mut again, start) = (reader.clone(), text.len());
            text.push('{');
            let mut members = CanonicalMembers {
                text: &mut *text,
                spans: Vec::new(),
            };
            let mut object = reader.object(&NONE)?;
            let is_read = object.next_with(reader, &mut members).is_ok();
            if is_read && members.sort() {
                text.push('}');
            } else {
                // Readers do not agree on what a repeated member means: it is what it is, letter by letter.
                text.truncate(start);
                text.push_str(again.text_of_value()?);
                *reader = again;
            }
        }
        Kind::Array => {
            text.push('[');
            let mut array = reader.array()?;
            while array.next(reader)? {
                canonical_value(reader, text)?;
                text.push(',');
            }
            text.push(']');
        }
        _ => text.push_str(reader.text_of_value()?),
    }
    Ok(())
}

/// The members of an object, as they are written.
struct CanonicalMembers<'t> {
    text: &'t mut String,
    /// The names, and where each member stands in the text.
    spans: Vec<(String, Range<usize>)>,
}

impl UnknownMembers for CanonicalMembers<'_> {
    fn read_member(&mut self, name: String, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let start = self.text.len();
        mcp_wire::write_to(name.as_str(), self.text);
        self.text.push(':');
        canonical_value(reader, self.text)?;
        self.text.push(',');
        self.spans.push((name, start..self.text.len()));
        Ok(())
    }

    fn repeated_key(&self) -> Option<&str> {
        None
    }
}

impl CanonicalMembers<'_> {
    /// Sorts the members by name. Returns false if a name repeats.
    fn sort(mut self) -> bool {
        if !self.spans.is_sorted_by(|one, other| one.0 <= other.0) {
            let start = self.spans.first().map_or(0, |(_, span)| span.start);
            let written = self.text.split_off(start);
            self.spans
                .sort_unstable_by(|one, other| one.0.cmp(&other.0));
            for (_, span) in &self.spans {
                let member = written.get(span.start - start..span.end - start);
                self.text.push_str(member.unwrap_or_default());
            }
        }
        self.spans.is_sorted_by(|one, other| one.0 < other.0)
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

    fn seal_of(keys: &[u8]) -> Seal {
        let mut seal = Seal::random();
        for key in keys {
            seal.add_key([*key; 32]);
        }
        seal
    }

    const BOUND: Bound<'static> = Bound {
        method: "tools/call",
        subject: "{}",
        principal: Some("ada"),
    };

    #[test]
    fn a_state_is_good_for_its_request_its_principal_and_its_time_alone() {
        let (seal, bound) = (seal_of(&[7]), BOUND);
        let (until, now) = (Duration::from_secs(60), Duration::from_secs(1));
        for issued in [
            IssuedState::Suspended(5),
            IssuedState::Again,
            IssuedState::Own("half\u{e9}".to_owned(), None),
            IssuedState::Own("half\u{e9}".to_owned(), Some(7)),
        ] {
            let text = seal.sign(&issued, until, bound).unwrap();
            assert_eq!(seal.open(&text, now, bound), Ok(issued));
            assert_eq!(seal.open(&text, until, bound), Err(StateFault::Expired));
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
                    Err(StateFault::Forged),
                    "{other:?}"
                );
            }
            assert_eq!(
                seal_of(&[8]).open(&text, now, bound),
                Err(StateFault::Forged)
            );
            // A byte more, a byte less, a byte changed.
            for index in 0..text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
                let changed = String::from_utf8(bytes).unwrap();
                // The last digit holds bits that say nothing.
                if BASE64_URL_SAFE_NO_PAD.decode(&changed) != BASE64_URL_SAFE_NO_PAD.decode(&text) {
                    assert_eq!(seal.open(&changed, now, bound), Err(StateFault::Forged));
                }
            }
        }
        assert_eq!(seal.open("", now, bound), Err(StateFault::Forged));
    }

    #[test]
    fn a_state_that_cannot_be_noted_as_used_was_not_used() {
        let mut seal = seal_of(&[7]);
        seal.spend_own();
        let (time, now) = (Duration::from_secs(60), Duration::from_secs(1));
        let spend = |issued: IssuedState, now| seal.spend(issued, now, time);
        let first = seal.own("mine".to_owned());
        let own = IssuedState::Own("mine".to_owned(), None);
        assert_eq!(spend(first.clone(), now), Ok(own.clone()));
        while spend(seal.own(String::new()), now).is_ok() {}
        let late = seal.own("mine".to_owned());
        assert_eq!(spend(late.clone(), now), Err(StateFault::Full));
        assert_eq!(spend(first, now), Err(StateFault::Spent));
        let refusal = StateFault::Full.refusal();
        assert_eq!((refusal.status, refusal.error.code), (503, (-32603).into()));
        assert_eq!(spend(late, now + time), Ok(own));
    }

    #[test]
    fn keys_are_exchanged_without_a_state_being_lost() {
        let (until, now) = (Duration::from_secs(60), Duration::from_secs(1));
        let (old, new) = (seal_of(&[1]), seal_of(&[2]));
        let (both, turned) = (seal_of(&[1, 2]), seal_of(&[2, 1]));
        let sign = |seal: &Seal| seal.sign(&IssuedState::Again, until, BOUND).unwrap();
        // The new key is made known first, then it signs, then the old one goes.
        for (by, at, is_taken) in [
            (&old, &both, true),
            (&both, &old, true),
            (&turned, &both, true),
            (&both, &turned, true),
            (&turned, &new, true),
            (&turned, &old, false),
            (&both, &new, false),
        ] {
            assert_eq!(at.open(&sign(by), now, BOUND).is_ok(), is_taken);
        }
    }

    #[test]
    fn a_state_expires_by_the_clock_on_the_wall_and_not_by_the_time_that_a_process_has_run() {
        let (mut before, mut after) = (seal_of(&[1]), seal_of(&[1]));
        before.set_epoch(Duration::from_secs(1_000));
        after.set_epoch(Duration::from_secs(2_000));
        let until = Duration::from_secs(600);
        let text = before.sign(&IssuedState::Again, until, BOUND).unwrap();
        let opened = after.open(&text, Duration::from_secs(1), BOUND);
        assert_eq!(opened, Err(StateFault::Expired));
        after.set_epoch(Duration::from_secs(1_500));
        let opened = after.open(&text, Duration::from_secs(1), BOUND);
        assert_eq!(opened, Ok(IssuedState::Again));
    }

    #[test]
    fn a_value_is_written_in_one_way_at_every_depth() {
        let written = |text: &str| {
            let mut written = String::from("before ");
            canonical(&Json::from_text(text).unwrap(), &mut written);
            written
        };
        for (text, expected) in [
            (
                r#" { "b" : [ 1.0 , {"d":{},"c":"\u0041"} ], "a" : null } "#,
                r#"{"a":null,"b":[1.0,{"c":"\u0041","d":{},},],}"#,
            ),
            (
                r#"{"b":{"y":1,"x":2},"\u0061":{"x":1, "x":2}}"#,
                r#"{"a":{"x":1, "x":2},"b":{"x":2,"y":1,},}"#,
            ),
            (
                r#"[{"b":1,"a":2,"b":{"d":3,"c":4}},{"z":1,"\ud800":2},5]"#,
                r#"[{"b":1,"a":2,"b":{"d":3,"c":4}},{"z":1,"\ud800":2},5,]"#,
            ),
        ] {
            assert_eq!(written(text), format!("before {expected}"));
        }
        let nested =
            |open: &str, close: &str| format!("{}7{}", open.repeat(120), close.repeat(120));
        let [one, other] = [
            nested(r#"{"a":1,"b":"#, "}"),
            nested(r#"{ "b":"#, r#","a":1}"#),
        ];
        assert_eq!(written(&one), written(&other));
    }

    #[test]
    fn arguments_with_a_repeated_member_are_no_others() {
        let of = |arguments: &str| {
            let params = format!(r#"{{"name":"pay","arguments":{arguments}}}"#);
            subject(&Json::from_text(&params).unwrap())
        };
        let repeated = of(r#"{"to":"ada","to":"eve"}"#);
        for other in [
            r#"{"to":"ada","to":"bob"}"#,
            r#"{"to":"eve","to":"ada"}"#,
            "{}",
        ] {
            assert_ne!(repeated, of(other), "{other}");
        }
        assert_ne!(of(r#"{"a":{"b":1,"b":2}}"#), of(r#"{"a":{}}"#));
    }
}
