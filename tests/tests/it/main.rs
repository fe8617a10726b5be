//! What must hold across crates, as one test program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

mod architecture;
mod contract;
mod convert;
mod hostile;
mod lists;
mod mending;
mod methods;
mod naming;
mod oracle;
mod pages;
mod rejection;
mod round_trip;
mod runtime;
mod runtime_pairs;
mod runtime_unasked;
mod same_shape;
mod security;
mod shims_adopted;
mod shims_chain;
mod shims_examples;
mod shims_laws;
mod shims_receiver;
mod shims_rules;
mod shims_source;
mod specs;
#[path = "../../../runtime/tests/it/support/steps.rs"]
mod steps;
mod surface;
mod task_results;
mod text;
mod together;
mod unions;
mod words;
