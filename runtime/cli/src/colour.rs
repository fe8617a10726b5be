//! Colours, where a person looks: none in pipes, and none where `NO_COLOR` is set.

/// A colour of a terminal.
#[derive(Clone, Copy)]
pub(crate) enum Colour {
    Red,
    Green,
    Cyan,
}

/// Whether there are colours.
#[derive(Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    /// Colours on a terminal, unless its owner wants none.
    pub(crate) fn of(is_terminal: bool) -> Self {
        let wants_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self(is_terminal && !wants_none)
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
