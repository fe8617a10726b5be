//! What adjacent revisions differ in, as reviewed: counts by level and kind in `summaries.txt`, and the facts one by one.
//!
//! `BLESS=1 cargo test -p mcp-codegen --test it diff` writes the file anew: read the difference before you keep it.

use mcp_revisions_schema::sorted::SortedMap;
use std::fs;
use std::path::Path;

use mcp_revisions_diff::render::brief::brief;
use mcp_revisions_diff::render::change_line;
use mcp_revisions_diff::{ChangeKind, ChangeLevel, Diff, DiffRow, View, WirePath};
use mcp_revisions_schema::spec::RevisionStage;
use mcp_revisions_schema::spec::changes::RefusingTransport;
use serde::Deserialize;

use super::{diff, of_twins, row_at, spec};
use crate::changes::{changed, read};

fn pairs() -> Vec<(&'static str, &'static str)> {
    // The draft changes any day; what it says is reviewed when it is released.
    let settled =
        (spec().revisions.iter()).filter(|revision| revision.status != RevisionStage::Draft);
    let ids: Vec<&str> = settled.map(|revision| revision.id.as_str()).collect();
    let mut pairs: Vec<(&str, &str)> = ids.windows(2).map(|pair| (pair[0], pair[1])).collect();
    // The candidate is never negotiated: the released revisions are adjacent too.
    pairs.push(("2025-11-25", "2026-07-28"));
    pairs
}

#[test]
fn the_summaries_are_as_reviewed() {
    let mut text = String::new();
    for (old, new) in pairs() {
        let summary = diff(old, new).summary();
        let crate_change = summary
            .crate_change
            .map_or("none", |change| change.as_str());
        text.push_str(&format!(
            "{old} -> {new}: {} rows, crate {crate_change}\n",
            summary.rows
        ));
        for count in summary.levels.iter().chain(&summary.kinds) {
            text.push_str(&format!("  {:>3} {}\n", count.rows, count.id));
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/diff/summaries.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    // A pair that came with a release of another day has not been reviewed yet; what has been still holds.
    let reviewed = fs::read_to_string(&file).unwrap();
    let told = blocks(&text);
    let mut found = 0;
    for (pair, block) in blocks(&reviewed) {
        if let Some(now) = told.get(pair) {
            assert_eq!(*now, block);
            found += 1;
        }
    }
    assert!(found > 3, "{found} pairs were reviewed");
}

/// The lines of the summary of a diff.
fn told(diff: &Diff) -> SortedMap<&'static str, String> {
    let lines = brief(diff).into_iter();
    lines
        .map(|line| (line.head, line.words(str::to_owned)))
        .collect()
}

#[test]
fn the_summary_tells_duties_as_duties_and_nothing_as_gone_that_stays() {
    let sessions = told(&diff("2024-11-05", "2025-03-26"));
    assert_eq!(
        sessions["Clients must send"],
        "headers Accept, Mcp-Session-Id"
    );
    assert!(sessions["New optional"].starts_with("headers Last-Event-ID;"));
    let version = told(&diff("2025-03-26", "2025-06-18"));
    assert_eq!(version["Clients must send"], "headers MCP-Protocol-Version");
    let enums = told(&diff("2025-06-18", "2025-11-25"));
    assert!(!enums.contains_key("Removed"), "{enums:?}");
    assert!(enums["Changed"].starts_with("headers Origin; id may be left out in every error;"));
}

#[test]
fn what_moves_within_an_exchange_is_told_with_its_two_places() {
    let old = super::schema("2025-11-25");
    let into = "move Tool/properties/execution ToolAnnotations/properties/execution";
    let new = changed(&old, into);
    assert_eq!(
        told(&super::diff_of(&old, &new))["Moved"],
        "execution from $.tools[].execution to $.tools[].annotations.execution of sampling/createMessage and tools/list"
    );
}

#[test]
fn what_is_deprecated_has_a_name_in_the_summary() {
    let old = super::schema("2026-07-28");
    for (place, name) in [
        ("CompleteRequest", "completion/complete"),
        ("ProgressNotification", "notifications/progress"),
        ("CompleteResultResponse", "response in completion/complete"),
        (
            "CompleteRequestParams",
            "CompleteRequestParams in completion/complete",
        ),
        ("TextContent", "TextContent in 4 messages"),
        ("Tool/properties/title", "tools[].title in 5 messages"),
    ] {
        let new = changed(&old, &format!("put {place}/deprecated true"));
        let (there, back) = (super::diff_of(&old, &new), super::diff_of(&new, &old));
        assert_eq!(told(&there)["Deprecated"], name);
        let back = &told(&back)["Changed"];
        assert_eq!(*back, format!("no longer deprecated: {name}"));
    }
}

/// The counts of each pair, by its names.
fn blocks(text: &str) -> SortedMap<&str, Vec<&str>> {
    let mut blocks: SortedMap<&str, Vec<&str>> = SortedMap::new();
    let mut pair = "";
    for line in text.lines() {
        if let Some((head, _)) = line.split_once(": ") {
            pair = head;
        }
        blocks.entry(pair).or_default().push(line);
    }
    blocks
}

#[test]
fn between_a_draft_and_the_release_that_it_is_nothing_differs() {
    assert_eq!(of_twins().rows, []);
}

/// Rows that the diff of two revisions is known to have.
#[derive(Deserialize)]
struct Known {
    of: [String; 2],
    rows: Vec<String>,
}

/// Whether it is this row that is told, as `KIND PATH` or `KIND FROM > TO`, or as `KIND SUBJECT` of what has no path.
fn is_told(row: &DiffRow, told: &str) -> bool {
    let has = |paths: &[WirePath], path: &str| paths.iter().any(|is| is.to_string() == path);
    let (kind, place) = told.split_once(' ').unwrap();
    row.kind.id() == kind
        && match place.split_once(" > ") {
            Some((from, to)) => has(&row.from, from) && has(&row.to, to),
            None if row.paths.is_empty() => row.subject.as_deref() == Some(place),
            None => has(&row.paths, place),
        }
}

#[test]
fn what_every_release_is_known_for_is_there() {
    #[derive(Deserialize)]
    struct File {
        pair: Vec<Known>,
    }
    for Known {
        of: [old, new],
        rows,
    } in read::<File>("releases").pair
    {
        let diff = diff(&old, &new);
        for told in rows {
            let found = diff.rows.iter().any(|row| is_told(row, &told));
            assert!(found, "{old} -> {new}: {told}");
        }
    }
}

#[test]
fn what_changed_inside_a_value_that_moved_is_told() {
    let far = diff("2025-06-18", "2026-07-28");
    let moved = far.rows.iter().filter(|row| row.kind == ChangeKind::Moved);
    let changed: Vec<&str> = moved
        .filter(|row| row.changed_within)
        .filter_map(|row| row.subject.as_deref())
        .collect();
    assert_eq!(
        changed,
        [
            "capabilities -> io.modelcontextprotocol/clientCapabilities",
            "clientInfo -> io.modelcontextprotocol/clientInfo",
            "serverInfo -> io.modelcontextprotocol/serverInfo",
            "capabilities",
        ]
    );
}

#[test]
fn a_header_that_new_servers_insist_on_breaks_over_http() {
    let last = diff("2025-11-25", "2026-07-28");
    let of = |name: &str| row_at(&last, &format!("C2S * header {name}"));
    for name in [
        "Mcp-Method",
        "Mcp-Name",
        "Mcp-Param-<Name>",
        "MCP-Protocol-Version",
    ] {
        let row = of(name);
        assert_eq!(row.level, ChangeLevel::Breaking, "{name}");
        assert_eq!(
            row.verdicts.old_to_new.over,
            Some(RefusingTransport::Http),
            "{name}"
        );
    }
    // A session is asked for by the server that gave it out, and by no other.
    assert_eq!(of("Mcp-Session-Id").level, ChangeLevel::Risky);
}

#[test]
fn an_error_that_goes_by_another_code_is_one_row() {
    let last = diff("2025-11-25", "2026-07-28");
    let about = |code: &str| -> Vec<(ChangeKind, String, String)> {
        let text = |view: &Option<View>| {
            view.as_ref()
                .map_or_else(String::new, |view| view.text.clone())
        };
        let rows = last
            .rows
            .iter()
            .map(|row| (row.kind, text(&row.before), text(&row.after)));
        rows.filter(|(_, old, new)| [old, new].iter().any(|text| text.starts_with(code)))
            .collect()
    };
    let row = (
        ChangeKind::ErrorCodeRenumbered,
        "-32002".to_owned(),
        "-32602, InvalidParams".to_owned(),
    );
    assert_eq!(about("-32002"), std::slice::from_ref(&row));
    assert_eq!(about("-32602"), [row]);
}

#[test]
fn a_row_whose_two_sides_have_the_same_words_says_what_differs() {
    for old in &spec().revisions {
        for new in &spec().revisions {
            for row in &diff(&old.id, &new.id).rows {
                let line = change_line(row);
                if let Some((left, right)) = line.split_once(" -> ") {
                    assert_ne!(left, right, "{} -> {}: {row:?}", old.id, new.id);
                }
            }
        }
    }
}
