//! From versioned MCP schemas to Rust: the spec goes in, files come out.
//!
//! A pure library: no clock, no network, no environment.
//! It reads the disk in [`spec::Spec::read`] and writes it in [`spec::import`] and [`files::FileSet::write`], nowhere else.

pub mod analyze;
#[cfg(feature = "command")]
pub mod command;
pub mod decision;
pub mod diff;
pub mod docs;
mod draft;
pub mod emit;
pub mod error;
pub mod files;
mod format;
pub mod generate;
pub mod model;
pub mod naming;
pub mod open;
pub mod pointer;
mod problems;
pub mod prose;
pub mod registry;
pub mod render;
pub mod replay;
pub mod rules;
pub mod schema;
pub mod shims;
pub mod spec;

pub use decision::Decision;
pub use error::Error;
pub use problems::Problems;
pub use spec::{Revision, Spec};
