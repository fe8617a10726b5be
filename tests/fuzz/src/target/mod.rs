//! The targets: what takes bytes of a peer, and which laws hold for every input.

mod cache;
mod convert;
mod diff;
mod files;
mod http;
mod import;
mod json;
mod messages;
mod replica;
mod sansio;
mod sign_in;
mod signed;

use anyhow::anyhow;

/// A reader of bytes that a peer wrote.
pub struct Target {
    /// Its name, and that of its folder in `found/`.
    pub name: &'static str,
    /// Returns the inputs that a campaign begins with.
    pub corpus: fn() -> Vec<Vec<u8>>,
    /// Runs one input. Returns how it behaved, or the law that does not hold.
    pub run: fn(&[u8]) -> Result<Signature, String>,
}

/// A digest of how a target behaved: two inputs with the same one say nothing new.
pub type Signature = u64;

/// All targets.
pub static ALL: &[Target] = &[
    json::JSON,
    json::TYPES,
    messages::PEEK,
    messages::HEADERS,
    convert::CONVERT,
    diff::DIFF,
    import::IMPORT,
    files::SERVERS,
    files::SKILL,
    cache::CACHE,
    signed::STATE,
    signed::TOKEN,
    sansio::SERVER,
    sansio::CLIENT_STDIO,
    sansio::CLIENT_HTTP,
    http::RESPONSE,
    http::REQUEST,
    sign_in::CHALLENGE,
    sign_in::FLOW,
    replica::RECORD,
    replica::MESSAGE,
];

/// Returns the target of this name.
///
/// # Errors
/// Returns an error with all names if there is none.
pub fn find(name: &str) -> anyhow::Result<&'static Target> {
    let found = ALL.iter().find(|target| target.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|target| target.name).collect();
        anyhow!("no target {name:?}; the targets are {}", names.join(", "))
    })
}

/// Returns a digest of bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

/// Returns the digest of a text in which digits and quoted parts are left out: two errors of one kind have the same one.
fn kind_of(text: &str) -> Signature {
    let mut quoted = false;
    let shape: Vec<u8> = text
        .bytes()
        .filter(|byte| {
            quoted ^= matches!(byte, b'"' | b'`');
            !quoted && !byte.is_ascii_digit()
        })
        .collect();
    digest(&shape)
}

/// Returns an error unless a text that this project wrote is JSON.
fn expect_json(text: &str, writer: &str) -> Result<(), String> {
    // Half of a surrogate pair passes: a peer may send one, and it goes on as it came.
    match serde_json::from_str::<&serde_json::value::RawValue>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{writer} wrote what is not JSON, {error}: {text}")),
    }
}
