//! JSON pointers (RFC 6901), and the one place where a reference becomes a pointer.

pub use mcp_wire::pointer::{escaped, unescaped};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Returns the pointer in the fragment of a reference, which is a URI; `None` if its bytes are not text.
pub fn of_fragment(fragment: &str) -> Option<String> {
    let pointer = percent_decode_str(fragment).decode_utf8().ok()?;
    Some(pointer.into_owned())
}

/// The characters of a pointer that are no part of a URI's fragment as they are; `$` and `/` are.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'$').remove(b'/');

/// Returns a pointer as the fragment of a reference.
pub fn to_fragment(pointer: &str) -> String {
    utf8_percent_encode(pointer, ENCODED).to_string()
}
