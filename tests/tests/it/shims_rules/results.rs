//! Results: what says that they are complete, and for how long; lists that are too long.

use super::*;

#[test]
fn an_older_result_is_complete_stale_and_private() {
    let newer = r#"{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;
    let up = of_type(
        "ListToolsResult",
        V2025_11_25,
        V2026_07_28,
        r#"{"tools":[]}"#,
    );
    says(&up, newer, &[]);
    let down = of_type("ListToolsResult", V2026_07_28, V2025_11_25, newer);
    says(&down, r#"{"tools":[]}"#, &[]);
}

#[test]
fn hints_for_caches_are_lost_unless_they_say_nothing() {
    let text = r#"{"tools":[],"resultType":"complete","ttlMs":60000,"cacheScope":"public"}"#;
    let down = of_type("ListToolsResult", V2026_07_28, V2025_11_25, text);
    says(
        &down,
        r#"{"tools":[]}"#,
        &[
            ("cache-scope", "/cacheScope", Cosmetic, Removed),
            ("ttl", "/ttlMs", Cosmetic, Removed),
        ],
    );
    // What decides how long and for whom something is kept is not taken from an older server, and so not carried.
    let carried = under(
        UnknownFields::Preserve,
        "ListToolsResult",
        V2026_07_28,
        V2025_11_25,
        text,
    );
    says(
        &carried,
        r#"{"tools":[]}"#,
        &[
            ("cache-scope", "/cacheScope", Cosmetic, Removed),
            ("ttl", "/ttlMs", Cosmetic, Removed),
        ],
    );
}

#[test]
fn a_result_that_asks_for_input_needs_an_adapter_and_an_unknown_one_is_an_error() {
    let result = |kind: &str| format!(r#"{{"content":[],"resultType":"{kind}"}}"#);
    let down = |kind: &str| of_type("CallToolResult", V2026_07_28, V2025_11_25, &result(kind));
    says(&down("complete"), r#"{"content":[]}"#, &[]);
    // What a complete result can never be is no question, whatever it says of itself.
    rejected(&down("input_required"), -32603);
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
    says(
        &down,
        r#"{"content":[],"_meta":{"com.example/key":[1.50]}}"#,
        &[("server-info", place, Cosmetic, InSession)],
    );
    assert_eq!(
        down.losses()[0].value().unwrap().text(),
        r#"{"name":"s","version":"1"}"#
    );
}

#[test]
fn more_than_a_hundred_completions_are_cut_off_and_said_to_be_more() {
    let values =
        |count: usize| serde_json::json!((0..count).map(|at| at.to_string()).collect::<Vec<_>>());
    let text =
        |count, more: &str| format!(r#"{{"completion":{{"values":{}{more}}}}}"#, values(count));
    let newer = |count, more| text(count, more).replacen('{', r#"{"resultType":"complete","#, 1);
    let up = |text: &str| of_type("CompleteResult", V2025_11_25, V2026_07_28, text);
    says(&up(&text(100, "")), &newer(100, ""), &[]);
    let cut = ("completion-limit", "/completion/values", Semantic, Replaced);
    let place = "/completion/hasMore";
    let more = r#","hasMore":true"#;
    says(
        &up(&text(101, "")),
        &newer(100, more),
        &[cut, ("completion-limit", place, Cosmetic, Added)],
    );
    says(&up(&text(101, more)), &newer(100, more), &[cut]);
    let none = r#","total":101,"hasMore":false"#;
    let kept = r#","total":101,"hasMore":true"#;
    says(
        &up(&text(101, none)),
        &newer(100, kept),
        &[cut, ("completion-limit", place, Cosmetic, Replaced)],
    );
}
