//! The reader of `spec/`: one model of each revision, and the changes between revisions: the spec goes in, models, diffs
//! and plans of conversions come out.
//!
//! A library without syn or typify, clock and network. The disk is read where a function takes a path, and written in
//! [`spec::SpecDirectory::write`] and [`files::FileSet::write`]; only `command` writes besides, and reads the environment.
//! A diff asks `git` for a side that names a commit.

pub mod analyze;
#[cfg(feature = "command")]
pub mod command;
pub mod decision;
pub mod diff;
pub mod docs;
pub mod draft;
pub mod error;
pub mod files;
pub mod model;
mod models;
pub mod names;
pub mod naming;
mod one_or_many;
pub mod open;
pub mod pointer;
pub mod prose;
pub mod render;
pub mod rules;
pub mod schema;
pub mod shims;
pub mod sorted;
pub mod spec;
mod words;

pub use decision::Decision;
pub use error::{Error, FaultKind, FileLocation, SpecDiagnostic};
pub use models::{ExtensionModel, Models, RevisionModel};
pub use spec::{Extension, Revision, RevisionStage, Spec};
