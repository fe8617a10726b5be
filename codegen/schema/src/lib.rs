//! The reader of `spec/`: one model of each revision, with the decisions about it.
//!
//! A library without syn or typify, clock and network. The disk is read where a function takes a path, and never written.

pub mod analyze;
pub mod decision;
pub mod docs;
pub mod draft;
pub mod error;
pub mod markdown;
pub mod model;
mod models;
pub mod names;
pub mod naming;
mod one_or_many;
pub mod pair;
pub mod pointer;
pub mod prose;
pub mod rules;
pub mod schema;
pub mod sorted;
pub mod spec;

pub use decision::Decision;
pub use error::{Error, FaultKind, FileLocation, SpecDiagnostic};
pub use markdown::Markdown;
pub use models::{ExtensionModel, Models, RevisionModel, Undocumented};
pub use one_or_many::OneOrMany;
pub use spec::{ExtensionSpec, Revision, RevisionStage, Spec};
