//! Input that is no schema, or one that was made to hurt: a clear error or an answer, never a panic.

use mcp_revisions_schema::Error;
use mcp_revisions_schema::diff::{ChangeLevel, compare};
use serde_json::{Value, json};

use super::{opened, schema, side, sources};

fn refused(text: &str) -> String {
    match sources().of_text("bad.json", text, false) {
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("bad.json"), "{said}");
            said
        }
        Ok(_) => panic!("read {}", &text[..text.len().min(100)]),
    }
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    for (text, says) in [
        ("", "not JSON"),
        ("nonsense", "not JSON"),
        ("{}", "$defs"),
        ("[]", "found"),
        ("null", "found"),
        ("{\"$defs\":{}}", "$defs"),
    ] {
        let said = refused(text);
        assert!(said.contains(says), "{text}: {said}");
    }
    for (definitions, says) in [
        (json!({"Tool": {"type": "object"}}), "ClientRequest"),
        (
            json!({"ClientRequest": {"$ref": "#/$defs/Nowhere"}}),
            "Nowhere",
        ),
        (
            json!({"ClientRequest": {"$ref": "#/$defs/A"}, "A": {"$ref": "#/$defs/ClientRequest"}}),
            "circle",
        ),
        (
            json!({"ClientRequest": {"type": "object", "required": 1}}),
            "required",
        ),
        (json!({"ClientRequest": {"type": "object"}}), "method"),
        (
            json!({"ClientRequest": {"allOf": [{"$ref": "#/$defs/ClientRequest"}]}}),
            "cycle",
        ),
        (json!({"ClientRequest": 1}), "/$defs/ClientRequest"),
    ] {
        let said = refused(&document(&definitions).to_string());
        assert!(said.contains(says), "{definitions}: {said}");
    }
}

/// A schema file with these definitions.
fn document(definitions: &Value) -> Value {
    json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions})
}

#[test]
fn every_prefix_of_a_schema_is_refused() {
    let text = schema("2024-11-05").to_string();
    for end in (0..text.len())
        .step_by(97)
        .filter(|end| text.is_char_boundary(*end))
    {
        refused(&text[..end]);
    }
}

#[test]
fn depth_and_size_are_refused_or_borne() {
    let start = "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$defs\":{\"ClientRequest\":";
    let deep = |count: usize| {
        let mut text = String::from(start);
        text.push_str(&"{\"type\":\"array\",\"items\":".repeat(count));
        text.push_str("{}");
        text.push_str(&"}".repeat(count + 2));
        text
    };
    refused(&deep(10_000));
    let digits = format!("{start}{{\"minimum\":{}}}}}}}", "9".repeat(10_000_000));
    refused(&digits);
    let twice = format!("{start}{{\"type\":\"object\",\"type\":\"string\"}}}}}}");
    assert!(refused(&twice).contains("type"), "a duplicate key is named");
}

/// The schema of a notification whose params are the definition `D0`.
fn with_definitions(definitions: impl IntoIterator<Item = (String, Value)>) -> Value {
    let mut all: serde_json::Map<String, Value> = definitions.into_iter().collect();
    all.insert(
        "ClientNotification".to_owned(),
        json!({"$ref": "#/$defs/Note"}),
    );
    all.insert(
        "Note".to_owned(),
        json!({
            "type": "object",
            "required": ["method"],
            "properties": {
                "method": {"type": "string", "const": "notifications/note"},
                "params": {"$ref": "#/$defs/D0"},
            },
        }),
    );
    document(&Value::Object(all))
}

fn open(schema: &Value) -> mcp_revisions_schema::diff::ComparedSide {
    opened("made.json", schema, true)
}

#[test]
fn ten_thousand_definitions_in_a_row_are_one_wire_path() {
    let chain = |last: &str| {
        with_definitions((0..10_000).map(|index| {
            let next = match index {
                9_999 => json!({"type": last}),
                index => json!({"$ref": format!("#/$defs/D{}", index + 1)}),
            };
            (
                format!("D{index}"),
                json!({"type": "object", "properties": {"next": next}}),
            )
        }))
    };
    let diff = compare(&open(&chain("string")), &open(&chain("integer")));
    assert_eq!(diff.rows.len(), 1);
    assert_eq!(
        diff.rows[0].paths[0].path().matches(".next").count(),
        10_000
    );
}

#[test]
fn wire_paths_without_number_are_cut_and_said_to_be() {
    // Each level doubles the ways: 2^40 wire paths reach the last one.
    let doubling = |last: &str| {
        with_definitions((0..41).map(|index| {
            let next = match index {
                40 => json!({"type": last}),
                index => json!({"$ref": format!("#/$defs/D{}", index + 1)}),
            };
            (
                format!("D{index}"),
                json!({"type": "object", "properties": {"left": next, "right": next}}),
            )
        }))
    };
    let diff = compare(&open(&doubling("string")), &open(&doubling("integer")));
    assert!(!diff.rows.is_empty());
    assert!(
        diff.notes
            .iter()
            .any(|note| note.contains("more wire paths")),
        "{:?}",
        diff.notes
    );
}

#[test]
fn shapes_that_contain_themselves_end() {
    let tree = |leaf: &str| {
        with_definitions([(
            "D0".to_owned(),
            json!({
                "type": "object",
                "required": ["leaf"],
                "properties": {
                    "leaf": {"type": leaf},
                    "left": {"$ref": "#/$defs/D0"},
                    "right": {"type": "array", "items": {"$ref": "#/$defs/D0"}},
                },
            }),
        )])
    };
    let diff = compare(&open(&tree("string")), &open(&tree("integer")));
    assert_eq!(diff.rows.len(), 1, "{:?}", diff.rows);
    assert_eq!(
        diff.rows[0].paths[0].to_string(),
        "C2S notifications/note params $.leaf"
    );
    // A value that can never end has no witness, and no panic.
    let endless = |more: bool| {
        let required = if more {
            json!(["self", "more"])
        } else {
            json!(["self"])
        };
        with_definitions([(
            "D0".to_owned(),
            json!({"type": "object", "required": required, "properties": {"self": {"$ref": "#/$defs/D0"}}}),
        )])
    };
    let diff = compare(&open(&endless(false)), &open(&endless(true)));
    assert_eq!(diff.rows.len(), 1);
    assert_eq!(diff.rows[0].witnesses, []);
    // Nothing shows the refusal, and nothing rules it out.
    assert_eq!(diff.rows[0].level, ChangeLevel::Risky);
}

#[test]
fn a_revision_can_be_compared_with_something_quite_different() {
    let made = open(&with_definitions([(
        "D0".to_owned(),
        json!({"type": "object"}),
    )]));
    let diff = compare(side("2026-07-28"), &made);
    assert!(diff.rows.len() > 20);
}

#[test]
fn a_file_that_is_not_there_is_no_empty_diff() {
    let missing = sources().open("./no/such/schema.json", false).unwrap_err();
    assert!(matches!(missing, Error::Io { .. }), "{missing}");
    let unknown = sources().open("2031-01-01", false).unwrap_err();
    assert!(unknown.is_of_the_request(), "{unknown}");
    assert!(
        unknown
            .to_string()
            .starts_with("no revision `2031-01-01`\n  known: "),
        "{unknown}"
    );
}
