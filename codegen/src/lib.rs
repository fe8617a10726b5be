//! From the models of all revisions to Rust: types, conversions between neighbours, and one table of all.
//!
//! A pure library: no clock, no network, no environment. What the input says is read by [`mcp_schema`].

pub mod emit;
mod format;
pub mod generate;
pub mod registry;
pub mod replay;
pub mod shims;

pub use generate::generate;
