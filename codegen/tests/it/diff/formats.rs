//! The formats: JSON against its published schema, text, Markdown, annotations.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use mcp_revisions_diff::render::brief::brief;
use mcp_revisions_diff::render::text::TextOptions;
use mcp_revisions_diff::render::themes::themes;
use mcp_revisions_diff::render::{change_line, github, json, markdown, text};
use mcp_revisions_diff::{ChangeKind, ChangeLevel, Diff, Prose, RowFilter, between, history};
use serde::Deserialize;
use serde_json::Value;

use super::{count, diff, diff_of, of_twins, row_at, schema, sources, spec};
use crate::changes::{changed, read};

pub(super) fn published() -> jsonschema::Validator {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("diff/schemas/diff.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    jsonschema::validator_for(&schema).unwrap()
}

pub(super) fn is_described(validator: &jsonschema::Validator, text: &str) {
    let document: Value = serde_json::from_str(text).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(5)
        .collect();
    assert_eq!(errors, [] as [String; 0]);
}

/// The diffs of all pairs of revisions.
fn all() -> &'static [Diff] {
    static ALL: OnceLock<Vec<Diff>> = OnceLock::new();
    let ids = || spec().revisions.iter().map(|revision| revision.id.as_str());
    let of = |old| ids().map(move |new| between(sources(), old, new, false).unwrap());
    ALL.get_or_init(|| ids().flat_map(of).collect())
}

#[test]
fn every_json_is_as_published() {
    let validator = published();
    for diff in all() {
        is_described(&validator, &json::diff(diff).unwrap());
    }
    is_described(
        &validator,
        &json::history(&history(sources(), &[], false).unwrap()).unwrap(),
    );
    // The schema would notice: a word that is no level is refused.
    let wrong = json::diff(&diff("2024-11-05", "2026-07-28")).unwrap();
    let wrong = wrong.replacen("\"level\": \"breaking\"", "\"level\": \"awful\"", 1);
    assert!(!validator.is_valid(&serde_json::from_str(&wrong).unwrap()));
}

#[test]
fn the_published_kinds_are_all_kinds() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("diff/schemas/diff.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let kinds: Vec<&str> = ChangeKind::ALL.iter().map(|kind| kind.id()).collect();
    assert_eq!(schema["$defs"]["kind"]["enum"], serde_json::json!(kinds));
}

#[test]
fn the_text_tells_the_summary_first_and_every_row() {
    let diff = diff("2026-07-28-rc", "2026-07-28");
    let plain = text::render(&diff, TextOptions::default());
    let first = plain.lines().next().unwrap();
    assert!(
        first.starts_with("2026-07-28-rc -> 2026-07-28: 32 changes on "),
        "{first}"
    );
    assert!(!plain.contains('\u{1b}'), "no colours in a pipe");
    let renumbered = change_line(row_at(&diff, "S2C * error ${HeaderMismatch}.code"));
    let words: Vec<&str> = plain.split_whitespace().collect();
    assert!(renumbered.contains(" -> ") && words.join(" ").contains(&renumbered));
    for row in &diff.rows {
        assert!(plain.contains(&row.fingerprint) && plain.contains(row.kind.id()));
    }
    let with = |set: fn(&mut TextOptions)| {
        let mut options = TextOptions::default();
        set(&mut options);
        text::render(&diff, options)
    };
    let coloured = with(|options| options.colour = true);
    assert!(coloured.contains("\u{1b}[31m"));
    let short = with(|options| {
        options.only_breaking = true;
        options.without_fingerprints = true;
    });
    assert!(
        short.contains("  breaking ") && !short.contains("  compatible "),
        "{short}"
    );
    assert!(short.ends_with("entries: -v shows all\n"), "{short}");
    assert_eq!(count(&diff, |row| short.contains(&row.fingerprint)), 0);
    let whole = with(|options| {
        options.paths = true;
        options.witnesses = true;
    });
    for row in &diff.rows {
        for path in &row.paths {
            assert!(whole.contains(&path.to_string()), "{path}");
        }
        for witness in &row.witnesses {
            assert!(whole.contains(&witness.json.to_string()));
        }
    }
}

#[test]
fn an_annotation_stays_on_its_line() {
    for diff in all() {
        for line in github::render(diff, None).lines() {
            let known = ["::error title=", "::warning title=", "::notice title="];
            assert!(known.iter().any(|start| line.starts_with(start)), "{line}");
        }
    }
    let diff = diff("2026-07-28-rc", "2026-07-28");
    let errors = github::render(&diff, None)
        .lines()
        .filter(|line| line.starts_with("::error"))
        .count();
    // Nine, and how many more there are.
    let breaking = count(&diff, |row| row.level == ChangeLevel::Breaking);
    assert!(breaking > 9, "{breaking}");
    assert_eq!(errors, 10);
    let more = format!(
        "::error title=2026-07-28-rc -> 2026-07-28::{} more",
        breaking - 9
    );
    assert!(github::render(&diff, None).contains(&more), "{more}");
}

/// GitHub shows ten annotations of a severity and drops the others without a word.
#[test]
fn no_severity_has_more_annotations_than_are_shown() {
    let mut diff = diff("2025-11-25", "2026-07-28");
    diff.notes = (0..20).map(|at| format!("note {at}")).collect();
    diff.uncompared = vec!["a part".to_owned()];
    for gate in [None, Some(ChangeLevel::Representation)] {
        let text = github::render(&diff, gate);
        for severity in ["error", "warning", "notice"] {
            let start = format!("::{severity} ");
            let count = text.lines().filter(|line| line.starts_with(&start)).count();
            assert!(count <= 10, "{count} of {severity}");
        }
        assert!(text.contains("not compared: a part"), "{text}");
    }
}

#[test]
fn a_changelog_without_a_change_has_the_notes() {
    let mut diff = of_twins();
    diff.notes.push("a reference leads nowhere".to_owned());
    let text = markdown::render(&diff);
    assert!(text.contains("No change.\n"), "{text}");
    assert!(text.ends_with("\n> a reference leads nowhere\n"), "{text}");
}

#[test]
fn hanging_words_keep_to_the_width() {
    let mut diff = of_twins();
    let words = "words ".repeat(80);
    diff.notes.push(words.clone());
    diff.prose.push(Prose {
        step: String::new(),
        id: "id".to_owned(),
        binds: None,
        over: None,
        says: words,
        page: "page".to_owned(),
    });
    let text = text::render(&diff, TextOptions::default());
    let filled = text.lines().filter(|line| line.ends_with("words words"));
    let mut widths: Vec<usize> = filled.map(|line| line.chars().count()).collect();
    widths.dedup();
    // Beside the id of a change, and beside `note: `.
    assert_eq!(widths[..2], [116, 119], "{text}");
}

#[test]
fn the_changelog_has_every_change_once_and_closes_its_code() {
    for diff in all() {
        let markdown = markdown::render(diff);
        assert!(markdown.starts_with(&format!("## MCP {} → {}", diff.old, diff.new)));
        let themes = themes(diff);
        let changes = || themes.iter().flat_map(|theme| &theme.changes);
        let rows: SortedSet<&str> = changes().flat_map(|change| change.fingerprints()).collect();
        assert_eq!(rows.len(), diff.rows.len(), "each row in one change");
        let marks = ["- **breaking** ", "- *risky* ", "- compatible ", "- name "];
        let is_entry = |line: &&str| marks.iter().any(|mark| line.starts_with(mark));
        let entries = markdown.lines().filter(is_entry).count();
        assert_eq!(entries, changes().count());
        for line in markdown.lines() {
            assert_eq!(line.matches('`').count() % 2, 0, "{line}");
        }
        for theme in &themes {
            let levels = || theme.changes.iter().map(|change| change.lead().level);
            assert!(levels().is_sorted_by(|a, b| a >= b), "{}", theme.id);
        }
    }
}

#[test]
fn a_change_of_what_several_features_ask_is_told_among_requests() {
    let old = schema("2025-11-25");
    let page = "put PaginatedRequestParams/properties/page {\"type\": \"integer\"}";
    let diff = diff_of(&old, &changed(&old, page));
    let ids: Vec<String> = (themes(&diff).iter())
        .map(|theme| theme.id.to_string())
        .collect();
    assert_eq!(ids, ["requests"]);
}

#[test]
fn the_summary_can_be_sent_on() {
    #[derive(Deserialize)]
    struct File {
        summary: SortedMap<String, Vec<String>>,
    }
    let diff = diff("2025-11-25", "2026-07-28");
    let lines = brief(&diff);
    assert!((5..=10).contains(&lines.len()), "{lines:?}");
    let line = |head: &str| {
        let line = lines.iter().find(|line| line.head == head);
        line.unwrap_or_else(|| panic!("no {head}"))
            .words(str::to_owned)
    };
    for (head, names) in &read::<File>("releases").summary {
        let said = line(head);
        for name in names {
            assert!(said.contains(name.as_str()), "{head}: no {name} in {said}");
        }
    }
    // Text and Markdown begin with it; nothing is said where nothing changed.
    let text = text::render(&diff, TextOptions::default());
    assert!(
        text.lines().nth(3).unwrap().starts_with("Removed "),
        "{text}"
    );
    let changelog = markdown::render(&diff);
    let third = changelog.lines().nth(2).unwrap();
    assert!(third.starts_with("- **Removed:**"), "{third}");
    assert_eq!(brief(&of_twins()), []);
}

#[test]
fn filters_leave_what_is_asked_for_and_count_the_rest() {
    let whole = diff("2025-11-25", "2026-07-28");
    let filtered = |filter: RowFilter| {
        let mut diff = whole.clone();
        filter.apply(&mut diff);
        assert_eq!(diff.rows.len() + diff.hidden, whole.rows.len());
        assert!(!diff.rows.is_empty() && diff.hidden > 0);
        diff
    };
    let tools = filtered(RowFilter {
        methods: vec!["tools/*".to_owned()],
        ..RowFilter::default()
    });
    for row in &tools.rows {
        let mut methods = row.paths.iter().map(|path| &path.method);
        assert!(methods.any(|name| name.starts_with("tools/")), "{row:?}");
    }
    let sent_by_servers = filtered(RowFilter {
        directions: vec!["s2c".to_owned()],
        ..RowFilter::default()
    });
    for row in &sent_by_servers.rows {
        let mut paths = row.paths.iter().map(ToString::to_string);
        assert!(paths.any(|path| path.starts_with("S2C")), "{row:?}");
    }
    let moved = filtered(RowFilter {
        kinds: vec![ChangeKind::Moved],
        ..RowFilter::default()
    });
    assert!(moved.rows.iter().all(|row| row.kind == ChangeKind::Moved));
    let risky = filtered(RowFilter {
        levels: vec![ChangeLevel::Risky],
        ..RowFilter::default()
    });
    assert!(risky.rows.iter().all(|row| row.level == ChangeLevel::Risky));
    // No rule covers anything yet but what needs none.
    let mut uncovered = diff("2025-03-26", "2025-06-18");
    let names = count(&uncovered, |row| row.kind == ChangeKind::DefinitionRenamed);
    RowFilter {
        uncovered: true,
        ..RowFilter::default()
    }
    .apply(&mut uncovered);
    assert_eq!((uncovered.hidden, names), (1, 1));
    // A diff that a filter emptied does not say that nothing changed.
    let mut nothing = whole.clone();
    RowFilter {
        kinds: vec![ChangeKind::ConstChanged],
        ..RowFilter::default()
    }
    .apply(&mut nothing);
    let said = text::render(&nothing, TextOptions::default());
    let hidden = format!("{} more that were not asked for", whole.rows.len());
    assert!(said.contains(&hidden), "{said}");
}

/// Names of a schema are anybody's: one with a line break is no line of a changelog, and no annotation of its own.
#[test]
fn a_name_with_a_line_break_stays_in_its_line() {
    let with = |between_words: &str| {
        let mut diff = diff("2026-07-28-rc", "2026-07-28");
        let name = format!("one{between_words}## two");
        diff.new.clone_from(&name);
        diff.notes.push(name.clone());
        for row in &mut diff.rows {
            row.paths.clear();
            row.subject = Some(name.clone());
            for view in [&mut row.before, &mut row.after].into_iter().flatten() {
                view.text.clone_from(&name);
            }
        }
        let gate = None;
        [markdown::render(&diff), github::render(&diff, gate)]
    };
    for line_break in ["\n", "\r\n", "\n\n", "\u{2028}", "\u{85}"] {
        for (broken, whole) in with(line_break).iter().zip(with(" ")) {
            assert_eq!(broken.lines().count(), whole.lines().count(), "{broken}");
            let stray = broken.contains(['\r', '\u{2028}', '\u{85}']);
            assert!(!stray && !broken.contains("\n## two"), "{broken}");
            // The lines of one annotation are its own.
            assert!(!broken.contains("one%0A"), "{broken}");
        }
    }
}

/// A job shows the changelog as Markdown, in which names of a schema must not become markup.
#[test]
fn a_name_with_markup_is_no_markup() {
    let old = schema("2026-07-28");
    let name = "</summary></details>*x*/say";
    let mut new = changed(
        &old,
        "request EchoRequest echo/say\nput ClientRequest/anyOf/- \"@EchoRequest\"\nput EchoResult {\"type\": \"object\"}",
    );
    new["$defs"]["EchoRequest"]["properties"]["method"]["const"] = name.into();
    let more = changed(
        &new,
        "put EchoResult/properties {\"more\": {\"type\": \"string\"}}",
    );
    for (old, new) in [(&old, &new), (&new, &old), (&new, &more)] {
        let mut diff = diff_of(old, new);
        assert_eq!(diff.rows.len(), 1, "{:?}", diff.rows);
        diff.notes.push(format!("a note on {name}"));
        let text = markdown::render(&diff);
        // Readers of Markdown show code as it stands, and take no escaped sign for markup.
        let words: String = text.split('`').step_by(2).collect();
        let words = words.replace("\\<", "").replace("\\*", "");
        let is_own =
            |line: &&str| line.contains("</summary>") && !line.starts_with("<details><summary>");
        let strange: Vec<&str> = words.lines().filter(is_own).collect();
        assert_eq!(strange, [] as [&str; 0], "{text}");
        assert!(
            !words.contains("*x*") && !words.contains("<summary><"),
            "{text}"
        );
        assert_eq!(
            words.matches("<details>").count(),
            words.matches("\n</details>").count()
        );
    }
}

#[test]
fn a_new_method_shows_its_shape() {
    let old = schema("2026-07-28");
    let steps = "request EchoRequest echo/say\nput ClientRequest/anyOf/- \"@EchoRequest\"\nput EchoResult {\"type\": \"object\", \"properties\": {\"said\": {\"type\": \"string\"}, \"_meta\": {\"type\": \"object\"}}, \"required\": [\"said\"]}";
    let diff = diff_of(&old, &changed(&old, steps));
    let text = text::render(&diff, TextOptions::default());
    let line = text.lines().find(|line| line.contains("echo/say  "));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("-> result { said }"), "{line}");
}

#[test]
fn a_new_error_shows_its_data() {
    let diff = diff("2025-11-25", "2026-07-28");
    let row = row_at(&diff, "S2C * error ${UnsupportedProtocolVersion}.code");
    let line = change_line(row);
    assert!(line.contains("data { requested, supported }"), "{line}");
}

#[test]
fn rules_and_errors_of_both_directions_stand_once() {
    let diff = diff("2025-11-25", "2026-07-28");
    let (history, page) = super::page::whole();
    assert!(history.diffs.len() > 3);
    for word in ["error", "rule"] {
        assert!(
            !page.contains(&format!("<b>*</b> <em>{word}</em>")),
            "{word}"
        );
    }
    for text in [
        text::render(&diff, TextOptions::default()),
        markdown::render(&diff),
        page,
    ] {
        assert!(text.contains("rule initialize-first"), "{text}");
        for twice in ["C2S * rule", "S2C * rule", "C2S * error", "S2C * error"] {
            assert!(!text.contains(twice), "{twice}");
        }
    }
}

#[test]
fn words_that_changed_are_shown_by_their_difference() {
    let diff = diff("2025-11-25", "2026-07-28");
    let row = row_at(&diff, "C2S * rule include-context-servers");
    let [before, after] = [&row.before, &row.after].map(|view| &view.as_ref().unwrap().text);
    let line = change_line(row);
    assert!(line.len() < before.len() + after.len(), "{line}");
    assert!(line.contains("\" -> \"") && line.contains('…'), "{line}");
}

#[test]
fn a_changelog_of_many_breaks_fits_one_screen_and_folds_the_rest() {
    for (old, new) in [("2025-11-25", "2026-07-28"), ("2024-11-05", "2026-07-28")] {
        let text = markdown::render(&diff(old, new));
        let mut folded = false;
        let mut shown = Vec::new();
        for line in text.lines() {
            folded |= line.starts_with("<details>");
            if !folded || line.contains("<summary>") {
                shown.push(line);
            }
            folded &= !line.starts_with("</details>");
        }
        shown.retain(|line| !line.is_empty());
        assert!(shown.len() < 45, "{}", shown.join("\n"));
    }
}

#[test]
fn what_a_baseline_covers_is_counted() {
    let mut diffs = vec![diff("2024-11-05", "2025-03-26")];
    let count = diffs[0].rows.len();
    let mut baseline = mcp_revisions_diff::Baseline::default();
    baseline
        .read("known.json", &json::diff(&diffs[0]).unwrap())
        .unwrap();
    baseline.apply(&mut diffs).unwrap();
    let known = format!("beside {count} changes that are ignored");
    for text in [
        text::render(&diffs[0], TextOptions::default()),
        markdown::render(&diffs[0]),
    ] {
        assert!(text.contains(&known), "{text}");
    }
}
