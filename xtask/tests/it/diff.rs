//! The command line of `cargo xtask diff` and `explain`: exit codes, files, formats.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mcp_revisions_diff::command::explain::{self, Arguments};
use mcp_revisions_schema::Spec;

fn xtask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(arguments)
        .output()
        .unwrap()
}

fn code(arguments: &[&str]) -> i32 {
    let output = xtask(arguments);
    let code = output.status.code().unwrap();
    if code > 1 {
        assert!(
            output.stdout.is_empty(),
            "a failure prints no diff: {arguments:?}"
        );
        assert!(!output.stderr.is_empty(), "and says why: {arguments:?}");
    }
    code
}

fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("xtask-diff");
    std::fs::create_dir_all(&dir).unwrap();
    dir.join(name)
}

#[test]
fn the_exit_code_tells_a_change_from_a_failure() {
    assert_eq!(
        code(&["diff", "2024-11-05", "2025-03-26"]),
        0,
        "by default a change is not a failure"
    );
    assert_eq!(
        code(&[
            "diff",
            "2026-07-28",
            "2026-07-28",
            "--fail-on",
            "representation"
        ]),
        0
    );
    assert_eq!(
        code(&["diff", "2024-11-05", "2025-03-26", "--fail-on", "breaking"]),
        1
    );
    assert_eq!(
        code(&[
            "diff",
            "2024-11-05",
            "2025-03-26",
            "--fail-on",
            "breaking",
            "--level",
            "risky"
        ]),
        0
    );
    assert_eq!(
        code(&[
            "diff",
            "2024-11-05",
            "2025-03-26",
            "--fail-on",
            "risky",
            "--level",
            "risky"
        ]),
        1
    );
    assert_eq!(code(&["diff", "--all", "--fail-on", "breaking"]), 1);
}

#[test]
fn usage_is_2() {
    for arguments in [
        &["diff"][..],
        &["diff", "draft"],
        &["diff", "2031-01-01", "draft"],
        &["diff", "draft", "draft", "--kind", "no-such-kind"],
        &["diff", "draft", "draft", "--level", "awful"],
        &["diff", "draft", "draft", "--direction", "up"],
        &["diff", "--all", "draft", "draft"],
        &["explain", "no-such-kind"],
    ] {
        assert_eq!(code(arguments), 2, "{arguments:?}");
    }
}

#[test]
fn what_cannot_be_read_is_3_and_never_no_change() {
    let broken = [
        ("empty.json", ""),
        ("half.json", "{\"$defs\": {"),
        (
            "other.json",
            "{\"$defs\": {\"Thing\": {\"type\": \"object\"}}}",
        ),
        (
            "keyword.json",
            "{\"$defs\": {\"ClientRequest\": {\"unheardOf\": 1}}}",
        ),
    ];
    for (name, text) in broken {
        let file = scratch(name);
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(code(&["diff", file, file]), 3, "{name}");
        assert_eq!(
            code(&["diff", "draft", file, "--fail-on", "breaking"]),
            3,
            "{name}"
        );
    }
    assert_eq!(code(&["diff", "./no-such.json", "draft"]), 3);
    assert_eq!(
        code(&["diff", "draft", "draft", "--spec", "no-such-dir"]),
        3
    );
}

#[test]
fn revisions_and_files_mix() {
    // A file in canonical form says what the raw schema of its revision says.
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec");
    let file = spec.join("2025-06-18/schema.json");
    let file = file.to_str().unwrap();
    for pair in [[file, "2025-06-18"], ["2025-06-18", file], [file, file]] {
        let output = xtask(&["diff", pair[0], pair[1], "--fail-on", "representation"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(
            text.lines().next().unwrap().ends_with("no change"),
            "{text}"
        );
    }
    let output = xtask(&["diff", "2025-03-26", file, "--kind", "method-added"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("S2C elicitation/create"), "{text}");
}

#[test]
fn every_format_is_written_to_the_file_that_was_asked_for() {
    for (format, begins) in [
        ("text", "2024-11-05 -> 2025-03-26: "),
        ("markdown", "## MCP 2024-11-05"),
        ("json", "{\n  \"format\": 2"),
        ("github", "::notice title="),
        ("html", "<!doctype html>"),
    ] {
        let file = scratch(&format!("out.{format}"));
        let name = file.to_str().unwrap();
        let output = xtask(&[
            "diff",
            "2024-11-05",
            "2025-03-26",
            "--format",
            format,
            "-o",
            name,
        ]);
        assert!(output.status.success());
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with(begins),
            "{format}: {}",
            &text[..text.len().min(80)]
        );
        let printed = xtask(&["diff", "2024-11-05", "2025-03-26", "--format", format]);
        assert_eq!(String::from_utf8(printed.stdout).unwrap(), text, "{format}");
    }
}

#[test]
fn explain_tells_a_kind_and_lists_them_all() {
    let told = String::from_utf8(xtask(&["explain", "union-member-added"]).stdout).unwrap();
    for heading in [
        "What it means:",
        "Who breaks:",
        "What to do:",
        "For example:",
    ] {
        assert!(told.contains(heading), "{told}");
    }
    let all = String::from_utf8(xtask(&["explain"]).stdout).unwrap();
    assert!(all.lines().count() > 20 && all.contains("method-rechanneled"));
}

/// The rule by which members become a list: no revision has one yet.
const LISTED: &str = r#"
[[rule]]
id = "outputs"
at = ["CallToolResult.outputs", "Tool.outputs"]
up = "gather"
down = "spread"
severity = "semantic"
alternatives = [
  { type = "Mark" },
  { type = "ContentOutput", value = "content", member = "content", absent = [] },
  { type = "StructuredOutput", value = "value", member = "structuredContent" },
]
reason = "content and structured content are the first outputs of their types"
source = "the proposal"
example = [
  { result = "tools/call", way = "up", input = '{"content":[]}', output = '{"outputs":[{"type":"content","content":[]}]}' },
  { result = "tools/call", way = "down", input = '{"outputs":[]}', output = '{"content":[]}', loses = ["/outputs"] },
]
"#;

/// A person who finds the rule in a loss reads which item is which member, a line for each.
#[test]
fn explain_tells_the_items_of_a_list_one_by_one() {
    let row = |id: &str| {
        format!(
            "[[revision]]\nid = \"{id}\"\nlifecycle = \"per-request\"\nstatus = \"released\"\nreference = \"https://example.com/core#{{anchor}}\"\n"
        )
    };
    let schema = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"Wall": {"type": "object"}}}"#;
    let files = [
        ("revisions.toml", ["a", "b"].map(row).concat()),
        ("a/schema.json", schema.to_owned()),
        ("b/schema.json", schema.to_owned()),
        ("shims/a..b.toml", LISTED.to_owned()),
    ];
    let spec = || {
        let own = files.map(|(name, text)| (name.to_owned(), text));
        Spec::from_files(own.into_iter().collect())
    };
    let arguments = Arguments {
        name: Some("outputs".to_owned()),
    };
    let told = explain::run(&arguments, spec, &[]).unwrap().text;
    assert_eq!(
        told,
        r#"outputs: conversion rule of a..b

Applies to:  CallToolResult.outputs, Tool.outputs
To newer:    gather
To older:    spread
Loss:        semantic
Why:         content and structured content are the first outputs of their types
Source:      the proposal
Items:       Mark, which stands in every list
             ContentOutput, whose `content` is the member `content`; without the item, that is []
             StructuredOutput, whose `value` is the member `structuredContent`
For example: {"content":[]}
  becomes:   {"outputs":[{"type":"content","content":[]}]}
"#
    );
}

#[test]
fn explain_knows_errors_ranges_and_headers_that_a_diff_names() {
    for (name, says) in [
        ("HeaderMismatch", "HeaderMismatch: error -32020\n"),
        ("Reserved", "Reserved: error codes from "),
        ("Mcp-Method", "Mcp-Method: HTTP header\n"),
    ] {
        let output = xtask(&["explain", name]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains(says) && !text.contains("{revision}"),
            "{text}"
        );
    }
}

#[test]
fn explain_tells_an_erratum_with_the_page_of_its_last_revision() {
    let explained = |name: &str| String::from_utf8(xtask(&["explain", name]).stdout).unwrap();
    let of_core = explained("elicit-result-number");
    assert!(of_core.contains("\nSource:      schema/"), "{of_core}");
    assert!(!of_core.contains("{revision}"), "{of_core}");
    let of_extension = explained("tool-info");
    let starts = "tool-info: erratum, a correction of published schemas of the extension apps\n";
    assert!(of_extension.starts_with(starts), "{of_extension}");
}

#[test]
fn explain_knows_what_is_meant_by_a_name_of_each_kind() {
    for name in [
        "HeaderMismatch",
        "Mcp-Method",
        "required-meta",
        "elicit-result-number",
        "probe-of-a-child",
    ] {
        let output = xtask(&["explain", &format!("{name}s")]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(&format!("did you mean `{name}`?")), "{text}");
    }
}
