//! Subcommands that several programs have: what they take, and what they print.
//!
//! `cargo xtask` and `mcp-rev` share them; each brings the spec that it reads where none is named.

use std::io::IsTerminal;

pub mod diff;
pub mod explain;
pub mod outcome;

pub use outcome::{CommandOutcome, UnreadOption, failure_code};

/// Returns whether a stream gets colours: by `--color`, and for `auto` on a terminal unless `NO_COLOR` is set.
pub fn is_coloured(choice: clap::ColorChoice, stream: impl IsTerminal) -> bool {
    match choice {
        clap::ColorChoice::Always => true,
        clap::ColorChoice::Never => false,
        clap::ColorChoice::Auto => {
            let wants_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            stream.is_terminal() && !wants_none
        }
    }
}

/// The codes by which commands colour what they print.
const COLOURS: [&str; 11] = [
    "[0m", "[1m", "[2m", "[30m", "[31m", "[32m", "[33m", "[34m", "[35m", "[36m", "[37m",
];

/// Returns whether a text begins with a code that commands colour their output by.
pub fn is_colour(text: &str) -> bool {
    let code = text.strip_prefix('\u{1b}');
    code.is_some_and(|code| COLOURS.iter().any(|colour| code.starts_with(colour)))
}
