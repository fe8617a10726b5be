//! Colours, by `--color`.

use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ColorChoice;

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
    mcp_revisions_diff::command::is_coloured(choice, stream)
}

/// A flag: texts are coloured.
#[derive(Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    /// Returns the colours of a stream.
    pub(crate) fn of(stream: impl IsTerminal) -> Self {
        Self(is_on(stream))
    }

    pub(crate) fn with(self, colour: Colour, text: &str) -> String {
        let code = match colour {
            Colour::Red => 31,
            Colour::Green => 32,
            Colour::Cyan => 36,
        };
        if self.0 {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
