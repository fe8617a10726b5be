//! What no revision names.

use super::*;

#[test]
fn bytes_of_opaque_json_arrive_as_they_left() {
    let schema = "{ \"type\" :\t\"object\" , \"x\\u0041\" : [ 1.0e2 , -0.0 ] }";
    let text = format!(
        r#"{{"name":"t","inputSchema":{schema},"x-vendor":{schema},"_meta":{{"com.example/k":{schema}}}}}"#
    );
    for (from, to) in [(V2024_11_05, V2026_07_28), (V2026_07_28, V2024_11_05)] {
        let outcome = of_type("Tool", from, to, &text);
        let Outcome::Exact(value) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(value.matches(schema).count(), 3, "{value}");
    }
}

#[test]
fn an_unknown_member_is_taken_for_what_the_newer_revision_calls_so() {
    let up = of_type(
        "Tool",
        V2025_03_26,
        V2025_06_18,
        r#"{"name":"t","inputSchema":{"type":"object"},"title":"T"}"#,
    );
    says(
        &up,
        r#"{"name":"t","inputSchema":{"type":"object"},"title":"T"}"#,
        &[],
    );
    let wrong = of_type(
        "Tool",
        V2025_03_26,
        V2025_06_18,
        r#"{"name":"t","inputSchema":{"type":"object"},"title":7}"#,
    );
    says(
        &wrong,
        r#"{"name":"t","inputSchema":{"type":"object"}}"#,
        &[(mcp_convert::Rule::FOREIGN.id(), "/title", Cosmetic, Removed)],
    );
}

#[test]
fn capabilities_of_an_extension_that_nobody_knows_travel_to_every_revision() {
    let text = r#"{"extensions":{"com.example/charts":{"depth":2.0,"of":["bars"]}}}"#;
    for name in ["ClientCapabilities", "ServerCapabilities"] {
        for from in Revision::CONVERTED {
            for to in Revision::CONVERTED {
                for policy in [UnknownFields::Drop, UnknownFields::Preserve] {
                    let outcome = under(policy, name, *from, *to, text);
                    let Outcome::Exact(value) = outcome else {
                        panic!("{name} from {from} to {to}: {outcome:?}")
                    };
                    assert!(text::same(&value, text), "from {from} to {to}: {value}");
                }
            }
        }
    }
}
