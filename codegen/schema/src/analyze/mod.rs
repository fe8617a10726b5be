//! What can be worked out of a draft: how unions are read, where a `Box` is needed, which file holds a type,
//! what reading starts from.
//!
//! Pure functions that return maps; [`crate::model`] joins them with the draft.

pub(crate) mod areas;
pub(crate) mod blank;
pub(crate) mod boxes;
pub mod plan;
mod profile;
pub(crate) mod union;
