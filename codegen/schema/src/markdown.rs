//! Markdown of doc lines and pages: our own words, and texts of schemas that stay texts in it.

use mcp_wire::hides;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Markdown in which nothing of a schema is more than text: it begins no code block, no link and no HTML.
///
/// A program writes its own words as literals, and a text of a schema gets in by [`code`](Self::code) or
/// [`prose`](Self::prose) only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markdown(String);

impl Markdown {
    /// Takes a doc line of `spec/`, which people wrote as Markdown.
    pub(crate) fn of_spec(line: &str) -> Self {
        let unified = line.replace("\r\n", "\n").replace('\r', "\n");
        Self(
            unified
                .chars()
                .filter(|letter| *letter == '\n' || !(letter.is_control() || hides(*letter)))
                .collect(),
        )
    }

    /// Returns any text as inline code, on one line.
    pub fn code(text: &str) -> Self {
        let shown = visible(text);
        let mut runs = shown.split(|letter| letter != '`').map(str::len);
        let longest = runs.by_ref().max().unwrap_or_default();
        let fence = "`".repeat(longest + 1);
        let is_tight =
            !shown.is_empty() && !shown.starts_with(['`', ' ']) && !shown.ends_with(['`', ' ']);
        let gap = if is_tight { "" } else { " " };
        Self(format!("{fence}{gap}{shown}{gap}{fence}"))
    }

    /// Returns any text as paragraphs, in which no mark of Markdown or HTML has a meaning that goes beyond its line.
    pub fn prose(text: &str) -> Self {
        let mut lines = Vec::new();
        for line in text.trim().lines() {
            let mut out = String::with_capacity(line.len());
            // Code begins at a fence, or behind blanks: several of them are one.
            for word in line.split_whitespace() {
                if !out.is_empty() {
                    out.push(' ');
                }
                for letter in visible(word).chars() {
                    if matches!(letter, '[' | ']' | '<' | '>' | '`' | '~' | '\\') {
                        out.push('\\');
                    }
                    out.push(letter);
                }
            }
            lines.push(out);
        }
        Self(lines.join("\n"))
    }

    /// Returns a paragraph with a link to the page of a definition; `{anchor}` in the URL stands for its name.
    pub(crate) fn reference(url: &str, definition: &str) -> Self {
        let anchor = utf8_percent_encode(&definition.to_lowercase(), NON_ALPHANUMERIC).to_string();
        Self(format!(
            "\n[Reference]({})",
            url.replace("{anchor}", &anchor)
        ))
    }

    /// Returns it with more behind it.
    pub fn then(mut self, more: impl Into<Self>) -> Self {
        self.0.push_str(&more.into().0);
        self
    }

    /// Returns its first line.
    pub fn first_line(&self) -> Self {
        Self(self.0.lines().next().unwrap_or_default().to_owned())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Our own words.
impl From<&'static str> for Markdown {
    fn from(words: &'static str) -> Self {
        Self(words.to_owned())
    }
}

/// Returns a text on one line, with an escape for each letter that is invisible or that moves others.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() || hides(letter) {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    out
}
