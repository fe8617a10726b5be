//! The crate that says which revisions there are, with one table of what each has.

mod emit;
pub mod features;
mod methods;

pub(crate) use emit::crate_files;

/// The version of every crate of the workspace, by which generated crates depend on each other.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
