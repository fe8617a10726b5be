//! What must hold across the crates of this workspace, and what the tests need to find out whether it does.
//!
//! Samples are drawn from the model of each revision ([`sampler`]), judged by an independent reader of the schema
//! ([`judge`]), and handed to the generated crates by `mcp_revisions_core`.
//! Broken in one place ([`breaks`]), they have to be refused there; where a crate and its schema disagree on
//! purpose, [`leniency`] says so and why.
//! Nothing here shares code with the emitter: a mistake there must not be able to hide itself.
//!
//! Everything is seeded: a failure prints the revision, the type, the recipe and the seed of its sample, and the text.

pub mod breaks;
pub mod coverage;
pub mod judge;
pub mod leniency;
#[cfg(doctest)]
mod pages;
pub mod parallel;
pub mod place;
pub mod random;
pub mod sampler;
pub mod shims;
pub mod text;
pub mod tree;

use std::path::PathBuf;

/// The root of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}
