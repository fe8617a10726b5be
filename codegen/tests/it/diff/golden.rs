//! What the neighbours differ in, as reviewed: counts by level and kind in `summaries.txt`, and the facts one by one.
//!
//! `BLESS=1 cargo test -p mcp-codegen --test it diff` writes the file anew: read the difference before you keep it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcp_schema::diff::{Diff, Kind, Level, Transport, View, between};
use mcp_schema::render::brief::brief;
use mcp_schema::render::change_line;
use mcp_schema::spec::Status;

use super::{of_twins, sources, spec};

fn pairs() -> Vec<(&'static str, &'static str)> {
    // The draft changes any day; what it says is reviewed when it is released.
    let settled = (spec().revisions.iter()).filter(|revision| revision.status != Status::Draft);
    let ids: Vec<&str> = settled.map(|revision| revision.id.as_str()).collect();
    let mut pairs: Vec<(&str, &str)> = ids.windows(2).map(|pair| (pair[0], pair[1])).collect();
    // The candidate is never negotiated: the released revisions are neighbours too.
    pairs.push(("2025-11-25", "2026-07-28"));
    pairs
}

fn diff(old: &str, new: &str) -> Diff {
    between(sources(), old, new, false).unwrap()
}

#[test]
fn the_summaries_are_as_reviewed() {
    let mut text = String::new();
    for (old, new) in pairs() {
        let summary = diff(old, new).summary();
        let crate_change = summary.crate_change.map_or("none", |change| change.id());
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
fn told(diff: &Diff) -> BTreeMap<&'static str, String> {
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
    assert!(sessions["May be there now"].starts_with("headers Last-Event-ID;"));
    let version = told(&diff("2025-03-26", "2025-06-18"));
    assert_eq!(version["Clients must send"], "headers MCP-Protocol-Version");
    let enums = told(&diff("2025-06-18", "2025-11-25"));
    assert!(!enums.contains_key("Gone"), "{enums:?}");
    assert!(enums["Changed"].starts_with("id may be left out in every error;"));
}

#[test]
fn what_moves_within_an_exchange_is_told_with_its_two_places() {
    let old = super::schema("2025-11-25");
    let mut new = old.clone();
    let members = new["$defs"]["Tool"]["properties"].as_object_mut().unwrap();
    let moved = members.remove("execution").unwrap();
    new["$defs"]["ToolAnnotations"]["properties"]["execution"] = moved;
    assert_eq!(
        told(&super::diff_of(&old, &new))["Moved"],
        "execution from $.tools[].execution to $.tools[].annotations.execution of sampling/createMessage and tools/list"
    );
}

/// The counts of each pair, by its names.
fn blocks(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut blocks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut pair = "";
    for line in text.lines() {
        if let Some((head, _)) = line.split_once(": ") {
            pair = head;
        }
        blocks.entry(pair).or_default().push(line);
    }
    blocks
}

/// Whether a row of that kind has that wire path.
fn has(diff: &Diff, kind: Kind, path: &str) -> bool {
    diff.rows
        .iter()
        .any(|row| row.kind == kind && row.paths.iter().any(|is| is.to_string() == path))
}

#[test]
fn between_a_draft_and_the_release_that_it_is_nothing_differs() {
    assert_eq!(of_twins().rows, []);
}

#[test]
fn the_candidate_and_its_release_differ_as_the_changelog_says() {
    let diff = diff("2026-07-28-rc", "2026-07-28");
    for error in [
        "HeaderMismatch",
        "MissingRequiredClientCapability",
        "UnsupportedProtocolVersion",
    ] {
        let path = format!("S2C * error ${{{error}}}.code");
        assert!(has(&diff, Kind::ErrorCodeRenumbered, &path), "{path}");
    }
    assert!(has(
        &diff,
        Kind::MethodRemoved,
        "S2C notifications/elicitation/complete"
    ));
    assert!(has(
        &diff,
        Kind::MethodRemoved,
        "C2S notifications/progress"
    ));
    assert!(has(
        &diff,
        Kind::MemberRemoved,
        "S2C elicitation/create params ${mode=url}.elicitationId"
    ));
    let client_info = "C2S tools/call params $._meta[\"io.modelcontextprotocol/clientInfo\"]";
    assert!(has(&diff, Kind::BecameOptional, client_info));
    assert!(has(
        &diff,
        Kind::Moved,
        "S2C server/discover result $.serverInfo"
    ));
    assert!(has(
        &diff,
        Kind::BecameRequired,
        "C2S notifications/cancelled params $.requestId"
    ));
}

#[test]
fn what_every_release_is_known_for_is_there() {
    let first = diff("2024-11-05", "2025-03-26");
    assert!(has(
        &first,
        Kind::UnionMemberAdded,
        "S2C tools/call result $.content[]{type=audio}"
    ));
    assert!(has(
        &first,
        Kind::MemberAddedOptional,
        "S2C tools/list result $.tools[].annotations"
    ));
    assert!(has(&first, Kind::RuleAdded, "C2S * rule batch"));

    let second = diff("2025-03-26", "2025-06-18");
    let renamed = second
        .rows
        .iter()
        .find(|row| row.kind == Kind::DefinitionRenamed)
        .unwrap();
    assert_eq!(
        renamed.subject.as_deref(),
        Some("ResourceReference -> ResourceTemplateReference")
    );
    assert!(has(&second, Kind::MethodAdded, "S2C elicitation/create"));
    assert!(has(
        &second,
        Kind::HeaderAdded,
        "C2S * header MCP-Protocol-Version"
    ));
    assert!(has(
        &second,
        Kind::UnionMemberRemoved,
        "C2S * message ${array}"
    ));

    let third = diff("2025-06-18", "2025-11-25");
    assert!(has(
        &third,
        Kind::MemberAddedOptional,
        "S2C tools/list result $.tools[].execution"
    ));
    assert!(has(&third, Kind::MethodAdded, "C2S tasks/get"));
    assert!(has(
        &third,
        Kind::ErrorCodeAdded,
        "S2C * error ${URLElicitationRequired}.code"
    ));

    let last = diff("2025-11-25", "2026-07-28");
    assert!(has(&last, Kind::MethodRemoved, "C2S initialize"));
    assert!(has(
        &last,
        Kind::MethodRechanneled,
        "S2C sampling/createMessage"
    ));
    let moved = [
        ("C2S initialize params $.capabilities", "clientCapabilities"),
        ("C2S initialize params $.clientInfo", "clientInfo"),
        ("C2S initialize params $.protocolVersion", "protocolVersion"),
        ("C2S logging/setLevel params $.level", "logLevel"),
    ];
    for (from, to) in moved {
        let to = format!("C2S tools/call params $._meta[\"io.modelcontextprotocol/{to}\"]");
        let row = last
            .rows
            .iter()
            .find(|row| row.from.iter().any(|path| path.to_string() == from));
        let row = row.unwrap_or_else(|| panic!("{from} moved"));
        assert!(
            row.to.iter().any(|path| path.to_string() == to),
            "{from}: {:?}",
            row.to
        );
    }
    assert!(has(
        &last,
        Kind::HeaderRemoved,
        "C2S * header Mcp-Session-Id"
    ));
    // Inside what the generated types keep as opaque text there are wire facts all the same.
    assert!(has(
        &last,
        Kind::MemberRemoved,
        "S2C tools/list result $.tools[].outputSchema.type"
    ));
}

#[test]
fn what_changed_inside_a_value_that_moved_is_told() {
    let last = diff("2025-11-25", "2026-07-28");
    let into = "params $._meta[\"io.modelcontextprotocol/clientCapabilities\"]";
    for (kind, path) in [
        (
            Kind::MemberRemoved,
            "C2S initialize params $.capabilities.tasks".to_owned(),
        ),
        (
            Kind::MemberRemoved,
            "C2S initialize params $.capabilities.roots.listChanged".to_owned(),
        ),
        (
            Kind::MemberRemoved,
            "S2C initialize result $.capabilities.tasks".to_owned(),
        ),
        (
            Kind::MemberAddedOptional,
            "S2C server/discover result $.capabilities.extensions".to_owned(),
        ),
        (
            Kind::MemberAddedOptional,
            format!("C2S tools/call {into}.extensions"),
        ),
    ] {
        assert!(has(&last, kind, &path), "{kind} {path}");
    }
    let far = diff("2025-06-18", "2026-07-28");
    let implementation = "params $._meta[\"io.modelcontextprotocol/clientInfo\"]";
    for path in [
        format!("{into}.elicitation.url"),
        format!("{into}.sampling.tools"),
        format!("{implementation}.description"),
        format!("{implementation}.icons"),
        format!("{implementation}.websiteUrl"),
    ] {
        let path = format!("C2S tools/call {path}");
        assert!(has(&far, Kind::MemberAddedOptional, &path), "{path}");
    }
    let moved = far.rows.iter().filter(|row| row.kind == Kind::Moved);
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
    let of = |name: &str| {
        let path = format!("C2S * header {name}");
        let row = last
            .rows
            .iter()
            .find(|row| row.paths.first().is_some_and(|is| is.to_string() == path));
        row.unwrap_or_else(|| panic!("no row at {path}"))
    };
    for name in [
        "Mcp-Method",
        "Mcp-Name",
        "Mcp-Param-<Name>",
        "MCP-Protocol-Version",
    ] {
        let row = of(name);
        assert_eq!(row.level, Level::Breaking, "{name}");
        assert_eq!(
            row.verdicts.old_to_new.over,
            Some(Transport::Http),
            "{name}"
        );
    }
    // A session is asked for by the server that gave it out, and by no other.
    assert_eq!(of("Mcp-Session-Id").level, Level::Risky);
}

#[test]
fn an_error_that_goes_by_another_code_is_one_row() {
    let last = diff("2025-11-25", "2026-07-28");
    let about = |code: &str| -> Vec<(Kind, String, String)> {
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
        Kind::ErrorCodeRenumbered,
        "-32002".to_owned(),
        "-32602, InvalidParams".to_owned(),
    );
    assert_eq!(about("-32002"), std::slice::from_ref(&row));
    assert_eq!(about("-32602"), [row]);
    for range in ["Reserved", "ImplementationDefined"] {
        assert!(
            has(
                &last,
                Kind::RuleAdded,
                &format!("S2C * error ${{{range}}}.code")
            ),
            "{range}"
        );
    }
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
