//! What a conversion between two revisions of the protocol can come to; knows no revision.
//!
//! A conversion ends in an [`Outcome`]: exact, lossy with every [`Loss`], in need of state, or rejected.
//! Generated code and the hooks that it calls work in a [`Context`], which collects the losses and knows the [`Policy`].

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod context;
pub mod dynamic;
mod outcome;
mod route;
mod undecided;

pub use context::{ADOPTED, Context, Policy, Session, pointer_to};
pub use outcome::{Adapter, Change, Loss, LossKind, NeedsState, Outcome, Stop};
pub use undecided::UNDECIDED;
