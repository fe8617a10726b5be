//! Emits the crate of tables: the list of revisions, and the methods, types and conversions of each.

mod emit;
pub mod features;
mod methods;

pub(crate) use emit::crate_files;

/// The version of every crate of the workspace, by which generated crates depend on each other.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
