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
    let at_the_top = json!({"$schema": DIALECT, "$defs": {"A": string()}, "type": "object"});
    let said = strictly(&from_text(&at_the_top.to_string()).unwrap());
    says(&said, "found the keyword `type`");
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
