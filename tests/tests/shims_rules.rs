//! What the decisions between neighbours come to, one by one, on messages written by hand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

use mcp_shims::Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use mcp_shims::{Adapter, Change, Context, LossKind, Outcome, Part, Policy, Revision, Session, Subject};
use mcp_tests::text;
use mcp_wire::{ErrorObject, Json};

/// Converts a text of a type under the strict policy, without a session.
fn of_type(name: &str, from: Revision, to: Revision, text: &str) -> Outcome<String> {
    under(Policy::Strict, name, from, to, text)
}

fn under(policy: Policy, name: &str, from: Revision, to: Revision, text: &str) -> Outcome<String> {
    convert(Subject::Type(name), from, to, text, Context::new(policy))
}

fn convert(subject: Subject<'_>, from: Revision, to: Revision, text: &str, cx: Context) -> Outcome<String> {
    match mcp_shims::convert(subject, from, to, text, cx) {
        Ok(outcome) => outcome.map(Json::into_text),
        Err(failure) => panic!("{failure}: {text}"),
    }
}

/// The value, with the rule, place, kind and change of each loss.
#[track_caller]
fn says(outcome: &Outcome<String>, expected: &str, losses: &[(&str, &str, LossKind, Change)]) {
    let value = match outcome {
        Outcome::Exact(value) | Outcome::Lossy(value, _) => value,
        stopped => panic!("{stopped:?}"),
    };
    assert!(text::same(value, expected), "{value}\nexpected {expected}");
    let found: Vec<_> = outcome
        .losses()
        .iter()
        .map(|loss| (loss.rule, loss.pointer.as_str(), loss.kind, loss.change))
        .collect();
    assert_eq!(found, losses);
}

#[track_caller]
fn rejected(outcome: &Outcome<String>, code: i64) {
    match outcome {
        Outcome::Rejected(error) => assert_eq!(error.code, code, "{error:?}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn needs(outcome: &Outcome<String>, adapter: Adapter) {
    match outcome {
        Outcome::NeedsState(needs) => assert_eq!(needs.adapter, adapter),
        other => panic!("{other:?}"),
    }
}

use Change::{Added, Removed, Replaced};
use LossKind::{Cosmetic, Interaction, Safety, Semantic};

mod results {
    use super::*;

    #[test]
    fn an_older_result_is_complete_stale_and_private() {
        let newer = r#"{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;
        let up = of_type("ListToolsResult", V2025_11_25, V2026_07_28, r#"{"tools":[]}"#);
        says(&up, newer, &[]);
        let down = of_type("ListToolsResult", V2026_07_28, V2025_11_25, newer);
        says(&down, r#"{"tools":[]}"#, &[]);
    }

    #[test]
    fn hints_for_caches_are_lost_unless_they_say_nothing() {
        let text = r#"{"tools":[],"resultType":"complete","ttlMs":60000,"cacheScope":"public"}"#;
        let down = of_type("ListToolsResult", V2026_07_28, V2025_11_25, text);
        says(&down, r#"{"tools":[]}"#, &[
            ("cache-scope", "/cacheScope", Cosmetic, Removed),
            ("ttl", "/ttlMs", Cosmetic, Removed),
        ]);
        let carried = under(Policy::Carry, "ListToolsResult", V2026_07_28, V2025_11_25, text);
        says(&carried, r#"{"tools":[],"ttlMs":60000,"cacheScope":"public"}"#, &[]);
        let Outcome::Exact(carried) = carried else { panic!() };
        says(&of_type("ListToolsResult", V2025_11_25, V2026_07_28, &carried), text, &[]);
    }

    #[test]
    fn a_result_that_asks_for_input_needs_an_adapter_and_an_unknown_one_is_an_error() {
        let result = |kind: &str| format!(r#"{{"content":[],"resultType":"{kind}"}}"#);
        let down = |kind: &str| of_type("CallToolResult", V2026_07_28, V2025_11_25, &result(kind));
        says(&down("complete"), r#"{"content":[]}"#, &[]);
        needs(&down("input_required"), Adapter::MultiRoundTrip);
        rejected(&down("task"), -32603);
        let outcome = convert(
            Subject::Method("tools/call", Part::Result, None),
            V2026_07_28,
            V2025_11_25,
            r#"{"resultType":"input_required","requestState":"x"}"#,
            Context::default(),
        );
        needs(&outcome, Adapter::MultiRoundTrip);
    }

    #[test]
    fn the_name_of_the_server_goes_and_other_keys_of_meta_stay() {
        let text = r#"{"content":[],"resultType":"complete","_meta":{"com.example/key":[1.50],
            "io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#;
        let down = of_type("CallToolResult", V2026_07_28, V2025_11_25, text);
        let place = "/_meta/io.modelcontextprotocol~1serverInfo";
        says(&down, r#"{"content":[],"_meta":{"com.example/key":[1.50]}}"#, &[
            ("server-info", place, Cosmetic, Removed),
        ]);
        assert_eq!(down.losses()[0].value.as_ref().unwrap().text(), r#"{"name":"s","version":"1"}"#);
    }

    #[test]
    fn more_than_a_hundred_completions_are_cut_off_and_said_to_be_more() {
        let values = |count: usize| serde_json::json!((0..count).map(|at| at.to_string()).collect::<Vec<_>>());
        let text = |count, more: &str| format!(r#"{{"completion":{{"values":{}{more}}}}}"#, values(count));
        let newer = |count, more| text(count, more).replacen('{', r#"{"resultType":"complete","#, 1);
        let up = |text: &str| of_type("CompleteResult", V2025_11_25, V2026_07_28, text);
        says(&up(&text(100, "")), &newer(100, ""), &[]);
        let cut = ("completion-limit", "/completion/values", Semantic, Replaced);
        let place = "/completion/hasMore";
        let more = r#","hasMore":true"#;
        says(&up(&text(101, "")), &newer(100, more), &[cut, ("completion-limit", place, Cosmetic, Added)]);
        says(&up(&text(101, more)), &newer(100, more), &[cut]);
        let none = r#","total":101,"hasMore":false"#;
        let kept = r#","total":101,"hasMore":true"#;
        says(&up(&text(101, none)), &newer(100, kept), &[cut, ("completion-limit", place, Cosmetic, Replaced)]);
    }
}

mod requests {
    use super::*;

    fn session() -> Context {
        Context::default().with_session(Session {
            protocol_version: Some("2026-07-28".to_owned()),
            client_capabilities: Json::from_text(r#"{"roots":{}}"#).ok(),
        })
    }

    #[test]
    fn a_request_says_what_the_handshake_settled() {
        let subject = Subject::Method("tools/call", Part::Params, None);
        let older = r#"{"name":"t","_meta":{"com.example/key":1}}"#;
        let newer = r#"{"name":"t","_meta":{"com.example/key":1,
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}"#;
        needs(&convert(subject, V2025_11_25, V2026_07_28, older, Context::default()), Adapter::Handshake);
        says(&convert(subject, V2025_11_25, V2026_07_28, older, session()), newer, &[]);
        let down = convert(subject, V2026_07_28, V2025_11_25, newer, Context::default());
        says(&down, older, &[
            ("client-capabilities", "/_meta/io.modelcontextprotocol~1clientCapabilities", Cosmetic, Removed),
            ("protocol-version", "/_meta/io.modelcontextprotocol~1protocolVersion", Cosmetic, Removed),
        ]);
    }

    #[test]
    fn a_level_for_logs_and_answers_to_questions_need_adapters() {
        let params = |more: &str| {
            format!(
                r#"{{"name":"t","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{{}}{more}"#
            )
        };
        let down = |text: String| of_type("CallToolRequestParams", V2026_07_28, V2025_11_25, &text);
        needs(&down(params(r#","io.modelcontextprotocol/logLevel":"info"}}"#)), Adapter::LogLevel);
        needs(&down(params(r#"},"inputResponses":{}}"#)), Adapter::MultiRoundTrip);
        needs(&down(params(r#"},"requestState":"x"}"#)), Adapter::MultiRoundTrip);
    }

    #[test]
    fn what_only_one_side_has_is_answered_by_its_rule() {
        let of = |method, part, from, to, text| {
            convert(Subject::Method(method, part, None), from, to, text, session())
        };
        let initialize = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
        needs(&of("initialize", Part::Params, V2025_11_25, V2026_07_28, initialize), Adapter::Handshake);
        let uri = r#"{"uri":"file:///a"}"#;
        needs(&of("resources/subscribe", Part::Params, V2025_11_25, V2026_07_28, uri), Adapter::Subscription);
        needs(&of("logging/setLevel", Part::Params, V2025_11_25, V2026_07_28, r#"{"level":"info"}"#), Adapter::LogLevel);
        rejected(&of("tasks/get", Part::Params, V2025_11_25, V2025_06_18, r#"{"taskId":"1"}"#), -32601);
        let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
        rejected(&of("elicitation/create", Part::Params, V2025_06_18, V2025_03_26, form), -32601);
        let done = of("notifications/elicitation/complete", Part::Params, V2025_11_25, V2025_06_18, r#"{"elicitationId":"e"}"#);
        assert_eq!(done, Outcome::Swallowed("elicitation-complete"));
    }

    #[test]
    fn progress_of_the_client_ends_and_that_of_the_server_goes_on() {
        use mcp_wire::Direction::{ClientToServer, ServerToClient};
        let text = r#"{"progress":1,"progressToken":"t"}"#;
        let of = |direction| {
            let subject = Subject::Method("notifications/progress", Part::Params, Some(direction));
            convert(subject, V2025_11_25, V2026_07_28, text, session())
        };
        assert_eq!(of(ClientToServer), Outcome::Swallowed("client-progress"));
        says(&of(ServerToClient), text, &[]);
    }
}

mod blocks {
    use super::*;

    #[test]
    fn audio_becomes_a_text_that_says_what_stood_there() {
        let text = r#"{"content":[{"type":"audio","data":"AAEC/+8=","mimeType":"audio/wav"}]}"#;
        let down = of_type("CallToolResult", V2025_03_26, V2024_11_05, text);
        says(&down, r#"{"content":[{"type":"text","text":"[audio, audio/wav, 5 bytes]"}]}"#, &[
            ("audio-block", "/content/0", Semantic, Replaced),
        ]);
        let lost = down.losses()[0].value.as_ref().unwrap();
        assert!(text::same(lost.text(), r#"{"type":"audio","data":"AAEC/+8=","mimeType":"audio/wav"}"#));
    }

    #[test]
    fn audio_in_sampling_is_refused() {
        let text = r#"{"maxTokens":1,"messages":[{"role":"user","content":{"type":"audio","data":"","mimeType":"audio/wav"}}]}"#;
        rejected(&of_type("CreateMessageRequestParams", V2025_03_26, V2024_11_05, text), -32602);
    }

    #[test]
    fn a_link_becomes_a_text_with_its_uri() {
        let text = r#"{"content":[{"type":"text","text":"see"},{"type":"resource_link","name":"n","title":"T",
            "uri":"file:///a","mimeType":"text/plain","description":"d"}]}"#;
        let down = of_type("CallToolResult", V2025_06_18, V2025_03_26, text);
        let expected = r#"{"content":[{"type":"text","text":"see"},{"type":"text","text":"T: file:///a (text/plain)\nd"}]}"#;
        says(&down, expected, &[("resource-link-block", "/content/1", Semantic, Replaced)]);
    }

    #[test]
    fn calls_of_tools_in_sampling_are_refused() {
        for content in [
            r#"{"type":"tool_use","id":"1","name":"t","input":{}}"#,
            r#"[{"type":"tool_result","toolUseId":"1","content":[]}]"#,
        ] {
            let text = format!(r#"{{"maxTokens":1,"messages":[{{"role":"user","content":{content}}}]}}"#);
            rejected(&of_type("CreateMessageRequestParams", V2025_11_25, V2025_06_18, &text), -32602);
        }
        let tools = r#"{"maxTokens":1,"messages":[],"tools":[]}"#;
        rejected(&of_type("CreateMessageRequestParams", V2025_11_25, V2025_06_18, tools), -32602);
    }

    #[test]
    fn one_message_of_several_blocks_becomes_several_messages_in_order() {
        let text = r#"{"maxTokens":1,"messages":[
            {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image","data":"","mimeType":"image/png"}],"x":1},
            {"role":"assistant","content":{"type":"text","text":"c"}}]}"#;
        let expected = r#"{"maxTokens":1,"messages":[
            {"role":"user","content":{"type":"text","text":"a"},"x":1},
            {"role":"user","content":{"type":"text","text":"b"},"x":1},
            {"role":"user","content":{"type":"image","data":"","mimeType":"image/png"},"x":1},
            {"role":"assistant","content":{"type":"text","text":"c"}}]}"#;
        let down = of_type("CreateMessageRequestParams", V2025_11_25, V2025_06_18, text);
        says(&down, expected, &[("sampling-split", "/messages", Semantic, Replaced)]);
    }

    #[test]
    fn an_answer_of_several_texts_is_joined_and_another_mixture_refused() {
        let of = |content: &str| {
            let text = format!(r#"{{"role":"assistant","model":"m","content":{content}}}"#);
            of_type("CreateMessageResult", V2025_11_25, V2025_06_18, &text)
        };
        let joined = of(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#);
        says(&joined, r#"{"role":"assistant","model":"m","content":{"type":"text","text":"a\nb"}}"#, &[
            ("sampling-join", "/content", Semantic, Replaced),
        ]);
        rejected(&of(r#"[{"type":"text","text":"a"},{"type":"image","data":"","mimeType":"image/png"}]"#), -32602);
        rejected(&of("[]"), -32602);
    }
}

mod structured {
    use super::*;

    #[test]
    fn any_structured_content_is_wrapped_and_comes_back() {
        for value in ["[1,2.50]", "\"x\"", "null", "1e2", "true"] {
            for meta in ["", r#","_meta":{}"#, r#","_meta":{"com.example/key":1}"#] {
                let newer = format!(r#"{{"content":[],"resultType":"complete","structuredContent":{value}{meta}}}"#);
                let down = of_type("CallToolResult", V2026_07_28, V2025_11_25, &newer);
                let Outcome::Exact(older) = &down else { panic!("{down:?}") };
                let wrapped = format!(r#""structuredContent":{{"result":{value}}}"#);
                assert!(older.contains(&wrapped) && older.contains("mcp-revisions/wrapped"), "{older}");
                says(&of_type("CallToolResult", V2025_11_25, V2026_07_28, older), &newer, &[]);
            }
        }
    }

    #[test]
    fn an_object_is_left_as_it_is_even_if_it_looks_like_a_wrap() {
        let newer = r#"{"content":[],"resultType":"complete","structuredContent":{"result" : 1}}"#;
        let down = of_type("CallToolResult", V2026_07_28, V2025_11_25, newer);
        let older = r#"{"content":[],"structuredContent":{"result" : 1}}"#;
        says(&down, older, &[]);
        says(&of_type("CallToolResult", V2025_11_25, V2026_07_28, older), newer, &[]);
    }

    #[test]
    fn somebody_elses_key_of_that_name_is_left_alone() {
        let older = r#"{"content":[],"structuredContent":{"result":1,"more":2},"_meta":{"mcp-revisions/wrapped":{"alone":true}}}"#;
        let newer = older.replacen('{', r#"{"resultType":"complete","#, 1);
        says(&of_type("CallToolResult", V2025_11_25, V2026_07_28, older), &newer, &[]);
    }

    #[test]
    fn structured_content_becomes_text_for_those_who_have_none() {
        let text = r#"{"content":[],"structuredContent":{"a":1.0}}"#;
        let down = of_type("CallToolResult", V2025_06_18, V2025_03_26, text);
        says(&down, r#"{"content":[{"type":"text","text":"{\"a\":1.0}"}]}"#, &[
            ("structured-content-text", "/content/0", Cosmetic, Added),
            ("structured-content", "/structuredContent", Semantic, Removed),
        ]);
        let said = r#"{"content":[{"type":"text","text":"{ \"a\": 1.0 }"}],"structuredContent":{"a":1.0}}"#;
        let down = of_type("CallToolResult", V2025_06_18, V2025_03_26, said);
        says(&down, r#"{"content":[{"type":"text","text":"{ \"a\": 1.0 }"}]}"#, &[
            ("structured-content", "/structuredContent", Semantic, Removed),
        ]);
    }

    #[test]
    fn an_output_schema_of_no_object_is_wrapped_and_comes_back() {
        let schema = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","anyOf":[{"$ref":"#/$defs/a"},{"const":{"$ref":"#"}}],"$defs":{"a":{"type":"null"}}}"##;
        let newer = format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
        let down = of_type("Tool", V2026_07_28, V2025_11_25, &newer);
        let Outcome::Exact(older) = &down else { panic!("{down:?}") };
        let tool: serde_json::Value = serde_json::from_str(older).unwrap();
        let inner = &tool["outputSchema"]["properties"]["result"];
        assert_eq!(tool["outputSchema"]["type"], "object");
        assert_eq!(tool["outputSchema"]["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(inner["anyOf"][0]["$ref"], "#/properties/result/$defs/a");
        assert_eq!(inner["anyOf"][1]["const"]["$ref"], "#", "data is no reference");
        says(&of_type("Tool", V2025_11_25, V2026_07_28, older), &newer, &[]);
    }

    #[test]
    fn boolean_properties_become_objects_that_say_the_same() {
        let newer = r#"{"name":"t","inputSchema":{"type":"object","properties":{"a/b":true,"c":{"default":true},"d":false}},
            "outputSchema":{"type":"object","properties":{"e":true}}}"#;
        let older = r#"{"name":"t","inputSchema":{"type":"object","properties":{"a/b":{},"c":{"default":true},"d":{"not":{}}}},
            "outputSchema":{"type":"object","properties":{"e":{}}}}"#;
        says(&of_type("Tool", V2026_07_28, V2025_11_25, newer), older, &[
            ("schema-booleans", "/inputSchema/properties/a~1b", Cosmetic, Replaced),
            ("schema-booleans", "/inputSchema/properties/d", Cosmetic, Replaced),
            ("schema-booleans", "/outputSchema/properties/e", Cosmetic, Replaced),
        ]);
    }
}

mod elicitation {
    use super::*;

    fn form(property: &str) -> String {
        format!(r#"{{"message":"m","requestedSchema":{{"type":"object","properties":{{"p":{property}}}}}}}"#)
    }

    #[test]
    fn a_choice_with_titles_goes_both_ways_without_loss() {
        let older = form(r#"{"type":"string","enum":["a","b"],"enumNames":["A","B"]}"#);
        let newer = form(r#"{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}"#);
        says(&of_type("ElicitRequestParams", V2025_06_18, V2025_11_25, &older), &newer, &[]);
        says(&of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &newer), &older, &[]);
        let plain = form(r#"{"type":"string","enum":["a"]}"#);
        says(&of_type("ElicitRequestParams", V2025_06_18, V2025_11_25, &plain), &plain, &[]);
        says(&of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &plain), &plain, &[]);
    }

    #[test]
    fn names_that_do_not_match_the_values_keep_their_spelling() {
        let odd = form(r#"{"type":"string","enum":["a","b"],"enumNames":["A"]}"#);
        says(&of_type("ElicitRequestParams", V2025_06_18, V2025_11_25, &odd), &odd, &[]);
        says(&of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &odd), &odd, &[]);
    }

    #[test]
    fn a_choice_of_several_values_is_refused() {
        for items in [r#"{"type":"string","enum":["a"]}"#, r#"{"anyOf":[{"const":"a","title":"A"}]}"#] {
            let newer = form(&format!(r#"{{"type":"array","items":{items}}}"#));
            rejected(&of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &newer), -32602);
        }
        let answer = r#"{"action":"accept","content":{"p":["a"]}}"#;
        rejected(&of_type("ElicitResult", V2025_11_25, V2025_06_18, answer), -32602);
    }

    #[test]
    fn defaults_are_lost_where_there_are_none() {
        let newer = form(r#"{"type":"string","default":"d"}"#);
        let down = of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &newer);
        says(&down, &form(r#"{"type":"string"}"#), &[
            ("form-default", "/requestedSchema/properties/p/default", Semantic, Removed),
        ]);
        let boolean = form(r#"{"type":"boolean","default":true}"#);
        says(&of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &boolean), &boolean, &[]);
    }

    #[test]
    fn a_url_never_becomes_a_form() {
        let url = r#"{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}"#;
        rejected(&of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, url), -32602);
        let carried = under(Policy::Carry, "ElicitRequestParams", V2025_11_25, V2025_06_18, url);
        rejected(&carried, -32602);
    }

    #[test]
    fn the_id_of_a_url_elicitation_needs_an_adapter_on_the_way_back() {
        let older = r#"{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}"#;
        let newer = r#"{"mode":"url","message":"m","url":"https://example.com"}"#;
        says(&of_type("ElicitRequestParams", V2025_11_25, V2026_07_28, older), newer, &[
            ("elicitation-id", "/elicitationId", Semantic, Removed),
        ]);
        needs(&of_type("ElicitRequestParams", V2026_07_28, V2025_11_25, newer), Adapter::UrlElicitationId);
    }

    #[test]
    fn a_client_that_takes_urls_alone_does_not_look_as_if_it_took_forms() {
        let of = |policy, value: &str| {
            let text = format!(r#"{{"elicitation":{value}}}"#);
            under(policy, "ClientCapabilities", V2025_11_25, V2025_06_18, &text)
        };
        for policy in [Policy::Strict, Policy::Carry] {
            let url = of(policy, r#"{"url":{}}"#);
            says(&url, "{}", &[("elicitation-capability", "/elicitation", Interaction, Removed)]);
        }
        says(&of(Policy::Strict, "{}"), r#"{"elicitation":{}}"#, &[]);
        says(&of(Policy::Strict, r#"{"form":{},"url":{}}"#), r#"{"elicitation":{}}"#, &[
            ("elicitation-capability", "/elicitation/form", Cosmetic, Removed),
            ("elicitation-capability", "/elicitation/url", Interaction, Removed),
        ]);
        says(&of(Policy::Carry, r#"{"form":{},"url":{}}"#), r#"{"elicitation":{"form":{},"url":{}}}"#, &[]);
    }
}

mod tools {
    use super::*;

    const TASK_TOOLS: &str = r#"{"tools":[
        {"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},
        {"name":"b","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},
        {"name":"c","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},
        {"name":"d","inputSchema":{"type":"object"}}]}"#;

    #[test]
    fn tools_that_demand_tasks_are_hidden_on_both_sides_of_the_only_revision_that_has_them() {
        let expected = [
            ("task-tools", "/tools/0", Semantic, Removed),
            ("tool-execution", "/tools/1/execution", Semantic, Removed),
            ("task-tools", "/tools/2", Semantic, Removed),
        ];
        let left = r#"[{"name":"b","inputSchema":{"type":"object"}},{"name":"d","inputSchema":{"type":"object"}}]"#;
        let down = of_type("ListToolsResult", V2025_11_25, V2025_06_18, TASK_TOOLS);
        says(&down, &format!(r#"{{"tools":{left}}}"#), &expected);
        let up = of_type("ListToolsResult", V2025_11_25, V2026_07_28, TASK_TOOLS);
        let newer = format!(r#"{{"tools":{left},"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#);
        says(&up, &newer, &expected);
    }

    #[test]
    fn a_task_in_place_of_a_result_needs_an_adapter() {
        let text = r#"{"task":{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}}"#;
        for to in [V2025_06_18, V2026_07_28] {
            let subject = Subject::Method("tools/call", Part::Result, None);
            needs(&convert(subject, V2025_11_25, to, text, Context::default()), Adapter::Tasks);
        }
    }

    #[test]
    fn the_title_of_a_tool_moves_to_its_annotations_unless_one_stands_there() {
        let down = |more: &str| {
            let text = format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"title":"T"{more}}}"#);
            of_type("Tool", V2025_06_18, V2025_03_26, &text)
        };
        says(&down(""), r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{"title":"T"}}"#, &[
            ("tool-title", "/title", Cosmetic, Removed),
            ("tool-title", "/annotations", Cosmetic, Added),
        ]);
        let hint = down(r#","annotations":{"readOnlyHint":true}"#);
        says(&hint, r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{"title":"T","readOnlyHint":true}}"#, &[
            ("tool-title", "/title", Cosmetic, Removed),
            ("tool-title", "/annotations/title", Cosmetic, Added),
        ]);
        let taken = down(r#","annotations":{"title":"A"}"#);
        says(&taken, r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{"title":"A"}}"#, &[
            ("title", "/title", Cosmetic, Removed),
        ]);
    }

    #[test]
    fn hints_about_harm_are_a_loss_of_safety() {
        let text = r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}"#;
        says(&of_type("Tool", V2025_03_26, V2024_11_05, text), r#"{"name":"t","inputSchema":{"type":"object"}}"#, &[
            ("tool-annotations", "/annotations", Safety, Removed),
        ]);
    }
}

mod errors {
    use super::*;

    fn of(method: &str, from: Revision, to: Revision, code: i64) -> Outcome<ErrorObject> {
        let error: ErrorObject = mcp_wire::from_str(&format!(r#"{{"code":{code},"message":"m","data":{{"uri":"x"}}}}"#)).unwrap();
        mcp_shims::convert_error(method, from, to, error, Context::default())
    }

    #[track_caller]
    fn becomes(outcome: &Outcome<ErrorObject>, code: i64, rule: &str) {
        let Outcome::Lossy(error, losses) = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.code, code);
        assert_eq!((losses[0].rule, losses[0].pointer.as_str(), losses.len()), (rule, "/code", 1));
        assert_eq!(error.data.as_ref().unwrap().text(), r#"{"uri":"x"}"#);
    }

    #[test]
    fn a_resource_that_is_not_there_goes_by_another_code() {
        becomes(&of("resources/read", V2025_11_25, V2026_07_28, -32002), -32602, "resource-not-found");
        assert!(of("tools/call", V2025_11_25, V2026_07_28, -32002).is_exact(), "it answers reads alone");
        assert!(of("resources/read", V2026_07_28, V2025_11_25, -32602).is_exact());
    }

    #[test]
    fn urls_to_visit_first_are_no_error_any_more_and_no_code_before() {
        let up = of("tools/call", V2025_11_25, V2026_07_28, -32042);
        assert!(matches!(&up, Outcome::NeedsState(needs) if needs.adapter == Adapter::MultiRoundTrip), "{up:?}");
        becomes(&of("tools/call", V2025_11_25, V2024_11_05, -32042), -32603, "url-elicitation-required");
    }

    #[test]
    fn a_persons_refusal_to_sample_is_no_error_any_more() {
        let up = of("sampling/createMessage", V2025_11_25, V2026_07_28, -1);
        assert!(matches!(&up, Outcome::NeedsState(needs) if needs.adapter == Adapter::MultiRoundTrip), "{up:?}");
    }

    #[test]
    fn codes_of_the_newest_revision_are_said_in_older_ones() {
        for (code, older, rule) in [
            (-32020, -32603, "header-mismatch"),
            (-32021, -32602, "missing-client-capability"),
            (-32022, -32602, "unsupported-protocol-version"),
        ] {
            becomes(&of("tools/call", V2026_07_28, V2024_11_05, code), older, rule);
        }
        assert!(of("tools/call", V2026_07_28, V2024_11_05, -32601).is_exact());
    }
}

mod unknown {
    use super::*;

    #[test]
    fn bytes_of_opaque_json_arrive_as_they_left() {
        let schema = "{ \"type\" :\t\"object\" , \"x\\u0041\" : [ 1.0e2 , -0.0 ] }";
        let text = format!(r#"{{"name":"t","inputSchema":{schema},"x-vendor":{schema},"_meta":{{"com.example/k":{schema}}}}}"#);
        for (from, to) in [(V2024_11_05, V2026_07_28), (V2026_07_28, V2024_11_05)] {
            let outcome = of_type("Tool", from, to, &text);
            let Outcome::Exact(value) = outcome else { panic!("{outcome:?}") };
            assert_eq!(value.matches(schema).count(), 3, "{value}");
        }
    }

    #[test]
    fn an_unknown_member_is_taken_for_what_the_newer_revision_calls_so() {
        let up = of_type("Tool", V2025_03_26, V2025_06_18, r#"{"name":"t","inputSchema":{"type":"object"},"title":"T"}"#);
        says(&up, r#"{"name":"t","inputSchema":{"type":"object"},"title":"T"}"#, &[]);
        let wrong = of_type("Tool", V2025_03_26, V2025_06_18, r#"{"name":"t","inputSchema":{"type":"object"},"title":7}"#);
        says(&wrong, r#"{"name":"t","inputSchema":{"type":"object"}}"#, &[
            (mcp_convert::ADOPTED, "/title", Cosmetic, Removed),
        ]);
    }
}
