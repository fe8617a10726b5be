//! Messages that end too early, at every byte.

use mcp_revisions_core::Revision;
use mcp_tests::sampler::{Recipe, Sampler};
use mcp_tests::{parallel, text};
use mcp_wire::{ErrorKind, TypeInfo, UnknownMessage};

use super::assert_clear;

/// What is said in a session, by the type that reads it.
const MESSAGES: &[(&str, &str)] = &[
    (
        "JSONRPCMessage",
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"c","version":"1"}}}"#,
    ),
    (
        "ClientRequest",
        r#"{"method":"tools/call","jsonrpc":"2.0","id":"a\u0041","params":{"name":"add","arguments":{"a":[1.0,-2e3],"b":null}}}"#,
    ),
    (
        "ServerNotification",
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":0.5,"total":1}}"#,
    ),
    (
        "CallToolResult",
        r#"{"content":[{"type":"text","text":"naïve 😀 \ud83d\ude00"},{"type":"image","data":"SGk=","mimeType":"image/png"}],"isError":false}"#,
    ),
    (
        "ListToolsResult",
        r#"{"tools":[{"name":"add","inputSchema":{"type":"object","properties":{"a":{"type":"number"}}}}],"nextCursor":"x","_meta":{"k":[]}}"#,
    ),
];

/// Hands every proper prefix, at a character, to a type; gives how many it took.
fn cut(row: &TypeInfo, text: &str, stride: usize) -> usize {
    let ends = text.char_indices().map(|(end, _)| end).step_by(stride);
    let mut taken = 0;
    for prefix in ends.filter_map(|end| text.get(..end)) {
        match row.round_trip(prefix) {
            Err(error) => {
                assert_clear(&error, prefix);
                assert!(
                    error.kind() != ErrorKind::Syntax || error.offset() <= prefix.len(),
                    "{error}"
                );
            }
            // A number is a number before it ends.
            Ok(written) => {
                assert!(
                    text::same(prefix, &written),
                    "{} takes {prefix} as {written}",
                    row.rust_name
                );
                taken += 1;
            }
        }
    }
    taken
}

#[test]
fn every_prefix_of_a_message_is_refused() {
    for (name, text) in MESSAGES {
        let unknown = TypeInfo::of::<UnknownMessage>("Unknown", "UnknownMessage");
        let mut rows: Vec<TypeInfo> = vec![unknown];
        for one in Revision::ALL {
            rows.extend(one.types().iter().filter(|row| row.name == *name));
        }
        assert!(
            rows.len() == Revision::ALL.len() + 1,
            "{name} is not in every revision"
        );
        for row in rows {
            assert_eq!(
                cut(&row, text, 1),
                0,
                "{} takes a part of {text}",
                row.rust_name
            );
        }
    }
}

#[test]
fn every_prefix_of_a_value_of_every_type_is_refused() {
    let models = crate::specs::models();
    for of in &models.revisions {
        let sampler = Sampler::new(&of.model, &of.revision.id);
        let types = of.revision.id.parse::<Revision>().unwrap().types();
        parallel::map(types, |row| {
            for (recipe, stride) in [(Recipe::Least, 1), (Recipe::Most, 11)] {
                let instance = sampler.instance(row.rust_name, recipe, 1);
                let taken = cut(row, &instance.text, stride);
                let is_container = instance.text.starts_with(['{', '[', '"']);
                assert!(
                    !is_container || taken == 0,
                    "{} takes a part of {}",
                    row.rust_name,
                    instance.text
                );
            }
        });
    }
}
