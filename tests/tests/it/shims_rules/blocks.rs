//! Blocks of content, and of sampling.

use super::*;

#[test]
fn audio_becomes_a_resource_that_holds_the_same_bytes() {
    let text = r#"{"content":[{"type":"audio","data":"AAEC/+8=","mimeType":"audio/wav"}]}"#;
    let down = of_type("CallToolResult", V2025_03_26, V2024_11_05, text);
    says(
        &down,
        r#"{"content":[{"type":"resource","resource":{"uri":"urn:mcp-revisions:audio:f5786d6b149e8fc2","mimeType":"audio/wav","blob":"AAEC/+8="}}]}"#,
        &[("audio-block", "/content/0", Semantic, Replaced)],
    );
    let lost = down.losses()[0].value().unwrap();
    assert!(text::same(
        lost.text(),
        r#"{"type":"audio","data":"AAEC/+8=","mimeType":"audio/wav"}"#
    ));
}

/// A client that keeps resources by their URI has both.
#[test]
fn two_sounds_of_one_result_are_two_resources() {
    let sound =
        |data: &str| format!(r#"{{"type":"audio","data":"{data}","mimeType":"audio/wav"}}"#);
    let text = format!(r#"{{"content":[{},{}]}}"#, sound("AAEC"), sound("AAED"));
    let down = of_type("CallToolResult", V2025_03_26, V2024_11_05, &text);
    let result: serde_json::Value = serde_json::from_str(&down.value().unwrap()).unwrap();
    let uri = |at: usize| result["content"][at]["resource"]["uri"].as_str().unwrap();
    assert_ne!(uri(0), uri(1));
}

#[test]
fn audio_in_sampling_is_refused() {
    let text = r#"{"maxTokens":1,"messages":[{"role":"user","content":{"type":"audio","data":"","mimeType":"audio/wav"}}]}"#;
    rejected(
        &of_type("CreateMessageRequestParams", V2025_03_26, V2024_11_05, text),
        -32602,
    );
}

#[test]
fn a_link_becomes_a_text_with_its_uri() {
    let text = r#"{"content":[{"type":"text","text":"see"},{"type":"resource_link","name":"n","title":"T",
        "uri":"file:///a","mimeType":"text/plain","description":"d"}]}"#;
    let down = of_type("CallToolResult", V2025_06_18, V2025_03_26, text);
    let expected = r#"{"content":[{"type":"text","text":"see"},{"type":"text","text":"T: file:///a (text/plain)\nd"}]}"#;
    says(
        &down,
        expected,
        &[("resource-link-block", "/content/1", Semantic, Replaced)],
    );
}

#[test]
fn calls_of_tools_in_sampling_are_refused() {
    for content in [
        r#"{"type":"tool_use","id":"1","name":"t","input":{}}"#,
        r#"[{"type":"tool_result","toolUseId":"1","content":[]}]"#,
    ] {
        let text =
            format!(r#"{{"maxTokens":1,"messages":[{{"role":"user","content":{content}}}]}}"#);
        rejected(
            &of_type(
                "CreateMessageRequestParams",
                V2025_11_25,
                V2025_06_18,
                &text,
            ),
            -32602,
        );
    }
    let tools = r#"{"maxTokens":1,"messages":[],"tools":[]}"#;
    rejected(
        &of_type(
            "CreateMessageRequestParams",
            V2025_11_25,
            V2025_06_18,
            tools,
        ),
        -32602,
    );
}

#[test]
fn blocks_of_a_sampled_answer_are_joined_and_one_in_a_list_loses_its_list_alone() {
    let a = r#"{"type":"text","text":"a"}"#;
    let b = r#"{"type":"text","text":"b"}"#;
    for (blocks, text, kind) in [
        (a.to_owned(), "a", Cosmetic),
        (format!("{a},{b}"), "a\\nb", Semantic),
    ] {
        let newer = format!(r#"{{"role":"assistant","model":"m","content":[{blocks}]}}"#);
        let older = format!(
            r#"{{"role":"assistant","model":"m","content":{{"type":"text","text":"{text}"}}}}"#
        );
        says(
            &of_type("CreateMessageResult", V2025_11_25, V2025_06_18, &newer),
            &older,
            &[("sampling-join", "/content", kind, Replaced)],
        );
    }
}

#[test]
fn one_message_of_several_blocks_becomes_several_messages_in_order() {
    let text = r#"{"maxTokens":1,"messages":[
        {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image","data":"","mimeType":"image/png"}],"x":1},
        {"role":"assistant","content":{"type":"text","text":"c"}}]}"#;
    let expected = r#"{"maxTokens":1,"messages":[
        {"role":"user","content":{"type":"text","text":"a"},"x":1},
        {"role":"user","content":{"type":"text","text":"b"}},
        {"role":"user","content":{"type":"image","data":"","mimeType":"image/png"}},
        {"role":"assistant","content":{"type":"text","text":"c"}}]}"#;
    let down = of_type("CreateMessageRequestParams", V2025_11_25, V2025_06_18, text);
    says(
        &down,
        expected,
        &[("sampling-split", "/messages", Semantic, Replaced)],
    );
}

#[test]
fn an_answer_of_several_texts_is_joined_and_another_mixture_refused() {
    let of = |content: &str| {
        let text = format!(r#"{{"role":"assistant","model":"m","content":{content}}}"#);
        of_type("CreateMessageResult", V2025_11_25, V2025_06_18, &text)
    };
    let joined = of(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#);
    says(
        &joined,
        r#"{"role":"assistant","model":"m","content":{"type":"text","text":"a\nb"}}"#,
        &[("sampling-join", "/content", Semantic, Replaced)],
    );
    rejected(
        &of(r#"[{"type":"text","text":"a"},{"type":"image","data":"","mimeType":"image/png"}]"#),
        -32602,
    );
    rejected(&of("[]"), -32602);
}
