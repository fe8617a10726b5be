//! The ends of JSON texts, taken off one by one without reading what is before them.

/// Returns the text without blanks and this byte at its end; `None` if it does not end in it.
pub(crate) fn without(text: &[u8], byte: u8) -> Option<&[u8]> {
    text.trim_ascii_end().strip_suffix(&[byte])
}

/// Returns the text without the string at its end, and what the string says as it is spelled; `None` if that is not so clear.
pub(crate) fn without_string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = without(text, b'"')?;
    let start = memchr::memrchr(b'"', inner)?;
    let (before, name) = (&inner[..start], &inner[start + 1..]);
    let escaped = before.last() == Some(&b'\\') || name.last() == Some(&b'\\');
    (!escaped).then_some((before, name))
}
