//! Parts that the hooks of several pairs share.

pub(crate) mod marks;
pub(crate) mod schema;
pub(crate) mod spelled;
pub(crate) mod tasks;
pub(crate) mod text;
