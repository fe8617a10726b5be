//! What the generator works out before it writes: how unions are decided, where a `Box` is needed, what reading starts from.

pub(crate) mod blank;
pub mod plan;
pub(crate) mod profile;
pub(crate) mod recursion;
pub(crate) mod union;
