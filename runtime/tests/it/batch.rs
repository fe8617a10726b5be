//! Batches of 2025-03-26: one answer for all that is asked in one text.

use crate::support::{NOW, calls, get, open, server, text_of};
use mcp_revisions::Revision;
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::Fate;
use serde_json::{Value, json};

#[test]
fn a_batch_is_answered_by_one_array_once_all_is_there() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-03-26");
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},
        {"jsonrpc":"2.0","id":2,"method":"ping"},
        {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}},
        {"jsonrpc":"2.0","id":3,"method":"initialize","params":{}},
        {"jsonrpc":"2.0","id":4,"method":"prompts/list"},
        {"jsonrpc":"1.0","id":5,"method":"ping"},
        7]"#;
    let received = server.receive(&mut channel, None, batch.as_bytes(), NOW);
    assert_eq!(received.reply, None);
    let calls = calls(&received);
    assert_eq!(
        calls.iter().map(|call| call.method).collect::<Vec<_>>(),
        ["tools/list", "prompts/list"]
    );
    let prompts = Json::from_text("{\"prompts\":[]}").unwrap();
    let first = server.answer(&mut channel, calls[1].token, Ok(prompts), NOW);
    assert_eq!((first.send.len(), first.fate), (0, Fate::Sent));
    let second = server.answer(
        &mut channel,
        calls[0].token,
        Err(ErrorObject::new(-32603, "no")),
        NOW,
    );
    let answers = text_of(&second);
    assert_eq!(second.send[0].exchange, Some(received.exchange));
    let ids: Vec<&Value> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| &answer["id"])
        .collect();
    assert_eq!(
        ids,
        [
            &json!(2),
            &json!(3),
            &json!(5),
            &Value::Null,
            &json!(4),
            &json!(1)
        ]
    );
    assert_eq!(answers[1]["error"]["code"], -32600);
    assert_eq!(channel.pending(), 0);
}

#[test]
fn batches_without_requests_are_not_answered_and_empty_ones_are_refused() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-03-26");
    let note = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    let reply = server
        .receive(&mut channel, None, note.as_bytes(), NOW)
        .reply
        .unwrap();
    assert_eq!((reply.status, reply.body), (202, None));
    let answer = get(&server, &mut channel, "[]");
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32600), &Value::Null)
    );
    let answer = get(
        &server,
        &mut channel,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
    );
    assert_eq!(answer.as_array().unwrap().len(), 2);
}

#[test]
fn a_batch_whose_last_request_is_cancelled_is_completed() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-03-26");
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let received = server.receive(&mut channel, None, batch.as_bytes(), NOW);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let cancelled = server.receive(&mut channel, None, cancel.as_bytes(), NOW);
    // The answer ends the exchange: nothing else has to.
    assert_eq!(cancelled.closes, []);
    let sent = cancelled.send;
    assert_eq!(sent[0].exchange, Some(received.exchange));
    assert_eq!(sent[0].body, r#"[{"jsonrpc":"2.0","id":2,"result":{}}]"#);
}

#[test]
fn a_batch_whose_requests_are_all_cancelled_in_it_is_taken_and_not_answered() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-03-26");
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},
        {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]"#;
    let received = server.receive(&mut channel, None, batch.as_bytes(), NOW);
    let reply = received.reply.unwrap();
    assert_eq!((reply.status, reply.body), (202, None));
}
