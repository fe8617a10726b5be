//! What a new receiver may refuse is never told as compatible: every keyword that can refuse, judged by another validator.

use mcp_schema::diff::{Level, Side, compare};
use serde_json::{Value, json};

use super::witnesses::{Judge, check};
use super::{newest, schema, sources};

/// A member before and after, and a value that only the first admits.
struct Drift {
    name: &'static str,
    old: Value,
    new: Value,
    refused: Value,
}

fn drifts() -> Vec<Drift> {
    let drift = |name, old, new, refused| Drift {
        name,
        old,
        new,
        refused,
    };
    let object = |keyword: &str, value: Value| {
        json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
            keyword: value,
        })
    };
    let open = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
    });
    let list = |keyword: &str, value: Value| json!({"type": "array", keyword: value});
    let any_list = json!({"type": "array"});
    let text = json!({"type": "string"});
    let number = json!({"type": "number"});
    vec![
        drift(
            "dependentRequired",
            open.clone(),
            object("dependentRequired", json!({"a": ["b"]})),
            json!({"a": "x"}),
        ),
        drift(
            "dependentRequired of strangers",
            open.clone(),
            object("dependentRequired", json!({"c": ["d"]})),
            json!({"c": 1}),
        ),
        drift(
            "dependentSchemas",
            open.clone(),
            object("dependentSchemas", json!({"a": {"required": ["b"]}})),
            json!({"a": "x"}),
        ),
        drift(
            "dependentSchemas of a value",
            open.clone(),
            object(
                "dependentSchemas",
                json!({"a": {"properties": {"b": {"minimum": 5}}}}),
            ),
            json!({"a": "x", "b": 1}),
        ),
        drift(
            "unevaluatedProperties",
            open.clone(),
            object("unevaluatedProperties", json!(false)),
            json!({"c": 1}),
        ),
        drift(
            "unevaluatedProperties of a kind",
            open.clone(),
            object("unevaluatedProperties", json!({"type": "string"})),
            json!({"c": 1}),
        ),
        drift(
            "if/then",
            open.clone(),
            {
                let mut new = object(
                    "if",
                    json!({"properties": {"a": {"const": "on"}}, "required": ["a"]}),
                );
                new["then"] = json!({"required": ["b"]});
                new
            },
            json!({"a": "on"}),
        ),
        drift(
            "if/else",
            open.clone(),
            {
                let mut new = object("if", json!({"required": ["a"]}));
                new["else"] = json!({"required": ["b"]});
                new
            },
            json!({}),
        ),
        drift(
            "not",
            open.clone(),
            object("not", json!({"required": ["a", "b"]})),
            json!({"a": "x", "b": 1}),
        ),
        drift(
            "not of a value",
            text.clone(),
            json!({"type": "string", "not": {"const": "never"}}),
            json!("never"),
        ),
        drift(
            "not of a kind",
            json!({}),
            json!({"not": {"type": "null"}}),
            json!(null),
        ),
        drift(
            "propertyNames",
            open.clone(),
            object("propertyNames", json!({"pattern": "^[a-z]+$"})),
            json!({"A B": 1}),
        ),
        drift(
            "propertyNames by length",
            open.clone(),
            object("propertyNames", json!({"maxLength": 3})),
            json!({"abcd": 1}),
        ),
        drift(
            "propertyNames of a few",
            open.clone(),
            object("propertyNames", json!({"enum": ["a", "b"]})),
            json!({"c": 1}),
        ),
        drift(
            "maxProperties",
            open.clone(),
            object("maxProperties", json!(1)),
            json!({"a": "x", "b": 1}),
        ),
        drift(
            "maxProperties of many",
            open.clone(),
            object("maxProperties", json!(7)),
            json!({"1": 1, "2": 1, "3": 1, "4": 1, "5": 1, "6": 1, "7": 1, "8": 1}),
        ),
        drift(
            "minProperties",
            open.clone(),
            object("minProperties", json!(2)),
            json!({}),
        ),
        drift(
            "patternProperties",
            open.clone(),
            object("patternProperties", json!({"^x-": {"type": "string"}})),
            json!({"x-a": 1}),
        ),
        drift(
            "patternProperties beside additionalProperties",
            {
                let mut old = object("patternProperties", json!({"^x-": true}));
                old["additionalProperties"] = json!(false);
                old
            },
            {
                let mut new = object("patternProperties", json!({"^x-": {"type": "string"}}));
                new["additionalProperties"] = json!(false);
                new
            },
            json!({"x-a": 1}),
        ),
        drift(
            "contains",
            any_list.clone(),
            list("contains", json!({"type": "integer"})),
            json!([]),
        ),
        drift(
            "minContains",
            list("contains", json!({"type": "integer"})),
            {
                let mut new = list("contains", json!({"type": "integer"}));
                new["minContains"] = json!(2);
                new
            },
            json!([1]),
        ),
        drift(
            "maxContains",
            list("contains", json!({"type": "integer"})),
            {
                let mut new = list("contains", json!({"type": "integer"}));
                new["maxContains"] = json!(1);
                new
            },
            json!([1, 2]),
        ),
        drift(
            "uniqueItems",
            any_list.clone(),
            list("uniqueItems", json!(true)),
            json!([1, 1]),
        ),
        drift(
            "prefixItems",
            any_list.clone(),
            list("prefixItems", json!([{"type": "string"}])),
            json!([1]),
        ),
        drift(
            "prefixItems beside items",
            list("items", json!({"type": ["string", "integer"]})),
            {
                let mut new = list("items", json!({"type": ["string", "integer"]}));
                new["prefixItems"] = json!([{"type": "string"}]);
                new
            },
            json!([1]),
        ),
        drift(
            "unevaluatedItems",
            any_list.clone(),
            list("unevaluatedItems", json!(false)),
            json!([1]),
        ),
        drift(
            "maxItems",
            any_list.clone(),
            list("maxItems", json!(1)),
            json!([1, 2]),
        ),
        drift(
            "multipleOf",
            number.clone(),
            json!({"type": "number", "multipleOf": 5}),
            json!(3),
        ),
        drift(
            "multipleOf of another",
            json!({"type": "integer", "multipleOf": 5}),
            json!({"type": "integer", "multipleOf": 10}),
            json!(5),
        ),
        drift(
            "pattern",
            text.clone(),
            json!({"type": "string", "pattern": "^[a-f0-9]{8}$"}),
            json!("x"),
        ),
        drift(
            "another pattern",
            json!({"type": "string", "pattern": "^[a-z]{4}$"}),
            json!({"type": "string", "pattern": "^[0-9]+(-[0-9]+)?$"}),
            json!("abcd"),
        ),
        drift(
            "a narrower pattern",
            json!({"type": "string", "pattern": "^(abc|def)$"}),
            json!({"type": "string", "pattern": "^abc$"}),
            json!("def"),
        ),
        drift(
            "maxLength",
            text.clone(),
            json!({"type": "string", "maxLength": 5000}),
            json!("x".repeat(5001)),
        ),
        drift(
            "minLength",
            text.clone(),
            json!({"type": "string", "minLength": 1}),
            json!(""),
        ),
        drift(
            "const",
            text.clone(),
            json!({"type": "string", "const": "only"}),
            json!("other"),
        ),
        drift(
            "another const",
            json!({"const": "this"}),
            json!({"const": "that"}),
            json!("this"),
        ),
        drift(
            "const of null",
            json!({"const": null}),
            json!({"const": "that"}),
            json!(null),
        ),
        drift(
            "enum beside type",
            json!({"enum": ["a", 1]}),
            json!({"enum": ["a", 1], "type": "string"}),
            json!(1),
        ),
        drift(
            "oneOf",
            json!({"anyOf": [{"type": "integer"}, {"type": "number"}]}),
            json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            json!(1),
        ),
        drift(
            "anyOf beside type",
            open.clone(),
            object("anyOf", json!([{"required": ["a"]}, {"required": ["b"]}])),
            json!({}),
        ),
        drift(
            "allOf that cannot be joined",
            open.clone(),
            object(
                "allOf",
                json!([{"not": {"required": ["a"]}}, {"maxProperties": 3}]),
            ),
            json!({"a": "x"}),
        ),
        drift(
            "two patterns",
            json!({"type": "string", "pattern": "^a"}),
            json!({"allOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "b$"}]}),
            json!("a"),
        ),
        drift(
            "limits of joined objects",
            json!({"allOf": [{"type": "object", "properties": {"a": {}}}]}),
            json!({"allOf": [{"type": "object", "properties": {"a": {}}, "maxProperties": 1}, {"type": "object", "properties": {"b": {}}}]}),
            json!({"a": 1, "b": 1}),
        ),
        drift(
            "limits beside $ref",
            json!({"$ref": "#/$defs/Cursor"}),
            json!({"$ref": "#/$defs/Cursor", "maxLength": 3}),
            json!("abcd"),
        ),
        drift(
            "$ref to a place",
            text.clone(),
            json!({"$ref": "#/$defs/Icon/properties/theme"}),
            json!("neither"),
        ),
        drift(
            "type of what had none",
            json!({"properties": {"a": {}}}),
            json!({"type": "object", "properties": {"a": {}}}),
            json!("x"),
        ),
        drift(
            "items of what had no type",
            json!({}),
            json!({"items": {"type": "string"}}),
            json!([1]),
        ),
        drift(
            "additionalProperties of what had no type",
            json!({}),
            json!({"additionalProperties": false}),
            json!({"a": 1}),
        ),
        drift(
            "a schema that is false",
            open.clone(),
            {
                let mut new = open.clone();
                new["properties"]["a"] = json!(false);
                new
            },
            json!({"a": "x"}),
        ),
        drift(
            "a limit of several kinds",
            json!({"type": ["string", "object"]}),
            json!({"type": ["string", "object"], "minLength": 2}),
            json!("x"),
        ),
        drift(
            "a limit of a union",
            json!({"anyOf": [{"type": "string"}, {"type": "object"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "object"}], "minLength": 2}),
            json!("x"),
        ),
    ]
}

/// The newest release with a member of that kind in a tool.
fn with_probe(probe: &Value) -> Value {
    let mut schema = schema(newest());
    schema["$defs"]["Tool"]["properties"]["probe"] = probe.clone();
    schema
}

fn open(name: &str, schema: &Value) -> Side {
    sources().of_text(name, &schema.to_string(), true).unwrap()
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
    for Drift {
        name,
        old,
        new,
        refused,
    } in drifts()
    {
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
            if !refused || diff.summary().wire != Some(Level::Breaking) {
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

/// A keyword that is not known here may refuse anything to whoever knows it.
#[test]
fn a_keyword_that_is_not_understood_is_told() {
    let text = json!({"type": "string"});
    for (keyword, value) in [
        ("x-alphabet", json!("latin")),
        ("$dynamicRef", json!("#node")),
    ] {
        let mut new = text.clone();
        new[keyword] = value;
        let diff = compare(
            &open("old.json", &with_probe(&text)),
            &open("new.json", &with_probe(&new)),
        );
        let [row] = diff.rows.as_slice() else {
            panic!("{keyword}: {:?}", diff.rows);
        };
        assert_eq!(row.subject.as_deref(), Some(keyword));
        assert_eq!(row.level, Level::Risky, "{keyword}");
        let after = &row.after.as_ref().unwrap().text;
        assert!(after.contains("not understood"), "{after}");
    }
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
            .all(|row| row.level == Level::Representation),
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
        diff.rows.iter().all(|row| row.level >= Level::Risky),
        "{:?}",
        diff.rows
    );
    assert!(!diff.rows.is_empty());
}
