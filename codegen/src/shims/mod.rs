//! Conversions between two adjacent revisions: planned from their models and the decisions in `spec/shims/`.
//!
//! ```text
//! rules   the decisions of a pair, each with a reason
//! plan    for each pair of types that a method reaches: what happens to each member and variant
//! exact   which conversions cannot lose anything
//! emit    a function per pair of types and direction
//! ```
//! What no rule covers and nothing proves is an error that names it.

mod emit;
mod exact;
pub mod plan;
mod planner;
pub mod rules;
mod scaffold;
pub mod table;

pub use emit::crate_files;
pub use plan::PairPlan;
pub use planner::{Side, plan};
pub use scaffold::{ShimFacts, ShimRevision};
