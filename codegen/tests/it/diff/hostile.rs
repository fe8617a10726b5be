//! Input that is no schema, or one that was made to hurt: a clear error or an answer, never a panic.

use mcp_revisions_diff::{ChangeLevel, compare, pattern_texts};
use mcp_revisions_schema::Error;
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

fn open(schema: &Value) -> mcp_revisions_diff::ComparedSide {
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
        diff.uncompared
            .iter()
            .any(|told| told.contains("more wire paths")),
        "{:?}",
        diff.uncompared
    );
}

/// Definitions in a row, each of them in the one before it: `of` makes one around the next.
fn row_of(count: usize, last: Value, of: impl Fn(Value) -> Value) -> Value {
    with_definitions((0..=count).map(|index| {
        let definition = if index == count {
            last.clone()
        } else {
            of(json!({"$ref": format!("#/$defs/D{}", index + 1)}))
        };
        (format!("D{index}"), definition)
    }))
}

#[test]
fn wire_paths_of_any_length_are_cut_and_said_to_be() {
    let all = |more: &[&str]| {
        row_of(1_800, json!({"type": "string"}), |next| {
            let mut members = json!({"next": next});
            for name in more {
                members[*name] = json!({"type": "string"});
            }
            json!({"type": "object", "properties": members})
        })
    };
    let diff = compare(&open(&all(&[])), &open(&all(&["more"])));
    let paths = diff.rows.iter().flat_map(|row| &row.paths);
    let length: usize = paths.map(|path| path.path().matches('.').count()).sum();
    assert!(length > 500_000 && length <= 1_000_000, "{length}");
    let is_said = |note: &String| note.contains("more wire paths");
    assert!(diff.uncompared.iter().any(is_said), "{:?}", diff.uncompared);
}

#[test]
fn the_paths_of_many_changes_of_one_object_are_cut_together() {
    let wide = |more: usize| {
        let members = (0..more).map(|at| (format!("m{at}"), json!({"type": "string"})));
        let members: serde_json::Map<String, Value> = members.collect();
        let last = json!({"type": "object", "properties": members});
        row_of(
            12,
            last,
            |next| json!({"type": "object", "properties": {"left": next, "right": next}}),
        )
    };
    let diff = compare(&open(&wide(1)), &open(&wide(101)));
    let paths: usize = diff.rows.iter().map(|row| row.paths.len()).sum();
    assert!(diff.rows.len() == 100 && paths < 60_000, "{paths}");
}

/// Many members that must be there all at once, in one object or one in each of many, are texts that grow with their number: not
/// each text with all of them.
#[test]
fn texts_about_many_required_members_grow_as_their_number() {
    let text = json!({"type": "string"});
    let object = |members: Vec<(String, Value)>, is_required: bool| {
        let names: Vec<&String> = members.iter().map(|(name, _)| name).collect();
        let required = if is_required { json!(names) } else { json!([]) };
        let properties: serde_json::Map<String, Value> = members.iter().cloned().collect();
        json!({"type": "object", "properties": properties, "required": required})
    };
    let in_one = |count: usize, is_new: bool| {
        let members = (0..count).map(|at| (format!("m{at}"), text.clone()));
        with_definitions([("D0".to_owned(), object(members.collect(), is_new))])
    };
    let in_each = |count: usize, is_new: bool| {
        let name = |at: usize| format!("T{at}");
        let types = (0..count).map(|at| {
            (
                name(at),
                object(vec![(format!("m{at}"), text.clone())], is_new),
            )
        });
        let holds = (0..count).map(|at| {
            let target = json!({"$ref": format!("#/$defs/{}", name(at))});
            (format!("t{at}"), target)
        });
        let all = ("D0".to_owned(), object(holds.collect(), true));
        with_definitions(types.chain([all]))
    };
    type Side<'s> = &'s dyn Fn(usize, bool) -> Value;
    for (what, side) in [("one", &in_one as Side<'_>), ("each", &in_each as Side<'_>)] {
        let length = |count: usize| {
            let [old, new] = [false, true].map(|is_new| open(&side(count, is_new)));
            let diff = compare(&old, &new);
            assert_eq!(diff.rows.len(), count, "{what}");
            let texts = diff.rows.iter().flat_map(|row| &row.witnesses);
            texts.map(|one| one.json.to_string().len()).sum::<usize>() / count
        };
        let (small, large) = (length(100), length(400));
        // The sender itself must say each of the types, be it empty.
        let own = if what == "each" {
            400 * "\"t100\":{},".len()
        } else {
            0
        };
        assert!(
            large < 2 * small + own,
            "{what}: {small} and {large} letters a row"
        );
    }
}

/// Each of n changes of one message would show all n: of a hundred times the parts, ten thousand times the text.
#[test]
fn texts_and_schemas_of_many_changes_of_one_message_are_cut_and_said_to_be() {
    let of = |kind: &str, values: usize| {
        let members = (0..600).map(|at| (format!("m{at}"), json!({"type": kind})));
        let mut members: serde_json::Map<String, Value> = members.collect();
        let required: Vec<String> = members.keys().cloned().collect();
        let values: Vec<String> = (0..values).map(|at| format!("value {at}")).collect();
        members.insert("kind".to_owned(), json!({"enum": values}));
        with_definitions([(
            "D0".to_owned(),
            json!({"type": "object", "properties": members, "required": required}),
        )])
    };
    let diff = compare(&open(&of("string", 1)), &open(&of("integer", 900)));
    assert_eq!(diff.rows.len(), 600 + 899);
    let breaks = diff
        .rows
        .iter()
        .filter(|row| !row.verdicts.old_to_new.valid);
    assert_eq!(breaks.count(), 600);
    let length = mcp_revisions_diff::render::json::diff(&diff).unwrap().len();
    assert!(length < 24 << 20, "{length}");
    let is_said = |note: &String| note.contains("texts and schemas of rows are left out");
    assert!(diff.notes.iter().any(is_said), "{:?}", diff.notes);
}

#[test]
fn a_list_of_itself_without_a_name_is_shown() {
    let with = |list: Value| {
        with_definitions([
            (
                "D0".to_owned(),
                json!({"type": "object", "properties": list}),
            ),
            (
                "A".to_owned(),
                json!({"type": "array", "items": {"$ref": "#/$defs/A", "deprecated": true}}),
            ),
        ])
    };
    let new = with(json!({"list": {"$ref": "#/$defs/A"}}));
    let diff = compare(&open(&with(json!({}))), &open(&new));
    let view = diff.rows[0].after.as_ref().unwrap();
    assert_eq!(view.text, "A");
    assert!(view.outline.ends_with("[]"), "{}", view.outline);
}

#[test]
fn a_shape_of_many_of_itself_is_shown_in_part() {
    let with = |more: Value| {
        let again = json!({"$ref": "#/$defs/Wide", "deprecated": true});
        let members = (0..100).map(|at| (format!("m{at}"), again.clone()));
        let members: serde_json::Map<String, Value> = members.collect();
        let lists =
            json!([{"type": "array", "items": {"$ref": "#/$defs/Lists", "deprecated": true}}]);
        with_definitions([
            (
                "D0".to_owned(),
                json!({"type": "object", "properties": more}),
            ),
            (
                "Wide".to_owned(),
                json!({"type": "object", "properties": members}),
            ),
            (
                "Lists".to_owned(),
                json!({"anyOf": [lists[0], {"type": "array", "items": lists[0]}]}),
            ),
        ])
    };
    let new = with(json!({"wide": {"$ref": "#/$defs/Wide"}, "lists": {"$ref": "#/$defs/Lists"}}));
    let diff = compare(&open(&with(json!({}))), &open(&new));
    assert_eq!(diff.rows.len(), 2, "{:?}", diff.rows);
    for row in &diff.rows {
        let outline = &row.after.as_ref().unwrap().outline;
        assert!(
            outline.contains('…') && outline.len() < 100_000,
            "{}",
            outline.len()
        );
    }
}

#[test]
fn a_pattern_that_repeats_nothing_ends() {
    for pattern in ["((a?){1000000000}){1000000000}", "(a{0}){4000000000}"] {
        assert!(pattern_texts(pattern).len() <= 1, "{pattern}");
    }
    assert_eq!(pattern_texts("^(ab?){2}$")[0], "aa");
}

#[test]
fn a_value_that_is_too_large_to_be_made_is_not_tried() {
    let branches = |next: Value| json!({"type": "object", "required": ["a", "b", "c"], "properties": {"a": next, "b": next, "c": next}});
    let lists = |next: Value| json!({"type": "array", "minItems": 60, "items": next});
    let all: [&dyn Fn(Value) -> Value; 2] = [&branches, &lists];
    for of in all {
        let row = |last: &str| open(&row_of(20, json!({"type": last}), of));
        let diff = compare(&row("string"), &row("integer"));
        assert_eq!(diff.rows.len(), 1);
        assert_eq!(diff.rows[0].level, ChangeLevel::Risky);
    }
    // What is small is made.
    let row = |last: &str| open(&row_of(3, json!({"type": last}), branches));
    let diff = compare(&row("string"), &row("integer"));
    assert_eq!(diff.rows[0].level, ChangeLevel::Breaking);
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
