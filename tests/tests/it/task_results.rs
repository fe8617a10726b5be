//! A task that answers `tools/call`, as a whole message between the core that had tasks and the extension.

use mcp_revisions_core::{
    Conversion, ConversionError, MessageContext, Protocol, Revision, convert_message,
};
use mcp_wire::Json;

/// A task as 2025-11-25 has it, and as the extension has it.
const TASK: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","status":"working","taskId":"1","ttl":60000}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","resultType":"task","status":"working","taskId":"1","ttlMs":60000}}"#,
];

/// Converts a response to `tools/call` between the core that had tasks and the extension.
fn answered(text: &str, up: bool) -> Conversion<Json> {
    let core = Protocol::Revision(Revision::V2025_11_25);
    let tasks: Protocol = "tasks".parse().unwrap();
    let (from, to) = if up { (core, tasks) } else { (tasks, core) };
    let context = MessageContext::default().answering("tools/call");
    convert_message(text, from, to, &context)
}

#[test]
fn a_task_that_answers_a_call_is_the_task_of_the_extension_and_back() {
    let [core, extension] = TASK;
    for (given, expected, up) in [(core, extension, true), (extension, core, false)] {
        let (value, losses) = answered(given, up).unwrap();
        assert!(losses.iter().all(|loss| !loss.is_loss()), "{losses:?}");
        assert!(
            mcp_tests::text::same(value.text(), expected),
            "{}",
            value.text()
        );
    }
}

#[test]
fn a_result_that_is_no_task_is_one_of_the_revisions() {
    let [older, newer] = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"a":1}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"complete","structuredContent":{"a":1}}}"#,
    ];
    for (given, expected, up) in [(older, newer, true), (newer, older, false)] {
        let (value, _) = answered(given, up).unwrap();
        let is_same = mcp_tests::text::same(value.text(), expected);
        assert!(is_same, "{}", value.text());
    }
}

#[test]
fn a_result_that_is_neither_is_refused_with_its_place() {
    for (up, result) in [
        (true, r#"{"task":5}"#),
        (false, r#"{"resultType":"task","taskId":5}"#),
    ] {
        let revision = if up { "2025-11-25" } else { "tasks" };
        let result = answered(
            &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#),
            up,
        );
        let Err(ConversionError::Invalid(diagnostic)) = result else {
            panic!("{revision}: {result:?}")
        };
        assert!(diagnostic.pointer.starts_with("/result"), "{diagnostic}");
    }
}

#[test]
fn an_error_that_answers_a_call_goes_between_the_core_and_the_extension() {
    for up in [true, false] {
        let text = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}"#;
        let (value, _) = answered(text, up).unwrap();
        assert!(
            mcp_tests::text::same(value.text(), text),
            "{}",
            value.text()
        );
    }
}
