//! Conversions between two adjacent revisions: planned from their models and the decisions in `spec/shims/`.
//!
//! ```text
//! all     the plans of a spec: of adjacent revisions, and of extensions and the core
//! rules   the decisions of a pair, each with a reason, and what is wrong with them by themselves
//! open    what no rule answers, the safe answer to it, and the row that would settle it
//! returned  which rows are proposed about a feature that the newer core has again
//! plan    for each pair of types that a method reaches: what happens to each member and variant
//! met     which rules and conversions a plan meets, member by member
//! alike   which types need no conversion, since both revisions have them as they are
//! effect  which conversions may lose something, which may stop, and which do neither
//! cover   which rule covers a row of the diff that people read
//! places  where on the wire each rule of a plan applies
//! chain   the same across several pairs: which rules a change meets, step by step
//! ```
//! A difference that no rule covers and nothing proves gets the safe answer, and is listed as a
//! [`Decision`](mcp_revisions_schema::decision::Decision); between released revisions none may be left.

mod alike;
mod all;
mod chain;
mod cover;
pub mod effect;
mod met;
pub mod open;
mod places;
pub mod plan;
mod planner;
mod returned;
pub mod rules;
pub mod table;

pub use all::{idle_rules, plan_pair, plan_shims};
pub use chain::cover_all;
pub use cover::cover;
pub use mcp_revisions_schema::OneOrMany;
pub use open::UNDECIDED;
pub use places::places;
pub use plan::PairPlan;
pub use planner::{PairSide, Planned, plan, plan_compared};
pub(crate) use returned::ReturnedFeature;
