//! JSON pointers (RFC 6901): the one place where a segment is escaped, and where a reference becomes a pointer.

use percent_encoding::percent_decode_str;

/// Escapes one segment.
#[must_use]
pub fn escaped(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

/// Returns what an escaped segment stands for.
#[must_use]
pub fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Returns the pointer in the fragment of a reference, which is a URI; `None` if its bytes are not text.
#[must_use]
pub fn of_fragment(fragment: &str) -> Option<String> {
    let pointer = percent_decode_str(fragment).decode_utf8().ok()?;
    Some(pointer.into_owned())
}
