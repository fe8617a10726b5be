//! `diff.toml`: levels that are set, rows that are set aside, and rules that match nothing.

use mcp_codegen::diff::{Kind, Level, Sources, between};
use mcp_codegen::{Error, Spec};

use super::{sources, spec_files};

const TWO: [&str; 2] = ["2025-03-26", "2025-06-18"];

/// The spec of two neighbours with another `diff.toml`.
fn spec_with(settings: &str) -> Spec {
    let mut files = spec_files();
    files.insert("diff.toml".to_owned(), settings.to_owned());
    Spec::from_files(files).unwrap()
}

fn run(settings: &str) -> Result<mcp_codegen::diff::Diff, Error> {
    let spec = spec_with(settings);
    between(&Sources::read(&spec).unwrap(), TWO[0], TWO[1], false)
}

#[test]
fn a_severity_holds_for_its_kind_and_says_why() {
    let diff =
        run("[[severity]]\nkind = \"method-added\"\nlevel = \"risky\"\nreason = \"So it is.\"\n")
            .unwrap();
    let row = diff
        .rows
        .iter()
        .find(|row| row.kind == Kind::MethodAdded)
        .unwrap();
    assert_eq!(
        (row.level, row.level_reason.as_deref()),
        (Level::Risky, Some("So it is."))
    );
    assert!(
        diff.rows
            .iter()
            .filter(|row| row.kind != Kind::MethodAdded)
            .all(|row| row.level_reason.is_none())
    );
}

#[test]
fn an_ignored_row_is_set_aside_with_its_reason() {
    let all = run("").unwrap();
    let path = "S2C tools/list result $.tools[].outputSchema";
    let ignore = format!(
        "[[ignore]]\nbetween = [\"{}\", \"{}\"]\npath = \"{path}\"\nreason = \"Known.\"\n",
        TWO[0], TWO[1]
    );
    let diff = run(&ignore).unwrap();
    assert_eq!(diff.rows.len() + 1, all.rows.len());
    assert_eq!(
        (diff.ignored.len(), diff.ignored[0].reason.as_str()),
        (1, "Known.")
    );
    assert_eq!(diff.ignored[0].row.paths[0].to_string(), path);
    let by_id = format!(
        "[[ignore]]\nbetween = [\"*\", \"{}\"]\nfingerprint = \"{}\"\nreason = \"Known.\"\n",
        TWO[1], diff.ignored[0].row.fingerprint
    );
    assert_eq!(run(&by_id).unwrap().ignored, diff.ignored);
}

#[test]
fn a_rule_that_matches_nothing_or_says_too_little_is_an_error() {
    let ignore = |rest: &str| {
        format!(
            "\n[[ignore]]\nbetween = [\"{}\", \"{}\"]\n{rest}",
            TWO[0], TWO[1]
        )
    };
    let cases = [
        (
            ignore("kind = \"const-changed\"\nreason = \"No.\"\n"),
            "diff.toml:2: ignore `const-changed`",
        ),
        (
            ignore("kind = \"const-changed\"\nreason = \" \"\n"),
            "no reason",
        ),
        (ignore("reason = \"All.\"\n"), "everything aside"),
        (
            ignore("kind = \"no-such-kind\"\nreason = \"No.\"\n"),
            "no-such-kind",
        ),
        (
            "[[ignore]]\nbetween = [\"x\", \"draft\"]\nkind = \"moved\"\nreason = \"No.\"\n"
                .to_owned(),
            "no revision `x`",
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
    // An ignore of another pair is no error here.
    run("[[ignore]]\nbetween = [\"2024-11-05\", \"2025-03-26\"]\nkind = \"const-changed\"\nreason = \"Elsewhere.\"\n").unwrap();
}

#[test]
fn rows_that_only_an_erratum_makes_say_so() {
    // The draft equals the newest revision; without its errata only those of the revision differ.
    let mut files = spec_files();
    files.insert("draft/errata.toml".to_owned(), String::new());
    let spec = Spec::from_files(files).unwrap();
    let sources = Sources::read(&spec).unwrap();
    let diff = between(&sources, "2026-07-28", "draft", false).unwrap();
    let by_path = |path: &str| {
        let row = diff
            .rows
            .iter()
            .find(|row| row.paths.iter().any(|is| is.to_string() == path));
        row.unwrap_or_else(|| panic!("no row at {path}"))
    };
    let number = by_path("C2S elicitation/create result $.content.*{boolean|number|string}");
    assert_eq!(number.kind, Kind::TypeNarrowed);
    assert_eq!(number.errata, ["2026-07-28: elicit-result-number"]);
    assert!(
        diff.rows.iter().all(|row| !row.errata.is_empty()),
        "nothing else differs"
    );
    assert_eq!(
        between(&sources, "2026-07-28", "draft", true).unwrap().rows,
        [],
        "and raw nothing does"
    );
}

#[test]
fn a_change_that_is_there_without_errata_does_not_blame_them() {
    // Errata put an optional `_meta` into the params of 2025-06-18; that it is demanded later shows without them, too.
    let diff = between(sources(), "2025-06-18", "2026-07-28", false).unwrap();
    let marked: Vec<(Kind, String)> = diff
        .rows
        .iter()
        .filter(|row| !row.errata.is_empty())
        .map(|row| (row.kind, row.paths[0].to_string()))
        .collect();
    // There is no `_meta` to lose in what upstream wrote down, on either side.
    let lost = |path: &str| (Kind::MemberRemoved, path.to_owned());
    assert_eq!(
        marked,
        [
            lost("S2C elicitation/create params ${mode=form}._meta"),
            lost("S2C sampling/createMessage params $._meta"),
        ]
    );
    let errata = |path: &str| {
        let row = diff
            .rows
            .iter()
            .find(|row| row.paths.first().is_some_and(|is| is.to_string() == path));
        row.unwrap().errata.clone()
    };
    assert_eq!(
        errata("S2C sampling/createMessage params $._meta"),
        ["2025-06-18: request-meta"]
    );
    assert!(diff.rows.iter().any(|row| row.kind == Kind::BecameRequired
        && row.paths[0].to_string() == "C2S tools/call params $._meta"
        && row.level == Level::Breaking));
}
