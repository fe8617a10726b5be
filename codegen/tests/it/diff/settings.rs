//! Levels that `diff.toml` sets, and changes that a baseline sets aside.

use mcp_revisions_diff::render::text::TextOptions;
use mcp_revisions_diff::render::{github, json, text};
use mcp_revisions_diff::{
    Baseline, ChangeKind, ChangeLevel, DiffRow, RowFilter, SideSources, between, compare,
};
use mcp_revisions_schema::{Error, Spec};

use super::{count, diff, sources, spec_files};
use crate::changes::changed;

const TWO: [&str; 2] = ["2025-03-26", "2025-06-18"];

/// The spec of two adjacent revisions with another `diff.toml`.
fn spec_with(settings: &str) -> Spec {
    let mut files = spec_files();
    files.insert("diff.toml".to_owned(), settings.to_owned());
    Spec::from_files(files).unwrap()
}

fn run(settings: &str) -> Result<mcp_revisions_diff::Diff, Error> {
    let spec = spec_with(settings);
    between(&SideSources::read(&spec).unwrap(), TWO[0], TWO[1], false)
}

#[test]
fn a_severity_holds_for_its_kind_and_says_why() {
    let diff =
        run("[[severity]]\nkind = \"method-added\"\nlevel = \"risky\"\nreason = \"So it is.\"\n")
            .unwrap();
    let is_set = |row: &DiffRow| row.kind == ChangeKind::MethodAdded;
    assert!(count(&diff, is_set) > 0);
    for row in &diff.rows {
        let reason = is_set(row).then_some("So it is.");
        assert_eq!(row.level_reason.as_deref(), reason, "{row:?}");
        assert!(!is_set(row) || row.level == ChangeLevel::Risky, "{row:?}");
    }
}

#[test]
fn a_severity_that_is_wrong_or_says_too_little_is_an_error() {
    let twice = "[[severity]]\nkind = \"moved\"\nlevel = \"risky\"\nreason = \"So.\"\n";
    let cases = [
        (twice.repeat(2), "another row says it already"),
        (
            "[[severity]]\nkind = \"no-such-kind\"\nlevel = \"risky\"\nreason = \"No.\"\n"
                .to_owned(),
            "no-such-kind",
        ),
        (
            "[[severity]]\nkind = \"moved\"\nlevel = \"awful\"\nreason = \"No.\"\n".to_owned(),
            "awful",
        ),
        (
            "[[severity]]\nkind = \"moved\"\nlevel = \"risky\"\nreason = \"\"\n".to_owned(),
            "no reason",
        ),
    ];
    for (settings, says) in cases {
        let error = run(&settings).unwrap_err().to_string();
        assert!(error.contains(says), "{settings}: {error}");
    }
}

#[test]
fn a_baseline_sets_aside_what_it_knows_and_nothing_else() {
    let whole = diff("2025-06-18", "2025-11-25");
    let (known, new) = (&whole.rows[0].fingerprint, &whole.rows[1].fingerprint);
    // A diff that was kept, and lines with remarks.
    let mut kept = whole.clone();
    kept.rows.truncate(1);
    for text in [
        json::diff(&kept).unwrap(),
        format!("# seen\n\n{known}  # known\n"),
    ] {
        let mut baseline = Baseline::default();
        baseline.read("known.txt", &text).unwrap();
        let mut diffs = [whole.clone()];
        baseline.apply(&mut diffs).unwrap();
        assert_eq!(diffs[0].rows.len() + 1, whole.rows.len());
        assert_eq!(diffs[0].rows[0].fingerprint, *new);
        assert_eq!(diffs[0].ignored[0].reason, "known in known.txt");
        let told = text::render(&diffs[0], TextOptions::default());
        assert!(told.contains("; 1 ignored\n") && told.contains("\nignored\n"));
    }
    let mut one = Baseline::default();
    one.ignore(new).unwrap();
    let mut diffs = [whole.clone()];
    one.apply(&mut diffs).unwrap();
    assert!(diffs[0].rows.iter().all(|row| row.fingerprint != *new));
    // What is named by itself has to be there; what is no fingerprint is said so, with its line.
    let absent = one.apply(&mut [kept.clone()]).unwrap_err().to_string();
    assert!(
        absent.contains(new.as_str()) && absent.contains("leave it out"),
        "{absent}"
    );
    assert!(one.ignore("abc").is_err());
    for (file, text, says) in [
        ("known.txt", "\nnonsense\n", "known.txt:2: `nonsense`"),
        ("known.json", "{}", "no `rows`"),
    ] {
        let refused = one.read(file, text).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn an_unknown_method_is_refused_with_the_nearest_name() {
    let check = |method: &str| {
        let filter = RowFilter {
            methods: vec![method.to_owned()],
            ..RowFilter::default()
        };
        filter
            .check(&sources().methods())
            .map_err(|error| error.to_string())
    };
    for known in ["tools/call", "tools/*", "initialize", "*", "tasks/result"] {
        check(known).unwrap();
    }
    let refused = check("tool/list").unwrap_err();
    assert!(
        refused.contains("no method `tool/list`") && refused.contains("did you mean `tools/list`?"),
        "{refused}"
    );
    assert!(check("toolz/*").is_err());
}

#[test]
fn an_annotation_points_into_the_file_and_only_at_what_the_gate_asks_about() {
    let old = super::schema("2026-07-28");
    let new = changed(
        &old,
        "put Tool/properties/flavour {\"type\": \"string\"}\nput Tool/properties/name {\"type\": \"integer\"}",
    );
    let pretty = |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap();
    let side = |name: &str, text: &str| sources().of_text(name, text, true).unwrap();
    let text = pretty(&new);
    let diff = compare(&side("old.json", &pretty(&old)), &side("new.json", &text));
    let said = github::render(&diff, Some(ChangeLevel::Breaking));
    let errors: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("::error"))
        .collect();
    let breaking = count(&diff, |row| row.level == ChangeLevel::Breaking);
    assert_eq!(errors.len(), breaking);
    assert!(!said.contains("flavour"), "{said}");
    let number = errors[0]
        .split("line=")
        .nth(1)
        .and_then(|rest| rest.split(',').next());
    let number: usize = number.unwrap().parse().unwrap();
    let line = text.lines().nth(number - 1).unwrap();
    assert!(
        errors[0].starts_with("::error file=new.json,line="),
        "{}",
        errors[0]
    );
    assert!(line.trim().starts_with("\"name\": {"), "{number}: {line}");
    assert!(github::render(&diff, None).contains("flavour"));
}
