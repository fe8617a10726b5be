//! Conversions between adjacent revisions, and between a core and the extension that succeeds it, that no rule can express:
//! one module per pair.
//!
//! A module is there with the revision of its pair that is farther from the one that handlers are written in, or with the core
//! and the extension, and what several share with the nearest of those.
//! A rule of `spec/shims/` names a function of its pair's module as `custom`, `before`, `after` or `filter`.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "v2024-11-05")]
pub mod v2024_11_05_to_v2025_03_26;
#[cfg(feature = "v2025-03-26")]
pub mod v2025_03_26_to_v2025_06_18;
#[cfg(feature = "v2025-06-18")]
pub mod v2025_06_18_to_v2025_11_25;
#[cfg(all(feature = "v2025-11-25", feature = "ext-tasks"))]
pub mod v2025_11_25_to_tasks;
#[cfg(feature = "v2025-11-25")]
pub mod v2025_11_25_to_v2026_07_28;

/// The key in `_meta` of the mark that a wrapped value has, so that it can be unwrapped.
pub const WRAPPED: &str = "mcp-revisions/wrapped";
