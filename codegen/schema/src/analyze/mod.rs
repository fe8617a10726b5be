//! Facts derived from a draft: how unions are read, where a `Box` is needed, which file holds a type,
//! what reading starts from.
//!
//! Pure functions that return maps; `join` fills them into the draft.

pub(crate) mod areas;
pub(crate) mod blank;
pub(crate) mod boxes;
mod given;
pub(crate) mod join;
mod profile;
pub(crate) mod union;
mod variants;
