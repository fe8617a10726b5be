//! Colours, by `--color`, and text that cannot control a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ColorChoice;

/// The codes by which this program colours what it prints.
const OWN: [&str; 11] = [
    "[0m", "[1m", "[2m", "[30m", "[31m", "[32m", "[33m", "[34m", "[35m", "[36m", "[37m",
];

/// A text without control characters that a terminal acts on: they come from files, and are shown as escapes.
///
/// Line ends, tabs and the colours of this program stay. `\u{7f}` to `\u{9f}` may stand in JSON as they are, and stay
/// where no terminal reads them.
pub(crate) fn harmless(text: &str, is_terminal: bool) -> Cow<'_, str> {
    let is_harm = |(place, found): (usize, char)| {
        let rest = text.get(place + found.len_utf8()..).unwrap_or_default();
        match found {
            '\n' | '\t' => false,
            '\r' => !rest.starts_with('\n'),
            '\u{1b}' => !OWN.iter().any(|own| rest.starts_with(own)),
            '\u{7f}'..='\u{9f}' => is_terminal,
            found => found.is_control(),
        }
    };
    if !text.char_indices().any(is_harm) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for (place, found) in text.char_indices() {
        match is_harm((place, found)) {
            true => drop(write!(safe, "{}", found.escape_default())),
            false => safe.push(found),
        }
    }
    Cow::Owned(safe)
}

/// Prints a text for people on standard error, as it is but for what a terminal would act on.
pub(crate) fn tell(text: &str) {
    eprint!("{}", harmless(text, true));
}

/// Prints an error for people on standard error.
pub(crate) fn print_error(error: impl std::fmt::Display) {
    tell(&format!("error: {error:#}\n"));
}

/// A colour of a terminal.
#[derive(Clone, Copy)]
pub(crate) enum Colour {
    Red,
    Green,
    Cyan,
}

/// The value of `--color`.
static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// Sets when there are colours, once for the whole program.
pub(crate) fn choose(choice: ColorChoice) {
    let _ = CHOICE.set(choice);
}

/// Returns whether a stream gets colours.
pub(crate) fn is_on(stream: impl IsTerminal) -> bool {
    let choice = CHOICE.get().copied().unwrap_or_default();
    mcp_schema::command::is_coloured(choice, stream)
}

/// Whether there are colours.
#[derive(Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    /// Returns the colours of a stream.
    pub(crate) fn of(stream: impl IsTerminal) -> Self {
        Self(is_on(stream))
    }

    /// The text in a colour.
    pub(crate) fn with(self, colour: Colour, text: &str) -> String {
        let code = match colour {
            Colour::Red => 31,
            Colour::Green => 32,
            Colour::Cyan => 36,
        };
        match self.0 {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}
