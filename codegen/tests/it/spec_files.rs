//! A set of files against the disk: compared, written, and nothing touched that it does not own.

use std::fs;
use std::path::Path;

use mcp_codegen::files::{FileSet, diff};
use mcp_revisions_schema::Error;

use crate::scratch::Scratch;

fn set(files: &[(&str, &str)]) -> FileSet {
    let mut set = FileSet::new(vec!["generated".to_owned()]);
    for (path, text) in files {
        set.insert(*path, *text).unwrap();
    }
    set
}

#[test]
fn a_set_is_written_once_and_is_up_to_date_then() {
    let scratch = Scratch::new();
    let set = set(&[("generated/a/lib.rs", "one\n"), ("generated/b.rs", "two\n")]);
    let before = set.compare(&scratch.0).unwrap();
    assert_eq!(before.missing, ["generated/a/lib.rs", "generated/b.rs"]);
    let report = before.report("cargo xtask generate");
    assert!(!before.is_clean() && report.ends_with("run: cargo xtask generate\n"));

    let written = set.write(&scratch.0).unwrap();
    assert_eq!((written.written.len(), written.unchanged), (2, 0));
    assert!(written.deleted.is_empty(), "{:?}", written.deleted);
    let file = scratch.0.join("generated/b.rs");
    let time = || fs::metadata(&file).unwrap().modified().unwrap();
    let first = time();
    let again = set.write(&scratch.0).unwrap();
    assert_eq!((again.written.len(), again.unchanged), (0, 2));
    assert_eq!(time(), first);
    assert!(set.compare(&scratch.0).unwrap().is_clean());
    let names: Vec<_> = fs::read_dir(scratch.0.join("generated"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "no temporary file is left: {names:?}");
}

#[test]
fn what_differs_is_reported_and_mended() {
    let scratch = Scratch::new();
    scratch.put("generated/changed.rs", "a\nb\nc\n");
    scratch.put("generated/orphan/deep/file.rs", "x");
    scratch.put("generated/target/debug/build", "cargo's");
    scratch.put("generated/a/target/debug/build", "cargo's");
    scratch.put("generated/Cargo.lock", "cargo's");
    scratch.put("outside.rs", "somebody's");
    scratch.put("generated-too/file.rs", "somebody's");
    let set = set(&[
        ("generated/changed.rs", "a\nB\nc\n"),
        ("generated/missing.rs", ""),
    ]);

    let comparison = set.compare(&scratch.0).unwrap();
    assert_eq!(comparison.changed[0].diff, "@ line 2\n- b\n+ B\n");
    assert_eq!(comparison.missing, ["generated/missing.rs"]);
    assert_eq!(comparison.orphan, ["generated/orphan/deep/file.rs"]);
    let report = comparison.report("make it so");
    assert_eq!(
        report,
        "changed: generated/changed.rs\n    @ line 2\n    - b\n    + B\nmissing: generated/missing.rs\norphan:  generated/orphan/deep/file.rs\n1 changed, 1 missing, 1 orphan, 0 up to date\nrun: make it so\n"
    );

    let written = set.write(&scratch.0).unwrap();
    assert_eq!(written.deleted, ["generated/orphan/deep/file.rs"]);
    assert_eq!(
        written.written,
        ["generated/changed.rs", "generated/missing.rs"]
    );
    assert!(set.compare(&scratch.0).unwrap().is_clean());
    assert!(!scratch.0.join("generated/orphan").exists());
    for path in [
        "generated/target/debug/build",
        "generated/a/target/debug/build",
        "generated/Cargo.lock",
        "outside.rs",
        "generated-too/file.rs",
    ] {
        assert!(scratch.get(path).is_some(), "{path} is gone");
    }
}

#[test]
fn a_file_and_a_directory_change_places() {
    let scratch = Scratch::new();
    scratch.put("generated/a", "a file");
    scratch.put("generated/b/inner.rs", "in a directory");
    let set = set(&[("generated/a/inner.rs", "1"), ("generated/b", "2")]);
    set.write(&scratch.0).unwrap();
    assert_eq!(scratch.get("generated/a/inner.rs").as_deref(), Some("1"));
    assert_eq!(scratch.get("generated/b").as_deref(), Some("2"));
    assert!(set.compare(&scratch.0).unwrap().is_clean());
}

#[cfg(unix)]
#[test]
fn links_never_lead_out_of_the_tree() {
    let scratch = Scratch::new();
    scratch.put("elsewhere/precious.rs", "somebody's");
    scratch.put("generated/kept.rs", "1");
    let elsewhere = scratch.0.join("elsewhere");
    let link = |to: &Path, at: &str| std::os::unix::fs::symlink(to, scratch.0.join(at)).unwrap();
    let is_refused = |refused: Error| {
        assert!(refused.to_string().contains("symbolic link"), "{refused}");
        let precious = scratch.get("elsewhere/precious.rs");
        assert_eq!(precious.as_deref(), Some("somebody's"));
    };
    link(&elsewhere, "generated/linked");
    link(&elsewhere.join("precious.rs"), "generated/file.rs");
    let through = set(&[("generated/linked/precious.rs", "overwritten")]);
    is_refused(through.compare(&scratch.0).unwrap_err());

    let over = set(&[("generated/kept.rs", "1"), ("generated/file.rs", "ours")]);
    let written = over.write(&scratch.0).unwrap();
    assert_eq!(written.deleted, ["generated/linked"]);
    assert_eq!(scratch.get("generated/file.rs").as_deref(), Some("ours"));

    fs::remove_dir_all(scratch.0.join("generated")).unwrap();
    link(&elsewhere, "generated");
    is_refused(over.write(&scratch.0).unwrap_err());
}

#[test]
fn a_path_that_is_not_ours_is_refused() {
    let mut set = set(&[("generated/a.rs", "")]);
    let before = set.clone();
    for path in [
        "",
        "/generated/a",
        "generated",
        "generated/",
        "generated/../a",
        "generated/./a",
        "generated//a",
        "generated\\a",
        "generated/c:d",
        "other/a",
        "generatedx/a",
        "generated/a.rs",
        "generated/A.rs",
    ] {
        assert!(set.insert(path, "").is_err(), "{path}");
    }
    assert_eq!(set, before);
}

#[test]
fn bytes_that_are_not_text_are_compared_too() {
    let scratch = Scratch::new();
    scratch.put("generated/a", [0xff]);
    let comparison = set(&[("generated/a", "text")]).compare(&scratch.0).unwrap();
    assert_eq!(
        comparison.changed[0].diff,
        "not text: 1 bytes on disk, 4 bytes wanted\n"
    );
}

#[test]
fn a_diff_is_small_and_bounded() {
    assert_eq!(diff::lines("a\nb\n", "a\nb\n", 10), "");
    assert_eq!(
        diff::lines("a\nb\nc\nd\n", "a\nc\nd\ne\n", 10),
        "@ line 2\n- b\n@ line 5\n+ e\n"
    );
    assert_eq!(diff::lines("a", "a\n", 10), "@ line 2\n+ \n");
    let many: String = (0..50).map(|n| format!("{n}\n")).collect();
    let diff = diff::lines("", &many, 3);
    assert_eq!(
        diff,
        "@ line 1\n+ 0\n+ 1\n+ 2\n... and 47 more differing lines\n"
    );
    let (old, new) = ("old\n".repeat(5_000), "new\n".repeat(5_000));
    assert!(diff::lines(&old, &new, 10).lines().count() <= 12);
    let long = diff::lines("", &"x".repeat(100_000), 10);
    assert!(long.len() < 300, "{}", long.len());
}
