//! Random inputs for everything that reads what a peer wrote: campaigns, and what they found, run again.
//!
//! A [`Target`](target::Target) takes bytes, and says what is wrong if a law of the project does not hold for them. A campaign
//! mutates the inputs of its corpus; an input that makes a target behave as no other did joins the corpus. What fails is
//! written to `found/<target>/`, where the tests run it again for ever.

pub mod campaign;
pub mod mutate;
pub mod target;
