//! Seeded edits of a real schema, imported over the draft with stubs for what is open: nothing written by hand goes, what is
//! proposed is taken once it is filled in, and no release changes. A longer run:
//! `IMPORT_SAMPLES=30 IMPORT_SEED=7 cargo test --release -p mcp-codegen --test it seeded`.

use mcp_codegen::generate::{Generated, generate};
use mcp_codegen::import::SpecGaps;
use mcp_codegen::surface;
use serde_json::Value;

use super::*;
use crate::changes::random::{KINDS, Random, change, number_from};
use crate::specs;

/// How many imports there are, if `IMPORT_SAMPLES` says nothing else.
const SAMPLES: u64 = 1;

/// The latest release with some changes, and what they are.
fn edited(random: &mut Random) -> (Value, String) {
    let mut schema = specs::latest(specs::spec()).schema.clone();
    let mut told = String::new();
    for _ in 0..=random.below(9) {
        let kind = random.pick(KINDS).unwrap();
        if let Some(steps) = change(kind, &mut schema, random) {
            told += &format!("{}: {steps}\n", kind.0);
        }
    }
    (schema, told)
}

/// The files of a spec with every stub filled in as a person would, but for the conversions, which `mutants` holds.
fn filled(directory: &SpecDirectory) -> SortedMap<String, String> {
    let mut files = directory.files().clone();
    let conversions = specs::last_pair(specs::spec()).file();
    files.retain(|name, _| *name != conversions);
    for (_, text) in files.iter_mut().filter(|(name, _)| name.ends_with(".toml")) {
        *text = text
            .replace("= \"\"\n", "= \"x\"\n")
            .replace("reason = \"\"", "reason = \"x\"");
    }
    files
}

/// What is wrong with one import.
fn wrong(stands: &Generated, schema: &Value) -> Option<String> {
    let before = specs::twin_directory();
    let mut directory = before.clone();
    let draft = specs::last_pair(specs::spec()).new;
    let upstream = UpstreamFile::of_text("edited", &schema.to_string()).unwrap();
    if let Err(refused) = directory.import(&upstream, &again(&draft)) {
        return Some(format!("refused: {refused}"));
    }
    let open = SpecGaps::of(&directory.spec().unwrap());
    directory.scaffold(&open).unwrap();
    let mut gone = lines_beyond(&before, directory.files());
    // The sum of the draft's schema is that of the new one.
    gone.retain(|line| !line.starts_with("sha256 = "));
    if !gone.is_empty() {
        return Some(format!("lines that are gone: {gone:?}"));
    }
    let spec = SpecDirectory::from_files(filled(&directory))
        .spec()
        .unwrap();
    let made = match generate(&spec) {
        Ok(made) => made,
        Err(refused) => return Some(format!("not generated: {refused}")),
    };
    let packages = surface::packages(&spec);
    let crates = stands
        .crates
        .iter()
        .filter(|one| packages.contains(&one.package));
    let crates = crates
        .map(|one| (one.package.clone(), one.files.clone()))
        .collect();
    let changed = surface::check(&spec, &crates, &made);
    changed
        .err()
        .map(|changed| format!("a release changed: {changed}"))
}

#[test]
fn an_import_with_stubs_destroys_nothing_and_what_it_proposes_is_taken() {
    let stands = specs::generated_twin();
    let base = number_from("IMPORT_SEED", 1);
    let mut faults = Vec::new();
    for at in 0..number_from("IMPORT_SAMPLES", SAMPLES) {
        let seed = base.wrapping_mul(1_000_003).wrapping_add(at);
        let (schema, told) = edited(&mut Random::new(seed));
        if let Some(fault) = wrong(stands, &schema) {
            faults.push(format!("seed {seed}: {fault}\nafter\n{told}"));
        }
    }
    assert!(
        faults.is_empty(),
        "{}:\n{}",
        faults.len(),
        faults.join("\n\n")
    );
}
