//! What the generator works out before it writes: how unions are decided, and where a `Box` is needed.

pub mod plan;
pub(crate) mod profile;
pub(crate) mod recursion;
pub(crate) mod union;
