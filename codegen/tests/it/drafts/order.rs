//! What says the same gives the same bytes: the order of members and of lists that are sets, the dialect, `oneOf`.

use fastrand::Rng;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::changes::every;
use crate::drafts::{generate, latest};

/// JSON text with the members of every object in another order, and the sets among its lists too.
fn shuffled(dice: &mut Rng, value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            dice.shuffle(&mut members);
            out.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                write!(out, "{comma}\n {}: ", json!(name)).unwrap();
                match value {
                    Value::Array(items)
                        if ["required", "enum", "type"].contains(&name.as_str()) =>
                    {
                        let mut items = items.clone();
                        dice.shuffle(&mut items);
                        shuffled(dice, &items.into(), out);
                    }
                    value => shuffled(dice, value, out),
                }
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                shuffled(dice, item, out);
            }
            out.push(']');
        }
        scalar => write!(out, "{scalar}").unwrap(),
    }
}

/// The latest schema with prose, which must not wander either.
fn with_prose() -> Value {
    let mut schema = latest();
    let definitions = schema["$defs"].as_object_mut().unwrap();
    for (name, definition) in definitions {
        definition["description"] = json!(format!("What `{name}` is."));
        let members = definition
            .get_mut("properties")
            .and_then(Value::as_object_mut);
        for (member, schema) in members.into_iter().flatten() {
            schema["description"] = json!(format!("The `{member}` of it."));
        }
    }
    schema
}

#[test]
fn the_order_of_members_changes_no_byte() {
    let schema = with_prose();
    let expected = generate(&schema.to_string(), "mcp-draft").unwrap().files;
    for seed in [1, 0x9E37_79B9, 0xDEAD_BEEF_0BAD_CAFE] {
        let mut text = String::new();
        shuffled(&mut Rng::with_seed(seed), &schema, &mut text);
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap()["$defs"]
                .as_object()
                .map(Map::len),
            Some(155)
        );
        assert_ne!(text, schema.to_string());
        let files = generate(&text, "mcp-draft").unwrap().files;
        for (path, expected) in &expected {
            assert_eq!(&files[path], expected, "{path}, with seed {seed}");
        }
        assert_eq!(files.len(), expected.len());
    }
}

/// Draft-07 with `definitions` and `oneOf` says what 2020-12 says with `$defs` and `anyOf`.
#[test]
fn the_dialect_changes_no_byte() {
    let schema = latest();
    let expected = generate(&schema.to_string(), "mcp-draft").unwrap().files;
    let mut old = schema;
    every(&mut old, &mut |node| {
        let Some(members) = node.as_object_mut() else {
            return;
        };
        if let Some(Value::String(target)) = members.get_mut("$ref") {
            *target = target.replace("#/$defs/", "#/definitions/");
        }
        if let Some(choices) = members
            .get("anyOf")
            .filter(|value| value.is_array())
            .cloned()
        {
            members.remove("anyOf");
            members.insert("oneOf".to_owned(), choices);
        }
    });
    let definitions = old.as_object_mut().unwrap().remove("$defs").unwrap();
    old["definitions"] = definitions;
    old["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    let files = generate(&old.to_string(), "mcp-draft").unwrap().files;
    assert!(files == expected, "another dialect made another crate");
}
