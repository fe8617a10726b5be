//! Keywords that are unknown, in odd company or in odd places, values that no keyword has, definitions that stand for nothing.

use crate::says;
use serde::Deserialize;
use serde_json::json;

use crate::changes::{json as parsed, read};
use crate::hostile_generator::{
    DIALECT, from_text, generated, object, refused_at, strictly, string,
};

#[derive(Deserialize)]
struct File {
    /// What is said, at which place below `A`, and of which schema.
    refused: Vec<[String; 3]>,
    /// What is said, at which place below `$defs`, and of which definitions.
    definitions: Vec<[String; 3]>,
    /// What makes a crate without a decision.
    fine: Vec<String>,
}

#[test]
fn each_schema_is_refused_at_its_place_or_makes_a_crate() {
    let File {
        refused,
        definitions,
        fine,
    } = read("refusals");
    let with = |a: &str| json!({"A": parsed(a), "B": object(&[("b", string())], &[])});
    for [says, at, schema] in refused {
        refused_at(&with(&schema), &format!("/$defs/A{at}"), &says);
    }
    for [says, at, all] in definitions {
        refused_at(&parsed(&all), &format!("/$defs/{at}"), &says);
    }
    for schema in fine {
        let made = generated(&with(&schema)).unwrap();
        assert!(made.decisions.is_empty(), "{schema}");
    }
}

#[test]
fn a_keyword_beside_the_definitions_is_named() {
    let at_the_top = json!({"$schema": DIALECT, "$defs": {"A": string()}, "wibble": "object"});
    let said = strictly(&from_text(&at_the_top.to_string()).unwrap());
    says(&said, "found the keyword `wibble`");
}

#[test]
fn a_root_that_is_a_type_is_one() {
    let seventh = "http://json-schema.org/draft-07/schema#";
    let root = |title: &str, definitions: &str, dialect: &str| {
        json!({
            "$schema": dialect,
            "$id": "https://example.com/server.schema.json",
            "title": title,
            "description": "A whole [file](x).",
            "type": "object",
            "properties": {
                "name": string(),
                "parent": {"$ref": "#"},
                "same": {"$ref": "#/properties/name"},
                "part": {"$ref": format!("#/{definitions}/Part")},
            },
            "required": ["name"],
            definitions: {"Part": object(&[("whole", json!({"$ref": "#"}))], &[])},
        })
    };
    for (title, definitions, dialect, name) in [
        ("server detail", "definitions", seventh, "ServerDetail"),
        ("", "$defs", DIALECT, "Root"),
        ("Part", "$defs", DIALECT, "Part2"),
    ] {
        let made = from_text(&root(title, definitions, dialect).to_string()).unwrap();
        let text = &made.files["src/messages.rs"];
        says(text, &format!("pub struct {name} {{"));
        says(text, &format!("pub parent: Option<Box<{name}>>"));
        says(text, "pub part: Option<");
        says(text, "A whole \\[file\\](x).");
        let open: Vec<&str> = made
            .decisions
            .iter()
            .map(|one| one.place.as_str())
            .collect();
        assert!(open.iter().all(|place| place.contains("/same")), "{open:?}");
    }
    // Without definitions, and a root that only refers to one.
    let alone = json!({"$schema": DIALECT, "type": "object", "properties": {"a": string()}});
    says(
        &from_text(&alone.to_string()).unwrap().files["src/messages.rs"],
        "pub struct Root {",
    );
    for dialect in [seventh, DIALECT] {
        let refers = json!({
            "$schema": dialect,
            "$ref": "#/definitions/Server",
            "definitions": {"Server": object(&[("name", string())], &["name"])},
        });
        let made = from_text(&refers.to_string()).unwrap();
        assert!(
            made.decisions.is_empty() && made.types == 1,
            "{:?}",
            made.decisions
        );
        says(&made.files["src/messages.rs"], "pub struct Server {");
    }
}

#[test]
fn keywords_of_vendors_are_one_note_and_change_no_type() {
    let with = |at: usize| json!({"$ref": "#/$defs/B", "x-order": at, "x-deserialize-default-on-error": true});
    let names: Vec<String> = (0..40).map(|at| format!("m{at}")).collect();
    let members: Vec<(&str, _)> = (names.iter().enumerate())
        .map(|(at, name)| (name.as_str(), with(at)))
        .collect();
    let b = object(&[("b", string())], &[]);
    let made = generated(&json!({"A": object(&members, &[]), "B": b})).unwrap();
    let [one] = &made.decisions[..] else {
        panic!("{:?}", made.decisions);
    };
    says(
        &one.open,
        "keywords of a vendor at 80 places: `x-deserialize-default-on-error`, `x-order`",
    );
    says(&made.files["src/messages.rs"], "pub m39: Option<B>");
    toml::from_str::<toml::Table>(&one.settle.stub).unwrap();
}

#[test]
fn a_schema_that_is_true_is_any_json() {
    let any = json!({"A": true, "B": object(&[("x", json!(true)), ("y", json!(true))], &["x"])});
    let generated = generated(&any).unwrap();
    let text = &generated.files["src/messages.rs"];
    says(text, "pub type A = Json;");
    says(text, "pub x: Json,");
    says(text, "pub y: Option<Json>,");
}
