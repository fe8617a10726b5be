//! No list of revisions outside `spec/` and `generated/`: what a revision is added to without being told would miss it.
//!
//! A list is code that names at least three revisions, in any spelling, within [`WINDOW`] lines; comments are no code.
//! Everything that builds is looked at. Tests, benches and examples may speak of particular revisions, since they
//! say what must hold of those; but a stretch that names every published revision would have to grow with the next
//! one, so it is a list there as well. Hooks belong to the pairs that they are named after.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_registry::Revision;
use mcp_tests::root;

/// So many lines of code are looked at together; in a test as many as there are revisions, since it tells stories.
const WINDOW: usize = 12;

/// Where nothing is looked at.
const OUTSIDE: &[&str] = &["spec", "generated", "runtime/hooks", "target", ".git"];

/// What names many revisions on purpose, and why the next one need not be added.
const ON_PURPOSE: &[(&str, &str)] = &[
    (
        "codegen/src/diff/explain.rs",
        "each kind of change is explained by one that happened, between two revisions that stay as they are",
    ),
    (
        "tests/benches/conversions.rs",
        "conversions are timed between types, which are named; a new pair is timed once it is added",
    ),
    (
        "runtime/tests/pairs.rs",
        "applications are called by their type, one after the other; `Revision::spoken` would do it for all",
    ),
    (
        "runtime/tests/ladder.rs",
        "the strings that a refusal names to a peer, in the order that the peer sees them",
    ),
    (
        "runtime/tests/server.rs",
        "what clients of published revisions ask for, and get",
    ),
    (
        "runtime/tests/http/main.rs",
        "what clients of published revisions say in a header",
    ),
    (
        "codegen/tests/drafts.rs",
        "published schemas beside the checkout, with the methods that each is known to have",
    ),
    (
        "tests/tests/methods.rs",
        "methods of published revisions, written by hand from their pages; the others are held to their schema",
    ),
    (
        "tests/tests/together.rs",
        "types of published revisions beside each other in one program, as a user names them",
    ),
    (
        "xtask/src/conformance.rs",
        "what the official suite has scenarios of in the version that is named beside it, which is a fact about that suite",
    ),
    (
        "xtask/src/interop/peers.rs",
        "what each foreign implementation speaks, which is a fact about that implementation",
    ),
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        if OUTSIDE.contains(&name.as_str()) || name.ends_with("/target") {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if name.ends_with(".rs") || name.ends_with("Cargo.toml") {
            found.push(path);
        }
    }
}

/// The code of a file, line by line, without what it imports: that is said again where it is used.
fn without_imports(text: &str) -> String {
    let mut importing = false;
    let kept = text.lines().map(|line| {
        importing |= line.trim_start().starts_with("use ");
        let kept = if importing { "" } else { line };
        importing &= !line.trim_end().ends_with(';');
        kept
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// A line without its comment.
fn code(line: &str) -> &str {
    let start = line.trim_start();
    if start.starts_with("//") || start.starts_with('#') {
        return "";
    }
    line.split(" // ").next().unwrap_or_default()
}

/// The revisions that a line names: `2025-11-25`, `2025_11_25`, with whatever goes before.
fn named(line: &str, ids: &[String]) -> BTreeSet<usize> {
    let line = line.replace('_', "-").to_lowercase();
    let names = |id: &String| {
        let mut rest = line.as_str();
        while let Some(at) = rest.find(id.as_str()) {
            rest = &rest[at + id.len()..];
            // `2026-07-28` does not name `2026-07-28-rc`.
            if !rest.trim_start_matches('-').starts_with("rc") {
                return true;
            }
        }
        false
    };
    (0..ids.len()).filter(|at| names(&ids[*at])).collect()
}

/// The first line of a stretch that names at least so many revisions.
fn list(text: &str, ids: &[String], least: usize, window: usize) -> Option<usize> {
    let text = without_imports(text);
    let lines: Vec<BTreeSet<usize>> = text.lines().map(|line| named(code(line), ids)).collect();
    let many = |window: &[BTreeSet<usize>]| {
        window.iter().flatten().collect::<BTreeSet<_>>().len() >= least
    };
    let at = lines
        .windows(window.min(lines.len().max(1)))
        .position(many)?;
    Some(at + 1)
}

#[test]
fn only_the_spec_lists_the_revisions() {
    let negotiated: Vec<String> = (Revision::NEGOTIATED.iter())
        .map(|revision| revision.id().to_owned())
        .collect();
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    assert!(paths.len() > 200, "{} files", paths.len());
    let (mut found, mut excused) = (Vec::new(), BTreeSet::new());
    for path in paths {
        let name = path
            .strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let mut folders = name.split('/');
        let speaks = folders.any(|part| ["tests", "benches", "examples"].contains(&part))
            && !name.ends_with("Cargo.toml");
        let (least, window) = match speaks {
            true => (negotiated.len(), negotiated.len()),
            false => (3, WINDOW),
        };
        let text = fs::read_to_string(&path).unwrap();
        let Some(line) = list(&text, &negotiated, least, window) else {
            continue;
        };
        match ON_PURPOSE.iter().find(|(file, _)| *file == name) {
            Some((file, _)) => {
                excused.insert(*file);
            }
            None => found.push(format!("{name}:{line}")),
        }
    }
    assert!(
        found.is_empty(),
        "these list revisions: ask `mcp_registry::Revision` or spec/revisions.toml instead\n{}",
        found.join("\n")
    );
    let idle: Vec<_> = (ON_PURPOSE.iter().map(|(file, _)| *file))
        .filter(|file| !excused.contains(file))
        .collect();
    assert!(idle.is_empty(), "no lists any more: {idle:?}");
}

#[test]
fn a_list_is_seen_in_any_spelling() {
    let ids = ["2024-11-05", "2025-03-26", "2026-07-28"].map(str::to_owned);
    let seen = |text: &str| list(text, &ids, 3, WINDOW);
    assert_eq!(
        seen("let a = (v2024_11_05::A, V2025_03_26);\nlet b = \"2026-07-28\";"),
        Some(1)
    );
    assert_eq!(seen("// 2024-11-05 2025-03-26 2026-07-28"), None);
    assert_eq!(
        seen("mcp-2024-11-05\nmcp-2025-03-26\nmcp-2026-07-28-rc"),
        None
    );
}
