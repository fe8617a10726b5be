//! Words in texts for people: several in a row, and a number with its noun.

use std::borrow::Borrow;

/// Returns words in a row, with the same between them.
pub(crate) fn joined<W: Borrow<str>>(words: impl IntoIterator<Item = W>, between: &str) -> String {
    words.into_iter().collect::<Vec<_>>().join(between)
}

/// Returns a number of things, in words.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
