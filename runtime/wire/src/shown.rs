//! Texts of peers as people read them, in logs, on terminals and on pages.

use std::borrow::Cow;

/// Most characters of a peer's text in a line of a log.
pub const EXCERPT: usize = 200;

/// Returns a text of a peer as a log or a terminal may show it: what would break the line, act on the terminal or change the
/// order of its letters is escaped.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '"' | '\'' | '\\' => shown.push(char),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

/// Returns the first `most` characters of a text, as [`printable`] shows them, with `…` if there are more.
pub fn excerpt(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => printable(text.get(..end).unwrap_or_default()) + "…",
        None => printable(text),
    }
}

/// The most characters of a value that an error shows.
const SHOWN: usize = 40;

/// Returns the first characters of a value, as an error shows them, with a mark if there are more.
pub(crate) fn cut(text: &str) -> String {
    excerpt(text, SHOWN)
}

/// Returns a text of several lines as a terminal or a page may show it: all but `\n`, `\r\n`, `\t` and what `is_ours` accepts of
/// the rest of the text is escaped where it controls a terminal or the order of letters.
pub fn harmless(text: &str, is_ours: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let is_harm = |(place, found): (usize, char)| {
        let rest = || text.get(place..).unwrap_or_default();
        match found {
            '\n' | '\t' => false,
            '\r' => !rest().starts_with("\r\n"),
            found => steers(found) && !is_ours(rest()),
        }
    };
    if !text.char_indices().any(is_harm) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for (place, found) in text.char_indices() {
        if is_harm((place, found)) {
            safe.extend(found.escape_default());
        } else {
            safe.push(found);
        }
    }
    Cow::Owned(safe)
}

/// Returns whether a character shows nothing itself, and controls a terminal or the lines and the direction of the text after it.
pub fn steers(found: char) -> bool {
    found.is_control()
        || matches!(found, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a character shows nothing itself, in the order of Unicode: joiners, direction marks, fillers, selectors, tags. A
/// text can carry words in them that a model reads and a person does not see.
pub fn hides(found: char) -> bool {
    matches!(
        found,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}
