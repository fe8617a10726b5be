//! JSON pointers (RFC 6901), and the one place where a reference becomes a pointer.

pub use mcp_wire::pointer::{escaped, unescaped};
use percent_encoding::percent_decode_str;

/// Returns the pointer in the fragment of a reference, which is a URI; `None` if its bytes are not text.
#[must_use]
pub fn of_fragment(fragment: &str) -> Option<String> {
    let pointer = percent_decode_str(fragment).decode_utf8().ok()?;
    Some(pointer.into_owned())
}
