//! Input that means harm, or is broken: clear errors, no panic, nothing else disturbed.

use std::time::{Duration, Instant};

use crate::support::{
    Channel, NOW, Received, Server, calls, claim, get, initialize, open, server, text_of,
};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::Event;
use mcp_revisions::{
    Revision,
    core::{Headers, MessageKind, Unreadable, peek},
};
use serde_json::{Value, json};

/// The code and the id of the error that a text is answered with at once.
fn refused(received: &Received) -> (i64, Value) {
    let reply = received.reply.as_ref().unwrap();
    let answer: Value = serde_json::from_str(reply.body.as_deref().unwrap()).unwrap();
    (
        answer["error"]["code"]
            .as_i64()
            .unwrap_or_else(|| panic!("no error: {answer}")),
        answer["id"].clone(),
    )
}

#[test]
fn what_is_no_message_is_refused_with_the_right_code_and_the_session_lives_on() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-11-25");
    let cases: [(i64, Value, &[&[u8]]); 4] = [
        (
            -32700,
            Value::Null,
            &[
                b"",
                b"   ",
                b"hello",
                b"{",
                br#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#,
                b"{}{}",
                b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\xFFng\"}",
                b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\xC3",
                br#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#,
                br#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#,
                b"[",
            ],
        ),
        (
            -32600,
            Value::Null,
            &[
                b"\xEF\xBB\xBF{}",
                b"{}",
                b"5",
                b"null",
                br#""ping""#,
                br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
                br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
                br#"{"jsonrpc":"2.0","id":"\uD800","method":"ping"}"#,
                b"[1]",
            ],
        ),
        (
            -32600,
            json!(3),
            &[
                br#"{"id":3,"method":"ping"}"#,
                br#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#,
                br#"{"jsonrpc":2.0,"id":3,"method":"ping"}"#,
            ],
        ),
        (
            -32600,
            json!(4),
            &[
                br#"{"jsonrpc":"2.0","id":4,"method":5}"#,
                br#"{"jsonrpc":"2.0","id":4,"method":"ping","params":5}"#,
                br#"{"jsonrpc":"2.0","id":4,"method":"ping","result":{}}"#,
                br#"{"jsonrpc":"2.0","id":4,"method":"ping","method":"tools/list"}"#,
                br#"{"jsonrpc":"2.0","id":4}"#,
                br#"{"jsonrpc":"2.0","id":4,"method":"\uD800"}"#,
            ],
        ),
    ];
    let texts = cases
        .iter()
        .flat_map(|(code, id, texts)| texts.iter().map(move |text| (text, code, id)));
    for (text, code, id) in texts {
        let shown = String::from_utf8_lossy(text);
        let received = server.receive(&mut channel, None, text, NOW);
        assert_eq!(refused(&received), (*code, id.clone()), "{shown}");
        assert!(received.events.is_empty(), "{shown}");
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert_eq!(
            get(&server, &mut channel, ping)["result"],
            json!({}),
            "{shown}"
        );
    }
}

#[test]
fn every_prefix_and_every_byte_of_a_message_turned_over() {
    let server = server(Revision::V2025_11_25);
    let text = claim(
        "tools/call",
        json!({"name": "add", "arguments": {"a": [1, "two", null]}}),
    );
    let whole = text.as_bytes();
    for end in 0..whole.len() {
        let received = server.receive(&mut Channel::new(), None, &whole[..end], NOW);
        assert_eq!(refused(&received).0, -32700, "{end}");
    }
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bent = whole.to_vec();
            bent[at] ^= 1 << bit;
            let received = server.receive(&mut Channel::new(), None, &bent, NOW);
            // Called or answered, never both and never neither.
            let called = calls(&received).len();
            let answered = usize::from(received.reply.is_some());
            assert_eq!(called + answered, 1, "{}", String::from_utf8_lossy(&bent));
        }
    }
}

#[test]
fn duplicate_keys_do_not_hide_a_claim_or_a_name() {
    let server = server(Revision::V2025_11_25);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    for params in [
        format!(r#"{{{meta},"_meta":{{}}}}"#),
        format!(r#"{{"name":"a","name":"b",{meta}}}"#),
        meta.replace("clientCapabilities", "protocolVersion")
            .replacen("\"_meta\"", "{\"_meta\"", 1)
            + "}",
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{params}}}"#);
        let received = server.receive(&mut Channel::new(), None, text.as_bytes(), NOW);
        assert_eq!(refused(&received), (-32600, json!(5)), "{text}");
    }
    // Spelt with an escape it is the same key.
    let escaped = format!(
        r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{{{}}}}}"#,
        meta.replace("_meta", "\\u005fmeta")
    );
    assert_eq!(
        refused(&server.receive(&mut Channel::new(), None, escaped.as_bytes(), NOW)).0,
        -32601
    );
}

#[test]
fn what_is_nested_deeply_or_very_long_takes_linear_time() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-11-25");
    let ten_thousand = "[".repeat(10_000) + &"]".repeat(10_000);
    let request = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
    };
    let start = Instant::now();
    for params in [
        ten_thousand.clone(),
        format!(r#"{{"name":"a","arguments":{{"a":{ten_thousand}}}}}"#),
        "{\"a\":".repeat(10_000) + "1" + &"}".repeat(10_000),
    ] {
        let received = server.receive(&mut channel, None, request(&params).as_bytes(), NOW);
        assert_eq!(refused(&received).0, -32600);
    }
    assert_eq!(
        refused(&server.receive(&mut channel, None, ten_thousand.as_bytes(), NOW)).0,
        -32600
    );
    let digits = "9".repeat(10 << 20);
    let received = server.receive(
        &mut channel,
        None,
        request(&format!(r#"{{"name":"a","arguments":{{"n":{digits}}}}}"#)).as_bytes(),
        NOW,
    );
    assert_eq!(calls(&received).len(), 1);
    let id = format!(r#"{{"jsonrpc":"2.0","id":{digits},"method":"ping"}}"#);
    let reply = server
        .receive(&mut channel, None, id.as_bytes(), NOW)
        .reply
        .unwrap();
    // An id of that length is not kept, and not sent back.
    let body = reply.body.unwrap();
    assert!(body.len() < 200 && body.contains("-32600"), "{body}");
    let members = vec!["\"x\":0"; 200_000].join(",");
    server.receive(
        &mut channel,
        None,
        request(&format!("{{{members}}}")).as_bytes(),
        NOW,
    );
    // Generous, since other work may be going on: what is not linear takes hours.
    assert!(
        start.elapsed() < Duration::from_secs(120),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn long_names_of_a_peer_do_not_make_long_errors() {
    let server = server(Revision::V2025_11_25);
    let long = "x".repeat(1 << 20);
    let texts = [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{long}"}}"#),
        claim(&long, json!({})),
        claim("tools/list", json!({})).replace("2026-07-28", &long),
        initialize("2025-11-25").replace("\"2025-11-25\"", &format!("{{\"{long}\":1}}")),
    ];
    for text in texts {
        let reply = server
            .receive(&mut Channel::new(), None, text.as_bytes(), NOW)
            .reply
            .unwrap();
        let body = reply.body.unwrap();
        assert!(
            body.len() < 2_000 && body.contains("error"),
            "{} bytes",
            body.len()
        );
    }
}

#[test]
fn headers_that_are_nonsense_are_refused() {
    let server = server(Revision::V2025_11_25);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for version in ["", "2026-07-29", "\u{0}", "draft", "2025-11-25, 2026-07-28"] {
        let headers = Headers::from_pairs([("MCP-Protocol-Version", version)]);
        let received = server.receive(&mut Channel::new(), Some(&headers), list.as_bytes(), NOW);
        assert_eq!(received.reply.as_ref().unwrap().status, 400, "{version}");
    }
}

#[test]
fn a_flood_of_requests_stops_at_the_limit_and_drains() {
    let server = server(Revision::V2026_07_28);
    let mut channel = open(&server, "2025-11-25");
    let limit = server.limits().max_pending_requests;
    let mut tokens = Vec::new();
    for id in 0..limit + 50 {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
        match received.events.first() {
            Some(Event::Request(call)) => tokens.push(call.token),
            _ => assert_eq!(refused(&received).1, json!(id)),
        }
    }
    assert_eq!((tokens.len(), channel.pending()), (limit, limit));
    let result =
        Json::from_text(r#"{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#)
            .unwrap();
    for (id, token) in tokens.into_iter().enumerate() {
        let output = server.answer(&mut channel, token, Ok(result.clone()), NOW);
        assert_eq!(text_of(&output)["id"], json!(id));
    }
    assert_eq!(channel.pending(), 0);
}

#[test]
fn a_look_allocates_nothing_it_does_not_have_to_and_says_what_it_saw() {
    let text = r#"{"id":"a\u0062","params":{"uri":"u","_meta":null},"method":"resources\/read","jsonrpc":"2.0","x":[1]}"#;
    let seen = peek(text.as_bytes()).unwrap();
    assert_eq!(
        (seen.kind, seen.method.as_deref()),
        (MessageKind::Request, Some("resources/read"))
    );
    assert_eq!(seen.id.unwrap().to_id(), Some("ab".to_owned().into()));
    assert_eq!(seen.params.unwrap().text(), r#"{"uri":"u","_meta":null}"#);
    assert_eq!(seen.uri.unwrap().as_str().as_deref(), Some("u"));
    let kinds = [
        (
            r#"{"jsonrpc":"2.0","method":"m"}"#,
            MessageKind::Notification,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            MessageKind::Response,
        ),
        (r#"{"jsonrpc":"2.0","error":{}}"#, MessageKind::Error),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{}}"#,
            MessageKind::Error,
        ),
        ("[]", MessageKind::Batch),
    ];
    for (text, kind) in kinds {
        assert_eq!(peek(text.as_bytes()).unwrap().kind, kind, "{text}");
    }
    let error = peek(b"{\"jsonrpc\":\"2.0\",\"id\":1}").unwrap_err();
    let Unreadable::NotAMessage { id, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(id.as_deref(), Some(&1.into()));
    let elements = peek(b"[1, {\"a\":[2]} ,3]").unwrap();
    assert_eq!(
        elements.elements().collect::<Vec<_>>(),
        ["1", "{\"a\":[2]}", "3"]
    );
}

#[test]
fn a_profile_and_a_server_are_shared_between_threads() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    fn is_sent<T: Send>(_: &T) {}
    let server: Server = server(Revision::V2025_11_25);
    is_shared(&server.0);
    is_sent(&mcp_revisions::sansio::Connection::<
        mcp_revisions::sansio::Server,
    >::new(server.0));
}
