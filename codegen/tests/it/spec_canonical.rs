//! The canonical form of a schema: what goes, what stays, what is refused.

use crate::says;
use mcp_revisions_schema::prose;
use mcp_revisions_schema::spec::canonical::{canonicalize, to_text};
use mcp_revisions_schema::{Error, FileLocation};
use serde_json::{Value, json};

const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

fn canonical(upstream: &Value) -> Value {
    canonicalize(upstream, "schema.json").unwrap()
}

/// The one definition `A` of a draft-07 schema, in canonical form.
fn definition(schema: Value) -> Value {
    canonical(&json!({"$schema": DRAFT_07, "definitions": {"A": schema}}))["$defs"]["A"].clone()
}

/// Pointer and message of the refusal.
fn refused(dialect: &str, schema: Value) -> (String, String) {
    let upstream =
        json!({"$schema": dialect, "definitions": {"A": schema, "B": {"type": "string"}}});
    match canonicalize(&upstream, "schema.json") {
        Err(Error::Wrong(of)) => match &of.place {
            FileLocation::Pointer(pointer) => (pointer.to_string(), of.to_string()),
            place => panic!("a refusal at {place:?}: {of}"),
        },
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn prose_goes_and_members_named_like_prose_stay() {
    let schema = definition(json!({
        "description": "prose", "title": "prose", "$comment": "prose", "examples": ["prose"],
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "prose"},
            "title": {"type": "string", "default": "x"},
            "examples": {"type": "array", "items": {"type": "string", "title": "prose"}},
            "$comment": true,
        },
        "const": {"description": "data"},
    }));
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "description": {"type": "string"},
                "title": {"type": "string", "default": "x"},
                "examples": {"type": "array", "items": {"type": "string"}},
                "$comment": true,
            },
            "const": {"description": "data"},
        })
    );
}

/// Choices that are joined have other places, and `oneOf` may be `anyOf`.
#[test]
fn prose_is_kept_by_its_place_in_the_canonical_form() {
    let upstream = json!({"$schema": DIALECT, "$defs": {
        "Joined": {"anyOf": [
            {"const": "a", "description": "A"},
            {"const": "b", "description": "B"},
            {"type": "object", "description": "O"},
        ]},
        "Apart": {"oneOf": [
            {"type": "string", "description": "S"},
            {"type": "array", "items": {"type": "string", "description": "I"}},
        ]},
    }});
    let prose = prose::collect(&upstream, &canonical(&upstream));
    let found: Vec<(&str, &str)> = (prose.iter())
        .map(|(place, text)| (place.as_str(), text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("/$defs/Apart/anyOf/0", "S"),
            ("/$defs/Apart/anyOf/1/items", "I")
        ]
    );
}

#[test]
fn lists_without_order_are_sorted_and_the_others_are_not() {
    let schema = definition(json!({
        "required": ["b", "a"],
        "properties": {
            "a": {"type": ["string", "integer", "boolean"]},
            "b": {"enum": ["z", "y", 3]},
            "c": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "d": {"default": ["z", "y"]},
        },
    }));
    assert_eq!(schema["required"], json!(["a", "b"]));
    assert_eq!(
        schema["properties"]["a"]["type"],
        json!(["boolean", "integer", "string"])
    );
    assert_eq!(schema["properties"]["b"]["enum"], json!(["y", "z", 3]));
    assert_eq!(schema["properties"]["c"]["anyOf"][0]["type"], "string");
    assert_eq!(schema["properties"]["d"]["default"], json!(["z", "y"]));
}

/// `"a" | "b"` is written as an `enum` by one tool and as constants by the next.
#[test]
fn strings_to_choose_from_have_one_spelling() {
    let is = |text: &str| json!({"type": "string", "const": text});
    let either = json!({"type": "string", "enum": ["a", "b"]});
    for choices in [
        json!({"anyOf": [is("b"), is("a")]}),
        json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}),
        json!({"type": "string", "anyOf": [{"const": "a"}, {"enum": ["b"]}]}),
    ] {
        assert_eq!(definition(choices), either);
    }
    assert_eq!(
        definition(json!({"default": "a", "anyOf": [is("a"), is("b")]})),
        json!({"type": "string", "enum": ["a", "b"], "default": "a"})
    );
    // Among others, they are one choice.
    let object = json!({"type": "object"});
    assert_eq!(
        definition(json!({"anyOf": [object, is("b"), {"type": "null"}, is("a")]})),
        json!({"anyOf": [object, either, {"type": "null"}]})
    );
    // Beside any string they say nothing.
    let any = json!({"type": "string"});
    assert_eq!(definition(json!({"anyOf": [is("a"), any]})), any);
    // What says something else stays: more about the string, one of two that are the same, another value, another word
    // beside them, exactly one of which neither can be.
    for kept in [
        json!({"anyOf": [is("a"), {"type": "string", "const": "b", "deprecated": true}]}),
        json!({"anyOf": [is("a"), is("a")]}),
        json!({"anyOf": [is("a"), {"const": 1}]}),
        json!({"anyOf": [is("a"), is("b")], "type": "object"}),
        json!({"oneOf": [is("a"), any]}),
        json!({"anyOf": [is("a")]}),
    ] {
        assert_eq!(definition(kept.clone()), kept);
    }
}

#[test]
fn definitions_become_defs_in_places_and_in_references() {
    let upstream = json!({
        "$schema": DRAFT_07,
        "definitions": {
            "A": {"properties": {"definitions": {"type": "object"}}},
            "B": {"$ref": "#/definitions/A", "description": "prose beside a reference"},
            "C": {"$ref": "#/definitions/A/properties/definitions"},
            "D": {"items": {"$ref": "#/definitions/E%3Cstring%3E"}},
            "E<string>": {"type": "string"},
        },
    });
    assert_eq!(
        canonical(&upstream),
        json!({
            "$schema": DIALECT,
            "$defs": {
                "A": {"properties": {"definitions": {"type": "object"}}},
                "B": {"$ref": "#/$defs/A"},
                "C": {"$ref": "#/$defs/A/properties/definitions"},
                "D": {"items": {"$ref": "#/$defs/E%3Cstring%3E"}},
                "E<string>": {"type": "string"},
            },
        })
    );
}

#[test]
fn facts_and_keywords_unknown_here_stay() {
    let facts = json!({
        "default": 3, "deprecated": true, "format": "byte", "readOnly": true, "minimum": 0, "pattern": "^a$",
        "x-unknown": {"title": "not ours to judge"}, "minimumish": 1,
    });
    assert_eq!(definition(facts.clone()), facts);
}

#[test]
fn canonical_in_canonical_out_and_the_text_is_short_lined() {
    let once = canonical(&json!({
        "definitions": {"B": {"type": "string", "enum": ["b", "a"]}, "A": {"properties": {}, "required": []}},
        "$schema": DRAFT_07,
    }));
    assert_eq!(canonical(&once), once);
    let text = to_text(&once);
    assert_eq!(
        text,
        r##"{
  "$defs": {
    "A": {
      "properties": {},
      "required": []
    },
    "B": {
      "enum": ["a", "b"],
      "type": "string"
    }
  },
  "$schema": "https://json-schema.org/draft/2020-12/schema"
}
"##
    );
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), once);
}

#[test]
fn what_changes_its_meaning_between_dialects_is_refused() {
    let cases = [
        (
            DRAFT_07,
            json!({"items": [{"type": "string"}]}),
            "/definitions/A/items",
        ),
        (
            DIALECT,
            json!({"items": [{"type": "string"}]}),
            "/definitions/A/items",
        ),
        (
            DRAFT_07,
            json!({"dependencies": {"a": ["b"]}}),
            "/definitions/A/dependencies",
        ),
        (
            DRAFT_07,
            json!({"additionalItems": false}),
            "/definitions/A/additionalItems",
        ),
        (
            DRAFT_07,
            json!({"$ref": "#/definitions/B", "minLength": 1}),
            "/definitions/A/$ref",
        ),
        (
            DRAFT_07,
            json!({"$ref": "#/definitions/B", "default": "x"}),
            "/definitions/A/$ref",
        ),
        (
            DRAFT_07,
            json!({"properties": {"a/b": {"prefixItems": [true]}}}),
            "/definitions/A/properties/a~1b/prefixItems",
        ),
        (
            DRAFT_07,
            json!({"unevaluatedProperties": false}),
            "/definitions/A/unevaluatedProperties",
        ),
        (DRAFT_07, json!({"$id": "#a"}), "/definitions/A/$id"),
        (
            DIALECT,
            json!({"$schema": DRAFT_07}),
            "/definitions/A/$schema",
        ),
        (
            DRAFT_07,
            json!({"minimum": 0, "exclusiveMinimum": true}),
            "/definitions/A/exclusiveMinimum",
        ),
    ];
    for (dialect, schema, expected) in cases {
        let (pointer, message) = refused(dialect, schema.clone());
        assert_eq!(pointer, expected, "{schema}");
        assert!(
            message.contains("expected") && message.contains("found"),
            "{message}"
        );
        assert!(!message.ends_with('.'), "{message}");
    }
}

#[test]
fn beside_a_reference_2020_12_may_say_more() {
    let upstream = json!({
        "$schema": DIALECT,
        "$defs": {"A": {"$ref": "#/$defs/B", "minLength": 1}, "B": {"type": "string"}},
    });
    assert_eq!(canonical(&upstream), upstream);
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    let cases = [
        (json!(3), "/definitions/A"),
        (json!({"properties": []}), "/definitions/A/properties"),
        (
            json!({"properties": {"a": "string"}}),
            "/definitions/A/properties/a",
        ),
        (json!({"anyOf": {}}), "/definitions/A/anyOf"),
        (json!({"anyOf": []}), "/definitions/A/anyOf"),
        (json!({"anyOf": [1]}), "/definitions/A/anyOf/0"),
        (json!({"type": 1}), "/definitions/A/type"),
        (json!({"type": ["string", 1]}), "/definitions/A/type"),
        (json!({"required": "a"}), "/definitions/A/required"),
        (json!({"required": ["a", "a"]}), "/definitions/A/required"),
        (json!({"enum": {}}), "/definitions/A/enum"),
        (
            json!({"description": {"type": "string"}}),
            "/definitions/A/description",
        ),
        (
            json!({"examples": {"type": "array"}}),
            "/definitions/A/examples",
        ),
        (json!({"$ref": 1}), "/definitions/A/$ref"),
        (
            json!({"$ref": "other.json#/definitions/X"}),
            "/definitions/A/$ref",
        ),
        (json!({"$ref": "#anchor"}), "/definitions/A/$ref"),
        (
            json!({"$ref": "#/definitions/Missing"}),
            "/definitions/A/$ref",
        ),
        (json!({"$ref": "#/definitions/%ZZ"}), "/definitions/A/$ref"),
        (json!({"$ref": "#/definitions/%F"}), "/definitions/A/$ref"),
    ];
    for (schema, expected) in cases {
        assert_eq!(refused(DRAFT_07, schema.clone()).0, expected, "{schema}");
    }
}

#[test]
fn a_definition_in_both_places_is_refused() {
    let upstream = json!({"$schema": DRAFT_07, "definitions": {"A": true}, "$defs": {"A": false}});
    let error = canonicalize(&upstream, "schema.json")
        .unwrap_err()
        .to_string();
    says(&error, "each definition once");
    let upstream = json!({"$schema": DRAFT_07, "definitions": {"A": true}, "$defs": {"B": false}});
    assert_eq!(
        canonical(&upstream)["$defs"],
        json!({"A": true, "B": false})
    );
}

#[test]
fn hostile_tops_are_refused() {
    for (upstream, expected) in [
        (json!(null), "an object at the top"),
        (json!([]), "an object at the top"),
        (json!("schema"), "an object at the top"),
        (json!({}), "definitions under"),
        (json!({"$schema": DRAFT_07}), "definitions under"),
        (
            json!({"$schema": DRAFT_07, "definitions": {}}),
            "definitions under",
        ),
        (
            json!({"$schema": DRAFT_07, "definitions": []}),
            "definitions under",
        ),
        (json!({"definitions": {"A": true}}), "found nothing"),
        (
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "definitions": {"A": true}}),
            "draft-04",
        ),
        (json!({"$schema": 7, "definitions": {"A": true}}), "found 7"),
    ] {
        let error = canonicalize(&upstream, "schema.json")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("schema.json#") && error.contains(expected),
            "{upstream}: {error}"
        );
    }
}

#[test]
fn deep_values_are_refused_without_recursion() {
    let mut deep = json!({"type": "string"});
    for _ in 0..2_000 {
        // Not by `json!`, which would serialise what is there anew, and recurse itself.
        deep = Value::Object([("not".to_owned(), deep)].into_iter().collect());
    }
    let mut upstream = json!({"$schema": DRAFT_07, "definitions": {"A": true}});
    upstream["definitions"]["A"] = deep;
    let error = canonicalize(&upstream, "schema.json")
        .unwrap_err()
        .to_string();
    says(&error, "levels of nesting");
}

/// Generators that write each definition alone state the dialect in each, and keywords without effect.
#[test]
fn what_is_stated_again_without_effect_goes() {
    let definition = json!({
        "$schema": DIALECT, "type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {"not": {}},
    });
    let canonical = canonical(&json!({"$schema": DIALECT, "$defs": {"A": definition}}));
    let expected = json!({"type": "object", "additionalProperties": false});
    assert_eq!(canonical["$defs"]["A"], expected);
    // Names that are limited are a limit of the object.
    let limited = json!({"type": "object", "propertyNames": {"pattern": "^a"}});
    let same = json!({"$schema": DIALECT, "$defs": {"A": limited.clone()}});
    assert_eq!(self::canonical(&same)["$defs"]["A"], limited);
}

/// A copy of one definition refers to it; a copy of two of them names neither.
#[test]
fn a_copy_of_a_definition_refers_to_it_where_definitions_stand_alone() {
    let text = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}});
    let alone = |mut definition: Value| {
        definition["$schema"] = DIALECT.into();
        definition
    };
    let list = |of: Value| json!({"type": "object", "properties": {"list": {"type": "array", "items": of}}});
    let schema = |definitions: Value| json!({"$schema": DIALECT, "$defs": definitions});
    let made = canonical(&schema(
        json!({"A": alone(text("a")), "B": alone(list(text("a")))}),
    ));
    let items = &made["$defs"]["B"]["properties"]["list"]["items"];
    assert_eq!(*items, json!({"$ref": "#/$defs/A"}));
    let twice = json!({"A": alone(text("a")), "A2": alone(text("a")), "B": alone(list(text("a")))});
    let made = canonical(&schema(twice));
    assert_eq!(made["$defs"]["B"]["properties"]["list"]["items"], text("a"));
    // Where no definition stands alone, a copy stays one.
    let made = canonical(&schema(json!({"A": text("a"), "B": list(text("a"))})));
    assert_eq!(made["$defs"]["B"]["properties"]["list"]["items"], text("a"));
}
