//! The outcome of a conversion between two revisions of the protocol, with each loss; without code for any single revision.
//!
//! A conversion ends in an [`Outcome`]: exact, reversible, lossy with every [`Loss`], in need of state, or rejected.
//! Generated code and the hooks that it calls work in a [`Context`], which collects the losses and knows the
//! [`UnknownFields`]; they record under a [`Rule`] that the generator made from `spec/shims/`.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod adapter;
mod context;
pub mod dynamic;
mod loss;
mod outcome;
mod path;
mod rule;
mod ruled;
mod severity;
mod undecided;

pub use adapter::Adapter;
pub use context::{Context, Session, UnknownFields};
pub use loss::{Change, Loss};
pub use outcome::{Dropped, Outcome, Rejected, RequiresState, Stop};
pub use path::pointer_to;
pub use rule::Rule;
pub use ruled::Ruled;
pub use severity::Severity;
