//! Tools: tasks, titles, hints.

use super::*;

const TASK_TOOLS: &str = r#"{"tools":[
    {"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},
    {"name":"b","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},
    {"name":"c","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},
    {"name":"d","inputSchema":{"type":"object"}}]}"#;

#[test]
fn tools_that_demand_tasks_are_hidden_on_both_sides_of_the_only_revision_that_has_them() {
    let expected = [
        ("task-tools", "/tools/0", Semantic, Removed),
        ("tool-execution", "/tools/1/execution", Semantic, Removed),
        ("task-tools", "/tools/2", Semantic, Removed),
    ];
    let left = r#"[{"name":"b","inputSchema":{"type":"object"}},{"name":"d","inputSchema":{"type":"object"}}]"#;
    let down = of_type("ListToolsResult", V2025_11_25, V2025_06_18, TASK_TOOLS);
    says(&down, &format!(r#"{{"tools":{left}}}"#), &expected);
    let up = of_type("ListToolsResult", V2025_11_25, V2026_07_28, TASK_TOOLS);
    let newer =
        format!(r#"{{"tools":{left},"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#);
    says(&up, &newer, &expected);
}

#[test]
fn a_task_in_place_of_a_result_needs_an_adapter() {
    let text = r#"{"task":{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}}"#;
    for to in [V2025_06_18, V2026_07_28] {
        let subject = Subject::Method("tools/call", Part::Result, None);
        needs(
            &convert(subject, V2025_11_25, to, text, Context::default()),
            Adapter::Tasks,
        );
    }
}

#[test]
fn the_title_of_a_tool_moves_to_its_annotations_and_wins_over_one_that_stands_there() {
    let down = |more: &str| {
        let text = format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"title":"T"{more}}}"#);
        of_type("Tool", V2025_06_18, V2025_03_26, &text)
    };
    says(
        &down(""),
        r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{"title":"T"}}"#,
        &[
            ("tool-title", "/title", Cosmetic, Removed),
            ("tool-title", "/annotations", Cosmetic, Added),
        ],
    );
    let hint = down(r#","annotations":{"readOnlyHint":true}"#);
    says(
        &hint,
        r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{"title":"T","readOnlyHint":true}}"#,
        &[
            ("tool-title", "/title", Cosmetic, Removed),
            ("tool-title", "/annotations/title", Cosmetic, Added),
        ],
    );
    let taken = down(r#","annotations":{"title":"A"}"#);
    // The newer revision shows the tool's own title, and so does the older client then.
    says(
        &taken,
        r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{"title":"T"}}"#,
        &[
            ("tool-title", "/title", Cosmetic, Removed),
            ("tool-title", "/annotations/title", Cosmetic, Replaced),
        ],
    );
}

#[test]
fn hints_about_harm_are_a_loss_of_safety() {
    let text =
        r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}"#;
    says(
        &of_type("Tool", V2025_03_26, V2024_11_05, text),
        r#"{"name":"t","inputSchema":{"type":"object"}}"#,
        &[("tool-annotations", "/annotations", Safety, Removed)],
    );
}

#[test]
fn a_hint_that_reassures_guards_against_nothing() {
    for (hints, kind) in [
        (r#"{"readOnlyHint":true}"#, Cosmetic),
        (r#"{"readOnlyHint":true,"destructiveHint":true}"#, Safety),
    ] {
        let tool =
            format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"annotations":{hints}}}"#);
        let told = of_type("Tool", V2025_03_26, V2024_11_05, &tool);
        assert_eq!(told.losses()[0].severity(), kind, "{told:?}");
    }
}

#[test]
fn a_schema_of_2020_12_says_so_where_the_older_dialect_would_read_it_otherwise() {
    for (schema, says) in [
        (
            r#"{"type":"object","properties":{"p":{"prefixItems":[{}]}}}"#,
            true,
        ),
        (
            r##"{"type":"object","properties":{"p":{"$ref":"#/$defs/q","minimum":1}},"$defs":{"q":{}}}"##,
            true,
        ),
        (
            r##"{"type":"object","properties":{"p":{"$ref":"#/$defs/q","description":"d"}},"$defs":{"q":{}}}"##,
            false,
        ),
        (
            r#"{"type":"object","properties":{"prefixItems":{"type":"string"}}}"#,
            false,
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","prefixItems":[]}"#,
            false,
        ),
    ] {
        let tool = format!(r#"{{"name":"t","inputSchema":{schema}}}"#);
        let down = of_type("Tool", V2025_11_25, V2025_06_18, &tool);
        assert_eq!(!down.is_exact(), says, "{down:?}");
        if says {
            let (Outcome::Lossy(text, _) | Outcome::Reversible(text, _)) = &down else {
                panic!("{down:?}")
            };
            assert!(text.contains("draft/2020-12/schema"), "{text}");
        }
    }
}

#[test]
fn a_resource_is_called_by_its_title_where_its_name_is_what_people_read() {
    let resource = r#"{"name":"log.txt","title":"The log","uri":"file:///log.txt"}"#;
    let down = of_type("Resource", V2025_06_18, V2025_03_26, resource);
    let expected = r#"{"name":"The log","uri":"file:///log.txt"}"#;
    let lost = [
        ("resource-title", "/title", Cosmetic, Removed),
        ("resource-title", "/name", Cosmetic, Replaced),
    ];
    says(&down, expected, &lost);
}
