//! What is compared of messages and results, and what a diff says where it cannot compare.

use mcp_revisions_diff::render::brief::brief;
use mcp_revisions_diff::render::{change_line, json};
use mcp_revisions_diff::{ChangeKind, ChangeLevel, Diff, SideSources};
use mcp_revisions_schema::spec::sha256;
use serde_json::json;

use super::{diff_of, kinds_of, only_row, opened, row_at, schema};
use crate::changes::changed;

/// The diff of the latest release to the same with these steps.
fn after(steps: &str) -> Diff {
    let old = schema("2026-07-28");
    diff_of(&old, &changed(&old, steps))
}

#[test]
fn a_result_that_is_gone_is_a_row_and_a_gap() {
    let old = schema("2025-11-25");
    let gone = "rename CompleteResult CompletionResult\nput CompletionResult/properties/more {\"type\": \"string\"}\nrequire CompletionResult more";
    let diff = diff_of(&old, &changed(&old, gone));
    let row = row_at(&diff, "S2C completion/complete result $");
    assert_eq!(
        (row.kind, row.level),
        (ChangeKind::ResultRemoved, ChangeLevel::Risky)
    );
    let [gap] = diff.uncompared.as_slice() else {
        panic!("{:?}", diff.uncompared)
    };
    assert!(
        gap.contains("the result of `completion/complete`") && gap.contains("new.json"),
        "{gap}"
    );
    // The rows of `spec/` are not about a file.
    let cure = "(expected `CompleteResult`, or `CompleteResultResponse` with it)";
    assert!(gap.ends_with(cure), "{gap}");
    assert_eq!(diff_of(&old, &old).uncompared, Vec::<String>::new());
}

#[test]
fn a_result_that_neither_schema_states_is_no_row() {
    // `spec/` has a result of the candidate that its schema does not state.
    let old = schema("2026-07-28-rc");
    let result = |schema: &serde_json::Value| {
        let names = schema["$defs"].as_object().unwrap().keys();
        names
            .filter(|name| name.starts_with("SubscriptionsListenResult"))
            .count()
    };
    let new = schema("2026-07-28");
    let is_result = |text: &str| text.contains("SubscriptionsListenResult");
    let mut unstated = new.clone();
    let own = new["$defs"].as_object().unwrap().iter();
    let own = own.filter(|(name, _)| !is_result(name));
    unstated["$defs"] = own.map(|(name, of)| (name.clone(), of.clone())).collect();
    let results = unstated["$defs"]["ServerResult"]["anyOf"]
        .as_array_mut()
        .unwrap();
    results.retain(|one| !is_result(&one.to_string()));
    assert_eq!((result(&old), result(&unstated)), (0, 0));
    let of_listen = |diff: &Diff| {
        let at = |row: &&mcp_revisions_diff::DiffRow| {
            let mut paths = row.paths.iter().map(ToString::to_string);
            paths.any(|path| path.starts_with("S2C subscriptions/listen result $"))
        };
        let kinds = diff.rows.iter().filter(at).map(|row| row.kind);
        kinds.collect::<Vec<_>>()
    };
    let diff = diff_of(&old, &unstated);
    assert_eq!(of_listen(&diff), [], "{:?}", brief(&diff));
}

#[test]
fn a_change_of_every_id_is_summed_up_at_the_nearest_place() {
    let diff = after("put RequestId {\"type\": \"string\"}");
    let lines: Vec<String> = (brief(&diff).iter())
        .map(|line| format!("{} {}", line.head, line.words(str::to_owned)))
        .collect();
    assert_eq!(lines, ["Changed id is RequestId in every message"]);
}

#[test]
fn a_response_of_two_shapes_has_the_results_of_both() {
    let diff = after(
        "copy CompleteResultResponse OtherResponse\nput CompleteResultResponse {\"anyOf\": [\"@OtherResponse\", {\"type\": \"object\", \"properties\": {\"result\": {\"type\": \"object\", \"properties\": {\"none\": {\"type\": \"boolean\", \"const\": true}}, \"required\": [\"none\"]}}, \"required\": [\"result\"]}]}",
    );
    let at = "S2C completion/complete result ";
    let has = |row: &&mcp_revisions_diff::DiffRow| {
        row.paths
            .iter()
            .any(|path| path.to_string().starts_with(at))
    };
    let row = diff.rows.iter().find(has);
    let row = row.unwrap_or_else(|| panic!("{:?}", diff.rows));
    assert_eq!(
        (row.kind, row.level),
        (ChangeKind::UnionMemberAdded, ChangeLevel::Breaking)
    );
}

#[test]
fn a_response_that_is_written_down_takes_no_answer_away() {
    let old = schema("2025-11-25");
    let response = "put ElicitResultResponse {\"type\": \"object\", \"properties\": {\"id\": \"@RequestId\", \"jsonrpc\": {\"type\": \"string\", \"const\": \"2.0\"}, \"result\": \"@ElicitResult\"}, \"required\": [\"id\", \"jsonrpc\", \"result\"]}";
    assert_eq!(kinds_of(&diff_of(&old, &changed(&old, response))), []);
}

#[test]
fn a_message_is_compared_beside_its_params() {
    for (steps, kind, path) in [
        (
            "put CompleteRequest/properties/trace {\"type\": \"string\"}\nrequire CompleteRequest trace",
            ChangeKind::MemberAddedRequired,
            "C2S completion/complete message $.trace",
        ),
        (
            "put CompleteRequest/minProperties 5",
            ChangeKind::ConstraintChanged,
            "C2S completion/complete",
        ),
        (
            "put CompleteRequest/dependentRequired {\"id\": [\"trace\"]}",
            ChangeKind::ConstraintChanged,
            "C2S completion/complete",
        ),
    ] {
        let diff = after(steps);
        assert_eq!(
            only_row(&diff, kind, path).level,
            ChangeLevel::Breaking,
            "{steps}"
        );
    }
}

#[test]
fn a_default_of_what_has_to_be_there_is_told_to_nobody_on_the_wire() {
    let diff = after("put Tool/properties/name/default \"x\"");
    assert_eq!(kinds_of(&diff), [ChangeKind::ConstraintChanged]);
    assert!(
        diff.rows
            .iter()
            .all(|row| row.level == ChangeLevel::Representation)
    );
}

#[test]
fn a_method_that_no_union_lists_is_told_as_a_gap() {
    let diff = after("request EchoRequest echo/say");
    assert_eq!(diff.rows, []);
    let [gap] = diff.uncompared.as_slice() else {
        panic!("{:?}", diff.uncompared)
    };
    assert!(
        gap.contains("`echo/say`") && gap.contains("`EchoRequest`"),
        "{gap}"
    );
}

#[test]
fn a_second_definition_of_a_method_is_told_as_a_gap() {
    let diff = after("request EchoRequest tools/call\nput ClientRequest/anyOf/- \"@EchoRequest\"");
    assert_eq!(diff.rows, []);
    let [gap] = diff.uncompared.as_slice() else {
        panic!("{:?}", diff.uncompared)
    };
    assert!(
        gap.contains("`tools/call` by `EchoRequest`") && gap.contains("by `CallToolRequest`"),
        "{gap}"
    );
    let twice = "put ClientRequest/anyOf/- \"@CallToolRequest\"";
    assert_eq!(after(twice).uncompared, [] as [String; 0]);
}

#[test]
fn a_code_of_json_rpc_is_not_new_when_it_gets_a_definition() {
    let old = schema("2025-11-25");
    let defined = "put ParseError {\"type\": \"object\", \"properties\": {\"code\": {\"type\": \"integer\", \"const\": -32700}, \"message\": {\"type\": \"string\"}}, \"required\": [\"code\", \"message\"]}";
    assert_eq!(kinds_of(&diff_of(&old, &changed(&old, defined))), []);
}

#[test]
fn many_references_in_a_row_are_followed_in_linear_time() {
    let steps: Vec<String> = (0..20_000)
        .map(|at| format!("put Way{at} \"@Way{}\"", at + 1))
        .chain(["put Way20000 {\"type\": \"string\"}".to_owned()])
        .chain(["put Tool/properties/way \"@Way0\"".to_owned()])
        .collect();
    let old = schema("2026-07-28");
    let new = changed(&old, &steps.join("\n"));
    let begin = std::time::Instant::now();
    let diff = diff_of(&old, &new);
    assert_eq!(kinds_of(&diff), [ChangeKind::MemberAddedOptional]);
    // Quadratic, it is minutes in this profile.
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}

#[test]
fn schemas_without_a_common_kind_admit_no_value() {
    let diff = after(
        "put Tool/properties/title {\"allOf\": [{\"type\": \"string\"}, {\"type\": \"number\"}]}",
    );
    let row = row_at(&diff, "S2C tools/list result $.tools[].title");
    assert_eq!(
        (row.kind, row.level),
        (ChangeKind::TypeNarrowed, ChangeLevel::Breaking)
    );
    assert_eq!(diff.rows.len(), 1, "{:?}", diff.rows);
    assert!(change_line(row).ends_with("-> never"), "{row:?}");
}

#[test]
fn what_another_kind_is_refused_changes_nothing() {
    let diff = after("put Annotations/properties/priority/not {\"type\": \"string\"}");
    assert_eq!(diff.rows, []);
    let diff = after("put Annotations/properties/priority/not {\"type\": \"integer\"}");
    assert_eq!(kinds_of(&diff), [ChangeKind::ConstraintChanged]);
}

#[test]
fn a_reference_that_validators_do_not_resolve_is_named() {
    let old = schema("2026-07-28");
    let mut new = old.clone();
    new["$defs"]["Tool"]["properties"]["annotations"] =
        json!({"$ref": "#/definitions/ToolAnnotations"});
    let diff = diff_of(&old, &new);
    assert_eq!(diff.rows, []);
    let is_named = |note: &String| {
        note.starts_with("new.json: ")
            && note.contains("`#/definitions/ToolAnnotations` leads nowhere")
    };
    assert!(diff.notes.iter().any(is_named), "{:?}", diff.notes);
    let same = diff_of(&old, &old);
    assert!(!same.notes.iter().any(|note| note.contains("leads nowhere")));
}

#[test]
fn an_id_of_another_folder_is_named() {
    let mut schema = schema("2026-07-28");
    schema["$id"] = json!("https://example.org/schema/2025-11-25/schema.json");
    let notes = |name: &str| opened(name, &schema, false).notes;
    let is_named = |note: &String| note.contains("`$id`") && note.contains("found 2025-11-25");
    assert!(notes("schema/2026-07-28/schema.json").iter().any(is_named));
    assert!(!notes("schema/2025-11-25/schema.json").iter().any(is_named));
    assert!(!notes("elsewhere/schema.json").iter().any(is_named));
}

#[test]
fn a_version_constant_of_another_folder_is_named() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("versions/2026-07-28");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("schema.json").display().to_string();
    let notes = |version: &str| {
        let source = format!("export const LATEST_PROTOCOL_VERSION = \"{version}\";\n");
        std::fs::write(folder.join("schema.ts"), source).unwrap();
        let mut schema = schema("2026-07-28");
        schema["$comment"] = json!("not the published file");
        opened(&file, &schema, false).notes
    };
    let is_named = |note: &String| note.contains("LATEST_PROTOCOL_VERSION");
    assert!(!notes("2026-07-28").iter().any(is_named));
    assert!(notes("2025-11-25").iter().any(is_named));
    // The file that a revision was imported from is looked at as well: its folder may be another one.
    let text = schema("2026-07-28").to_string();
    let mut spec = crate::specs::spec().clone();
    for revision in &mut spec.revisions {
        revision.sha256 = sha256(text.as_bytes());
    }
    let side = SideSources::read(&spec)
        .unwrap()
        .of_text(&file, &text, false);
    let notes = side.unwrap().notes;
    assert!(
        notes
            .iter()
            .any(|note| note.contains("is the upstream file of")),
        "{notes:?}"
    );
    assert!(notes.iter().any(is_named), "{notes:?}");
}

#[test]
fn a_required_member_that_no_message_carries_is_a_note() {
    let lonely =
        "put Lonely {\"type\": \"object\", \"properties\": {\"alone\": {\"type\": \"string\"}}}";
    let old = changed(
        &schema("2026-07-28"),
        &format!("{lonely}\nrequire Lonely alone"),
    );
    let diff = diff_of(&old, &changed(&schema("2026-07-28"), lonely));
    assert_eq!(diff.rows, []);
    let is_told =
        |note: &String| note.contains("no message reaches") && note.contains("`Lonely` (`alone`)");
    assert!(diff.notes.iter().any(is_told), "{:?}", diff.notes);
}

#[test]
fn a_limit_is_told_of_the_member_that_it_limits() {
    for (steps, told) in [
        (
            "put Annotations/properties/priority/multipleOf 0.5",
            "annotations.priority has multipleOf: 0.5 in ",
        ),
        (
            "put ListToolsRequest/minProperties 5",
            "the message has minProperties: 5 in tools/list",
        ),
        (
            "put ListToolsResult/properties/tools/minItems 1",
            "tools has minItems: 1 in tools/list",
        ),
    ] {
        let [line] = brief(&after(steps)).try_into().unwrap();
        let words = line.words(str::to_owned);
        assert!(words.starts_with(told), "{words}");
    }
}

#[test]
fn a_member_that_may_have_another_name_is_said_to() {
    let steps = "take Annotations/properties/priority\nput Annotations/properties/priorityMs {\"type\": \"number\", \"minimum\": 0, \"maximum\": 1}";
    let diff = after(steps);
    let lines: Vec<String> = diff.rows.iter().map(change_line).collect();
    let has = |end: &str| lines.iter().any(|line| line.ends_with(end));
    assert!(has("perhaps renamed to priorityMs"), "{lines:?}");
    assert!(has("perhaps renamed from priority"), "{lines:?}");
    let json = json::diff(&diff).unwrap();
    for name in ["priority", "priorityMs"] {
        let member = format!("\"perhaps_renamed\": \"{name}\"");
        assert!(json.contains(&member), "{name}");
    }
    // A path spells other names between quotes.
    for name in ["x.priority", "pépriority"] {
        let steps = format!(
            "take Annotations/properties/priority\nput Annotations/properties/{name} {{\"type\": \"number\", \"minimum\": 0, \"maximum\": 1}}"
        );
        for diff in [after(&steps), {
            let new = schema("2026-07-28");
            diff_of(&changed(&new, &steps), &new)
        }] {
            let lines: Vec<String> = diff.rows.iter().map(change_line).collect();
            let told = lines
                .iter()
                .filter(|line| line.contains("; perhaps renamed"));
            assert_eq!(told.count(), 2, "{lines:?}");
        }
    }
    // Another type, or a name that has nothing in common, is another member.
    for other in [
        "priorityMs {\"type\": \"string\"}",
        "weight {\"type\": \"number\"}",
    ] {
        let diff = after(&format!(
            "take Annotations/properties/priority\nput Annotations/properties/{other}"
        ));
        let lines: Vec<String> = diff.rows.iter().map(change_line).collect();
        assert!(
            !lines.iter().any(|line| line.contains("perhaps")),
            "{lines:?}"
        );
    }
}

#[test]
fn a_bound_by_another_keyword_is_one_change() {
    let old = changed(
        &schema("2026-07-28"),
        "put ProgressNotificationParams/properties/total/minimum 1",
    );
    for (now, level, line) in [
        (
            "exclusiveMinimum 1",
            ChangeLevel::Breaking,
            "minimum: 1 -> exclusiveMinimum: 1",
        ),
        (
            "exclusiveMinimum 0.5",
            ChangeLevel::Breaking,
            "minimum: 1 -> exclusiveMinimum: 0.5",
        ),
    ] {
        let steps = format!("put ProgressNotificationParams/properties/total/{now}");
        let new = changed(&schema("2026-07-28"), &steps);
        for (pair, line) in [
            ([&old, &new], line.to_owned()),
            ([&new, &old], {
                let (was, is) = line.split_once(" -> ").unwrap();
                format!("{is} -> {was}")
            }),
        ] {
            let diff = diff_of(pair[0], pair[1]);
            let [row] = diff.rows.as_slice() else {
                panic!("{now}: {:#?}", diff.rows)
            };
            assert_eq!((row.level, change_line(row)), (level, line));
            assert_eq!(
                row.witnesses.len(),
                1,
                "one side refuses what the other takes"
            );
        }
    }
}
