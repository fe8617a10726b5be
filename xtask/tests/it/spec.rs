//! The command line of `cargo xtask spec` and `replay`, on folders that are not quite right.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mcp_revisions_schema::spec::RevisionStage;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A copy of spec/ under a name of its own.
fn copy(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("xtask-spec")
        .join(name);
    if dir.exists() {
        std::fs::remove_dir_all(&dir).unwrap();
    }
    copied(&root().join("spec"), &dir);
    dir
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copied(&path, &target),
            false => drop(std::fs::copy(&path, &target).unwrap()),
        }
    }
}

/// Whether the rules match is what the generator finds out, and `verify` says no other thing.
#[test]
fn rules_match_only_where_the_generator_takes_them() {
    let dir = copy("verify");
    let names = dir.join("names.toml");
    let text = std::fs::read_to_string(&names).unwrap();
    for (row, matches) in [
        ("", true),
        // A line of a table, a row of rules and a rule of a pair that match nothing.
        (
            "\n[runtime]\nNothing = { path = \"mcp_wire::Json\", stands-for = [\"string\"] }\n",
            false,
        ),
        (
            "\n[[inline]]\nat = \"Nothing.at-all\"\nname = \"Nothing\"\n",
            false,
        ),
    ] {
        let row = match text.contains("\n[runtime]\n") {
            true => row.replace("\n[runtime]\n", ""),
            false => row.to_owned(),
        };
        let said = match row.starts_with("Nothing") {
            true => text.replacen("\n[runtime]\n", &format!("\n[runtime]\n{row}"), 1),
            false => format!("{text}{row}"),
        };
        std::fs::write(&names, said).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["spec", "verify", "--spec"])
            .arg(&dir)
            .output()
            .unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(told.contains("rules match"), matches, "{row}: {told}");
        assert_eq!(output.status.success(), matches, "{row}");
    }
}

/// As `head` does, which has read enough.
#[test]
fn a_reader_that_leaves_is_no_panic() {
    let drafts = Path::new(env!("CARGO_TARGET_TMPDIR")).join("xtask-replay");
    std::fs::create_dir_all(&drafts).unwrap();
    let draft = "2027-01-01-release.json";
    let of = root().join("codegen/tests/replay").join(draft);
    std::fs::copy(of, drafts.join(draft)).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("replay")
        .arg(&drafts)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("panicked"), "{said}");
    assert!(
        output.status.code().is_some_and(|code| code < 100),
        "{:?}",
        output.status
    );
}

/// The program that was built in one checkout, and runs in another one, writes into the latter.
#[test]
fn a_command_works_in_the_workspace_that_it_runs_in() {
    let spec = copy("elsewhere/spec");
    let workspace = spec.parent().unwrap();
    std::fs::create_dir_all(workspace.join("xtask")).unwrap();
    std::fs::write(workspace.join("xtask/Cargo.toml"), "").unwrap();
    let run = |cargo_runs: Option<&Path>, below: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.current_dir(below).env_remove("CARGO_MANIFEST_DIR");
        if let Some(package) = cargo_runs {
            command.env("CARGO_MANIFEST_DIR", package);
        }
        let output = command.args(["spec", "list"]).output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.success(),
            text(&output.stdout) + &text(&output.stderr),
        )
    };
    let list = spec.join("revisions.toml");
    let text = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, text.replace("id = \"draft\"", "id = \"here\"")).unwrap();
    let tasks = spec.join("extensions/tasks/extension.toml");
    let text = std::fs::read_to_string(&tasks).unwrap();
    let [old, new] = ["draft", "here"].map(|id| format!("[later-core]\nrevision = \"{id}\""));
    std::fs::write(&tasks, text.replace(&old, &new)).unwrap();
    std::fs::rename(spec.join("draft"), spec.join("here")).unwrap();
    for below in [workspace, &spec] {
        let (is_fine, said) = run(None, below);
        assert!(is_fine && said.contains("\nhere "), "{said}");
    }
    // Cargo was told to run another workspace's program.
    let (is_fine, said) = run(Some(&root().join("xtask")), workspace);
    assert!(!is_fine, "{said}");
    for path in [workspace, root()] {
        assert!(said.contains(&path.display().to_string()), "{said}");
    }
    let (is_fine, said) = run(None, Path::new("/"));
    assert!(
        !is_fine && said.contains("/ is in no workspace of this project"),
        "{said}"
    );
}

/// Applies a JSON Patch of additions, replacements and removals.
fn patched(mut schema: serde_json::Value, patch: &serde_json::Value) -> serde_json::Value {
    for operation in patch.as_array().unwrap() {
        let path = operation["path"].as_str().unwrap();
        let (holder, last) = path.rsplit_once('/').unwrap();
        let last = last.replace("~1", "/").replace("~0", "~");
        let value = operation.get("value").cloned();
        let holder = schema
            .pointer_mut(holder)
            .unwrap_or_else(|| panic!("{path}"));
        match (holder, operation["op"].as_str().unwrap()) {
            (serde_json::Value::Object(members), "add") => {
                assert!(members.insert(last, value.unwrap()).is_none(), "{path}");
            }
            (serde_json::Value::Object(members), "replace") => {
                assert!(members.insert(last, value.unwrap()).is_some(), "{path}");
            }
            (serde_json::Value::Object(members), "remove") => drop(members.remove(&last).unwrap()),
            (serde_json::Value::Array(items), "add") if last == "-" => items.push(value.unwrap()),
            (serde_json::Value::Array(items), "add") => {
                items.insert(last.parse().unwrap(), value.unwrap());
            }
            (serde_json::Value::Array(items), "replace") => {
                items[last.parse::<usize>().unwrap()] = value.unwrap();
            }
            (serde_json::Value::Array(items), "remove") => {
                drop(items.remove(last.parse().unwrap()))
            }
            (_, other) => panic!("{other} {path}"),
        }
    }
    schema
}

#[test]
fn the_patch_of_errata_makes_the_schema_that_types_are_made_of() {
    let spec = mcp_revisions_schema::Spec::read(&root().join("spec")).unwrap();
    let mut found = 0;
    for revision in &spec.revisions {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["spec", "errata", &revision.id, "--format", "json-patch"])
            .output()
            .unwrap();
        let patch: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        found += patch.as_array().unwrap().len();
        assert_eq!(
            patched(revision.raw.clone(), &patch),
            revision.schema,
            "{}",
            revision.id
        );
    }
    assert!(found > 20, "{found}");
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["spec", "errata", "--format", "json-patch"])
        .output()
        .unwrap();
    let patch: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let latest = (spec.revisions.iter()).rfind(|one| one.status == RevisionStage::Released);
    let latest = latest.unwrap();
    assert_eq!(patched(latest.raw.clone(), &patch), latest.schema);
    let of_extensions = spec.extensions.iter().filter(|one| !one.errata.is_empty());
    let mut number = 0;
    for extension in of_extensions {
        number += 1;
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["spec", "errata", &extension.name, "--format", "json-patch"])
            .output()
            .unwrap();
        let patch: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let patched = patched(extension.raw.clone(), &patch);
        let base = spec.revision(&extension.revision).unwrap();
        for (name, definition) in patched["$defs"].as_object().unwrap() {
            if base.definition(name).is_none() {
                assert_eq!(*definition, extension.schema["$defs"][name], "{name}");
            }
        }
    }
    assert!(number > 1, "{number}");
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args([
            "spec",
            "errata",
            "2025-06-18",
            "--format",
            "json-patch",
            "--definitions",
            "definitions",
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("\"/definitions/") && !text.contains("$defs"),
        "{text}"
    );
}
