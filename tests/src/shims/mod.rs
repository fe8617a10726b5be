//! What must hold of conversions between adjacent revisions, checked on samples of every type that has one.
//!
//! [`steps`] runs a conversion and its way back on texts, [`put_back`] puts the recorded losses back, [`laws`] says what
//! must hold then, and [`stray`] finds members of the newer revision in a message of the older one. Where a law does not hold, the
//! rules themselves say so ([`world::Said`]), with their reasons: no list beside `spec/` has to be kept.

pub mod laws;
pub mod put_back;
pub mod steps;
pub mod stray;
pub mod world;
