//! What a conversion between two revisions of the protocol can come to, and those that are written by hand.
//!
//! A conversion ends in an [`Outcome`]: exact, lossy with every [`Loss`], in need of state, or rejected.
//! Generated code works in a [`Context`], which collects the losses and knows the [`Policy`];
//! the modules by topic hold what a rule of `spec/shims/` names as `custom`, `before` or `after`.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod booleans;
pub mod content;
mod context;
pub mod dynamic;
pub mod elicitation;
mod outcome;
pub mod results;
mod route;
pub mod sampling;
pub mod tools;

pub use context::{ADOPTED, Context, Policy, Session};
pub use outcome::{Adapter, Change, Loss, LossKind, NeedsState, Outcome, Stop};
