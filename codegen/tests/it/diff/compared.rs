//! What is compared of messages and results, and what a diff says where it cannot compare.

use mcp_revisions_schema::diff::{Diff, Kind, Level};

use super::{diff_of, kinds_of, only_row, row_at, schema};
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
    assert_eq!((row.kind, row.level), (Kind::ResultRemoved, Level::Risky));
    let [gap] = diff.uncompared.as_slice() else {
        panic!("{:?}", diff.uncompared)
    };
    assert!(
        gap.contains("the result of `completion/complete`") && gap.contains("new.json"),
        "{gap}"
    );
    assert_eq!(diff_of(&old, &old).uncompared, Vec::<String>::new());
}

#[test]
fn a_response_of_two_shapes_has_the_results_of_both() {
    let diff = after(
        "copy CompleteResultResponse OtherResponse\nput CompleteResultResponse {\"anyOf\": [\"@OtherResponse\", {\"type\": \"object\", \"properties\": {\"result\": {\"type\": \"object\", \"properties\": {\"none\": {\"type\": \"boolean\", \"const\": true}}, \"required\": [\"none\"]}}, \"required\": [\"result\"]}]}",
    );
    let at = "S2C completion/complete result ";
    let has = |row: &&mcp_revisions_schema::diff::Row| {
        row.paths
            .iter()
            .any(|path| path.to_string().starts_with(at))
    };
    let row = diff.rows.iter().find(has);
    let row = row.unwrap_or_else(|| panic!("{:?}", diff.rows));
    assert_eq!(
        (row.kind, row.level),
        (Kind::UnionMemberAdded, Level::Breaking)
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
            Kind::MemberAddedRequired,
            "C2S completion/complete message $.trace",
        ),
        (
            "put CompleteRequest/minProperties 5",
            Kind::ConstraintChanged,
            "C2S completion/complete",
        ),
        (
            "put CompleteRequest/dependentRequired {\"id\": [\"trace\"]}",
            Kind::ConstraintChanged,
            "C2S completion/complete",
        ),
    ] {
        let diff = after(steps);
        assert_eq!(
            only_row(&diff, kind, path).level,
            Level::Breaking,
            "{steps}"
        );
    }
}

#[test]
fn a_default_of_what_has_to_be_there_is_told_to_nobody_on_the_wire() {
    let diff = after("put Tool/properties/name/default \"x\"");
    assert_eq!(kinds_of(&diff), [Kind::ConstraintChanged]);
    assert!(
        diff.rows
            .iter()
            .all(|row| row.level == Level::Representation)
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
    assert_eq!(kinds_of(&diff), [Kind::MemberAddedOptional]);
    // Quadratic, it is minutes in this profile.
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}
