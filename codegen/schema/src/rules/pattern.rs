//! Places in a model, and patterns for them.
//!
//! A place is `Type` or `Type.member`, with `[]` behind a list and `{}` behind a map:
//! `ReadResourceResult.contents[]`. A pattern is a place, or `*` and the rest of one:
//! `*.annotations` is that member of every type.

/// Returns whether a pattern meets a place.
pub fn matches(pattern: &str, place: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(rest) => !rest.is_empty() && place.ends_with(rest) && place.len() > rest.len(),
        None => pattern == place,
    }
}
