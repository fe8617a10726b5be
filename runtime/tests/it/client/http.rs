//! Over HTTP: headers, sessions, streams, and statuses without a message.

use mcp_revisions::sansio::client::{
    Channel, Event, Exchange, Ignored, OutgoingRequest, Post, To, Verdict,
};
use mcp_revisions::sansio::server::Fate;
use mcp_revisions::{Limits, Revision};
use mcp_wire::Json;
use serde_json::{Value, json};

use crate::client::{
    End, NOW, call, client, discovered, hear, initialized, latest, list, open, options, result,
};

fn header<'a>(send: &'a Post, name: &str) -> Option<&'a str> {
    send.headers
        .iter()
        .find(|header| header.0.eq_ignore_ascii_case(name))
        .map(|header| header.1.as_str())
}

fn answer(client: &mut End, post: Exchange, session: Option<&str>, message: &Value) {
    client.answered(
        post,
        200,
        session,
        Some(message.to_string().as_bytes()),
        NOW,
    );
}

fn per_request() -> End {
    let mut client = client(Channel::Http);
    client.connect(NOW).unwrap();
    let (send, probe) = hear(&mut client).only();
    assert_eq!(header(&send, "MCP-Protocol-Version"), Some(latest()));
    assert_eq!(header(&send, "Mcp-Method"), Some("server/discover"));
    answer(
        &mut client,
        send.exchange,
        None,
        &result(&probe["id"], discovered()),
    );
    hear(&mut client);
    client
}

/// A client in a session; every POST so far is answered.
fn handshake(version: &str, session: Option<&str>) -> End {
    let mut client = client(Channel::Http);
    client.connect(NOW).unwrap();
    let (send, _) = hear(&mut client).only();
    client.answered(send.exchange, 400, None, Some(b""), NOW);
    shake_hands(&mut client, version, session);
    client
}

fn shake_hands(client: &mut End, version: &str, session: Option<&str>) {
    let (send, initialize) = hear(client).only();
    assert_eq!(initialize["method"], "initialize");
    assert_eq!(
        header(&send, "Mcp-Session-Id"),
        None,
        "there is no session yet"
    );
    assert_eq!(
        header(&send, "MCP-Protocol-Version"),
        None,
        "nothing is negotiated yet"
    );
    answer(
        client,
        send.exchange,
        session,
        &result(&initialize["id"], initialized(version)),
    );
    let heard = hear(client);
    assert_eq!(header(&heard.sent[0], "Mcp-Session-Id"), session);
    client.answered(heard.sent[0].exchange, 202, None, Some(b""), NOW);
    for send in &heard.sent[1..] {
        client.cancel_for_test(send);
    }
}

trait Keep {
    fn cancel_for_test(&mut self, send: &Post);
}

impl Keep for End {
    /// Nothing else may have been sent.
    fn cancel_for_test(&mut self, send: &Post) {
        panic!("unexpected: {}", send.text);
    }
}

#[test]
fn no_header_of_a_request_ends_its_line() {
    let hold_a_line = |sent: &[Post]| {
        let headers = sent.iter().flat_map(|send| &send.headers);
        let is_text = |text: &str| text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        let mut texts = headers.flat_map(|(name, value)| [name, value]);
        assert!(texts.all(|text| is_text(text)), "{sent:?}");
    };
    let mut client = per_request();
    for text in ["a\nX: y", "a\0", "\u{7f}"] {
        let call = call(text).with_param_header("Region", text);
        client.ask(call.with_param_header(text, "eu"), NOW).unwrap();
        hold_a_line(&hear(&mut client).sent);
        let _ = client.ask(OutgoingRequest::new(text, None), NOW);
        hold_a_line(&hear(&mut client).sent);
        let mut client = crate::client::client(Channel::Http);
        client.connect(NOW).unwrap();
        let (send, _) = hear(&mut client).only();
        client.answered(send.exchange, 400, None, Some(b""), NOW);
        let (send, initialize) = hear(&mut client).only();
        let said = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}});
        let said = result(&initialize["id"], said);
        answer(&mut client, send.exchange, Some(text), &said);
        let sent = hear(&mut client).sent;
        assert!(!sent.is_empty());
        hold_a_line(&sent);
    }
}

#[test]
fn headers_of_a_per_request_request_repeat_its_body() {
    let mut client = per_request();
    let name = "größe";
    let cases = [
        (call("add"), "tools/call", Some("add")),
        (call(name), "tools/call", Some("=?base64?Z3LDtsOfZQ==?=")),
        (
            OutgoingRequest::new("prompts/get", Some(Json::from(json!({"name": " p"})))),
            "prompts/get",
            Some("=?base64?IHA=?="),
        ),
        (
            OutgoingRequest::new(
                "resources/read",
                Some(Json::from(json!({"uri": "file:///a b"}))),
            ),
            "resources/read",
            Some("file:///a b"),
        ),
        (list(), "tools/list", None),
    ];
    for (call, method, name) in cases {
        client
            .ask(call.with_param_header("Region", "zürich"), NOW)
            .unwrap();
        let (send, _) = hear(&mut client).only();
        assert_eq!(header(&send, "MCP-Protocol-Version"), Some("2026-07-28"));
        assert_eq!(header(&send, "Mcp-Method"), Some(method));
        assert_eq!(header(&send, "Mcp-Name"), name);
        assert_eq!(
            header(&send, "Mcp-Param-Region"),
            Some("=?base64?esO8cmljaA==?=")
        );
        assert_eq!(header(&send, "Mcp-Session-Id"), None);
        assert_eq!(
            header(&send, "Accept"),
            Some("application/json, text/event-stream")
        );
    }
}

#[test]
fn headers_of_a_session_are_those_of_its_revision() {
    for (version, names_version) in [
        ("2024-11-05", false),
        ("2025-03-26", false),
        ("2025-06-18", true),
        ("2025-11-25", true),
    ] {
        let mut client = handshake(version, Some("s-1"));
        client
            .ask(call("add").with_param_header("Region", "x"), NOW)
            .unwrap();
        let (send, sent) = hear(&mut client).only();
        assert_eq!(header(&send, "Mcp-Session-Id"), Some("s-1"));
        assert_eq!(
            header(&send, "MCP-Protocol-Version"),
            names_version.then_some(version)
        );
        assert_eq!(header(&send, "Mcp-Method"), None);
        assert_eq!(header(&send, "Mcp-Param-Region"), None);
        assert_eq!(sent["params"].get("_meta"), None);
    }
}

#[test]
fn a_session_that_ended_is_opened_anew_and_the_request_answered() {
    let mut client = handshake("2025-06-18", Some("s-1"));
    let token = client.ask(call("add"), NOW).unwrap();
    let (send, _) = hear(&mut client).only();
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Session not found"}});
    client.answered(
        send.exchange,
        404,
        None,
        Some(body.to_string().as_bytes()),
        NOW,
    );
    let (send, initialize) = hear(&mut client).only();
    assert_eq!(
        (
            &initialize["method"],
            &initialize["params"]["protocolVersion"]
        ),
        (&json!("initialize"), &json!("2025-06-18"))
    );
    assert_eq!(header(&send, "Mcp-Session-Id"), None);
    answer(
        &mut client,
        send.exchange,
        Some("s-2"),
        &result(&initialize["id"], initialized("2025-06-18")),
    );
    let heard = hear(&mut client);
    assert_eq!(heard.methods(), ["notifications/initialized", "tools/call"]);
    let send = &heard.sent[1];
    assert_eq!(header(send, "Mcp-Session-Id"), Some("s-2"));
    let id = heard.messages()[1]["id"].clone();
    answer(
        &mut client,
        send.exchange,
        None,
        &result(&id, json!({"content": []})),
    );
    let answers = hear(&mut client).answers();
    assert_eq!((answers.len(), answers[0].0), (1, token));
}

/// Says how the application hears of the end of a session: by the answer to a call, or by the transport.
#[test]
fn a_session_that_is_lost_is_opened_again_with_its_subscriptions_and_its_level() {
    for is_called in [true, false] {
        let mut client = handshake("2025-06-18", Some("s-1"));
        for (method, params) in [
            ("resources/subscribe", json!({"uri": "file:///a"})),
            ("resources/subscribe", json!({"uri": "file:///b"})),
            ("resources/unsubscribe", json!({"uri": "file:///b"})),
            ("logging/setLevel", json!({"level": "debug"})),
        ] {
            let params = Some(Json::from(params));
            client
                .ask(OutgoingRequest::new(method, params), NOW)
                .unwrap();
            let (send, sent) = hear(&mut client).only();
            answer(
                &mut client,
                send.exchange,
                None,
                &result(&sent["id"], json!({})),
            );
            hear(&mut client);
        }
        if is_called {
            client.ask(call("add"), NOW).unwrap();
            let (send, _) = hear(&mut client).only();
            client.answered(send.exchange, 404, None, Some(b""), NOW);
        } else {
            client.session_lost("another", NOW);
            assert_eq!(client.wake_at(), None);
            client.session_lost("s-1", NOW);
            client.wake(client.wake_at().unwrap());
        }
        let (send, initialize) = hear(&mut client).only();
        let opened = result(&initialize["id"], initialized("2025-06-18"));
        answer(&mut client, send.exchange, Some("s-2"), &opened);
        let heard = hear(&mut client);
        let expected = [
            "notifications/initialized",
            "resources/subscribe",
            "logging/setLevel",
        ];
        assert_eq!(heard.methods(), expected);
        let sent = heard.messages();
        assert_eq!(sent[1]["params"], json!({"uri": "file:///a"}));
        assert_eq!(sent[2]["params"], json!({"level": "debug"}));
        for (send, message) in heard.sent.iter().zip(&sent).skip(1) {
            assert_eq!(header(send, "Mcp-Session-Id"), Some("s-2"));
            answer(
                &mut client,
                send.exchange,
                None,
                &result(&message["id"], json!({})),
            );
        }
        let heard = hear(&mut client);
        let is_it = |event: &Event| {
            matches!(event, Event::Notification(notice)
                if notice.method == "notifications/resources/updated" && notice.params.text().contains("file:///a"))
        };
        assert!(heard.events.iter().any(is_it), "{:?}", heard.events);
        assert_eq!(
            heard.methods(),
            if is_called {
                vec!["tools/call"]
            } else {
                vec![]
            }
        );
    }
}

#[test]
fn a_server_that_forgets_every_session_is_not_asked_forever() {
    let mut client = handshake("2025-06-18", Some("s"));
    client.ask(call("add"), NOW).unwrap();
    let (mut posts, mut answers, mut calls) = (0, Vec::new(), 0);
    while answers.is_empty() {
        let heard = hear(&mut client);
        posts += heard.sent.len();
        assert!(posts < 50, "it goes on and on");
        for (send, message) in heard.sent.iter().zip(heard.messages()) {
            match message["method"].as_str() {
                Some("initialize") => answer(
                    &mut client,
                    send.exchange,
                    Some("s"),
                    &result(&message["id"], initialized("2025-06-18")),
                ),
                Some("tools/call") => {
                    calls += 1;
                    client.answered(send.exchange, 404, None, Some(b""), NOW);
                }
                _ => client.answered(send.exchange, 202, None, Some(b""), NOW),
            }
        }
        answers = heard.answers();
    }
    assert_eq!(
        answers[0].1.read::<Json>(),
        Err("HTTP status 404 without an answer".to_owned())
    );
    assert_eq!(calls, 2, "once more, in a new session");
}

#[test]
fn calls_whose_session_is_lost_are_made_again_in_one_new_session() {
    let lost: [(u16, &str); 5] = [
        (404, ""),
        (
            400,
            r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#,
        ),
        (
            400,
            r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}"#,
        ),
        (
            400,
            r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}"#,
        ),
        (400, "Invalid or missing session ID"),
    ];
    for (status, body) in lost {
        let mut client = handshake("2025-06-18", Some("s"));
        for _ in 0..3 {
            client.ask(call("add"), NOW).unwrap();
        }
        let sent = hear(&mut client).sent;
        let refuse = |client: &mut End, index: usize| {
            let exchange = sent[index].exchange;
            client.answered(exchange, status, None, Some(body.as_bytes()), NOW);
            hear(client)
        };
        // One refusal before the new session is there, one while it is opened, and one after that.
        let initialize = refuse(&mut client, 0);
        assert_eq!(initialize.methods(), ["initialize"], "{body}");
        assert!(refuse(&mut client, 1).sent.is_empty(), "{body}");
        let (post, message) = initialize.only();
        let opened = result(&message["id"], initialized("2025-06-18"));
        answer(&mut client, post.exchange, Some("t"), &opened);
        let mut again = hear(&mut client);
        again.sent.extend(refuse(&mut client, 2).sent);
        let calls: Vec<_> = (again.sent.iter().zip(again.messages()))
            .filter(|(_, message)| message["method"] == "tools/call")
            .collect();
        assert_eq!(calls.len(), 3, "{body}: {:?}", again.methods());
        assert!(
            !again.methods().contains(&"initialize".to_owned()),
            "{body}"
        );
        for (send, message) in calls {
            assert_eq!(header(send, "Mcp-Session-Id"), Some("t"), "{body}");
            let done = result(&message["id"], json!({"content": []}));
            answer(&mut client, send.exchange, None, &done);
            assert!(hear(&mut client).answer().is_ok(), "{body}");
        }
    }
}

#[test]
fn a_status_that_names_no_session_is_no_reason_for_a_new_one() {
    let mut client = handshake("2025-06-18", Some("s"));
    client.ask(call("add"), NOW).unwrap();
    let (post, _) = hear(&mut client).only();
    client.answered(post.exchange, 400, None, Some(b"quota is used up"), NOW);
    let heard = hear(&mut client);
    assert!(heard.sent.is_empty());
    assert!(heard.answer().unwrap_err().contains("quota is used up"));
}

#[test]
fn a_status_without_an_answer_is_the_answer() {
    for (status, body) in [
        (500, ""),
        (400, "no"),
        (401, ""),
        (404, ""),
        (200, ""),
        (202, ""),
        (200, "{}"),
    ] {
        let mut client = per_request();
        client.ask(list(), NOW).unwrap();
        let (send, _) = hear(&mut client).only();
        client.answered(send.exchange, status, None, Some(body.as_bytes()), NOW);
        let heard = hear(&mut client);
        assert!(heard.sent.is_empty(), "{status}: {:?}", heard.methods());
        let why = match body {
            "{}" => "the server's answer is not valid: not a JSON-RPC message".to_owned(),
            _ => format!("HTTP status {status} without an answer"),
        };
        let failed = heard.answer().unwrap_err();
        assert!(failed.starts_with(&why), "{failed}");
        assert_eq!(client.pending(), 0);
    }
}

#[test]
fn an_answer_in_a_stream_that_cannot_be_read_ends_its_call_and_the_stream() {
    let mut client = per_request();
    client.ask(list(), NOW).unwrap();
    let (send, message) = hear(&mut client).only();
    client.answered(send.exchange, 200, None, None, NOW);
    let other = json!({"jsonrpc": "2.0", "id": 4711, "result": {}, "error": {"code": 1}});
    client.receive(Some(send.exchange), other.to_string().as_bytes(), NOW);
    assert!(matches!(hear(&mut client).events[..], [Event::Ignored(_)]));
    let both = json!({"jsonrpc": "2.0", "id": message["id"], "result": {}, "error": {"code": 1}});
    client.receive(Some(send.exchange), both.to_string().as_bytes(), NOW);
    let heard = hear(&mut client);
    assert_eq!(heard.closed, 1);
    assert!(heard.answer().unwrap_err().contains("one of"));
    assert_eq!(client.pending(), 0);
}

#[test]
fn an_error_with_a_status_is_the_servers_answer() {
    let mut client = per_request();
    client.ask(list(), NOW).unwrap();
    let (send, message) = hear(&mut client).only();
    let body = json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "gone"}});
    client.answered(
        send.exchange,
        404,
        None,
        Some(body.to_string().as_bytes()),
        NOW,
    );
    assert_eq!(hear(&mut client).answer(), Err("gone (-32601)".to_owned()));
}

#[test]
fn a_stream_brings_notifications_first_and_then_the_answer() {
    let mut client = per_request();
    let token = client
        .ask(call("slow").with_log_level("info"), NOW)
        .unwrap();
    let (send, message) = hear(&mut client).only();
    client.answered(send.exchange, 200, None, None, NOW);
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "on it"}});
    client.receive(Some(send.exchange), log.to_string().as_bytes(), NOW);
    let heard = hear(&mut client);
    assert!(
        matches!(heard.events.as_slice(), [Event::Notification(notice)] if notice.about == Some(token)),
        "{:?}",
        heard.events
    );
    let answer = result(
        &message["id"],
        json!({"resultType": "complete", "content": []}),
    );
    client.receive(Some(send.exchange), answer.to_string().as_bytes(), NOW);
    assert!(hear(&mut client).answer().is_ok());
    client.ended(send.exchange, NOW);
    assert!(client.poll().is_none());
}

#[test]
fn a_stream_that_ends_early_is_the_answer() {
    let mut client = per_request();
    client.ask(call("slow"), NOW).unwrap();
    let (send, _) = hear(&mut client).only();
    client.answered(send.exchange, 200, None, None, NOW);
    client.ended(send.exchange, NOW);
    assert_eq!(
        hear(&mut client).answer(),
        Err("the connection ended before the answer".to_owned())
    );
}

#[test]
fn a_per_request_request_is_cancelled_by_closing_its_stream() {
    let mut client = per_request();
    let token = client.ask(call("slow"), NOW).unwrap();
    hear(&mut client);
    client.cancel(token, None, NOW);
    let heard = hear(&mut client);
    assert_eq!((heard.closed, heard.sent.len()), (1, 0));
    assert!(heard.answer().is_err());

    let mut old = handshake("2025-11-25", None);
    let token = old.ask(call("slow"), NOW).unwrap();
    hear(&mut old);
    old.cancel(token, None, NOW);
    let heard = hear(&mut old);
    assert_eq!(
        (heard.closed, heard.methods()),
        (0, vec!["notifications/cancelled".to_owned()])
    );
}

#[test]
fn a_notification_that_is_not_accepted_is_reported() {
    let mut client = handshake("2025-11-25", None);
    let _ = client.notify(To::Session, "notifications/roots/list_changed", None, NOW);
    let (send, _) = hear(&mut client).only();
    client.answered(send.exchange, 400, None, Some(b""), NOW);
    assert!(matches!(
        hear(&mut client).events.as_slice(),
        [Event::Ignored(Ignored::Status(400))]
    ));
}

#[test]
fn one_post_cannot_answer_for_another() {
    let options = options(Channel::Http).with_verdict(Verdict(Revision::V2026_07_28));
    let mut client = open(Revision::V2025_11_25, options);
    client.ask(list(), NOW).unwrap();
    client.ask(call("add"), NOW).unwrap();
    let heard = hear(&mut client);
    let ids: Vec<Value> = heard
        .messages()
        .iter()
        .map(|message| message["id"].clone())
        .collect();
    let complete = json!({"resultType": "complete", "content": [], "tools": [], "ttlMs": 0, "cacheScope": "private"});
    // The answer to the second request comes as that to the first.
    answer(
        &mut client,
        heard.sent[0].exchange,
        None,
        &result(&ids[1], complete.clone()),
    );
    answer(
        &mut client,
        heard.sent[1].exchange,
        None,
        &result(&ids[1], complete),
    );
    let answers = hear(&mut client).answers();
    assert_eq!(answers.len(), 2, "{answers:?}");
    let failed = answers[0].1.read::<Json>().unwrap_err();
    assert!(
        failed.contains("its id is that of another request"),
        "{failed}"
    );
    assert!(answers[1].1.read::<Json>().is_ok());
}

#[test]
fn headers_repeat_what_the_tools_were_seen_to_ask_for() {
    let mut client = per_request();
    client.ask(list(), NOW).unwrap();
    let (send, sent) = hear(&mut client).only();
    let schema = |word: Value| json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": word}, "a": {"type": "integer"}}});
    let tools = json!([
        {"name": "add", "inputSchema": schema(json!("Region"))},
        {"name": "wrong", "inputSchema": schema(json!("no header"))},
        {"name": "plain", "inputSchema": {"type": "object"}},
    ]);
    let listed =
        json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools});
    answer(
        &mut client,
        send.exchange,
        None,
        &result(&sent["id"], listed),
    );
    let heard = hear(&mut client);
    assert!(
        matches!(&heard.events[0], Event::Ignored(Ignored::Invalid(_, why)) if why.contains("wrong")),
        "{:?}",
        heard.events
    );
    let listed = heard.answer().unwrap();
    let names: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(
        names,
        ["add", "plain"],
        "a tool that breaks the rule is left out"
    );

    let with = |name: &str, region: Value| {
        let params = json!({"name": name, "arguments": {"region": region, "a": 1}});
        OutgoingRequest::new("tools/call", Some(Json::from(params)))
    };
    let cases = [
        (with("add", json!("eu")), Some("eu")),
        (
            with("add", json!("zürich")),
            Some("=?base64?esO8cmljaA==?="),
        ),
        (with("add", Value::Null), None),
        (with("plain", json!("eu")), None),
        (
            with("add", json!("eu")).with_param_header("region", "mine"),
            Some("mine"),
        ),
    ];
    for (ask, expected) in cases {
        client.ask(ask, NOW).unwrap();
        let (send, _) = hear(&mut client).only();
        assert_eq!(header(&send, "Mcp-Param-Region"), expected);
    }
}

#[test]
fn a_server_that_ends_no_post_is_answered_so_often_and_no_more() {
    let options = options(Channel::Http).with_limits(Limits {
        max_pending_requests: 3,
        ..Limits::default()
    });
    let mut client = open(Revision::V2025_11_25, options);
    client.connect(NOW).unwrap();
    let (send, _) = hear(&mut client).only();
    client.answered(send.exchange, 400, None, Some(b""), NOW);
    shake_hands(&mut client, "2025-11-25", Some("s"));
    let ping = |client: &mut End, id: usize| {
        let text = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
        client.receive(None, text.as_bytes(), NOW);
        hear(client)
    };
    let open: Vec<Post> = (0..3).map(|id| ping(&mut client, id).only().0).collect();
    let ignored = [Event::Ignored(Ignored::Request("ping".to_owned()))];
    for id in 3..10 {
        let heard = ping(&mut client, id);
        assert!(heard.sent.is_empty() && heard.events == ignored, "{id}");
    }
    let said = client.notify(To::Session, "notifications/roots/list_changed", None, NOW);
    assert!(matches!(said.fate, Fate::Refused(_)), "{said:?}");
    // One that it takes makes room for another.
    client.answered(open[0].exchange, 202, None, Some(b""), NOW);
    hear(&mut client);
    assert_eq!(ping(&mut client, 10).only().1["id"], 10);
    assert!(ping(&mut client, 11).sent.is_empty());
}
