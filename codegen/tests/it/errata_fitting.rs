//! Errata of a revision in a file that is near to it: those that still fit are applied, and no others.

use mcp_revisions_diff::SideSources;
use mcp_revisions_schema::Spec;
use serde_json::{Value, json};

use crate::specs::{files, released};

/// The definition without which a schema is none of MCP.
fn request() -> Value {
    json!({ "properties": { "method": { "const": "ping" } }, "type": "object" })
}

/// What is left of the errata of a revision, and the schema, where a file that is near to it has this schema.
fn fitting(of: &Value, errata: &str, file: &Value) -> (Value, Vec<String>) {
    let spec = Spec::from_files(files(&[
        ("revisions.toml", &released(&["one"])),
        ("one/schema.json", &of.to_string()),
        ("errata.toml", errata),
    ]));
    let spec = spec.unwrap();
    let sources = SideSources::read(&spec).unwrap();
    let side = sources.of_text("draft.json", &file.to_string(), false);
    let side = side.unwrap();
    let ids = side.errata.iter().map(|erratum| erratum.id.clone());
    (side.schema, ids.collect())
}

#[test]
fn an_erratum_of_several_places_is_applied_to_a_file_where_it_still_fits() {
    let text = "[[erratum]]\nid = \"half\"\nreason = \"r\"\nsource = \"s\"\nsince = \"one\"\nat = [\"/$defs/A\", \"/$defs/Gone\"]\nexpect = { type = \"string\" }\nreplace = { type = \"integer\" }\n";
    let schema = |gone: &str| {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": { "A": { "type": "string" }, "ClientRequest": request(), "Gone": { "type": gone } },
        })
    };
    let (mended, fitted) = fitting(&schema("string"), text, &schema("boolean"));
    assert_eq!(fitted, ["half"]);
    assert_eq!(mended["$defs"]["A"], json!({ "type": "integer" }));
    assert_eq!(mended["$defs"]["Gone"], json!({ "type": "boolean" }));
}

#[test]
fn an_erratum_that_leaves_a_reference_to_nothing_is_left_out_and_the_others_apply() {
    let row = |id: &str, at: &str, rest: &str| {
        format!(
            "[[erratum]]\nid = \"{id}\"\nreason = \"r\"\nsource = \"s\"\nsince = \"one\"\nat = \"/$defs/{at}\"\n{rest}\n"
        )
    };
    let text = row(
        "dangling",
        "B",
        "expect = { type = \"string\" }\nremove = true",
    ) + &row(
        "fits",
        "C",
        "expect = { type = \"string\" }\nreplace = { type = \"integer\" }",
    ) + &row(
        "other",
        "D",
        "expect = { type = \"boolean\" }\nremove = true",
    );
    let schema = |a: Value, d: &str| {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": { "A": a, "B": { "type": "string" }, "C": { "type": "string" }, "D": { "type": d }, "ClientRequest": request() },
        })
    };
    let of = schema(json!({ "type": "string" }), "boolean");
    let file = schema(json!({ "$ref": "#/$defs/B" }), "string");
    let (mended, fitted) = fitting(&of, &text, &file);
    assert_eq!(fitted, ["fits"]);
    let mut expected = file;
    expected["$defs"]["C"]["type"] = json!("integer");
    assert_eq!(mended, expected);
}
