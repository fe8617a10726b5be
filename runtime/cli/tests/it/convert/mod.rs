//! `mcp-rev convert` on files: what it prints where, and each of its exit codes.

mod messages;
mod values;

use std::path::PathBuf;

use crate::schemas::rows;
use crate::{Run, fed};

fn run(arguments: &[&str], input: &str) -> Run {
    let run = fed(&[&["convert"], arguments].concat(), input);
    if arguments.contains(&"--json") {
        rows("convert", &run.out);
    }
    run
}

/// A file with this text.
fn file(name: &str, text: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

const DOWN: [&str; 4] = ["--from", "2026-07-28", "--to", "2025-03-26"];

const RESULT: [&str; 4] = ["--method", "tools/call", "--part", "result"];

fn down(more: &[&str], input: &str) -> Run {
    run(&[&DOWN[..], more, &["-"]].concat(), input)
}

/// Runs a conversion between two revisions.
fn between(from: &str, to: &str, more: &[&str], input: &str) -> Run {
    run(
        &[&["--from", from, "--to", to][..], more, &["-"]].concat(),
        input,
    )
}
