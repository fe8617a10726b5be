//! What a peer can make an endpoint keep, and what can end it: bounded by bytes, by time, and by nobody's mistake.

use std::time::Duration;

use crate::support::{NOW, body, calls, claim, get, open, server, text_of};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{Answer, Event, Fate, IncomingRequest, Notification};
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::{Limits, Revision, stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

#[test]
fn ids_and_tokens_of_any_length_are_not_kept() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-11-25");
    let long = "x".repeat(server.limits().max_identifier_bytes);
    let id = json!({"jsonrpc": "2.0", "id": long, "method": "tools/list"}).to_string();
    let answer = get(&server, &mut channel, &id);
    assert_eq!(answer["error"]["code"], -32600);
    assert!(answer.to_string().len() < 200, "{answer}");
    let token = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {"progressToken": long}}});
    let answer = get(&server, &mut channel, &token.to_string());
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32602), &json!(1))
    );
    assert_eq!(channel.pending(), 0);
}

#[test]
fn an_id_may_be_as_long_as_the_limit_says() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-11-25");
    // The quotes count.
    let longest = "x".repeat(server.limits().max_identifier_bytes - 2);
    let ping = json!({"jsonrpc": "2.0", "id": longest, "method": "ping"}).to_string();
    let answer = get(&server, &mut channel, &ping);
    assert_eq!(answer["result"], json!({}));
}

#[test]
fn limits_are_by_default_what_their_docs_say() {
    let source = include_str!("../../sansio/src/limits.rs");
    let is = format!("{:?}", Limits::default());
    let mut docs = String::new();
    let mut compared = 0;
    for line in source.lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            docs.push_str(doc);
        } else if let Some((name, _)) = line
            .strip_prefix("pub max_")
            .and_then(|it| it.split_once(':'))
        {
            let (_, says) = docs.split_once("Default: ").expect(name);
            let mut words = says.split([' ', '.']).filter(|word| !word.is_empty());
            let number: u64 = words
                .next()
                .unwrap()
                .replace(',', "")
                .trim()
                .parse()
                .expect(name);
            let unit = match words.next() {
                Some("KiB") => 1 << 10,
                Some("MiB") => 1 << 20,
                _ => 1,
            };
            let says = format!("max_{name}: {}", number * unit);
            assert!(
                is.split([',', '{', '}']).any(|it| it.trim() == says),
                "{says} in {is}"
            );
            compared += 1;
        }
        if !line.starts_with("///") {
            docs.clear();
        }
    }
    assert_eq!(compared, is.matches("max_").count());
    // This limit is a duration; the others are numbers.
    assert!(source.contains("its client. Default: 10 minutes."));
    assert_eq!(
        Limits::default().client_response_timeout,
        Duration::from_secs(600)
    );
}

#[test]
fn requests_without_an_answer_are_bounded_by_their_bytes() {
    let limits = Limits {
        max_pending_bytes: 10_000,
        ..Limits::default()
    };
    let server = server(Revision::V2026_07_28).with_limits(limits);
    let mut channel = open(&server, "2025-06-18");
    let text = |id: i64| {
        let arguments = json!({"text": "x".repeat(4000)});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "t", "arguments": arguments}}).to_string()
    };
    let mut tokens = Vec::new();
    for id in 0..2 {
        tokens.push(calls(&server.receive(&mut channel, None, text(id).as_bytes(), NOW))[0].token);
    }
    let refused = server
        .receive(&mut channel, None, text(2).as_bytes(), NOW)
        .reply
        .unwrap();
    assert_eq!((refused.status, &body(&refused)["id"]), (503, &json!(2)));
    let done = Json::from_text(r#"{"resultType":"complete","content":[]}"#).unwrap();
    let output = server.answer(&mut channel, tokens[0], Ok(done), NOW);
    assert_eq!(output.fate, Fate::Sent);
    assert_eq!(
        calls(&server.receive(&mut channel, None, text(3).as_bytes(), NOW)).len(),
        1
    );
    for token in &tokens[1..] {
        let done = Json::from_text(r#"{"resultType":"complete","content":[]}"#).unwrap();
        server.answer(&mut channel, *token, Ok(done), NOW);
    }
}

#[test]
fn a_question_that_nobody_waits_for_frees_its_entry_and_is_taken_back() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-11-25");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    let call = calls(&server.receive(&mut channel, None, call.as_bytes(), NOW)).remove(0);
    // Three times as many as may wait at once.
    for _ in 0..3 * server.limits().max_pending_requests {
        let (ask, asked) = server.ask(&mut channel, Some(call.token), "roots/list", None, NOW);
        let id = text_of(&asked)["id"].clone();
        let taken_back = server.cancel(&mut channel, ask.unwrap(), NOW);
        let told = text_of(&taken_back);
        assert_eq!(
            (&told["method"], &told["params"]["requestId"]),
            (&json!("notifications/cancelled"), &id)
        );
        assert_eq!(taken_back.send[0].exchange, Some(call.exchange));
    }
    assert_eq!(channel.asked(), 0);
}

#[test]
fn a_question_of_a_call_that_is_over_is_taken_back_outside_of_its_response() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-11-25");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    let call = calls(&server.receive(&mut channel, None, call.as_bytes(), NOW)).remove(0);
    let (ask, asked) = server.ask(&mut channel, Some(call.token), "roots/list", None, NOW);
    assert_eq!(asked.send[0].exchange, Some(call.exchange));
    let done = Json::from_text(r#"{"content":[]}"#).unwrap();
    server.answer(&mut channel, call.token, Ok(done), NOW);
    let taken_back = server.cancel(&mut channel, ask.unwrap(), NOW);
    assert_eq!(taken_back.send[0].exchange, None);
}

#[test]
fn a_parked_call_is_given_up_when_its_client_does_not_come_again() {
    let server = server(Revision::V2025_11_25);
    let mut channel = crate::support::Channel::new();
    let mut call = claim("tools/call", json!({"name": "t"}));
    call = call.replace(
        r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        r#""io.modelcontextprotocol/clientCapabilities":{"roots":{}}"#,
    );
    let token = calls(&server.receive(&mut channel, None, call.as_bytes(), NOW))[0].token;
    let (_, asked) = server.ask(&mut channel, Some(token), "roots/list", None, NOW);
    assert_eq!(text_of(&asked)["result"]["resultType"], "input_required");
    assert_eq!(channel.pending(), 1);
    let end = channel.wake_at().unwrap();
    assert_eq!(end, server.limits().client_response_timeout);
    assert!(
        server
            .tick(&mut channel, end - Duration::from_millis(1))
            .events
            .is_empty()
    );
    let output = server.tick(&mut channel, end);
    assert!(
        matches!(output.events.as_slice(), [Event::Cancelled(_)]),
        "{output:?}"
    );
    assert_eq!((channel.pending(), channel.wake_at()), (0, None));
}

#[test]
fn a_handler_that_asks_again_and_again_is_told_that_it_was_enough() {
    let limits = Limits {
        max_input_rounds: 3,
        ..Limits::default()
    };
    let server = server(Revision::V2025_11_25).with_limits(limits);
    let mut channel = crate::support::Channel::new();
    let call = |id: u32, params: Value| {
        let text = claim("tools/call", params).replace(r#""id":7"#, &format!(r#""id":{id}"#));
        text.replace(
            r#""io.modelcontextprotocol/clientCapabilities":{}"#,
            r#""io.modelcontextprotocol/clientCapabilities":{"roots":{}}"#,
        )
    };
    let first = call(0, json!({"name": "t"}));
    let token = calls(&server.receive(&mut channel, None, first.as_bytes(), NOW))[0].token;
    for round in 1..=3 {
        let (_, asked) = server.ask(&mut channel, Some(token), "roots/list", None, NOW);
        let asked = text_of(&asked)["result"].take();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let (name, _) = asked["inputRequests"]
            .as_object()
            .unwrap()
            .iter()
            .next()
            .unwrap();
        let answers = json!({name: {"roots": []}});
        let again =
            json!({"name": "t", "requestState": asked["requestState"], "inputResponses": answers});
        server.receive(&mut channel, None, call(round, again).as_bytes(), NOW);
    }
    let (_, refused) = server.ask(&mut channel, Some(token), "roots/list", None, NOW);
    let [Event::Answered(answered)] = refused.events.as_slice() else {
        panic!("{refused:?}")
    };
    assert!(matches!(answered.answer, Answer::Error(_)), "{answered:?}");
}

/// Panics at whatever it is told, and answers whatever it is asked.
struct Nervous;

impl Handler for Nervous {
    async fn call(&self, _: IncomingRequest, _: Peer) -> Result<Json, ErrorObject> {
        Ok(Json::from(json!({"tools": []})))
    }

    fn notice(&self, notice: Notification, _: Session) {
        panic!("{} is too much", notice.method);
    }
}

#[tokio::test]
async fn a_handler_that_panics_at_a_notification_ends_nothing() {
    let (mut to, input) = tokio::io::duplex(1 << 16);
    let (output, from) = tokio::io::duplex(1 << 16);
    crate::support::spawn(stdio::serve_on(
        mcp_revisions::sansio::Server::new(Revision::V2025_11_25, crate::support::profile())
            .unwrap(),
        Nervous,
        input,
        output,
    ));
    let lines = [
        crate::support::initialize("2025-11-25"),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#.to_owned(),
    ];
    to.write_all(format!("{}\n", lines.join("\n")).as_bytes())
        .await
        .unwrap();
    let mut lines = BufReader::new(from).lines();
    for id in [json!("init"), json!(2)] {
        let line = tokio::time::timeout(Duration::from_secs(20), lines.next_line()).await;
        let answer: Value = serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id);
    }
}

#[tokio::test]
async fn a_server_whose_output_is_closed_ends() {
    let (mut to, input) = tokio::io::duplex(1 << 16);
    let (output, from) = tokio::io::duplex(64);
    let serving = crate::support::spawn(stdio::serve_on(
        mcp_revisions::sansio::Server::new(Revision::V2025_11_25, crate::support::profile())
            .unwrap(),
        Nervous,
        input,
        output,
    ));
    drop(from);
    to.write_all(format!("{}\n", crate::support::initialize("2025-11-25")).as_bytes())
        .await
        .unwrap();
    // The input stays open.
    let ended = tokio::time::timeout(Duration::from_secs(20), serving).await;
    assert!(
        ended
            .expect("it goes on with nobody to hear it")
            .unwrap()
            .is_err()
    );
    drop(to);
}
