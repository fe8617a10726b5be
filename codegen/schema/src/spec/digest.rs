//! The digest of an upstream schema.

use hmac_sha256::Hash;

/// Returns the SHA-256 in lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Hash::hash(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
