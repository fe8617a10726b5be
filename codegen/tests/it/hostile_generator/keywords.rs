//! Keywords that are unknown, in odd company, or in odd places.

use serde_json::{Value, json};

use crate::hostile_generator::{generated, object, reference, refused_at, string};

#[test]
fn unknown_keywords() {
    let beside = |keyword: &str, value: Value| {
        let mut schema = json!({"type": "string"});
        schema[keyword] = value;
        json!({"A": object(&[("x", schema)], &[])})
    };
    for (keyword, value) in [("wibble", json!(1)), ("$anchor", json!("a"))] {
        let place = format!("/$defs/A/properties/x/{keyword}");
        let says = format!("found the keyword `{keyword}`");
        let definitions = beside(keyword, value);
        refused_at(&definitions, &place, &says);
        refused_at(
            &definitions,
            &place,
            "teach codegen/src/schema/parse.rs what it means",
        );
    }
    let dynamic = beside("$dynamicRef", json!("#a"));
    let place = "/$defs/A/properties/x/$dynamicRef";
    refused_at(&dynamic, place, "found the keyword `$dynamicRef`");
    // What only limits a value is a limit, documented and compared like any other.
    for (keyword, value) in [
        ("if", string()),
        ("not", string()),
        ("patternProperties", json!({"^a": string()})),
        ("prefixItems", json!([string()])),
        ("contentEncoding", json!("base64")),
    ] {
        let made = generated(&beside(keyword, value)).unwrap();
        assert!(made.decisions.is_empty(), "{keyword}");
    }
    let at_the_top = json!({"$schema": crate::hostile_generator::DIALECT, "$defs": {"A": string()}, "type": "object"});
    let said = crate::hostile_generator::strictly(
        &crate::hostile_generator::from_text(&at_the_top.to_string()).unwrap(),
    );
    assert!(said.contains("found the keyword `type`"), "{said}");
}

#[test]
fn keywords_of_which_one_would_be_passed_over() {
    let rows: &[(Value, &str)] = &[
        (
            json!({"$ref": "#/$defs/B", "type": "object"}),
            "`$ref` alone",
        ),
        (
            json!({"$ref": "#/$defs/B", "required": ["b"]}),
            "`$ref` alone",
        ),
        (
            json!({"$ref": "#/$defs/B", "anyOf": [string()]}),
            "`$ref` alone",
        ),
        (
            json!({"$ref": "#/$defs/B", "allOf": [object(&[], &[])]}),
            "`$ref` alone",
        ),
        (json!({"$ref": "#/$defs/B", "const": "x"}), "`$ref` alone"),
        (json!({"$ref": "#/$defs/B", "enum": ["x"]}), "`$ref` alone"),
        (
            json!({"$ref": "#/$defs/B", "additionalProperties": false}),
            "`$ref` alone",
        ),
        (
            json!({"anyOf": [string()], "type": "object"}),
            "`anyOf` or `oneOf` alone",
        ),
        (
            json!({"oneOf": [string()], "required": ["b"]}),
            "`anyOf` or `oneOf` alone",
        ),
        (
            json!({"anyOf": [string()], "properties": {"b": string()}}),
            "`anyOf` or `oneOf` alone",
        ),
        (
            json!({"anyOf": [string()], "allOf": [string()]}),
            "`anyOf` or `oneOf` alone",
        ),
        (
            json!({"type": "string", "properties": {"b": string()}}),
            "beside `type: object` alone",
        ),
        (
            json!({"type": "array", "required": ["b"]}),
            "beside `type: object` alone",
        ),
        (
            json!({"type": ["object", "string"], "required": ["b"]}),
            "beside `type: object` alone",
        ),
        (
            json!({"type": "string", "additionalProperties": false}),
            "beside `type: object` alone",
        ),
        (
            json!({"type": "object", "items": string()}),
            "`items` beside `type: array` alone",
        ),
        (
            json!({"items": string()}),
            "`items` beside `type: array` alone",
        ),
        (
            json!({"type": "integer", "const": "5"}),
            "a `const` of [Integer], found \"5\"",
        ),
        (
            json!({"type": "string", "const": null}),
            "a `const` of [String], found null",
        ),
    ];
    for (schema, says) in rows {
        let b = object(&[("b", string())], &[]);
        refused_at(&json!({"A": schema, "B": b}), "/$defs/A", says);
    }
    // Prose, limits and defaults may stand beside anything.
    for fine in [
        json!({"$ref": "#/$defs/B", "description": "d", "default": {}, "deprecated": true}),
        json!({"anyOf": [string(), {"type": "integer"}], "title": "t", "default": 1}),
        json!({"required": ["b"]}),
        json!({"additionalProperties": string()}),
        json!({"type": ["object", "null"], "properties": {"b": string()}}),
    ] {
        let b = object(&[("b", string())], &[]);
        generated(&json!({"A": fine, "B": b})).unwrap();
    }
}

#[test]
fn values_that_no_keyword_has() {
    for (schema, place, says) in [
        (
            json!({"type": "any"}),
            "/type",
            "a JSON type name, found \"any\"",
        ),
        (json!({"type": []}), "/type", "at least one JSON type name"),
        (json!({"type": 5}), "/type", "expected a list, found 5"),
        (
            json!({"type": ["string", 5]}),
            "/type",
            "expected a list of text",
        ),
        (
            json!({"type": ["string", "string"]}),
            "/type",
            "each item once",
        ),
        (
            json!({"type": "null"}),
            "",
            "a schema that says more than `null`",
        ),
        (
            json!({"properties": []}),
            "/properties",
            "an object of schemas",
        ),
        (json!({"properties": {"x": 5}}), "/properties/x", "a schema"),
        (
            json!({"properties": {"x": null}}),
            "/properties/x",
            "a schema",
        ),
        (json!({"required": "x"}), "/required", "a list"),
        (
            json!({"type": "object", "required": ["x", "x"]}),
            "/required",
            "each item once",
        ),
        (
            json!({"anyOf": []}),
            "/anyOf",
            "a list of schemas, not empty",
        ),
        (
            json!({"allOf": {}}),
            "/allOf",
            "a list of schemas, not empty",
        ),
        (json!({"enum": []}), "", "an `enum` of strings, found []"),
        (json!({"enum": "a"}), "/enum", "a list"),
        (json!({"enum": ["a", 1]}), "", "an `enum` of strings"),
        (
            json!({"enum": [1, 2], "type": "integer"}),
            "",
            "an `enum` of strings",
        ),
        (json!({"enum": ["a", null]}), "", "an `enum` of strings"),
        (json!({"enum": ["a", "a"]}), "/enum", "each item once"),
        (
            json!({"const": [5]}),
            "",
            "a constant that is a string, a number or a boolean",
        ),
        (
            json!({"items": [string()], "type": "array"}),
            "/items",
            "one schema for all items",
        ),
        (json!({"description": 5}), "/description", "text"),
        (
            json!({"exclusiveMinimum": true, "type": "number"}),
            "/exclusiveMinimum",
            "a number",
        ),
        (json!({"$id": "x", "type": "string"}), "/$id", "no `$id`"),
    ] {
        let place = format!("/$defs/A{place}");
        refused_at(&json!({"A": schema}), &place, says);
    }
    for value in [json!({"a": 1}), json!(null)] {
        let member = object(&[("x", json!({"const": value}))], &["x"]);
        let says = "a constant that is a string, a number or a boolean";
        refused_at(&json!({"A": member}), "/$defs/A/properties/x", says);
    }
}

#[test]
fn boolean_schemas() {
    let any = json!({"A": true, "B": object(&[("x", json!(true)), ("y", json!(true))], &["x"])});
    let generated = generated(&any).unwrap();
    let text = &generated.files["src/messages.rs"];
    assert!(text.contains("pub type A = Json;"), "{text}");
    assert!(text.contains("pub x: Json,"), "{text}");
    assert!(text.contains("pub y: Option<Json>,"), "{text}");
    for (schema, place) in [
        (json!(false), ""),
        (object(&[("x", json!(false))], &[]), "/properties/x"),
        (json!({"type": "array", "items": false}), "/items"),
        (json!({"anyOf": [string(), false]}), "/anyOf/1"),
        (json!({"allOf": [false]}), "/allOf/0"),
    ] {
        let place = format!("/$defs/A{place}");
        refused_at(
            &json!({"A": schema}),
            &place,
            "a schema object, found `false`",
        );
    }
}

#[test]
fn all_of_that_cannot_be_joined() {
    let says = "schemas of `allOf` that the generator can join";
    for (left, right) in [
        (string(), json!({"type": "integer"})),
        (string(), object(&[("x", string())], &[])),
        (json!({"enum": ["a"]}), json!({"enum": ["b"]})),
    ] {
        refused_at(&json!({"A": {"allOf": [left, right]}}), "/$defs/A", says);
    }
    let x = |schema: Value| object(&[("x", schema)], &[]);
    let clash = json!({"A": {"allOf": [x(string()), x(json!({"type": "integer"}))]}});
    refused_at(&clash, "/$defs/A/allOf/0/properties/x", says);
    let rests = json!({"A": {"allOf": [
        {"type": "object", "additionalProperties": string()},
        {"type": "object", "additionalProperties": {"type": "integer"}},
    ]}});
    refused_at(
        &rests,
        "/$defs/A/allOf/0/additionalProperties",
        "one schema for further members",
    );
    generated(&json!({"A": {"allOf": [x(string()), reference("B")]}, "B": x(string())})).unwrap();
}
