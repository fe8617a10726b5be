//! Structured content and the schemas of tools.

use super::*;

#[test]
fn any_structured_content_is_wrapped_and_comes_back() {
    for value in ["[1,2.50]", "\"x\"", "null", "1e2", "true"] {
        for meta in ["", r#","_meta":{}"#, r#","_meta":{"com.example/key":1}"#] {
            let newer = format!(
                r#"{{"content":[],"resultType":"complete","structuredContent":{value}{meta}}}"#
            );
            let down = of_type("CallToolResult", V2026_07_28, V2025_11_25, &newer);
            let Outcome::Reversible(older, shapes) = &down else {
                panic!("{down:?}")
            };
            assert_eq!((shapes.len(), shapes[0].change), (1, Reshaped), "{down:?}");
            let wrapped = format!(r#""structuredContent":{{"result":{value}}}"#);
            assert!(
                older.contains(&wrapped) && older.contains("mcp-revisions/wrapped"),
                "{older}"
            );
            says(
                &of_type("CallToolResult", V2025_11_25, V2026_07_28, older),
                &newer,
                &[],
            );
        }
    }
}

#[test]
fn an_object_is_left_as_it_is_even_if_it_looks_like_a_wrap() {
    let newer = r#"{"content":[],"resultType":"complete","structuredContent":{"result" : 1}}"#;
    let down = of_type("CallToolResult", V2026_07_28, V2025_11_25, newer);
    let older = r#"{"content":[],"structuredContent":{"result" : 1}}"#;
    says(&down, older, &[]);
    says(
        &of_type("CallToolResult", V2025_11_25, V2026_07_28, older),
        newer,
        &[],
    );
}

#[test]
fn somebody_elses_key_of_that_name_is_left_alone() {
    let older = r#"{"content":[],"structuredContent":{"result":1,"more":2},"_meta":{"mcp-revisions/wrapped":{"alone":true}}}"#;
    let newer = older.replacen('{', r#"{"resultType":"complete","#, 1);
    says(
        &of_type("CallToolResult", V2025_11_25, V2026_07_28, older),
        &newer,
        &[],
    );
}

#[test]
fn a_mark_that_no_conversion_made_goes_so_that_it_is_not_undone_on_the_way_back() {
    let mark = r#""mcp-revisions/wrapped":{"schema":{"type":"null"}},"#;
    let newer = r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"_meta":{MARK"com.example/key":1}}"#;
    let without = newer.replace("MARK", "");
    let down = of_type(
        "Tool",
        V2026_07_28,
        V2025_11_25,
        &newer.replace("MARK", mark),
    );
    let place = "/_meta/mcp-revisions~1wrapped";
    says(
        &down,
        &without,
        &[("output-schema-root", place, Cosmetic, Removed)],
    );
    says(
        &of_type("Tool", V2025_11_25, V2026_07_28, &without),
        &without,
        &[],
    );
}

#[test]
fn structured_content_becomes_text_for_those_who_have_none() {
    let text = r#"{"content":[],"structuredContent":{"a":1.0}}"#;
    let down = of_type("CallToolResult", V2025_06_18, V2025_03_26, text);
    says(
        &down,
        r#"{"content":[{"type":"text","text":"{\"a\":1.0}"}]}"#,
        &[
            ("structured-content-text", "/content/0", Cosmetic, Added),
            (
                "structured-content",
                "/structuredContent",
                Semantic,
                Removed,
            ),
        ],
    );
    let said =
        r#"{"content":[{"type":"text","text":"{ \"a\": 1.0 }"}],"structuredContent":{"a":1.0}}"#;
    let down = of_type("CallToolResult", V2025_06_18, V2025_03_26, said);
    says(
        &down,
        r#"{"content":[{"type":"text","text":"{ \"a\": 1.0 }"}]}"#,
        &[(
            "structured-content",
            "/structuredContent",
            Semantic,
            Removed,
        )],
    );
}

#[test]
fn a_list_is_said_by_a_block_for_each_of_its_elements_in_order() {
    let of = |blocks: &[&str], list: &str| {
        let block = |text: &&str| serde_json::json!({"type": "text", "text": text});
        let content: Vec<_> = blocks.iter().map(block).collect();
        let list: serde_json::Value = serde_json::from_str(list).unwrap();
        let text = serde_json::json!({"content": content, "structuredContent": {"result": list}});
        let down = of_type(
            "CallToolResult",
            V2025_06_18,
            V2025_03_26,
            &text.to_string(),
        );
        let result: serde_json::Value = serde_json::from_str(&down.value().unwrap()).unwrap();
        result["content"].as_array().unwrap().len() - blocks.len()
    };
    let list = r#"[{"a":1,"b":2},"x",3]"#;
    for (blocks, added) in [
        (&["found three", r#"{ "b":2.0, "a":1 }"#, "x", "3"][..], 0),
        (&[r#"{"a":1,"b":2}"#, r#""x""#, "more", "3"], 0),
        (&[r#"{"a":1,"b":2}"#, "x"], 1),
        (&["x", "3", r#"{"a":1,"b":2}"#], 1),
        (&[r#"{"a":1,"b":3}"#, "x", "3"], 1),
    ] {
        assert_eq!(of(blocks, list), added, "{blocks:?}");
    }
    assert_eq!(
        of(&["1"], "[1,1]"),
        1,
        "each element has a block of its own"
    );
}

#[test]
fn an_output_schema_of_no_object_is_wrapped_and_comes_back() {
    let schema = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","anyOf":[{"$ref":"#/$defs/a"},{"const":{"$ref":"#"}}],"$defs":{"a":{"type":"null"}}}"##;
    let newer =
        format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
    let down = of_type("Tool", V2026_07_28, V2025_11_25, &newer);
    let Outcome::Reversible(older, _) = &down else {
        panic!("{down:?}")
    };
    let tool: serde_json::Value = serde_json::from_str(older).unwrap();
    let inner = &tool["outputSchema"]["$defs"]["value"];
    assert_eq!(tool["outputSchema"]["type"], "object");
    assert_eq!(
        tool["outputSchema"]["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(inner["anyOf"][0]["$ref"], "#/$defs/value/$defs/a");
    assert_eq!(
        inner["anyOf"][1]["const"]["$ref"], "#",
        "data is not a reference"
    );
    says(
        &of_type("Tool", V2025_11_25, V2026_07_28, older),
        &newer,
        &[],
    );
}

#[test]
fn boolean_properties_become_objects_that_say_the_same() {
    let newer = r#"{"name":"t","inputSchema":{"type":"object","properties":{"a/b":true,"c":{"default":true},"d":false}},
        "outputSchema":{"type":"object","properties":{"e":true}}}"#;
    let older = r#"{"name":"t","inputSchema":{"type":"object","properties":{"a/b":{},"c":{"default":true},"d":{"not":{}}}},
        "outputSchema":{"type":"object","properties":{"e":{}}}}"#;
    says(
        &of_type("Tool", V2026_07_28, V2025_11_25, newer),
        older,
        &[
            (
                "schema-booleans",
                "/inputSchema/properties/a~1b",
                Cosmetic,
                Replaced,
            ),
            (
                "schema-booleans",
                "/inputSchema/properties/d",
                Cosmetic,
                Replaced,
            ),
            (
                "schema-booleans",
                "/outputSchema/properties/e",
                Cosmetic,
                Replaced,
            ),
        ],
    );
}

/// The output schema of a tool of 2026-07-28, wrapped for 2025-11-25.
fn wrapped(schema: &str) -> String {
    let tool =
        format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
    let told = of_type("Tool", V2026_07_28, V2025_11_25, &tool);
    let (Outcome::Exact(text) | Outcome::Reversible(text, _) | Outcome::Lossy(text, _)) = told
    else {
        panic!("{told:?}")
    };
    let tool: JsonObject = mcp_wire::from_str(&text).unwrap();
    tool.get("outputSchema").unwrap().into_text()
}

#[test]
fn a_schema_that_is_wrapped_still_means_itself_by_its_references() {
    // An empty reference is the root, as `#` is.
    let list = wrapped(r#"{"type":"array","items":{"anyOf":[{"type":"string"},{"$ref":""}]}}"#);
    assert!(list.contains(r##""$ref":"#/properties/result""##), "{list}");
    // In draft-04 `id` is what `$id` is later: references are relative to that, and stay.
    let old = r##"{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://example.com/s","type":"array","items":{"$ref":"#/definitions/i"},"definitions":{"i":{}}}"##;
    let old = wrapped(old);
    assert!(old.contains(r##""$ref":"#/definitions/i""##), "{old}");
    // Later it is a word like any other.
    let new = r##"{"id":"http://example.com/s","type":"array","items":{"$ref":"#/$defs/i"},"$defs":{"i":{}}}"##;
    let new = wrapped(new);
    assert!(
        new.contains(r##""$ref":"#/properties/result/$defs/i""##),
        "{new}"
    );
}

#[test]
fn an_output_schema_whose_places_are_longer_than_memory_is_lost_and_not_wrapped() {
    let inner: Vec<String> = (0..20).map(|index| format!(r#""a{index}":{{}}"#)).collect();
    let name = "n".repeat(1 << 20);
    let schema = format!(
        r#"{{"properties":{{"{name}":{{"properties":{{{}}}}}}}}}"#,
        inner.join(",")
    );
    let plain = r#"{"name":"t","inputSchema":{"type":"object"}}"#;
    let tool = plain.replacen('{', &format!(r#"{{"outputSchema":{schema},"#), 1);
    let down = of_type("Tool", V2026_07_28, V2025_11_25, &tool);
    let losses = down.losses().iter();
    let losses: Vec<_> = losses.map(|loss| (loss.rule(), loss.change)).collect();
    assert_eq!(losses, [("output-schema-root", Removed)]);
    assert!(text::same(&down.value().unwrap(), plain));
}

#[test]
fn numbers_of_a_schema_that_is_wrapped_are_spelled_as_they_were() {
    for number in ["18446744073709551616", "1e400", "1.0", "0.10"] {
        let schema = wrapped(&format!(r#"{{"type":"number","maximum":{number}}}"#));
        assert!(
            schema.contains(&format!(r#""maximum":{number}"#)),
            "{schema}"
        );
    }
    let schema = wrapped(r#"{"type":"string","const":"\u00001"}"#);
    let same = wrapped(r#"{"const":"\u00001","type":"string"}"#);
    assert!(
        text::same(&schema, &same) && schema.contains(r"\u00001"),
        "{schema}"
    );
}

/// A validator of an older dialect looks for definitions, and for the `$id`s in them, under `definitions`.
#[test]
fn an_output_schema_of_an_older_dialect_keeps_its_definitions_where_that_has_them() {
    for (dialect, keyword) in [
        ("http://json-schema.org/draft-04/schema#", "definitions"),
        ("http://json-schema.org/draft-06/schema#", "definitions"),
        ("http://json-schema.org/draft-07/schema#", "definitions"),
        ("https://json-schema.org/draft/2019-09/schema", "$defs"),
        ("https://json-schema.org/draft/2020-12/schema", "$defs"),
    ] {
        let text = format!(
            r##"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{{"$schema":"{dialect}","definitions":{{"a":{{"type":"string"}}}},"anyOf":[{{"$ref":"#/definitions/a"}},{{"type":"object"}}]}}}}"##
        );
        let down = of_type("Tool", V2026_07_28, V2025_11_25, &text);
        let tool: serde_json::Value = serde_json::from_str(&down.value().unwrap()).unwrap();
        let schema = &tool["outputSchema"];
        assert_eq!(schema["$schema"], dialect);
        let moved = &schema[keyword]["value"];
        let target = format!("#/{keyword}/value/definitions/a");
        assert_eq!(moved["anyOf"][0]["$ref"], target, "{dialect}: {schema}");
        assert_eq!(schema["anyOf"][0]["$ref"], format!("#/{keyword}/value"));
    }
}
