//! Unions that readers of MCP get wrong, each with the message that shows it.

use mcp_revisions_core::{v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28};
use mcp_wire::{Decode, Encode, ErrorKind, from_str, to_string};

/// Reads a text, checks that it is written as it stands, and gives the value.
#[track_caller]
fn read<T: Decode + Encode>(text: &str) -> T {
    let value: T = from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let written = to_string(&value);
    assert!(
        mcp_tests::text::same(text, &written),
        "{text}\nis written as\n{written}"
    );
    value
}

/// The variant that a union has, or what it has instead.
macro_rules! expect {
    ($value:expr, $pattern:pat => $then:expr) => {
        match $value {
            $pattern => $then,
            other => panic!("not {}: {other:?}", stringify!($pattern)),
        }
    };
}

#[test]
fn unsubscribing_is_not_a_ping() {
    let text = r#"{"method":"resources/unsubscribe","params":{"uri":"file:///a"}}"#;
    let request = read::<v2024_11_05::ClientRequest>(text);
    expect!(request, v2024_11_05::ClientRequest::Unsubscribe(it) => assert_eq!(it.params.uri, "file:///a"));
    let request = read::<v2025_03_26::ClientRequest>(text);
    expect!(request, v2025_03_26::ClientRequest::Unsubscribe(it) => assert_eq!(it.params.uri, "file:///a"));
    let request = read::<v2025_06_18::ClientRequest>(text);
    expect!(request, v2025_06_18::ClientRequest::Unsubscribe(it) => assert_eq!(it.params.uri, "file:///a"));
    let text =
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"file:///a"}}"#;
    let request = read::<v2025_11_25::ClientRequest>(text);
    expect!(request, v2025_11_25::ClientRequest::Unsubscribe(it) => assert_eq!(it.params.uri, "file:///a"));
}

#[test]
fn audio_is_not_an_image() {
    // Both have `data` and `mimeType`: only the tag tells.
    let text = r#"{"type":"audio","data":"SGk=","mimeType":"audio/wav"}"#;
    expect!(read(text), v2025_03_26::ContentBlock::Audio(it) => assert_eq!(it.mime_type, "audio/wav"));
    expect!(read(text), v2025_06_18::ContentBlock::Audio(it) => assert_eq!(it.data, "SGk="));
    expect!(read(text), v2025_11_25::SamplingContent::Audio(it) => assert_eq!(it.data, "SGk="));
    expect!(read(text), v2026_07_28::ContentBlock::Audio(it) => assert_eq!(it.data, "SGk="));
    // 2024-11-05 has no audio.
    let error = from_str::<v2024_11_05::ContentBlock>(text).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::Tag, "/type"));
    assert_eq!(error.expected(), r#""image", "resource" or "text""#);
}

#[test]
fn the_tag_need_not_come_first() {
    let text = r#"{"data":"SGk=","x":{"type":"text"},"mimeType":"image/png","type":"image"}"#;
    expect!(read(text), v2025_11_25::ContentBlock::Image(it) => assert_eq!(it.mime_type, "image/png"));
    let text = r#"{"params":{"name":"add","method":"ping"},"id":"a","method":"tools/call","jsonrpc":"2.0"}"#;
    expect!(read(text), v2025_11_25::ClientRequest::CallTool(it) => assert_eq!(it.params.name, "add"));
    // Spelled with escapes it is the same tag.
    let text = r#"{"m\u0065thod":"tools\/c\u0061ll","params":{"name":"add"}}"#;
    expect!(read(text), v2025_06_18::ClientRequest::CallTool(it) => assert_eq!(it.params.name, "add"));
}

#[test]
fn empty_capabilities_are_kept() {
    let text = r#"{"sampling":{},"elicitation":{},"roots":{}}"#;
    let it = read::<v2025_06_18::ClientCapabilities>(text);
    assert!(it.sampling.is_some() && it.elicitation.is_some() && it.roots.is_some());
    let it = read::<v2025_11_25::ClientCapabilities>(text);
    assert!(it.sampling.is_some() && it.elicitation.is_some() && it.roots.is_some());
    let it = read::<v2026_07_28::ClientCapabilities>(text);
    assert!(it.sampling.is_some() && it.elicitation.is_some() && it.roots.is_some());
    assert!(it.experimental.is_none() && it.extensions.is_none() && it.extra.is_empty());
    // What a revision does not know is not lost either.
    let it = read::<v2024_11_05::ClientCapabilities>(text);
    assert_eq!(it.extra.get("elicitation").unwrap().text(), "{}");
}

#[test]
fn empty_arguments_are_not_absent_ones() {
    let with = r#"{"name":"now","arguments":{}}"#;
    let it = read::<v2025_11_25::CallToolRequestParams>(with);
    assert_eq!(it.arguments.unwrap().text(), "{}");
    let it = read::<v2025_11_25::CallToolRequestParams>(r#"{"name":"now"}"#);
    assert_eq!(it.arguments, None);
    let it = read::<v2025_11_25::ListToolsResult>(r#"{"tools":[]}"#);
    assert_eq!(it.tools.len(), 0);
}

#[test]
fn a_string_schema_with_choices_is_an_enum_schema() {
    type Old = v2025_06_18::PrimitiveSchemaDefinition;
    type New = v2025_11_25::PrimitiveSchemaDefinition;
    let text = r#"{"type":"string","enum":["red","green"]}"#;
    expect!(read::<Old>(text), Old::Enum(it) => assert_eq!(it.values, ["red", "green"]));
    expect!(read::<New>(text), New::UntitledSingleSelectEnum(it) => assert_eq!(it.values, ["red", "green"]));
    let text = r#"{"type":"string","format":"email","maxLength":80}"#;
    expect!(read::<Old>(text), Old::String(it) => assert_eq!(it.max_length.unwrap(), 80));
    expect!(read::<New>(text), New::String(it) => assert_eq!(it.max_length.unwrap(), 80));
    expect!(read::<New>(r#"{"type":"integer"}"#), New::Number(_) => ());
    expect!(read::<New>(r#"{"type":"boolean","default":false}"#), New::Boolean(it) => assert_eq!(it.default, Some(false)));
}

#[test]
fn names_of_choices_make_the_handshake_enum_schema() {
    type Schema = v2025_11_25::EnumSchema;
    let text = r#"{"type":"string","enum":["r"],"enumNames":["red"]}"#;
    expect!(read::<Schema>(text), Schema::LegacyTitled(it) => assert_eq!(it.enum_names.unwrap(), ["red"]));
    let text = r#"{"type":"string","oneOf":[{"const":"r","title":"red"}]}"#;
    expect!(read::<Schema>(text), Schema::TitledSingleSelect(it) => assert_eq!(it.one_of[0].title, "red"));
    let text = r#"{"type":"string","enum":["r"]}"#;
    expect!(read::<Schema>(text), Schema::UntitledSingleSelect(_) => ());
}

#[test]
fn what_the_items_hold_tells_the_multi_select_schemas_apart() {
    type Schema = v2026_07_28::MultiSelectEnumSchema;
    let text = r#"{"type":"array","items":{"type":"string","enum":["r"]},"maxItems":2}"#;
    expect!(read::<Schema>(text), Schema::Untitled(it) => assert_eq!(it.items.values, ["r"]));
    let text = r#"{"type":"array","items":{"anyOf":[{"const":"r","title":"red"}]}}"#;
    expect!(read::<Schema>(text), Schema::Titled(it) => assert_eq!(it.items.any_of[0].value, "r"));
    let error = from_str::<Schema>(r#"{"type":"array","items":{"type":"string"}}"#).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Undecided);
    assert_eq!(error.expected(), "member `items/enum` or `items/anyOf`");
}

#[test]
fn one_content_block_and_a_list_of_blocks_are_told_apart() {
    type Content = v2025_11_25::SamplingContent;
    expect!(read(r#"{"type":"text","text":"a"}"#), Content::Text(it) => assert_eq!(it.text, "a"));
    expect!(read(r#"[{"type":"text","text":"a"}]"#), Content::List(it) => assert_eq!(it.len(), 1));
    expect!(read("[]"), Content::List(it) => assert_eq!(it.len(), 0));
    let error = from_str::<Content>(r#"[{"type":"text","text":"a"},{"type":"txt"}]"#).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::Tag, "/1/type"));
    let error = from_str::<Content>("7").unwrap_err();
    assert_eq!(error.expected(), "an object or an array");
}

#[test]
fn a_call_is_complete_or_asks_for_input() {
    type Outcome = v2026_07_28::CallToolOutcome;
    let text = r#"{"resultType":"complete","content":[]}"#;
    expect!(read(text), Outcome::CallTool(it) => assert!(matches!(it.result_type, v2026_07_28::ResultType::Complete)));
    let text = r#"{"inputRequests":{"k":{"method":"roots/list"}},"resultType":"input_required"}"#;
    expect!(read(text), Outcome::InputRequired(it) => assert!(it.input_requests.unwrap().get("k").is_some()));
    // What an extension defines is read as what the method promises.
    let text = r#"{"resultType":"com.example/partial","content":[]}"#;
    expect!(read(text), Outcome::CallTool(it) => {
        expect!(&it.result_type, v2026_07_28::ResultType::Other(kind) => assert_eq!(kind, "com.example/partial"));
        assert!(to_string(&it).contains(r#""resultType":"com.example/partial""#));
    });
    // The same tag tells for the two other methods that may ask back.
    let text = r#"{"resultType":"input_required","requestState":"s"}"#;
    expect!(read(text), v2026_07_28::GetPromptOutcome::InputRequired(_) => ());
    expect!(read(text), v2026_07_28::ReadResourceOutcome::InputRequired(_) => ());
    let text = r#"{"resultType":"complete","contents":[],"ttlMs":0,"cacheScope":"public"}"#;
    expect!(read(text), v2026_07_28::ReadResourceOutcome::ReadResource(_) => ());
    let text = r#"{"resultType":"complete","contents":[],"ttlMs":0}"#;
    let error = from_str::<v2026_07_28::ReadResourceOutcome>(text).unwrap_err();
    assert_eq!(
        error.expected(),
        "member `cacheScope` of ReadResourceResult"
    );
}

#[test]
fn a_call_is_answered_by_its_result_or_by_a_task() {
    type Outcome = v2025_11_25::CallToolOutcome;
    expect!(read(r#"{"content":[]}"#), Outcome::CallTool(_) => ());
    let text = r#"{"task":{"taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":null}}"#;
    expect!(read(text), Outcome::CreateTask(it) => {
        assert_eq!(it.task.ttl, None);
        assert_eq!(it.task.status, v2025_11_25::TaskStatus::Working);
    });
}

#[test]
fn an_answer_to_an_input_request_is_told_by_its_own_members() {
    type Response = v2026_07_28::InputResponse;
    expect!(read(r#"{"action":"decline"}"#), Response::Elicit(_) => ());
    expect!(read(r#"{"roots":[]}"#), Response::ListRoots(_) => ());
    let text = r#"{"role":"assistant","model":"m","content":[]}"#;
    expect!(read(text), Response::CreateMessage(_) => ());
    let error = from_str::<Response>(r#"{"action":"agree"}"#).unwrap_err();
    assert_eq!(
        (error.kind(), error.pointer()),
        (ErrorKind::Choice, "/action")
    );
}

#[test]
fn elicitation_without_a_mode_is_a_form() {
    type Params = v2025_11_25::ElicitRequestParams;
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    expect!(read::<Params>(form), Params::Form(it) => assert_eq!(it.mode, None));
    let form =
        r#"{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}"#;
    expect!(read::<Params>(form), Params::Form(it) => assert!(it.mode.is_some()));
    let url = r#"{"mode":"url","message":"m","elicitationId":"e","url":"https://example.com"}"#;
    expect!(read::<Params>(url), Params::Url(it) => assert_eq!(it.url, "https://example.com"));
    let error = from_str::<Params>(r#"{"mode":"link","message":"m"}"#).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::Tag, "/mode"));
}

#[test]
fn batches_are_told_by_their_first_message() {
    type Batch = v2025_03_26::JsonRpcMessage;
    let calls = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    expect!(read(calls), Batch::JsonRpcBatchRequestItemList(it) => {
        expect!(&it[0], v2025_03_26::JsonRpcBatchRequestItem::Notification(_) => ());
        expect!(&it[1], v2025_03_26::JsonRpcBatchRequestItem::Request(_) => ());
    });
    let answers = r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}]"#;
    expect!(read(answers), Batch::JsonRpcBatchResponseItemList(it) => {
        expect!(&it[0], v2025_03_26::JsonRpcBatchResponseItem::Response(_) => ());
        expect!(&it[1], v2025_03_26::JsonRpcBatchResponseItem::Error(_) => ());
    });
    let mixed =
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"result":{}}]"#;
    let error = from_str::<Batch>(mixed).unwrap_err();
    assert_eq!(error.pointer(), "/1");
    // The other revisions have none.
    let error = from_str::<v2025_06_18::JsonRpcMessage>(calls).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::Kind, ""));
}

#[test]
fn a_message_is_told_by_method_result_and_error() {
    type Any = v2026_07_28::JsonRpcMessage;
    expect!(read(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#), Any::Request(_) => ());
    expect!(read(r#"{"jsonrpc":"2.0","method":"a"}"#), Any::Notification(_) => ());
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}"#;
    expect!(read(text), Any::ResultResponse(_) => ());
    let text = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}"#;
    expect!(read(text), Any::ErrorResponse(it) => assert!(it.id.is_none()));
}

#[test]
fn text_and_blob_resources_are_told_by_what_they_hold() {
    type Contents = v2024_11_05::TextOrBlobContents;
    expect!(read(r#"{"uri":"a:b","text":""}"#), Contents::Text(it) => assert_eq!(it.text, ""));
    expect!(read(r#"{"blob":"","uri":"a:b"}"#), Contents::Blob(it) => assert_eq!(it.blob, ""));
    let error = from_str::<Contents>(r#"{"uri":"a:b"}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "at the root: expected member `text` or `blob`, found nothing (line 1, column 1)"
    );
}

#[test]
fn an_unknown_method_keeps_its_params_unread() {
    let text =
        r#"{"jsonrpc":"2.0","id":7,"method":"com.example/do","params":{ "b": 1.0, "a": [] }}"#;
    let request = read::<v2025_11_25::ClientRequest>(text);
    expect!(request, v2025_11_25::ClientRequest::Unknown(it) => {
        assert_eq!(it.method, "com.example/do");
        assert_eq!(it.params.unwrap().text(), r#"{ "b": 1.0, "a": [] }"#);
        assert_eq!(it.extra.get("id").unwrap().text(), "7");
    });
    let text = r#"{"jsonrpc":"2.0","method":"notifications/later"}"#;
    expect!(read(text), v2026_07_28::ClientNotification::Unknown(it) => assert_eq!(it.params, None));
    expect!(read(text), v2024_11_05::ServerNotification::Unknown(_) => ());
    expect!(read(r#"{"method":"com.example/ask"}"#), v2026_07_28::InputRequest::Unknown(_) => ());
    let error = from_str::<v2025_11_25::ClientRequest>("{}").unwrap_err();
    assert_eq!(error.expected(), "member `method` of ClientRequest");
}

#[test]
fn a_number_in_an_id_or_token_may_be_spelled_with_a_fraction() {
    expect!(read("5.0"), v2025_11_25::ProgressToken::Integer(it) => assert_eq!(it, 5));
    expect!(read("1e2"), v2026_07_28::ProgressToken::Integer(it) => assert_eq!(it, 100));
    expect!(read("-7.0"), mcp_wire::RequestId::Integer(it) => assert_eq!(it, -7));
    assert!(from_str::<v2025_11_25::ProgressToken>("5.5").is_err());
    let error = from_str::<v2025_11_25::ProgressToken>("true").unwrap_err();
    assert_eq!(error.expected(), "a string or an integer");
}
