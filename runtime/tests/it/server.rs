//! The server endpoint on real messages: what it answers by itself, what it hands on, and what goes back.

use std::sync::{Arc, Mutex};

use crate::support::{
    Channel, NOW, Server, body, calls, claim, get, initialize, negotiated, open, profile,
    profile_text, server, text_of,
};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::Event;
use mcp_revisions::{Lifecycle, Limits, Revision, RevisionSet};
use mcp_revisions_core::ConversionError;
use serde_json::json;

#[test]
fn initialize_gets_what_it_asks_for_and_never_a_per_request_revision() {
    let server = server(Revision::V2026_07_28);
    let handshake = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    for version in handshake {
        let answer = get(&server, &mut Channel::new(), &initialize(version));
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "tester");
    }
    for version in ["2026-07-28", "2099-01-01", "draft", ""] {
        let answer = get(&server, &mut Channel::new(), &initialize(version));
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-11-25",
            "{version}"
        );
    }
    let narrow = server.with_revisions(
        [Revision::V2024_11_05, Revision::V2026_07_28]
            .into_iter()
            .collect(),
    );
    let answer = get(&narrow, &mut Channel::new(), &initialize("2025-06-18"));
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
}

#[test]
fn what_a_profile_adds_stands_beside_what_the_endpoint_says_itself_and_never_in_its_place() {
    let added = json!({"acme": {"a": 1.5}, "serverInfo": 1, "capabilities": 1, "resultType": 1});
    let profile = profile().with_members(Json::from(added).read().unwrap());
    for (app, text) in [
        (Revision::V2025_11_25, initialize("2025-11-25")),
        (Revision::LATEST, claim("server/discover", json!({}))),
    ] {
        let server = Server::new(app, profile.clone()).unwrap();
        let result = get(&server, &mut Channel::new(), &text)["result"].take();
        assert_eq!(result["acme"]["a"], 1.5, "{result}");
        assert_eq!(result["capabilities"]["tools"], json!({}), "{result}");
    }
}

#[test]
fn initialize_with_params_that_are_none_is_refused_and_opens_nothing() {
    let server = server(Revision::V2025_11_25);
    let mut channel = Channel::new();
    let cases = [
        json!({}),
        json!({"protocolVersion": 5, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
        json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
    ];
    for params in cases {
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
            .to_string();
        let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
        let reply = received.reply.unwrap();
        assert!(!reply.opens_session);
        assert_eq!(body(&reply)["error"]["code"], -32602, "{params}");
        assert_eq!(channel.session_revision(), None);
    }
}

#[test]
fn a_client_that_leaves_out_its_version_gets_its_session() {
    let server = server(Revision::V2025_11_25);
    let mut channel = Channel::new();
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c"}});
    let text =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
    let reply = received.reply.unwrap();
    assert!(reply.opens_session);
    assert_eq!(body(&reply)["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(channel.session_revision(), Some(Revision::V2025_11_25));
}

#[test]
fn discover_lists_what_is_served_and_initialized_is_told() {
    let server = server(Revision::V2025_11_25);
    let discover = claim("server/discover", json!({}));
    let answer = get(&server, &mut Channel::new(), &discover);
    let result = &answer["result"];
    assert_eq!(
        result["supportedVersions"],
        json!(
            [Lifecycle::PerRequest, Lifecycle::Handshake]
                .map(negotiated)
                .concat()
        )
    );
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "tester"
    );
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["instructions"], "be kind");

    let mut channel = Channel::new();
    get(&server, &mut channel, &initialize("2025-11-25"));
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let received = server.receive(&mut channel, None, note.as_bytes(), NOW);
    assert_eq!(received.events, [Event::Initialized]);
    let reply = received.reply.unwrap();
    assert_eq!((reply.status, reply.body), (202, None));
}

#[test]
fn ping_and_unknown_methods_are_answered_before_initialize() {
    let server = server(Revision::V2025_11_25);
    let mut channel = Channel::new();
    let answer = get(
        &server,
        &mut channel,
        r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#,
    );
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    let answer = get(
        &server,
        &mut channel,
        r#"{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{}}"#,
    );
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(2), &json!(-32601))
    );
}

#[test]
fn only_a_method_that_is_not_served_has_the_status_of_a_page_that_is_not_there() {
    let server = server(Revision::V2026_07_28);
    for (code, status) in [(-32601, 200), (-32021, 400), (-32602, 200)] {
        let mut channel = Channel::new();
        let text = claim("tools/list", json!({}));
        let call = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
        let error = ErrorObject::new(code, "no");
        let output = server.answer(&mut channel, call.token, Err(error), NOW);
        assert_eq!(output.send[0].status, status, "{code}");
    }
}

#[test]
fn a_call_is_in_the_words_of_the_application_and_its_answer_in_those_of_the_peer() {
    let server = server(Revision::V2025_11_25);
    let mut channel = Channel::new();
    let text = claim("tools/list", json!({}));
    let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
    let call = calls(&received).remove(0);
    assert_eq!(
        (call.method, call.revision),
        ("tools/list", Revision::V2026_07_28)
    );
    assert_eq!(call.params.text(), "{}");
    let tools = Json::from_text(
        r#"{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}"#,
    );
    let output = server.answer(&mut channel, call.token, Ok(tools.unwrap()), NOW);
    assert_eq!(output.losses.len(), 1, "{:?}", output.losses);
    assert_eq!(output.losses[0].rule(), "tool-execution");
    let answer = text_of(&output);
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["ttlMs"], 0);
    assert_eq!(
        answer["result"]["tools"][0],
        json!({"name": "a", "inputSchema": {"type": "object"}})
    );
    assert_eq!(
        answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "tester"
    );
}

#[test]
fn params_that_are_none_are_refused_whatever_the_way() {
    let server = server(Revision::V2025_11_25);
    // In the handlers' own revision it is they who read them, and nobody else.
    let mut channel = open(&server, "2025-11-25");
    let bad = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":5}}"#;
    let received = server.receive(&mut channel, None, bad.as_bytes(), NOW);
    let read =
        calls(&received)[0].read::<mcp_revisions::core::v2025_11_25::CallToolRequestParams>();
    let message = read.unwrap_err().to_string();
    assert!(message.contains("/name: expected a string"), "{message}");
    for version in ["2025-06-18", "2024-11-05"] {
        let mut channel = open(&server, version);
        let bad = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":5}}"#;
        let answer = get(&server, &mut channel, bad);
        assert_eq!(answer["error"]["code"], -32602);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("/name: expected a string"), "{message}");
        assert_eq!(channel.pending(), 0);
    }
}

#[test]
fn an_id_is_not_taken_twice_and_tells_spellings_from_kinds() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-11-25");
    let list = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    assert_eq!(
        calls(&server.receive(&mut channel, None, list("1").as_bytes(), NOW)).len(),
        1
    );
    for again in ["1", "1.0", "1e0"] {
        assert_eq!(
            get(&server, &mut channel, &list(again))["error"]["code"],
            -32600,
            "{again}"
        );
    }
    assert_eq!(
        calls(&server.receive(&mut channel, None, list("\"1\"").as_bytes(), NOW)).len(),
        1
    );
    assert_eq!(channel.pending(), 2);
}

#[test]
fn losses_reach_the_hook() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let server = Server::new(Revision::V2025_11_25, profile())
        .unwrap()
        .told(|server| {
            server.on_loss(move |lost| {
                let id = lost.request.map(ToString::to_string);
                let lost = (lost.method.to_owned(), lost.revision, id, lost.losses.len());
                log.lock().unwrap().push(lost);
            })
        });
    let mut channel = open(&server, "2024-11-05");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let call = calls(&server.receive(&mut channel, None, list.as_bytes(), NOW)).remove(0);
    let result = Json::from_text(
        r#"{"tools":[{"name":"a","title":"A","inputSchema":{"type":"object"},"icons":[]}]}"#,
    )
    .unwrap();
    let output = server.answer(&mut channel, call.token, Ok(result), NOW);
    assert!(!output.losses.is_empty());
    assert_eq!(
        *seen.lock().unwrap(),
        [(
            "tools/list".to_owned(),
            Revision::V2024_11_05,
            Some("1".to_owned()),
            output.losses.len()
        )]
    );
}

#[test]
fn refused_requests_and_dropped_notifications_reach_the_hook() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let server = Server::new(Revision::V2026_07_28, profile())
        .unwrap()
        .told(|server| {
            server.on_loss(move |lost| {
                let code = match lost.undelivered {
                    Some(ConversionError::Rejected(rejected)) => rejected.error.code.as_i64(),
                    Some(ConversionError::Dropped(_)) => Some(0),
                    _ => None,
                };
                log.lock().unwrap().push((lost.method.to_owned(), code));
            })
        });
    let mut channel = open(&server, "2025-11-25");
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"1"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
    ] {
        server.receive(&mut channel, None, text.as_bytes(), NOW);
    }
    let told = |method: &str, code| (method.to_owned(), Some(code));
    let expected = [
        told("tasks/get", -32601),
        told("notifications/roots/list_changed", 0),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn an_answer_that_cannot_be_given_becomes_an_error() {
    let server = server(Revision::V2025_11_25);
    for result in ["5", "[]", r#"{"tools":5}"#] {
        let mut channel = Channel::new();
        let received = server.receive(
            &mut channel,
            None,
            claim("tools/list", json!({})).as_bytes(),
            NOW,
        );
        let output = server.answer(
            &mut channel,
            calls(&received)[0].token,
            Ok(Json::from_text(result).unwrap()),
            NOW,
        );
        assert_eq!(text_of(&output)["error"]["code"], -32603, "{result}");
        assert_eq!(channel.pending(), 0);
    }
}

#[test]
fn errors_are_those_of_the_peers_revision() {
    let server = server(Revision::V2025_11_25);
    let mut channel = Channel::new();
    let read = claim("resources/read", json!({"uri": "file:///no"}));
    let received = server.receive(&mut channel, None, read.as_bytes(), NOW);
    let error = ErrorObject::new(
        mcp_revisions::sansio::errors::RESOURCE_NOT_FOUND,
        "no such resource",
    );
    let output = server.answer(&mut channel, calls(&received)[0].token, Err(error), NOW);
    assert_eq!(text_of(&output)["error"]["code"], -32602);
}

#[test]
fn the_status_says_that_a_method_is_not_there_and_not_what_its_handler_does_not_find() {
    let server = server(Revision::V2025_11_25);
    let complete =
        json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}});
    for (method, params, status) in [
        ("resources/read", json!({"uri": "file:///no"}), 200),
        ("completion/complete", complete, 404),
    ] {
        let mut channel = Channel::new();
        let text = claim(method, params);
        let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
        let error = ErrorObject::new(-32601, "no");
        let token = calls(&received)[0].token;
        let output = server.answer(&mut channel, token, Err(error), NOW);
        assert_eq!(text_of(&output)["error"]["code"], -32601);
        assert_eq!(output.send[0].status, status, "{method}");
    }
}

#[test]
fn what_a_client_says_of_itself_is_no_loss_with_each_of_its_requests() {
    let told = Arc::new(Mutex::new(0));
    let count = Arc::clone(&told);
    let server = Server::new(Revision::V2025_11_25, profile())
        .unwrap()
        .told(|server| server.on_loss(move |lost| *count.lock().unwrap() += lost.losses.len()));
    let mut channel = Channel::new();
    let mut params = json!({"name": "t"});
    let info = json!({"name": "c", "version": "1"});
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = info.clone();
    let text = claim("tools/call", params);
    let call = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    assert_eq!((call.losses.len(), *told.lock().unwrap()), (0, 0));
    assert_eq!(call.caller.info, Some(Json::from(info)));
    assert!(!call.params.text().contains("clientInfo"));
}

#[test]
fn input_is_asked_only_of_a_client_that_declared_it() {
    let server = server(Revision::V2026_07_28);
    let mut channel = Channel::new();
    let result = Json::from_text(
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}"#,
    )
    .unwrap();
    let call = claim("tools/call", json!({"name": "t"}));
    let received = server.receive(&mut channel, None, call.as_bytes(), NOW);
    let output = server.answer(
        &mut channel,
        calls(&received)[0].token,
        Ok(result.clone()),
        NOW,
    );
    let answer = text_of(&output);
    assert_eq!(
        (&answer["error"]["code"], output.send[0].status),
        (&json!(-32021), 400)
    );
    assert_eq!(
        answer["error"]["data"],
        json!({"requiredCapabilities": {"roots": {}}})
    );
    let able = call.replace(
        r#"clientCapabilities":{}"#,
        r#"clientCapabilities":{"roots":{}}"#,
    );
    let received = server.receive(&mut channel, None, able.as_bytes(), NOW);
    let output = server.answer(&mut channel, calls(&received)[0].token, Ok(result), NOW);
    let asked = text_of(&output);
    assert!(asked["result"]["requestState"].is_string(), "{asked}");
}

#[test]
fn limits_refuse_clearly_and_disturb_nothing_else() {
    let limits = Limits {
        max_message_bytes: 400,
        max_batch_length: 2,
        max_pending_requests: 1,
        max_sessions: 1,
        ..Limits::default()
    };
    let server = server(Revision::V2025_11_25).with_limits(limits);
    let mut channel = open(&server, "2025-03-26");
    let list = |id: u8| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    let call = calls(&server.receive(&mut channel, None, list(1).as_bytes(), NOW)).remove(0);
    let long = list(2).replace("tools/list", &"x".repeat(400));
    let received = server.receive(&mut channel, None, long.as_bytes(), NOW);
    assert_eq!(received.reply.as_ref().unwrap().status, 413);
    assert_eq!(
        body(received.reply.as_ref().unwrap())["error"]["code"],
        -32600
    );
    let received = server.receive(&mut channel, None, list(3).as_bytes(), NOW);
    assert_eq!(received.reply.as_ref().unwrap().status, 503);
    let ping = r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#;
    assert_eq!(
        get(&server, &mut channel, &format!("[{ping},{ping},{ping}]"))["error"]["code"],
        -32600
    );
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{{"a":{}{}}}}}"#,
        "[".repeat(127),
        "]".repeat(127)
    );
    assert_eq!(get(&server, &mut channel, &deep)["error"]["code"], -32600);
    assert_eq!(get(&server, &mut channel, ping)["result"], json!({}));
    let output = server.answer(
        &mut channel,
        call.token,
        Ok(Json::from_text("{\"tools\":[]}").unwrap()),
        NOW,
    );
    assert_eq!(text_of(&output)["id"], 1);
}

#[test]
fn a_profile_that_is_none_is_refused() {
    let error =
        mcp_revisions::sansio::Server::new(Revision::V2025_11_25, profile_text("{\"tools\":5}"))
            .unwrap_err();
    assert!(error.to_string().contains("ServerCapabilities"), "{error}");
}

#[test]
fn a_handshake_only_server_lets_a_probe_fall_back() {
    let server = server(Revision::V2025_11_25).with_revisions(RevisionSet::handshake());
    let answer = get(
        &server,
        &mut Channel::new(),
        &claim("server/discover", json!({})),
    );
    let code = answer["error"]["code"].as_i64().unwrap();
    assert!(
        ![-32020, -32021, -32022].contains(&code),
        "{code} is the mark of a per-request server"
    );
}

#[test]
fn methods_that_no_revision_has_reach_whoever_takes_them_and_nobody_else() {
    let handshake = r#"{"jsonrpc":"2.0","id":1,"method":"acme/greet","params":{"to":["Ada",1.0]}}"#;
    let notice = r#"{"jsonrpc":"2.0","method":"acme/hello","params":{"x":1e2}}"#;
    let strict = server(Revision::V2025_11_25);
    let mut channel = open(&strict, "2025-11-25");
    assert_eq!(
        get(&strict, &mut channel, handshake)["error"]["code"],
        -32601
    );

    let server =
        server(Revision::V2025_11_25).told(mcp_revisions::sansio::Server::with_other_methods);
    let mut channel = open(&server, "2025-06-18");
    let received = server.receive(&mut channel, None, notice.as_bytes(), NOW);
    let [Event::CustomNotification(told)] = received.events.as_slice() else {
        panic!("{received:?}")
    };
    assert_eq!(
        (told.method.as_str(), told.params.text()),
        ("acme/hello", r#"{"x":1e2}"#)
    );
    let per_request = claim("acme/greet", json!({"to": ["Ada", 1.0]}));
    for text in [handshake.to_owned(), per_request] {
        let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
        let [Event::CustomRequest(call)] = received.events.as_slice() else {
            panic!("{received:?}")
        };
        assert_eq!(call.method, "acme/greet");
        assert!(call.params.text().contains("1.0"));
        // What it is answered with goes out as it is.
        let result = Json::from_text(r#"{"greeting":1.0}"#).unwrap();
        let output = server.answer(&mut channel, call.token, Ok(result), NOW);
        assert!(
            output.send[0].body.contains(r#""greeting":1.0"#),
            "{output:?}"
        );
        assert_eq!(channel.pending(), 0);
    }
    // A method that some revision has is none of these, wherever it is asked for.
    let removed = claim("resources/subscribe", json!({"uri": "a"}));
    assert_eq!(
        get(&server, &mut channel, &removed)["error"]["code"],
        -32601
    );
}

#[test]
fn extensions_that_nobody_here_knows_are_declared_to_clients_of_every_revision_and_heard_of_them() {
    let charts = json!({"com.example/charts": {"depth": 2, "of": ["bars"]}});
    let own = json!({"tools": {}, "extensions": charts}).to_string();
    let server = Server::new(Revision::LATEST, profile_text(&own)).unwrap();
    for revision in Revision::NEGOTIATED {
        let mut channel = Channel::new();
        let call = json!({"name": "add", "arguments": {}});
        let (asked, call) = match revision.lifecycle() {
            Lifecycle::PerRequest => {
                let with = |method: &str, params| {
                    let mut text: serde_json::Value =
                        serde_json::from_str(&claim(method, params)).unwrap();
                    let meta = &mut text["params"]["_meta"];
                    meta["io.modelcontextprotocol/clientCapabilities"]["extensions"] =
                        charts.clone();
                    text.to_string()
                };
                (with("server/discover", json!({})), with("tools/call", call))
            }
            Lifecycle::Handshake => {
                let text = initialize(revision.protocol_version());
                let mut text: serde_json::Value = serde_json::from_str(&text).unwrap();
                text["params"]["capabilities"]["extensions"] = charts.clone();
                let call =
                    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call});
                (text.to_string(), call.to_string())
            }
        };
        let answer = get(&server, &mut channel, &asked);
        let declared = &answer["result"]["capabilities"]["extensions"];
        assert_eq!(*declared, charts, "{revision}: {answer}");
        if revision.lifecycle() == Lifecycle::Handshake {
            let note = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            server.receive(&mut channel, None, note, NOW);
        }
        let received = server.receive(&mut channel, None, call.as_bytes(), NOW);
        let [call] = &calls(&received)[..] else {
            panic!("{received:?}");
        };
        let told = call.caller.capabilities_in(Revision::LATEST);
        let told = told.unwrap().unwrap().value().unwrap();
        let told: serde_json::Value = told.parse().unwrap();
        assert_eq!(told["extensions"], charts, "{revision}: {told}");
    }
}
