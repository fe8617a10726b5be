//! The tests of the generator, as one program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

mod changes;
mod constructors;
mod diff;
mod drafts;
mod errata_fitting;
mod extension_of_core;
mod extension_states;
mod extensions;
mod golden;
mod hostile_generator;
mod listed;
mod mutants;
mod names;
mod refusal;
mod registry;
mod replay;
mod result_variants;
mod returned_feature;
mod rules_bite;
mod scratch;
mod section;
mod shims_asked;
mod shims_cover;
mod shims_draft;
mod shims_limits;
mod shims_mutation;
mod shims_rows;
mod sorted;
mod spec_canonical;
mod spec_errata;
mod spec_files;
mod spec_import;
mod spec_ranges;
mod specs;
mod surface;
mod workspace;

/// Asserts that a text has a part, and shows it where it has not.
#[track_caller]
fn says(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in: {text}");
}
