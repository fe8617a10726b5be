//! What must hold of diffs: laws, kinds, witnesses, formats, settings, hostile input.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails should say where"
)]

mod formats;
mod golden;
mod hostile;
mod kinds;
mod laws;
mod page;
mod rules;
mod settings;
mod witnesses;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mcp_codegen::Spec;
use mcp_codegen::diff::{Diff, Kind, Row, Side, Sources, compare};
use serde_json::Value;

/// spec/ of the workspace, read once.
fn spec() -> &'static Spec {
    static SPEC: OnceLock<Spec> = OnceLock::new();
    SPEC.get_or_init(|| Spec::read(&spec_dir()).unwrap())
}

fn spec_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")
}

fn sources() -> &'static Sources<'static> {
    static SOURCES: OnceLock<Sources<'static>> = OnceLock::new();
    SOURCES.get_or_init(|| Sources::read(spec()).unwrap())
}

/// The sides of all revisions, with errata.
fn sides() -> &'static [Side] {
    static SIDES: OnceLock<Vec<Side>> = OnceLock::new();
    SIDES.get_or_init(|| {
        let open =
            |revision: &mcp_codegen::Revision| sources().of_revision(revision, false).unwrap();
        spec().revisions.iter().map(open).collect()
    })
}

fn side(id: &str) -> &'static Side {
    sides().iter().find(|side| side.label == id).unwrap()
}

/// The raw schema of a revision, to be changed.
fn schema(id: &str) -> Value {
    spec().revision(id).unwrap().raw.clone()
}

/// The diff of two schemas, given as the texts of files.
fn diff_of(old: &Value, new: &Value) -> Diff {
    let open = |name, schema: &Value| sources().of_text(name, &schema.to_string(), false).unwrap();
    compare(&open("old.json", old), &open("new.json", new))
}

fn kinds_of(diff: &Diff) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = diff.rows.iter().map(|row| row.kind).collect();
    kinds.dedup();
    kinds
}

/// The row of that path in a diff whose rows are all of one kind.
fn only_row<'d>(diff: &'d Diff, kind: Kind, path: &str) -> &'d Row {
    assert_eq!(kinds_of(diff), [kind], "{:#?}", diff.rows);
    let row = diff
        .rows
        .iter()
        .find(|row| row.paths.iter().any(|is| is.to_string() == path));
    row.unwrap_or_else(|| {
        panic!(
            "{kind}: no row at {path}: {:?}",
            diff.rows.iter().map(|row| &row.paths).collect::<Vec<_>>()
        )
    })
}

/// The files of spec/, to be changed.
fn spec_files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(spec_dir()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_file() {
            files.insert(name, fs::read_to_string(&path).unwrap());
            continue;
        }
        for file in ["schema.json", "errata.toml"] {
            if let Ok(text) = fs::read_to_string(path.join(file)) {
                files.insert(format!("{name}/{file}"), text);
            }
        }
    }
    files
}
