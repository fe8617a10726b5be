//! What names of a schema become: Rust names, names of crates and modules, names of variants; and pointers and patterns
//! that lead to what has them.

use mcp_revisions_schema::model::Shape;
use mcp_revisions_schema::names::{constant, library, module, variant};
use mcp_revisions_schema::naming::{pascal_case, snake_case, type_name};
use mcp_revisions_schema::pointer::{escaped, of_fragment, unescaped};
use mcp_revisions_schema::rules::matches;
use mcp_revisions_schema::{Models, Spec};
use serde_json::{Map, Value, json};

use crate::specs::{files, released};

#[test]
fn wire_names_become_rust_names() {
    assert_eq!(snake_case("nextCursor"), "next_cursor");
    assert_eq!(snake_case("ttlMs"), "ttl_ms");
    assert_eq!(snake_case("_meta"), "meta");
    assert_eq!(snake_case("$schema"), "schema");
    assert_eq!(snake_case("type"), "type_");
    assert_eq!(snake_case("URLValue"), "url_value");
    assert_eq!(pascal_case("input_required"), "InputRequired");
    assert_eq!(pascal_case("date-time"), "DateTime");
    assert_eq!(pascal_case("thisServer"), "ThisServer");
    assert_eq!(pascal_case("2d"), "N2d");
    assert_eq!(type_name("JSONRPCRequest"), "JSONRPCRequest");
}

#[test]
fn names_that_rust_refuses_are_mended() {
    assert_eq!(pascal_case("self"), "SelfValue");
    assert_eq!(snake_case("self"), "self_");
    assert_eq!(snake_case("--"), "nameless");
}

#[test]
fn a_revision_is_called_after_its_id() {
    let names = |id| [library(id), module(id), constant(id), variant(id)];
    assert_eq!(
        names("2025-11-25"),
        [
            "mcp_2025_11_25",
            "v2025_11_25",
            "V2025_11_25",
            "V2025_11_25"
        ]
    );
    assert_eq!(
        names("2026-07-28-rc"),
        [
            "mcp_2026_07_28_rc",
            "v2026_07_28_rc",
            "V2026_07_28_RC",
            "V2026_07_28Rc"
        ]
    );
    assert_eq!(names("draft"), ["mcp_draft", "draft", "DRAFT", "Draft"]);
    assert_eq!(variant("2027-v2"), "V2027V2");
}

/// The names of the variants of `AnyNotification`, a union of these types, which have no tag.
fn variants(types: &[&str]) -> Vec<String> {
    let choices: Vec<Value> = types
        .iter()
        .map(|name| json!({ "$ref": format!("#/$defs/{name}") }))
        .collect();
    let mut defs = Map::new();
    for (at, name) in types.iter().enumerate() {
        let member = format!("member{at}");
        let text = json!({ "type": "string" });
        let def =
            json!({ "type": "object", "properties": { &member: text }, "required": [&member] });
        defs.insert((*name).to_owned(), def);
    }
    defs.insert("AnyNotification".to_owned(), json!({ "anyOf": choices }));
    let schema =
        json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": defs });
    let spec = Spec::from_files(files(&[
        ("revisions.toml", &released(&["one"])),
        ("one/schema.json", &schema.to_string()),
    ]));
    let spec = spec.unwrap();
    let models = Models::build(&spec).unwrap();
    let model = &models.get("one").unwrap().model;
    let Some(Shape::Union(union)) = model.shape("AnyNotification") else {
        panic!("no union of {types:?}");
    };
    let names = union.variants.iter().map(|variant| variant.name.clone());
    names.collect()
}

#[test]
fn what_all_names_of_variants_share_is_left_out() {
    assert_eq!(
        variants(&["CallToolRequest", "ListToolsRequest"]),
        ["CallTool", "ListTools"]
    );
    assert_eq!(
        variants(&["ElicitRequestFormParams", "ElicitRequestUrlParams"]),
        ["Form", "Url"]
    );
    assert_eq!(
        variants(&["TextContent", "ResourceLink"]),
        ["TextContent", "ResourceLink"]
    );
    assert_eq!(variants(&["Error", "ParseError"]), ["Error", "ParseError"]);
    assert_eq!(variants(&["CancelledNotification"]), ["Cancelled"]);
    assert_eq!(variants(&["AnyResult"]), ["AnyResult"]);
}

#[test]
fn a_step_is_escaped_and_comes_back() {
    assert_eq!(escaped("a/b~c"), "a~1b~0c");
    for segment in ["", "~1", "/~", "a~0b", "é"] {
        assert_eq!(unescaped(&escaped(segment)), segment);
    }
}

#[test]
fn a_reference_is_a_uri() {
    let pointer = of_fragment("/$defs/Record%3Cstring%3E");
    assert_eq!(pointer.as_deref(), Some("/$defs/Record<string>"));
    assert_eq!(of_fragment("/%ff"), None);
    assert_eq!(of_fragment("/50%").as_deref(), Some("/50%"));
}

#[test]
fn a_star_stands_for_a_type_that_is_not_empty() {
    assert!(matches("*._meta", "Tool._meta"));
    assert!(!matches("*._meta", "._meta"));
    assert!(!matches("*", "Tool"));
    assert!(!matches("*._meta", "Tool.x_meta"));
    assert!(matches(
        "ReadResourceResult.contents[]",
        "ReadResourceResult.contents[]"
    ));
}
