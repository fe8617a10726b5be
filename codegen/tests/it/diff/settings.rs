//! `diff.toml`: levels that are set, rows that are set aside, and rules that match nothing.

use mcp_revisions_schema::diff::{
    Baseline, ChangeKind, ChangeLevel, DiffRow, RowFilter, SideSources, between, compare,
};
use mcp_revisions_schema::render::text::TextOptions;
use mcp_revisions_schema::render::{github, json, text};
use mcp_revisions_schema::{Error, Spec};

use super::{TWIN, count, diff, row_at, sources, spec_files};
use crate::changes::changed;

const TWO: [&str; 2] = ["2025-03-26", "2025-06-18"];

/// The spec of two adjacent revisions with another `diff.toml`.
fn spec_with(settings: &str) -> Spec {
    let mut files = spec_files();
    files.insert("diff.toml".to_owned(), settings.to_owned());
    Spec::from_files(files).unwrap()
}

fn run(settings: &str) -> Result<mcp_revisions_schema::diff::Diff, Error> {
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
fn an_ignored_row_is_set_aside_with_its_reason() {
    let all = run("").unwrap();
    let path = "S2C tools/list result $.tools[].outputSchema";
    let ignore = format!("[[ignore]]\nbetween = {TWO:?}\npath = \"{path}\"\nreason = \"Known.\"\n");
    let diff = run(&ignore).unwrap();
    assert_eq!(diff.rows.len() + 1, all.rows.len());
    assert_eq!(
        (diff.ignored.len(), diff.ignored[0].reason.as_str()),
        (1, "Known.")
    );
    assert_eq!(diff.ignored[0].row.paths[0].to_string(), path);
    let told = |diff| text::render(diff, TextOptions::default());
    assert!(told(&diff).contains("; 1 ignored\n") && told(&diff).contains("\nignored\n"));
    assert!(!told(&all).contains("1 ignored"));
    let by_id = format!(
        "[[ignore]]\nbetween = [\"*\", \"{}\"]\nfingerprint = \"{}\"\nreason = \"Known.\"\n",
        TWO[1], diff.ignored[0].row.fingerprint
    );
    assert_eq!(run(&by_id).unwrap().ignored, diff.ignored);
}

#[test]
fn a_rule_that_matches_nothing_or_says_too_little_is_an_error() {
    let ignore = |rest: &str| format!("\n[[ignore]]\nbetween = {TWO:?}\n{rest}");
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
    // This draft equals a release; without its errata only those of the revision differ.
    let mut files = spec_files();
    let errata = files.get_mut("errata.toml").unwrap();
    let rows = errata.split("\n\n").map(|row| {
        let ended = format!("\nuntil = \"{TWIN}\"\nat = ");
        match row.contains("\nuntil = ") {
            true => row.to_owned(),
            false => row.replacen("\nat = ", &ended, 1),
        }
    });
    *errata = rows.collect::<Vec<_>>().join("\n\n");
    // A draft whose text is that of a release that others follow would have the errata of that one.
    files.get_mut("draft/schema.json").unwrap().push('\n');
    let spec = Spec::from_files(files).unwrap();
    let sources = SideSources::read(&spec).unwrap();
    let diff = between(&sources, TWIN, "draft", false).unwrap();
    let number = "C2S elicitation/create result $.content.*{boolean|number|string}";
    let number = row_at(&diff, number);
    assert_eq!(number.kind, ChangeKind::TypeNarrowed);
    assert_eq!(number.errata, ["2026-07-28: elicit-result-number"]);
    assert!(
        diff.rows.iter().all(|row| !row.errata.is_empty()),
        "nothing else differs"
    );
    assert_eq!(
        between(&sources, TWIN, "draft", true).unwrap().rows,
        [],
        "and raw nothing does"
    );
}

#[test]
fn a_change_that_is_there_without_errata_does_not_blame_them() {
    // Errata put an optional `_meta` into the params of 2025-06-18; that it is demanded later shows without them, too.
    let diff = diff("2025-06-18", "2026-07-28");
    let marked: Vec<(ChangeKind, String)> = diff
        .rows
        .iter()
        .filter(|row| !row.errata.is_empty())
        .map(|row| (row.kind, row.paths[0].to_string()))
        .collect();
    // There is no `_meta` to lose in what upstream wrote down, on either side.
    let lost = |path: &str| (ChangeKind::MemberRemoved, path.to_owned());
    assert_eq!(
        marked,
        [
            lost("S2C elicitation/create params ${mode=form}._meta"),
            lost("S2C sampling/createMessage params $._meta"),
        ]
    );
    let lost = row_at(&diff, "S2C sampling/createMessage params $._meta");
    assert_eq!(lost.errata, ["2025-06-18: request-meta"]);
    let demanded = row_at(&diff, "C2S tools/call params $._meta");
    assert_eq!(
        (demanded.kind, demanded.level),
        (ChangeKind::BecameRequired, ChangeLevel::Breaking)
    );
}

/// Without its erratum, any object is an `InputRequiredResult`, and nothing in the other results is refused.
#[test]
fn what_an_erratum_of_another_choice_makes_breaking_is_put_down_to_that_one() {
    for (change, path) in [
        (
            "put CallToolResult/properties/isError/type \"string\"",
            "S2C tools/call result ${content}.isError",
        ),
        (
            "put CallToolResult/properties/content/items {\"type\": \"array\", \"items\": \"@ContentBlock\"}",
            "S2C tools/call result ${content}.content[]",
        ),
        (
            "put GetPromptResult/properties/description/type \"integer\"",
            "S2C prompts/get result ${messages}.description",
        ),
    ] {
        let mut files = spec_files();
        let draft = files.get_mut("draft/schema.json").unwrap();
        *draft = changed(&serde_json::from_str(draft).unwrap(), change).to_string();
        let spec = Spec::from_files(files).unwrap();
        let diff = between(&SideSources::read(&spec).unwrap(), TWIN, "draft", false).unwrap();
        let row = row_at(&diff, path);
        assert_eq!(row.level, ChangeLevel::Breaking, "{path}");
        let by = ["2026-07-28", "draft"].map(|of| format!("{of}: input-required-result-type"));
        assert_eq!(row.errata, by, "{path}");
    }
}

/// The new schema makes a union of a list of values, and the erratum takes it apart again: the way to the new value
/// is spelled with a choice without the erratum, and without one with it.
#[test]
fn a_change_whose_path_an_erratum_spells_otherwise_is_not_blamed_on_it() {
    let mut files = spec_files();
    let mut schema: serde_json::Value = serde_json::from_str(&files["draft/schema.json"]).unwrap();
    let level = &mut schema["$defs"]["LoggingLevel"];
    let values = level["enum"].as_array_mut().unwrap();
    values.insert(values.len() - 1, "trace".into());
    let listed = serde_json::json!({ "type": "string", "enum": values });
    *level = serde_json::json!({ "anyOf": [listed, { "type": "array", "items": {} }] });
    files.insert("draft/schema.json".to_owned(), schema.to_string());
    let words = listed["enum"].to_string();
    let erratum = format!(
        "\n[[erratum]]\nid = \"one-level\"\nreason = \"r\"\nsource = \"s\"\nsince = \"draft\"\nat = \"/$defs/LoggingLevel\"\nexpect = {{ anyOf = [{{ type = \"string\", enum = {words} }}, {{ type = \"array\", items = {{}} }}] }}\nreplace = {{ type = \"string\", enum = {words} }}\n"
    );
    files.get_mut("errata.toml").unwrap().push_str(&erratum);
    let spec = Spec::from_files(files).unwrap();
    let diff = between(&SideSources::read(&spec).unwrap(), TWIN, "draft", false).unwrap();
    let added: Vec<_> = (diff.rows.iter())
        .filter(|row| row.kind == ChangeKind::EnumValueAdded)
        .collect();
    assert!(!added.is_empty(), "{:#?}", diff.rows);
    assert!(added.iter().all(|row| row.errata.is_empty()), "{added:#?}");
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
