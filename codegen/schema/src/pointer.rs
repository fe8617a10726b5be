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

#[cfg(test)]
mod tests {
    use super::{escaped, of_fragment, unescaped};

    #[test]
    fn a_step_is_escaped_and_comes_back() {
        assert_eq!(escaped("a/b~c"), "a~1b~0c");
        for segment in ["", "~1", "/~", "a~0b", "é"] {
            assert_eq!(unescaped(&escaped(segment)), segment);
        }
    }

    #[test]
    fn a_reference_is_a_uri() {
        let pointer = of_fragment("/$defs/Record%3Cstring%3E");
        assert_eq!(pointer.as_deref(), Some("/$defs/Record<string>"));
        assert_eq!(of_fragment("/%ff"), None);
        assert_eq!(of_fragment("/50%").as_deref(), Some("/50%"));
    }
}
