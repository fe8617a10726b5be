//! What the `usage.rs` of every golden shares.

use mcp_wire::{Decode, Encode, from_str, to_string};

/// Reads a text that is valid, and writes it.
fn again<T: Decode + Encode>(text: &str) -> String {
    to_string(&from_str::<T>(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// What is said of a text that is not valid.
fn refusal<T: Decode>(text: &str) -> String {
    match from_str::<T>(text) {
        Ok(_) => panic!("{text} was read"),
        Err(error) => error.to_string(),
    }
}
