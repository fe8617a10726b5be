//! Rules of skills that servers and clients share: limits, digests, and the YAML at the start of a skill. Feature `skills`.

mod frontmatter;
mod yaml;

use hmac_sha256::Hash;

pub(super) use frontmatter::frontmatter_of;

/// The file of a skill that has its instructions, with the name by which the URI of a skill ends.
pub(super) const SKILL_FILE: &str = "SKILL.md";
/// Maximum number of files of a skill that every reader takes, `SKILL.md` and nested skills included.
pub(super) const SKILL_FILES: usize = 512;
/// Maximum number of bytes of the files of a skill that every reader takes.
pub(super) const SKILL_BYTES: u64 = 16 << 20;

/// Returns the digest of a file as entries have it.
pub(super) fn digest_of(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut digest = "sha256:".to_owned();
    for byte in Hash::hash(bytes) {
        // Writing to a `String` does not fail.
        let _ = write!(digest, "{byte:02x}");
    }
    digest
}
