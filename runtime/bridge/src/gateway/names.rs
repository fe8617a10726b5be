//! The names under which a gateway offers the tools and prompts of its servers: `SERVER_NAME`, at most 64 bytes.
//!
//! A name is read back without a list where that is certain. Where it is not, because it is too long or reads as a name of
//! another server, its end is a digest, and the list of the server says which name it stands for.

use hmac_sha256::Hash;

/// Most bytes of a name: what hosts and models accept.
pub(super) const LONGEST: usize = 64;

/// Most bytes of the part that names the server.
const LONGEST_PREFIX: usize = 32;

/// Hexadecimal digits at the end of a shortened name.
const DIGITS: usize = 8;

/// The character between the prefix and the name.
const JOINT: char = '_';

/// Returns the prefix of a server: its name, if that has at most 32 letters, digits, `-` and `_` of ASCII, and begins and ends
/// with a letter or a digit; else what is left of it, and a digest of the whole.
pub(super) fn prefix(server: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut plain: String = server
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    let is_whole = plain == server && plain.trim_matches(['-', '_']) == plain;
    if is_whole && (1..=LONGEST_PREFIX).contains(&plain.len()) && !ends_in_digest(&plain, '-') {
        return plain;
    }
    plain.truncate(LONGEST_PREFIX - DIGITS - 1);
    let words = match plain.trim_matches(['-', '_']) {
        "" => "server",
        words => words,
    };
    format!("{words}-{}", digest(&[server]))
}

/// Returns the name under which clients see the tool or prompt `name` of the server with the prefix `own`, one of `all`.
pub(super) fn outward(all: &[&str], own: &str, name: &str) -> String {
    let plain = format!("{own}{JOINT}{name}");
    let is_read_back = owners(all, &plain).next() == Some(own);
    if plain.len() <= LONGEST && is_read_back && !is_shortened(&plain) {
        plain
    } else {
        shortened(own, name, &plain)
    }
}

/// Returns the prefixes that a name may begin with, the longest first.
pub(super) fn owners<'a>(
    all: &[&'a str],
    outward: &str,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let mut owners: Vec<&'a str> = all
        .iter()
        .copied()
        .filter(|own| rest(own, outward).is_some())
        .collect();
    owners.sort_by_key(|own| std::cmp::Reverse(own.len()));
    owners.into_iter()
}

/// Returns the rest of a name behind a prefix.
pub(super) fn rest<'n>(own: &str, outward: &'n str) -> Option<&'n str> {
    outward.strip_prefix(own)?.strip_prefix(JOINT)
}

/// Returns whether only the list of a server can say what a name stands for.
pub(super) fn is_shortened(outward: &str) -> bool {
    outward.len() == LONGEST && ends_in_digest(outward, JOINT)
}

/// Returns whether the part of a name behind the last joint looks like a digest.
fn ends_in_digest(name: &str, joint: char) -> bool {
    name.rsplit_once(joint).is_some_and(|(_, end)| {
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        end.len() == DIGITS && end.bytes().all(is_digit)
    })
}

/// Returns the digest of some texts, in hexadecimal digits.
fn digest(texts: &[&str]) -> String {
    let mut hash = Hash::new();
    hash.update(texts.join("\0"));
    let bytes = hash.finalize();
    let digits = bytes.iter().take(DIGITS / 2);
    digits.map(|byte| format!("{byte:02x}")).collect()
}

/// Cuts a name, and adds a digest of it, so that the whole has 64 bytes.
fn shortened(own: &str, name: &str, plain: &str) -> String {
    let room = LONGEST - DIGITS - 1;
    let cut = (0..=room.min(plain.len()))
        .rev()
        .find(|at| plain.is_char_boundary(*at));
    let mut text = plain[..cut.unwrap_or_default()].to_owned();
    while text.len() < room {
        text.push(JOINT);
    }
    text.push(JOINT);
    text + &digest(&[own, name])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_short_its_own_and_read_back_or_shortened() {
        let all = ["a", "a_b", "long-name"];
        let names = [
            "c",
            "b_c",
            "",
            "b",
            "_",
            "x".repeat(80).as_str(),
            "ü".repeat(40).as_str(),
        ]
        .map(str::to_owned);
        let mut seen = std::collections::BTreeSet::new();
        for own in all {
            for name in &names {
                let outward = outward(&all, own, name);
                assert!(outward.len() <= LONGEST, "{outward}");
                assert!(seen.insert(outward.clone()), "{outward} stands for two");
                let back = owners(&all, &outward)
                    .next()
                    .map(|own| (own, rest(own, &outward)));
                assert!(
                    is_shortened(&outward) || back == Some((own, Some(name.as_str()))),
                    "{outward}: {back:?}"
                );
            }
        }
        // A name that looks like a shortened one is shortened itself.
        let looks = format!("{}_{}", "y".repeat(64 - 2 - 9), "01234567");
        assert_ne!(outward(&all, "a", &looks), format!("a_{looks}"));
    }

    #[test]
    fn a_prefix_has_what_every_host_accepts() {
        for name in ["git", "My_Server-2", &"n".repeat(32)] {
            assert_eq!(prefix(name), name);
        }
        let long = "n".repeat(33);
        let changed = [
            "My Server",
            "My.Server",
            "My-Server-",
            "日本",
            "日本語",
            "",
            "-",
            &long,
        ];
        let mut seen = std::collections::BTreeSet::new();
        for name in changed {
            let prefix = prefix(name);
            assert!(
                prefix.len() <= LONGEST_PREFIX && !prefix.contains(' '),
                "{prefix}"
            );
            assert!(seen.insert(prefix.clone()), "{prefix} stands for two");
            // A name that looks like a changed one is changed itself.
            assert_ne!(super::prefix(&prefix), prefix);
        }
        assert!(prefix("My Server (1)").starts_with("My-Server--1-"));
    }
}
