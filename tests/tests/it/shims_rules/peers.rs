//! What a peer would notice if a conversion kept to the schema, and not to what the specification says of it.

use super::*;

/// The value that came out.
#[track_caller]
fn value(outcome: &Outcome<String>) -> serde_json::Value {
    match outcome {
        Outcome::Exact(value) | Outcome::Reversible(value, _) | Outcome::Lossy(value, _) => {
            serde_json::from_str(value).unwrap()
        }
        stopped => panic!("{stopped:?}"),
    }
}

fn params(
    method: &str,
    direction: Option<mcp_wire::Direction>,
    (from, to): (Revision, Revision),
    text: &str,
    cx: Context,
) -> Outcome<String> {
    convert(
        Subject::Method(method, Part::Params, direction),
        from,
        to,
        text,
        cx,
    )
}

#[test]
fn a_result_fits_the_output_schema_of_its_tool_whatever_the_schema_takes() {
    for schema in [
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":["object","array"]}}}"##,
        r#"{"anyOf":[{"type":"object","required":["a"]},{"type":"array"}]}"#,
        r#"{"type":["object","null","array"]}"#,
        r#"{"properties":{"a":{"type":"integer"}}}"#,
        "{}",
        r#"{"type":"object"}"#,
        r#"{"type":"array"}"#,
    ] {
        let tool =
            format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
        let older = value(&of_type("Tool", V2026_07_28, V2025_11_25, &tool));
        let judge = jsonschema::validator_for(&older["outputSchema"]).unwrap();
        let before = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        for structured in [r#"{"a":1}"#, r#"{"result":{"a":1},"a":2}"#, "[1]", "null"] {
            if !before.is_valid(&serde_json::from_str(structured).unwrap()) {
                continue;
            }
            let result = format!(
                r#"{{"content":[],"resultType":"complete","structuredContent":{structured}}}"#
            );
            let result = value(&of_type(
                "CallToolResult",
                V2026_07_28,
                V2025_11_25,
                &result,
            ));
            assert!(
                judge.is_valid(&result["structuredContent"]),
                "{structured} of {schema} became {result}, not of {}",
                older["outputSchema"]
            );
        }
    }
}

#[test]
fn a_property_may_have_the_name_of_a_keyword() {
    let names = [
        "default",
        "enum",
        "const",
        "examples",
        "$id",
        "$ref",
        "properties",
    ];
    for name in names {
        let schema = format!(
            r##"{{"type":"array","items":{{"properties":{{"{name}":{{"$ref":"#/$defs/{name}"}}}}}},
            "$defs":{{"{name}":{{"type":"string"}}}},"x-more":{{"a":{{"$ref":"#/$defs/{name}"}}}},
            "contains":{{"$ref":"#/x-more/a"}},"default":[{{"$ref":"#/data"}}]}}"##
        );
        let tool =
            format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
        let older = value(&of_type("Tool", V2026_07_28, V2025_11_25, &tool));
        let inner = &older["outputSchema"]["properties"]["result"];
        let expected = format!("#/properties/result/$defs/{name}");
        assert_eq!(inner["items"]["properties"][name]["$ref"], expected);
        assert_eq!(
            inner["x-more"]["a"]["$ref"], expected,
            "what is referred to is a schema"
        );
        assert_eq!(inner["contains"]["$ref"], "#/properties/result/x-more/a");
        assert_eq!(
            inner["default"][0]["$ref"], "#/data",
            "data is not a reference"
        );
    }
}

#[test]
fn references_to_the_root_lead_to_what_was_the_root() {
    let schema =
        r##"{"type":"array","items":{"$recursiveRef":"#"},"contains":{"$dynamicRef":"#/items"}}"##;
    let tool =
        format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
    let older = value(&of_type("Tool", V2026_07_28, V2025_11_25, &tool));
    let inner = &older["outputSchema"]["properties"]["result"];
    assert_eq!(inner["items"]["allOf"][0]["$ref"], "#/properties/result");
    assert_eq!(
        inner["contains"]["$dynamicRef"],
        "#/properties/result/items"
    );
}

#[test]
fn a_request_of_the_handshake_makes_no_claim_under_any_policy() {
    let newer = r#"{"name":"t","_meta":{"com.example/key":1,
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{}}}"#;
    for policy in [UnknownFields::Drop, UnknownFields::Preserve] {
        let ways = (V2026_07_28, V2025_11_25);
        let down = params("tools/call", None, ways, newer, Context::new(policy));
        assert_eq!(
            value(&down),
            serde_json::json!({ "name": "t", "_meta": { "com.example/key": 1 } })
        );
        assert_eq!(down.losses().len(), 3, "{down:?}");
    }
}

#[test]
fn an_old_client_sees_structured_content_under_any_policy() {
    let newer = r#"{"content":[],"resultType":"complete","structuredContent":{"a":1}}"#;
    for policy in [UnknownFields::Drop, UnknownFields::Preserve] {
        let down = under(policy, "CallToolResult", V2026_07_28, V2025_03_26, newer);
        let older = value(&down);
        assert_eq!(older["content"][0]["text"], r#"{"a":1}"#, "{older}");
        assert!(matches!(down, Outcome::Lossy(..)), "{down:?}");
    }
}

#[test]
fn a_server_that_gives_up_its_own_request_ends_no_other() {
    let text = r#"{"requestId":1}"#;
    let of = |from, to, direction| {
        let ways = (from, to);
        params(
            "notifications/cancelled",
            Some(direction),
            ways,
            text,
            Context::default(),
        )
    };
    use mcp_wire::Direction::{ClientToServer, ServerToClient};
    needs(
        &of(V2025_11_25, V2026_07_28, ServerToClient),
        Adapter::MultiRoundTrip,
    );
    needs(
        &of(V2026_07_28, V2025_11_25, ServerToClient),
        Adapter::Subscription,
    );
    assert!(of(V2025_11_25, V2026_07_28, ClientToServer).is_exact());
    assert!(of(V2026_07_28, V2025_11_25, ClientToServer).is_exact());
}

fn error(method: &str, from: Revision, to: Revision, code: i64) -> Outcome<ErrorObject> {
    mcp_revisions_core::values::convert_error(
        method,
        from,
        to,
        ErrorObject::new(code, "m"),
        Context::default(),
    )
}

#[test]
fn a_servers_own_code_is_not_taken_for_one_of_the_specification() {
    for code in [-32099, -32050, -32042, -32022, -32021, -32020] {
        let up = error("tools/list", V2025_06_18, V2026_07_28, code);
        let Outcome::Lossy(error, losses) = &up else {
            panic!("{up:?}")
        };
        assert_eq!(error.code, -32603);
        assert_eq!(
            (losses.len(), losses[0].severity()),
            (1, Semantic),
            "{up:?}"
        );
    }
    for code in [-32019, -32000, -32100, 7] {
        assert!(
            error("tools/list", V2025_06_18, V2026_07_28, code).is_exact(),
            "{code}"
        );
    }
}

#[test]
fn a_clients_error_to_a_question_is_no_message_of_the_newest_revision() {
    for method in ["roots/list", "elicitation/create", "sampling/createMessage"] {
        for code in [-1, -32601, -32603, -32050, 42] {
            let up = error(method, V2025_11_25, V2026_07_28, code);
            let Outcome::RequiresState(needs) = &up else {
                panic!("{method} {code}: {up:?}")
            };
            assert_eq!(needs.adapter, Adapter::MultiRoundTrip);
            assert_eq!(
                (needs.rule, needs.step),
                ("refused-question", "2025-11-25..2026-07-28")
            );
        }
    }
}

#[test]
fn the_claim_is_the_receivers_and_the_session_knows_better_than_a_key() {
    let session = || {
        Context::default().with_session(Session {
            client_capabilities: Json::from_text(r#"{"roots":{}}"#).ok(),
            client_info: Json::from_text(r#"{"name":"c","version":"1"}"#).ok(),
            ..Session::default()
        })
    };
    let older = r#"{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25",
        "io.modelcontextprotocol/clientInfo":{"name":"other","version":"0"},
        "io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}"#;
    let up = params(
        "tools/call",
        None,
        (V2025_11_25, V2026_07_28),
        older,
        session(),
    );
    let meta = &value(&up)["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "c");
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        serde_json::json!({ "roots": {} })
    );
    assert_eq!(up.losses().len(), 3, "{up:?}");
}

#[test]
fn nobody_takes_control_by_an_unknown_member() {
    let session = || {
        Context::new(UnknownFields::Preserve).with_session(Session {
            client_capabilities: Json::from_text("{}").ok(),
            ..Session::default()
        })
    };
    let list = r#"{"tools":[],"resultType":"weird","cacheScope":"public","ttlMs":1000}"#;
    let call = r#"{"content":[],"resultType":"input_required"}"#;
    let request = r#"{"name":"t","requestState":"s","inputResponses":{}}"#;
    for cx in [session(), session()] {
        drop(cx);
        let ways = (V2025_11_25, V2026_07_28);
        let result = |method: &str, text: &str| {
            let subject = Subject::Method(method, Part::Result, None);
            convert(subject, ways.0, ways.1, text, session())
        };
        let up = result("tools/list", list);
        says(
            &up,
            r#"{"tools":[],"resultType":"complete","cacheScope":"private","ttlMs":0}"#,
            &[
                (
                    "unknown-member-of-that-name",
                    "/cacheScope",
                    Cosmetic,
                    Removed,
                ),
                (
                    "unknown-member-of-that-name",
                    "/resultType",
                    Cosmetic,
                    Removed,
                ),
                ("unknown-member-of-that-name", "/ttlMs", Cosmetic, Removed),
            ],
        );
        assert_eq!(value(&result("tools/call", call))["resultType"], "complete");
        let up = value(&params("tools/call", None, ways, request, session()));
        assert!(
            up.get("requestState").is_none() && up.get("inputResponses").is_none(),
            "{up}"
        );
    }
}

#[test]
fn a_change_is_told_on_the_stream_that_asked_for_it() {
    use mcp_wire::Direction::ServerToClient;
    for (method, text) in [
        ("notifications/tools/list_changed", "{}"),
        ("notifications/prompts/list_changed", "{}"),
        ("notifications/resources/list_changed", "{}"),
        ("notifications/resources/updated", r#"{"uri":"file:///a"}"#),
    ] {
        let ways = (V2025_11_25, V2026_07_28);
        let of = |cx| params(method, Some(ServerToClient), ways, text, cx);
        needs(&of(Context::default()), Adapter::Subscription);
        let known = Context::default().with_session(Session {
            subscription_id: Json::from_text("7").ok(),
            ..Session::default()
        });
        let up = value(&of(known));
        assert_eq!(
            up["_meta"]["io.modelcontextprotocol/subscriptionId"], 7,
            "{up}"
        );
    }
}

#[test]
fn what_was_said_already_is_not_said_twice_in_a_wrap() {
    let newer = r#"{"content":[{"type":"text","text":"[1, 2]"}],"resultType":"complete","structuredContent":[1,2]}"#;
    let down = of_type("CallToolResult", V2026_07_28, V2025_03_26, newer);
    assert_eq!(
        value(&down),
        serde_json::json!({ "content": [{ "type": "text", "text": "[1, 2]" }] })
    );
    assert!(
        down.losses().iter().any(|loss| loss.change == Reshaped),
        "{down:?}"
    );
}

#[test]
fn a_mark_does_not_outlive_what_it_describes() {
    let newer = r#"{"content":[],"resultType":"complete","structuredContent":[1]}"#;
    let older = value(&of_type("CallToolResult", V2026_07_28, V2025_03_26, newer));
    assert!(older.get("_meta").is_none(), "{older}");
    let tool = r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"},"_meta":{"a/b":1}}"#;
    let older = value(&of_type("Tool", V2026_07_28, V2025_03_26, tool));
    assert_eq!(older["_meta"], serde_json::json!({ "a/b": 1 }));
    let back = value(&of_type(
        "Tool",
        V2025_03_26,
        V2026_07_28,
        &older.to_string(),
    ));
    assert!(back.get("outputSchema").is_none(), "{back}");
}

#[test]
fn no_alarm_is_raised_over_what_is_harmless() {
    let titled = r#"{"name":"t","title":"A","inputSchema":{"type":"object"}}"#;
    let down = of_type("Tool", V2025_06_18, V2024_11_05, titled);
    assert!(
        down.losses().iter().all(|loss| loss.severity() == Cosmetic),
        "{down:?}"
    );
    let empty = r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{}}"#;
    let down = of_type("Tool", V2025_03_26, V2024_11_05, empty);
    assert!(
        down.losses().iter().all(|loss| loss.severity() == Cosmetic),
        "{down:?}"
    );
    let listen = of_type(
        "ClientCapabilities",
        V2025_11_25,
        V2026_07_28,
        r#"{"roots":{"listChanged":false}}"#,
    );
    assert!(
        listen
            .losses()
            .iter()
            .all(|loss| loss.severity() == Cosmetic),
        "{listen:?}"
    );
    let tool = r#"{"name":"t","inputSchema":{"type":"object"},"execution":{}}"#;
    let down = of_type("Tool", V2025_11_25, V2025_06_18, tool);
    assert!(
        down.losses().iter().all(|loss| loss.severity() == Cosmetic),
        "{down:?}"
    );
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x"],"enumNames":["X"]}}}}"#;
    let down = of_type("ElicitRequestFormParams", V2025_11_25, V2025_06_18, form);
    assert_eq!(down, Outcome::Exact(form.to_owned()), "byte for byte");
}

#[test]
fn a_result_of_an_extension_is_an_error_to_who_did_not_agree_to_it() {
    for method in ["tools/call", "tools/list", "prompts/get", "resources/read"] {
        let subject = Subject::Method(method, Part::Result, None);
        let text = r#"{"resultType":"task","task":{"taskId":"1"},"tools":[],"ttlMs":0,"cacheScope":"private"}"#;
        let down = convert(subject, V2026_07_28, V2025_11_25, text, Context::default());
        let Outcome::Rejected(stopped) = &down else {
            panic!("{down:?}")
        };
        assert_eq!(
            (stopped.rule, stopped.step),
            ("result-type", "2026-07-28..2025-11-25")
        );
        rejected(&down, -32603);
    }
}

#[test]
fn a_question_in_a_result_that_cannot_have_one_is_refused() {
    let subject = Subject::Method("tools/list", Part::Result, None);
    let text = r#"{"resultType":"input_required","tools":[],"ttlMs":0,"cacheScope":"private"}"#;
    rejected(
        &convert(subject, V2026_07_28, V2025_11_25, text, Context::default()),
        -32603,
    );
    let up = error("tools/list", V2025_11_25, V2026_07_28, -32042);
    assert!(
        matches!(&up, Outcome::Lossy(error, _) if error.code == -32603),
        "{up:?}"
    );
}

#[test]
fn a_cancellation_of_nothing_ends_on_the_way() {
    for to in [V2025_06_18, V2026_07_28] {
        let ways = (V2025_11_25, to);
        let direction = Some(mcp_wire::Direction::ClientToServer);
        let outcome = params(
            "notifications/cancelled",
            direction,
            ways,
            "{}",
            Context::default(),
        );
        dropped(&outcome, "cancel-without-id");
    }
}

#[test]
fn no_empty_meta_is_left_behind() {
    let text = r#"{"content":[],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#;
    let down = of_type("CallToolResult", V2026_07_28, V2025_11_25, text);
    says(
        &down,
        r#"{"content":[]}"#,
        &[("server-info", "/_meta", Cosmetic, InSession)],
    );
}

#[test]
fn a_text_in_place_of_a_block_is_for_whom_the_block_was() {
    let audio = r#"{"content":[{"type":"audio","data":"","mimeType":"audio/wav","annotations":{"audience":["user"],"priority":1}}]}"#;
    let down = value(&of_type("CallToolResult", V2025_03_26, V2024_11_05, audio));
    assert_eq!(down["content"][0]["annotations"]["audience"][0], "user");
    let link = r#"{"content":[{"type":"resource_link","name":"n","uri":"file:///a","annotations":{"audience":["user"]}}]}"#;
    let down = value(&of_type("CallToolResult", V2025_06_18, V2024_11_05, link));
    assert_eq!(down["content"][0]["annotations"]["audience"][0], "user");
}

#[test]
fn a_schema_of_an_older_dialect_says_so_where_another_is_taken_for_granted() {
    let up = |schema: &str| {
        let tool = format!(r#"{{"name":"t","inputSchema":{schema}}}"#);
        value(&of_type("Tool", V2025_06_18, V2025_11_25, &tool))["inputSchema"]["$schema"].clone()
    };
    let stated = "http://json-schema.org/draft-07/schema#";
    let tuple = r#"{"type":"object","properties":{"a":{"items":[{"type":"string"}]}}}"#;
    assert_eq!(up(tuple), stated);
    assert_eq!(
        up(r#"{"type":"object","dependencies":{"a":["b"]}}"#),
        stated
    );
    let plain = r#"{"type":"object","properties":{"items":{"items":{}},"dependencies":{"const":{"dependencies":1}}}}"#;
    assert!(up(plain).is_null());
    let own = r#"{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","dependencies":{}}"#;
    assert_eq!(up(own), "https://json-schema.org/draft/2019-09/schema");
}

#[test]
fn what_travels_unnamed_is_not_called_exact() {
    let tool = r#"{"name":"t","title":"T","inputSchema":{"type":"object"}}"#;
    let down = under(
        UnknownFields::Preserve,
        "Tool",
        V2025_06_18,
        V2025_03_26,
        tool,
    );
    let Outcome::Reversible(older, shapes) = &down else {
        panic!("{down:?}")
    };
    assert!(text::same(older, tool));
    assert_eq!(
        (shapes[0].pointer(), shapes[0].change),
        ("/title".to_owned(), Carried)
    );
}

#[test]
fn capabilities_that_offer_nothing_more_are_no_grave_loss() {
    for (capabilities, kind) in [
        (r#"{"tasks":{}}"#, Cosmetic),
        (r#"{"tasks":{"requests":{}}}"#, Semantic),
        (r#"{"sampling":{"context":{}}}"#, Cosmetic),
        (r#"{"sampling":{"tools":{}}}"#, Semantic),
    ] {
        let told = of_type("ClientCapabilities", V2025_11_25, V2025_06_18, capabilities);
        assert_eq!(told.losses()[0].severity(), kind, "{told:?}");
    }
    for (capabilities, kind) in [
        (r#"{"tasks":{}}"#, Cosmetic),
        (r#"{"tasks":{"requests":{}}}"#, Semantic),
    ] {
        let told = of_type("ServerCapabilities", V2025_11_25, V2026_07_28, capabilities);
        assert_eq!(told.losses()[0].severity(), kind, "{told:?}");
    }
}
