//! Whether the text of a JSON Schema may have a property that is `true` or `false`, without reading it.
//!
//! A list of a hundred tools is looked through in a fraction of the time that reading it takes.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::common::text::{without, without_string};

/// The words, made ready once: a schema is short beside what that takes.
static WORDS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| ["true", "false"].map(Finder::new));

/// False only if no member of a `properties` in a schema is a boolean.
///
/// The values of `properties` are objects and booleans. So a boolean after a text that is neither, or that
/// comes first in an object of another name, is not one of them.
pub(crate) fn may_be_properties(text: &str) -> bool {
    let bytes = text.as_bytes();
    WORDS.iter().any(|word| {
        word.find_iter(bytes)
            .any(|at| may_be_property(&bytes[..at]))
    })
}

/// Returns whether the text after this one may be the value of a property.
fn may_be_property(before: &[u8]) -> bool {
    // Not after a colon: an item of a list, or part of a text.
    let Some(before) = without(before, b':') else {
        return false;
    };
    let Some((before, _)) = without_string(before) else {
        return true;
    };
    let trimmed = before.trim_ascii_end();
    match trimmed.last() {
        // The first of its object: it depends on the object's name.
        Some(b'{') => match without(&trimmed[..trimmed.len() - 1], b':').and_then(without_string) {
            Some((_, name)) => name == b"properties" || name.contains(&b'\\'),
            None => false,
        },
        // After an object it may be. After another boolean it is what that one is, which was looked at as well.
        Some(b',') => trimmed[..trimmed.len() - 1]
            .trim_ascii_end()
            .ends_with(b"}"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::may_be_properties;

    #[test]
    fn a_boolean_property_is_never_missed() {
        for text in [
            r#"{"properties":{"a":true}}"#,
            r#"{"properties" : { "a" : false }}"#,
            r#"{"properties":{"a":{},"additionalProperties":false}}"#,
            r#"{"properties":{"a":{},"b":true,"c":false}}"#,
            r#"{"properties":{"a\"":true}}"#,
            r#"{"properties":{"\\":true}}"#,
            r#"{"prop\u0065rties":{"a":true}}"#,
        ] {
            assert!(may_be_properties(text), "{text}");
        }
    }

    #[test]
    fn what_schemas_usually_say_is_passed_over() {
        for text in [
            r#"{"type":"object","required":["a"],"additionalProperties":false}"#,
            r#"{"properties":{"a":{"type":"boolean","default":true}}}"#,
            r#"{"properties":{"a":{"uniqueItems":true,"additionalProperties":false}}}"#,
            r#"{"enum":[true,false],"description":"true: it is false"}"#,
        ] {
            assert!(!may_be_properties(text), "{text}");
        }
    }
}
