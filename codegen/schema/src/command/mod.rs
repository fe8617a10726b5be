//! Subcommands that several programs have: what they take, and what they print.
//!
//! `cargo xtask` and `mcp-rev` share them; each brings the spec that it reads where none is named.

pub mod diff;
pub mod explain;
pub mod outcome;

pub use outcome::{Outcome, Unread, failure_code};
