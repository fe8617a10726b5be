//! What the programs of the comparison have in common.

mod client;

pub use client::{Client, Failure, Mode, at};

/// So many arguments as are named, and no others.
///
/// # Errors
/// Another number of them.
pub fn arguments<const N: usize>() -> Result<[String; N], String> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    given
        .try_into()
        .map_err(|given| format!("{N} arguments are expected, found {given:?}"))
}
