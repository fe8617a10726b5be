//! What a conversion came to.

use std::fmt;

use mcp_wire::{ErrorObject, printable};

use crate::adapter::Adapter;
use crate::loss::Loss;

/// The outcome of a conversion.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a conversion may have lost something, or not have happened"]
pub enum Outcome<T> {
    /// Nothing was lost or reshaped: the receiver has all that the sender said.
    ///
    /// Converting back gives the same value, but for parts to which only the receiver's revision gives a meaning: a member that the
    /// sender's revision does not name, such as `icons`, or a keyword of its JSON Schema dialect, such as `prefixItems`. It was
    /// read by that meaning, and the way back records it as it records any other. The way back of a notification that a peer
    /// gets unasked, of logs and of changes, is that of a connection: it [needs state](Self::RequiresState).
    Exact(T),
    /// Lossless, but these parts were reshaped: converting back gives the same value.
    ///
    /// Members were passed on as unknown fields, or a value was wrapped and marked.
    Reversible(T, Vec<Loss>),
    /// The value was converted, and these parts were lost.
    ///
    /// Put back one after the other into the value that converting back gives, they restore the original.
    Lossy(T, Vec<Loss>),
    /// The conversion needs the state of a connection: an adapter of the runtime does it.
    RequiresState(RequiresState),
    /// The other revision has no equivalent; this is the error that the specification requires.
    Rejected(Rejected),
    /// The other revision has no such notification, which is dropped.
    Dropped(Dropped),
}

impl<T> Outcome<T> {
    /// Returns the value, if there is one, with or without losses.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Exact(value) | Self::Reversible(value, _) | Self::Lossy(value, _) => Some(value),
            Self::RequiresState(_) | Self::Rejected(_) | Self::Dropped(_) => None,
        }
    }

    /// Returns the value, with or without losses, or the error that answers the request that was not converted: that of a
    /// rejection, else -32603 with the reason.
    ///
    /// # Errors
    /// An outcome without a value.
    pub fn into_result(self) -> Result<T, ErrorObject> {
        let internal = |why: String| ErrorObject::new(ErrorObject::INTERNAL_ERROR, why);
        match self {
            Self::Exact(value) | Self::Reversible(value, _) | Self::Lossy(value, _) => Ok(value),
            Self::Rejected(rejected) => Err(rejected.error),
            Self::RequiresState(needs) => Err(internal(needs.to_string())),
            Self::Dropped(dropped) => Err(internal(dropped.to_string())),
        }
    }

    /// Returns the losses, and the parts that were reshaped.
    pub fn losses(&self) -> &[Loss] {
        match self {
            Self::Lossy(_, losses) | Self::Reversible(_, losses) => losses,
            _ => &[],
        }
    }

    /// Returns whether nothing was lost or reshaped.
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::Exact(_))
    }

    /// Returns the same outcome of another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Exact(value) => Outcome::Exact(change(value)),
            Self::Reversible(value, losses) => Outcome::Reversible(change(value), losses),
            Self::Lossy(value, losses) => Outcome::Lossy(change(value), losses),
            Self::RequiresState(needs) => Outcome::RequiresState(needs),
            Self::Rejected(rejected) => Outcome::Rejected(rejected),
            Self::Dropped(dropped) => Outcome::Dropped(dropped),
        }
    }
}

/// The state that a conversion needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiresState {
    /// The adapter that has the state.
    pub adapter: Adapter,
    /// The rule in `spec/shims/` that says so.
    pub rule: &'static str,
    /// The step, as `2025-11-25..2026-07-28`.
    pub step: &'static str,
    /// JSON pointer of the part of the value that it is about; empty for all of it.
    pub pointer: String,
}

impl fmt::Display for RequiresState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            adapter,
            rule,
            step,
            pointer,
        } = self;
        write!(
            f,
            "needs the {adapter} adapter{} ({step}, {rule})",
            StepPlace(pointer)
        )
    }
}

/// A value that the other revision cannot be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// The error that the specification requires.
    pub error: ErrorObject,
    /// The rule in `spec/shims/` that says so.
    pub rule: &'static str,
    /// The step, as `2025-11-25..2025-06-18`.
    pub step: &'static str,
    /// JSON pointer of the part of the value that it is about; empty for all of it.
    pub pointer: String,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            error,
            rule,
            step,
            pointer,
        } = self;
        let ErrorObject { code, message, .. } = error;
        write!(
            f,
            "rejected{} ({step}, {rule}): {message} ({code})",
            StepPlace(pointer)
        )
    }
}

/// A notification that is dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The rule in `spec/shims/` that says so.
    pub rule: &'static str,
    /// The step, as `2025-11-25..2025-06-18`.
    pub step: &'static str,
    /// JSON pointer of the part of the value that it is about; empty for all of it.
    pub pointer: String,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            step,
            pointer,
        } = self;
        write!(f, "dropped{} ({step}, {rule})", StepPlace(pointer))
    }
}

/// ` at /a/b`, or nothing for the whole value.
struct StepPlace<'p>(&'p str);

impl fmt::Display for StepPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            pointer => write!(f, " at {}", printable(pointer)),
        }
    }
}

/// Why a conversion ended without a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// See [`Outcome::RequiresState`].
    RequiresState(RequiresState),
    /// See [`Outcome::Rejected`]; boxed, since it is rare and large.
    Rejected(Box<Rejected>),
    /// See [`Outcome::Dropped`].
    Dropped(Dropped),
}
