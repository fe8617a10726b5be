//! The crate of conversions: a function per pair of types and direction, and the tables that they are found by.

mod emit;
mod same;
mod scaffold;

pub use emit::crate_files;
pub use scaffold::{ShimFacts, used};
