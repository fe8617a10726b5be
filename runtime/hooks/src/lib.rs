//! Conversions between neighbouring revisions that no rule can write: one module a pair.
//!
//! A rule of `spec/shims/` names a function of its pair's module as `custom`, `before`, `after` or `filter`.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod marks;
mod schema;
pub mod v2024_11_05_to_v2025_03_26;
pub mod v2025_03_26_to_v2025_06_18;
pub mod v2025_06_18_to_v2025_11_25;
pub mod v2025_11_25_to_v2026_07_28;

pub use marks::WRAPPED;
