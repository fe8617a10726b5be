//! What a new receiver may refuse is never told as compatible: every keyword that can refuse, judged by another validator.

use mcp_revisions_diff::render::{change_line, verdict_word};
use mcp_revisions_diff::{ChangeKind, ChangeLevel, ComparedSide, DiffRow, compare};
use serde::Deserialize;
use serde_json::{Value, json};

use super::witnesses::{Judge, check};
use super::{latest, opened, schema};
use crate::changes::{json as parsed, read};

#[derive(Deserialize)]
struct File {
    of: Vec<Drift>,
    told: Vec<Told>,
}

/// What a member says before, and what it says after with all that is reported of that.
#[derive(Deserialize)]
struct Told {
    old: String,
    new: Vec<Vec<String>>,
}

/// What a member says before, what it says after, and values that only the first admits.
#[derive(Deserialize)]
struct Drift {
    old: String,
    /// What the new one says more.
    #[serde(default)]
    more: Vec<[String; 2]>,
    /// All that the new one says.
    #[serde(default)]
    new: Vec<[String; 2]>,
}

/// A member before and after, and a value that only the first admits.
fn drifts() -> Vec<[Value; 3]> {
    let mut all = Vec::new();
    for Drift { old, more, new } in read::<File>("drift").of {
        let old = parsed(&old);
        for [more, refused] in more {
            let mut new = old.clone();
            let more = parsed(&more).as_object().cloned().unwrap();
            new.as_object_mut().unwrap().extend(more);
            all.push([old.clone(), new, parsed(&refused)]);
        }
        for [new, refused] in new {
            all.push([old.clone(), parsed(&new), parsed(&refused)]);
        }
    }
    // A text that is too long to be written down.
    let long = json!({"type": "string", "maxLength": 5000});
    all.push([json!({"type": "string"}), long, json!("x".repeat(5001))]);
    all
}

/// The latest release with a member of that kind in a tool.
fn with_probe(probe: &Value) -> Value {
    let mut schema = schema(latest());
    schema["$defs"]["Tool"]["properties"]["probe"] = probe.clone();
    schema
}

fn open(name: &str, schema: &Value) -> ComparedSide {
    opened(name, schema, true)
}

/// Whether a schema admits a tool with that probe, as the validator sees it.
fn admits(schema: &Value, probe: &Value) -> bool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": schema["$defs"],
        "$ref": "#/$defs/Tool/properties/probe",
    });
    jsonschema::validator_for(&schema).unwrap().is_valid(probe)
}

#[test]
fn what_a_new_receiver_refuses_is_breaking_and_shown() {
    let mut judge = Judge::default();
    let mut wrong = Vec::new();
    for [old, new, refused] in drifts() {
        let name = &new;
        let (before, after) = (with_probe(&old), with_probe(&new));
        assert!(
            admits(&before, &refused) && !admits(&after, &refused),
            "{name}: the case itself is wrong"
        );
        let (left, right) = (open("old.json", &before), open("new.json", &after));
        for (old, new, there) in [(&left, &right, true), (&right, &left, false)] {
            let diff = compare(old, new);
            check(&mut judge, &diff, old, new);
            let refused = diff.rows.iter().any(|row| match there {
                true => !row.verdicts.old_to_new.valid,
                false => !row.verdicts.new_to_old.valid,
            });
            if !refused || diff.summary().wire != Some(ChangeLevel::Breaking) {
                let rows = diff
                    .rows
                    .iter()
                    .map(|row| (row.kind, row.level, &row.subject));
                wrong.push(format!("{name} ({there}): {:?}", rows.collect::<Vec<_>>()));
            }
        }
        judge = Judge::default();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_that_is_told_of_a_change_is_so() {
    let mut judge = Judge::default();
    let mut wrong = Vec::new();
    for Told { old, new } in read::<File>("drift").told {
        let before = open("old.json", &with_probe(&parsed(&old)));
        for new in new {
            let (new, said) = new.split_first().unwrap();
            let after = open("new.json", &with_probe(&parsed(new)));
            let diff = compare(&before, &after);
            check(&mut judge, &diff, &before, &after);
            let told = |row: &DiffRow| {
                let (line, of) = (change_line(row), row.verdicts);
                let [up, down] = [of.old_to_new, of.new_to_old].map(verdict_word);
                format!("{line}, {up} up, {down} down")
            };
            let told: Vec<String> = diff.rows.iter().map(told).collect();
            if told != said {
                wrong.push(format!("{old} -> {new}: {told:#?}"));
            }
            judge = Judge::default();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A small schema whose only message holds a value of this shape.
fn message_of(value: &Value) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "ClientRequest": {"anyOf": [{"$ref": "#/$defs/ProbeRequest"}]},
            "ProbeRequest": {
                "type": "object",
                "properties": {
                    "method": {"const": "probe", "type": "string"},
                    "params": {"type": "object", "properties": {"value": value}, "required": ["value"]},
                },
                "required": ["method", "params"],
            },
        },
    })
}

/// The keywords of 2020-12 that refuse values, with the type that they are tried on and values of each; `null` is none.
const BOUNDS: &[(&str, &str, &str)] = &[
    ("number", "multipleOf", "[0.5, 0.01, 1, 3, 7.5]"),
    ("integer", "multipleOf", "[2, 3, 10]"),
    ("number", "minimum", "[-3, 0, 0.5, 1e300]"),
    ("number", "maximum", "[-3, 0, 0.5, 1e300]"),
    ("number", "exclusiveMinimum", "[-3, 0, 0.5]"),
    ("number", "exclusiveMaximum", "[-3, 0, 0.5]"),
    ("string", "minLength", "[1, 3, 40]"),
    ("string", "maxLength", "[0, 3, 40]"),
    ("string", "pattern", r#"["^a", "b$", "^[0-9]{3}$"]"#),
    ("string", "enum", r#"[["a"], ["a", "b"], ["c"]]"#),
    ("string", "const", r#"["a", "b"]"#),
    ("array", "minItems", "[1, 3, 100]"),
    ("array", "maxItems", "[0, 2, 300]"),
    ("array", "uniqueItems", "[true]"),
    (
        "array",
        "items",
        r#"[false, {"type": "string"}, {"type": "integer"}]"#,
    ),
    (
        "array",
        "prefixItems",
        r#"[[{"type": "string"}], [{"type": "string"}, {"type": "integer"}], [true, true, {"const": 1}]]"#,
    ),
    ("array", "contains", r#"[{"type": "string"}, {"const": 1}]"#),
    (
        "array",
        "unevaluatedItems",
        r#"[false, {"type": "string"}]"#,
    ),
    ("object", "minProperties", "[1, 3]"),
    ("object", "maxProperties", "[0, 2, 50]"),
    ("object", "required", r#"[["a"], ["a", "b"]]"#),
    (
        "object",
        "patternProperties",
        r#"[{"^a": {"type": "string"}}, {"^a": false}]"#,
    ),
    (
        "object",
        "additionalProperties",
        r#"[false, {"type": "string"}]"#,
    ),
    (
        "object",
        "unevaluatedProperties",
        r#"[false, {"type": "string"}]"#,
    ),
    (
        "object",
        "propertyNames",
        r#"[{"maxLength": 1}, {"pattern": "^a"}]"#,
    ),
    (
        "object",
        "dependentRequired",
        r#"[{"a": ["b"]}, {"b": ["a"]}]"#,
    ),
    (
        "object",
        "dependentSchemas",
        r#"[{"a": {"required": ["b"]}}, {"a": {"maxProperties": 1}}]"#,
    ),
    ("integer", "not", r#"[{"const": 3}, {"minimum": 5}]"#),
    (
        "integer",
        "allOf",
        r#"[[{"minimum": 5}], [{"maximum": 2}, {"multipleOf": 2}]]"#,
    ),
    ("integer", "anyOf", r#"[[{"minimum": 5}, {"maximum": 2}]]"#),
    ("integer", "oneOf", r#"[[{"minimum": 5}, {"maximum": 8}]]"#),
];

/// Keywords that mean something beside another one only.
const BESIDE: &[(&str, &str, &str)] = &[
    (
        r#"{"type": "object", "properties": {"a": {"type": "number"}}}"#,
        "properties",
        r#"[{"a": {"type": "string"}}, {"a": {"type": "integer"}}]"#,
    ),
    (
        r#"{"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}]}"#,
        "items",
        r#"[false, null, {"type": "string"}, {"type": "integer"}]"#,
    ),
    (
        r#"{"type": "array", "items": {"type": "string"}}"#,
        "prefixItems",
        r#"[[{"const": "a"}, {"const": "a"}]]"#,
    ),
    (
        r#"{"type": "array", "contains": {"type": "string"}}"#,
        "minContains",
        "[0, 2, 3]",
    ),
    (
        r#"{"type": "array", "contains": {"type": "string"}}"#,
        "maxContains",
        "[1, 2, 3]",
    ),
    (
        r#"{"type": "integer", "if": {"minimum": 5}}"#,
        "then",
        r#"[{"multipleOf": 2}, {"maximum": 8}]"#,
    ),
    (
        r#"{"type": "integer", "if": {"minimum": 5}}"#,
        "else",
        r#"[{"multipleOf": 2}, {"minimum": 0}]"#,
    ),
];

/// Values of every kind, with those at the ends of what the keywords above take.
fn every_value() -> Vec<Value> {
    let mut all = vec![
        json!(true),
        json!(null),
        json!(1e300),
        json!(1e308),
        json!("123"),
        json!("ab"),
        json!("cb"),
    ];
    all.extend((-8..24).flat_map(|half| {
        [
            json!(half),
            json!(f64::from(half) / 4.0),
            json!(f64::from(half) / 200.0),
        ]
    }));
    all.extend((0..45).map(|length| json!("a".repeat(length))));
    let kinds = [json!("a"), json!(1), json!(null)];
    for count in [0, 1, 2, 3, 4, 99, 100, 300, 301] {
        all.extend(
            kinds
                .iter()
                .map(|kind| Value::Array(vec![kind.clone(); count])),
        );
        all.push(json!((0..count).collect::<Vec<_>>()));
    }
    for list in [
        "[\"a\",1]",
        "[\"a\",\"a\",1]",
        "[1,\"a\"]",
        "[\"a\",1,1]",
        "[1,1,1,\"a\"]",
    ] {
        all.push(serde_json::from_str(list).unwrap());
    }
    for count in [0, 1, 2, 3, 4, 50, 51] {
        let named =
            |name: &dyn Fn(usize) -> String| (0..count).map(|at| (name(at), json!("a"))).collect();
        all.push(Value::Object(named(&|at| format!("k{at}"))));
        all.push(Value::Object(named(&|at| {
            ["a", "b", "c", "d"]
                .get(at)
                .map_or(format!("z{at}"), |name| (*name).to_owned())
        })));
    }
    all.extend([
        json!({"a": 1}),
        json!({"b": "a"}),
        json!({"ab": 1}),
        json!({"b": 1, "c": 1}),
    ]);
    all
}

/// Each keyword is tried at its boundary on both sides, and an independent validator says whether there is a value that one
/// side sends and the other refuses.
#[test]
fn a_value_beyond_the_boundary_of_any_keyword_is_found() {
    let values = every_value();
    let of_types = BOUNDS
        .iter()
        .map(|(kind, keyword, bounds)| (json!({"type": kind}), *keyword, *bounds));
    let beside = BESIDE
        .iter()
        .map(|(base, keyword, bounds)| (serde_json::from_str(base).unwrap(), *keyword, *bounds));
    let (mut tried, mut wrong) = (0, Vec::new());
    for (base, keyword, bounds) in of_types.chain(beside) {
        let bounds: Vec<Value> = serde_json::from_str(bounds).unwrap();
        let with = |bound: &Value| {
            let mut schema: Value = base.clone();
            schema[keyword] = bound.clone();
            schema
        };
        let is_bound = |bound: &&Value| !bound.is_null();
        let shapes: Vec<Value> = [base.clone()]
            .into_iter()
            .chain(bounds.iter().filter(is_bound).map(with))
            .collect();
        for (old, new) in shapes
            .iter()
            .flat_map(|old| shapes.iter().map(move |new| (old, new)))
        {
            let judges = [old, new].map(|shape| jsonschema::draft202012::new(shape).unwrap());
            let sides = [("old.json", old), ("new.json", new)]
                .map(|(name, shape)| open(name, &message_of(shape)));
            let diff = compare(&sides[0], &sides[1]);
            check(&mut Judge::default(), &diff, &sides[0], &sides[1]);
            for (sender, receiver) in [(0, 1), (1, 0)] {
                let tells = |value: &&Value| {
                    judges[sender].is_valid(value) && !judges[receiver].is_valid(value)
                };
                let is_refused = |row: &DiffRow| {
                    ![row.verdicts.old_to_new, row.verdicts.new_to_old][sender].valid
                };
                tried += 1;
                if let Some(value) = values.iter().find(tells)
                    && !diff.rows.iter().any(is_refused)
                {
                    wrong.push(format!("{old} to {new}, sender {sender}: {value}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {tried}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// What admits no value any more is narrower, and told once.
#[test]
fn a_schema_that_admits_nothing_is_narrower_than_any_other() {
    let [some, none] = [json!({"type": "string"}), json!(false)].map(|items| {
        let list = json!({"type": "array", "items": items});
        open("list.json", &message_of(&list))
    });
    let kinds = |old, new| -> Vec<ChangeKind> {
        let rows = compare(old, new).rows;
        rows.iter().map(|row| row.kind).collect()
    };
    assert_eq!(kinds(&some, &none), [ChangeKind::TypeNarrowed]);
    assert_eq!(kinds(&none, &some), [ChangeKind::TypeWidened]);
}

/// The diff passes over keywords that constrain other kinds of values, and keywords that JSON Schema does not have.
#[test]
fn a_keyword_that_says_nothing_is_no_change() {
    for (shape, keyword, value) in [
        (json!({"type": "number"}), "minItems", json!(1)),
        (json!({"type": "string"}), "nullable", json!(true)),
        (json!({"type": "string"}), "x-vendor", json!({"a": 1})),
        (json!({"type": "array"}), "minLength", json!(4)),
        (json!({"type": "array"}), "minContains", json!(2)),
        (json!({"type": "object"}), "uniqueItems", json!(true)),
        (
            json!({"type": "string"}),
            "dependentRequired",
            json!({"a": ["b"]}),
        ),
        (json!({"type": "string"}), "then", json!({"maxLength": 1})),
        (json!({"type": "string"}), "if", json!({"maxLength": 1})),
        (json!({"type": "string"}), "allOf", json!([{}, true])),
    ] {
        let mut new = shape.clone();
        new[keyword] = value;
        let diff = compare(
            &open("old.json", &message_of(&shape)),
            &open("new.json", &message_of(&new)),
        );
        assert!(diff.rows.is_empty(), "{new}: {:?}", diff.rows);
    }
}

/// The diff reports a keyword that it does not know: a receiver that knows it may refuse any value.
#[test]
fn a_keyword_that_is_not_understood_is_told() {
    let text = json!({"type": "string"});
    let keyword = "$dynamicRef";
    let mut new = text.clone();
    new[keyword] = json!("#node");
    let diff = compare(
        &open("old.json", &with_probe(&text)),
        &open("new.json", &with_probe(&new)),
    );
    let [row] = diff.rows.as_slice() else {
        panic!("{keyword}: {:?}", diff.rows);
    };
    assert_eq!(row.subject.as_deref(), Some(keyword));
    assert_eq!(row.level, ChangeLevel::Risky, "{keyword}");
    let after = &row.after.as_ref().unwrap().text;
    assert!(after.contains("not understood"), "{after}");
}

/// What stands within such a keyword is compared wherever it stands.
#[test]
fn a_definition_that_a_not_refers_to_is_compared() {
    let probe = json!({"type": "object", "not": {"$ref": "#/$defs/Probe"}});
    let with = |definition: Value| {
        let mut schema = with_probe(&probe);
        schema["$defs"]["Probe"] = definition;
        schema
    };
    let old = with(json!({"type": "object", "required": ["a", "b"]}));
    let new = with(json!({"type": "object", "required": ["a"]}));
    assert!(admits(&old, &json!({"a": 1})) && !admits(&new, &json!({"a": 1})));
    let (old, new) = (open("old.json", &old), open("new.json", &new));
    let diff = compare(&old, &new);
    assert_eq!(check(&mut Judge::default(), &diff, &old, &new), 1);
}

/// Names of definitions do not matter within them.
#[test]
fn a_definition_within_a_not_may_be_renamed() {
    let with = |name: &str| {
        let mut schema = with_probe(&json!({"not": {"$ref": format!("#/$defs/{name}")}}));
        schema["$defs"][name] = json!({"type": "object", "required": ["a"]});
        schema
    };
    let diff = compare(
        &open("old.json", &with("Probe")),
        &open("new.json", &with("Sample")),
    );
    assert!(
        diff.rows
            .iter()
            .all(|row| row.level == ChangeLevel::Representation),
        "{:?}",
        diff.rows
    );
}

/// Schemas that refer to themselves end, whatever they say.
#[test]
fn a_not_of_itself_ends() {
    let with = |limit: u32| {
        let mut schema = with_probe(&json!({"$ref": "#/$defs/Probe"}));
        schema["$defs"]["Probe"] = json!({
            "not": {"$ref": "#/$defs/Probe"},
            "allOf": [{"not": {"$ref": "#/$defs/Probe"}}, {"maxLength": limit}],
        });
        schema
    };
    let diff = compare(&open("old.json", &with(1)), &open("new.json", &with(2)));
    assert!(
        diff.rows.iter().all(|row| row.level >= ChangeLevel::Risky),
        "{:?}",
        diff.rows
    );
    assert!(!diff.rows.is_empty());
}
