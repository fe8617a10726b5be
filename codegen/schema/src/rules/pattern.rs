//! Places in a model, and patterns for them.
//!
//! A place is `Type` or `Type.member`, with `[]` behind a list and `{}` behind a map:
//! `ReadResourceResult.contents[]`. A pattern is a place, or `*` and the rest of one:
//! `*.annotations` is that member of every type.

/// Whether a pattern meets a place.
pub(crate) fn matches(pattern: &str, place: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(rest) => !rest.is_empty() && place.ends_with(rest) && place.len() > rest.len(),
        None => pattern == place,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_a_type_that_is_not_empty() {
        assert!(matches("*._meta", "Tool._meta"));
        assert!(!matches("*._meta", "._meta"));
        assert!(!matches("*", "Tool"));
        assert!(!matches("*._meta", "Tool.x_meta"));
        assert!(matches(
            "ReadResourceResult.contents[]",
            "ReadResourceResult.contents[]"
        ));
    }
}
