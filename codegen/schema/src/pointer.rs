//! JSON pointers (RFC 6901): the one place where a step is escaped, and where a reference becomes a pointer.

use percent_encoding::percent_decode_str;

/// Escapes one step.
#[must_use]
pub fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

/// Returns what an escaped step stands for.
#[must_use]
pub fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
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
        for step in ["", "~1", "/~", "a~0b", "é"] {
            assert_eq!(unescaped(&escaped(step)), step);
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
