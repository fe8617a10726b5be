//! Types as the generator writes them: what they read, what they refuse, what they write.
mod types;

use mcp_wire::{Decode, Encode, ErrorKind, Json, from_str, to_string};
use types::*;

const TOOL: &str = r#"{"name":"add","description":"Adds","inputSchema":{"type": "object", "minimum": 50.0},"annotations":{"readOnlyHint":true,"x":1}}"#;

fn refusal<T: Decode>(text: &str) -> String {
    from_str::<T>(text).err().unwrap().to_string()
}

fn round_trip<T: Decode + Encode>(text: &str) -> String {
    to_string(&from_str::<T>(text).unwrap())
}

#[test]
fn reads_members_in_any_order() {
    let tool: Tool = from_str(TOOL).unwrap();
    assert_eq!(tool.name, "add");
    assert_eq!(tool.title, None);
    assert_eq!(
        tool.input_schema.text(),
        r#"{"type": "object", "minimum": 50.0}"#
    );
    assert_eq!(
        tool.annotations.unwrap().extra.get("x").unwrap().text(),
        "1"
    );
    let turned = r#" { "inputSchema" : {} , "title" : "T" , "name" : "n" } "#;
    let tool: Tool = from_str(turned).unwrap();
    assert_eq!(
        (tool.name.as_str(), tool.title.as_deref()),
        ("n", Some("T"))
    );
}

#[test]
fn writes_what_it_read() {
    assert_eq!(
        Json::from_text(&round_trip::<Tool>(TOOL)).unwrap(),
        Json::from_text(TOOL).unwrap()
    );
    let list = format!(r#"{{"tools":[{TOOL},{TOOL}],"z":1,"a":[],"m":{{}}}}"#);
    let written = round_trip::<ListToolsResult>(&list);
    assert_eq!(
        Json::from_text(&written).unwrap(),
        Json::from_text(&list).unwrap()
    );
    assert!(
        written.ends_with(r#","z":1,"a":[],"m":{}}"#),
        "unknown members come last, in their order"
    );
}

#[test]
fn a_key_with_escapes_is_the_same_key() {
    let text = r#"{"n\u0061me":"add","inputSch\u0065ma":{}}"#;
    assert_eq!(from_str::<Tool>(text).unwrap().name, "add");
    let twice = r#"{"name":"add","inputSchema":{},"n\u0061me":"add"}"#;
    assert_eq!(
        from_str::<Tool>(twice).unwrap_err().kind(),
        ErrorKind::Duplicate
    );
}

#[test]
fn null_is_absent_for_an_optional_member() {
    let tool: Tool = from_str(r#"{"name":"a","title":null,"inputSchema":{}}"#).unwrap();
    assert_eq!(tool.title, None);
    assert_eq!(
        refusal::<Tool>(r#"{"name":null,"inputSchema":{}}"#),
        "at /name: expected a string, found null (line 1, column 9)"
    );
}

#[test]
fn refuses_with_the_place() {
    let list = |tool: &str| format!(r#"{{"tools":[{TOOL},{tool}]}}"#);
    for (tool, place, message) in [
        (
            r#"{"name":5}"#,
            "/tools/1/name",
            "expected a string, found 5",
        ),
        (
            r#"{"name":"a"}"#,
            "/tools/1",
            "expected member `inputSchema` of Tool, found nothing",
        ),
        (r#"[]"#, "/tools/1", "expected Tool object, found an array"),
        (
            r#"{"inputSchema":[]}"#,
            "/tools/1/inputSchema",
            "expected an object, found an array",
        ),
        (
            r#"{"annotations":{"title":"x","readOnlyHint":"y"}}"#,
            "/tools/1/annotations/readOnlyHint",
            r#"expected a boolean, found string "y""#,
        ),
        (
            r#"{"_meta":{"a/b":1,"c~d":2,"a/b":3}}"#,
            "/tools/1/_meta/a~1b",
            "expected each member once, found a second one",
        ),
    ] {
        let error = from_str::<ListToolsResult>(&list(tool)).unwrap_err();
        assert_eq!(error.pointer(), place);
        let part = error.part().map(|part| format!("{part}, "));
        let message = format!(
            "{}at {place}: {message} (line 1, column {})",
            part.unwrap_or_default(),
            error.offset() + 1
        );
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_tag_decides() {
    let blocks: Vec<ContentBlock> = from_str(
        r#"[{"type":"text","text":"a"},{"data":"AA==","mimeType":"image/png","type":"image"}]"#,
    )
    .unwrap();
    assert!(matches!(
        &blocks[..],
        [ContentBlock::Text(_), ContentBlock::Image(_)]
    ));
    let last = r#"{"text":"a","deep":{"type":"image"},"t\u0079pe":"te\u0078t"}"#;
    assert!(matches!(from_str(last).unwrap(), ContentBlock::Text(_)));
    assert_eq!(
        refusal::<Vec<ContentBlock>>(r#"[{"text":"a","type":"vidéo"}]"#),
        r#"at /0/type: expected "image" or "text", found string "vidéo" (line 1, column 21)"#
    );
    assert_eq!(
        refusal::<Vec<ContentBlock>>(r#"[{"text":"a"}]"#),
        "at /0: expected member `type` of ContentBlock, found nothing (line 1, column 2)"
    );
    assert_eq!(
        refusal::<ContentBlock>(r#"{"type":7}"#),
        r#"at /type: expected "image" or "text", found 7 (line 1, column 9)"#
    );
    let twice = r#"{"type":"text","text":"a","type":"image"}"#;
    assert_eq!(
        from_str::<ContentBlock>(twice).unwrap_err().kind(),
        ErrorKind::Duplicate
    );
}

#[test]
fn presence_decides() {
    let read = |text| from_str::<ReadResourceResult>(text).unwrap().contents;
    let contents = read(r#"{"contents":[{"uri":"u","blob":"AA=="},{"text":"t","uri":"v"}]}"#);
    assert!(matches!(
        &contents[..],
        [ResourceContents::Blob(_), ResourceContents::Text(_)]
    ));
    assert_eq!(
        refusal::<ReadResourceResult>(r#"{"contents":[{"uri":"u"}]}"#),
        "content `u`, at /contents/0: expected member `text` or `blob`, found nothing (line 1, column 14)"
    );
}

#[test]
fn constants_are_checked_and_written() {
    let call = r#"{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"arguments":{"a":1E2},"name":"n"}}"#;
    assert_eq!(round_trip::<CallToolRequest>(call), call);
    assert_eq!(
        refusal::<CallToolRequest>(r#"{"jsonrpc":"2.1","id":1}"#),
        r#"at /jsonrpc: expected "2.0", found string "2.1" (line 1, column 12)"#
    );
    assert_eq!(
        refusal::<CallToolRequest>(r#"{"id":1,"params":{"name":"n"},"method":"tools/call"}"#),
        "at the root: expected member `jsonrpc` of CallToolRequest, found nothing (line 1, column 1)"
    );
    let escaped = call.replace("tools/call", r"tools\/call");
    assert!(from_str::<CallToolRequest>(&escaped).is_ok());
}

#[test]
fn numbers_keep_their_spelling() {
    let text = r#"{"progressToken":5e0,"progress":50.0,"total":1E400}"#;
    let progress: ProgressNotification = from_str(text).unwrap();
    assert_eq!(progress.progress.to_string(), "50.0");
    assert_eq!(progress.total.unwrap().to_string(), "1E400");
    assert_eq!(progress.token, 5);
}
