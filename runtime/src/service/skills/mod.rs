//! Rules of skills that servers and clients share: limits, digests, URIs of a skill and of its files. Feature `skills`.

mod frontmatter;
mod yaml;

use hmac_sha256::Hash;

#[cfg(feature = "client")]
pub(super) use frontmatter::difference;
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

/// Returns the URI of the directory of a skill, from the URI of the skill; `None` for another URI.
pub(super) fn directory_of(skill: &str) -> Option<&str> {
    skill.strip_suffix(SKILL_FILE)?.strip_suffix('/')
}

/// Returns the name that the URI of a skill ends with, before `/SKILL.md`.
pub(super) fn name_in(skill: &str) -> Option<&str> {
    let (_, path) = directory_of(skill)?.split_once("://")?;
    path.rsplit('/').next().filter(|name| !name.is_empty())
}

/// Returns whether a text can be the name of a skill: 1 to 64 lower-case letters, digits and single hyphens within.
#[cfg(feature = "router")]
pub(super) fn is_skill_name(name: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    let is_edged = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    (1..=64).contains(&name.len()) && name.bytes().all(plain) && !is_edged
}
