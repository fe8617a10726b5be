//! What generated crates promise beyond their types: no procedural macros, nothing lost on the way from schema to disk.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

use mcp_registry::Revision;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_codegen::Spec;
use mcp_codegen::generate::{self, Models};
use mcp_tests::root;

/// The most bytes of a generated file: more than an editor likes to open is a file to split.
const MOST_BYTES: u64 = 128 * 1024;

/// The packages in `generated/`, by their folders.
fn generated_packages() -> Vec<String> {
    let folders = fs::read_dir(root().join("generated")).unwrap();
    let mut names: Vec<String> = folders
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What a package needs to be built, for every target, as cargo resolves it for that package alone.
fn dependency_tree(package: &str) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root())
        .args([
            "tree",
            "--frozen",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
        ])
        .args(["--package", package])
        .output()
        .unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "cargo tree of {package}: {problem}"
    );
    String::from_utf8(output.stdout).unwrap()
}

fn proc_macros(tree: &str) -> BTreeSet<&str> {
    tree.lines()
        .filter(|line| line.contains("(proc-macro)"))
        .collect()
}

#[test]
fn no_procedural_macro_is_needed_to_build_a_generated_crate() {
    let packages = generated_packages();
    assert!(packages.len() >= Revision::ALL.len(), "{packages:?}");
    for package in packages.iter().map(String::as_str).chain(["mcp-wire"]) {
        let tree = dependency_tree(package);
        assert!(tree.contains("serde_json "), "{package} needs:\n{tree}");
        assert_eq!(
            proc_macros(&tree),
            BTreeSet::new(),
            "{package} needs:\n{tree}"
        );
    }
    // The generator has some: the question above can be answered with yes.
    let tree = dependency_tree("mcp-codegen");
    assert!(
        proc_macros(&tree)
            .iter()
            .any(|line| line.starts_with("serde_derive ")),
        "{tree}"
    );
}

#[test]
fn every_definition_of_a_schema_is_a_row_of_the_table_of_types() {
    let spec = Spec::read(&root().join("spec")).unwrap();
    let models = Models::build(&spec).unwrap();
    for of in &models.revisions {
        let id = of.revision.id.as_str();
        let generated: Revision = id.parse().unwrap();
        let defined: BTreeSet<&str> = of.revision.definitions().map(|(name, _)| name).collect();
        let rows = generated.types().iter().filter(|row| row.definition);
        let named: BTreeSet<&str> = rows.clone().map(|row| row.name).collect();
        assert_eq!(named, defined, "{id}");
        assert_eq!(rows.count(), defined.len(), "{id} has a definition twice");
        // And every type of the model, hoisted ones as well.
        let types: BTreeSet<&str> = generated.types().iter().map(|row| row.rust_name).collect();
        let modelled: BTreeSet<&str> = of.model.types.keys().map(String::as_str).collect();
        assert_eq!(types, modelled, "{id}");
        assert_eq!(generated.wire(), of.revision.wire, "{id}");
    }
    assert_eq!(models.revisions.len(), Revision::ALL.len());
}

#[test]
fn what_lies_on_disk_is_what_the_generator_makes() {
    let spec = Spec::read(&root().join("spec")).unwrap();
    let generated = generate::generate(&spec).unwrap();
    assert!(generated.files.len() > generated.crates.len() * 3);
    let mut comparison = generated.files.compare(&root()).unwrap();
    for section in &generated.sections {
        section.compare(&root(), &mut comparison).unwrap();
    }
    assert!(
        comparison.is_clean(),
        "{}",
        comparison.report("cargo xtask generate")
    );
}

#[test]
fn generated_files_say_so_and_are_of_a_sane_size() {
    let mut seen = 0;
    for package in generated_packages() {
        let folder = root().join("generated").join(&package);
        for path in files_below(&folder) {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            let text = fs::read_to_string(&path).unwrap();
            let bytes = text.len() as u64;
            assert!(
                bytes <= MOST_BYTES,
                "{name} has {bytes} bytes, and {MOST_BYTES} are the most"
            );
            let header = match path.extension().and_then(|extension| extension.to_str()) {
                Some("rs") => text.starts_with("// @generated by `cargo xtask generate`"),
                Some("toml") => text.starts_with("# @generated by `cargo xtask generate`"),
                Some("md") => text.contains("Generated by `cargo xtask generate`"),
                // The licences are copies, and say what they say everywhere.
                None if name.contains("/LICENSE-") => {
                    let licence = name.rsplit('/').next().unwrap();
                    fs::read_to_string(root().join(licence)).unwrap() == text
                }
                _ => false,
            };
            assert!(
                header,
                "{name} does not say that it is generated, or is of a kind that is not known here"
            );
            let here = root().display().to_string();
            assert!(!text.contains(&here), "{name} names a path of this machine");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} files");
}

#[test]
fn generated_crates_forbid_unsafe_code_and_missing_docs() {
    for package in generated_packages() {
        let path = root().join("generated").join(&package).join("src/lib.rs");
        let text = fs::read_to_string(&path).unwrap();
        for attribute in ["#![forbid(unsafe_code)]", "#![deny(missing_docs)]"] {
            assert!(
                text.lines().any(|line| line == attribute),
                "{package} lacks {attribute}"
            );
        }
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() == "target" => {}
            true => files.extend(files_below(&path)),
            false if entry.file_name() == "Cargo.lock" => {}
            false => files.push(path),
        }
    }
    files
}
