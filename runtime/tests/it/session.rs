//! What a session carries beside calls: levels, progress, cancellation, and requests of the server.

use std::sync::{Arc, Mutex};

use crate::support::{
    Channel, NOW, Received, Server, calls, claim, get, open, profile_text, server, text_of,
};
use mcp_revisions::mcp_wire::{self, Json};
use mcp_revisions::sansio::server::{Answer, Event, Fate, Ignored, LogLevel, Profile, To, Token};
use mcp_revisions::{Limits, Revision};
use serde_json::{Value, json};

#[test]
fn what_a_session_knows_stands_in_every_request_for_a_per_request_application() {
    let server = server(Revision::V2026_07_28);
    let mut channel = open(&server, "2025-06-18");
    let level =
        r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"warning"}}"#;
    assert_eq!(get(&server, &mut channel, level)["result"], json!({}));
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let received = server.receive(&mut channel, None, list.as_bytes(), NOW);
    let call = calls(&received).remove(0);
    assert_eq!(call.log_level, Some(LogLevel::Warning));
    assert!(call.caller.can("roots") && !call.caller.can("sampling"));
    let params: mcp_revisions::core::v2026_07_28::PaginatedRequestParams = call.read().unwrap();
    let meta: Value = serde_json::from_str(&mcp_wire::to_string(&params.meta)).unwrap();
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        json!({"roots": {}})
    );
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "client");
    assert_eq!(meta["io.modelcontextprotocol/logLevel"], "warning");
}

#[test]
fn nothing_of_a_session_is_told_with_a_per_request_request() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-11-25");
    let level =
        r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}"#;
    get(&server, &mut channel, level);
    let received = server.receive(
        &mut channel,
        None,
        claim("tools/list", json!({})).as_bytes(),
        NOW,
    );
    let call = calls(&received).remove(0);
    assert_eq!(call.log_level, None);
    assert!(!call.caller.can("roots"));
    let message = Json::from_text(r#"{"level":"error","data":1}"#).unwrap();
    let output = server.notify(
        &mut channel,
        To::Request(call.token),
        "notifications/message",
        Some(&message),
        NOW,
    );
    assert_eq!(output.fate, Fate::Dropped("log-opt-in"));
}

#[test]
fn a_log_level_in_meta_is_told_to_an_application_of_the_handshake_era() {
    let server = server(Revision::V2024_11_05);
    let mut channel = Channel::new();
    let list = claim(
        "tools/list",
        json!({"_meta": {"io.modelcontextprotocol/logLevel": "error", "mine/x": 1}}),
    );
    let received = server.receive(&mut channel, None, list.as_bytes(), NOW);
    let call = calls(&received).remove(0);
    assert_eq!(call.log_level, Some(LogLevel::Error));
    assert_eq!(call.params.text(), r#"{"_meta":{"mine/x":1}}"#);
    for (level, sent) in [("warning", 0), ("error", 1), ("alert", 1)] {
        let message = Json::from_text(&format!(r#"{{"level":"{level}","data":1}}"#)).unwrap();
        let output = server.notify(
            &mut channel,
            To::Request(call.token),
            "notifications/message",
            Some(&message),
            NOW,
        );
        assert_eq!(output.send.len(), sent, "{level}");
        assert!(
            output
                .send
                .iter()
                .all(|one| one.exchange == Some(received.exchange) && !one.last)
        );
    }
}

#[test]
fn set_level_is_refused_without_logging_and_for_levels_that_are_none() {
    let without = Server::new(Revision::V2025_11_25, profile_text("{\"tools\":{}}")).unwrap();
    let mut channel = open(&without, "2025-11-25");
    let level = |level: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{{"level":"{level}"}}}}"#
        )
    };
    assert_eq!(
        get(&without, &mut channel, &level("info"))["error"]["code"],
        -32601
    );
    let with = server(Revision::V2025_11_25);
    let mut channel = open(&with, "2025-11-25");
    assert_eq!(
        get(&with, &mut channel, &level("loud"))["error"]["code"],
        -32602
    );
}

#[test]
fn a_request_that_is_cancelled_is_not_answered() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-11-25");
    let list = r#"{"jsonrpc":"2.0","id":"x","method":"tools/list"}"#;
    let received = server.receive(&mut channel, None, list.as_bytes(), NOW);
    let call = calls(&received).remove(0);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x","reason":"late"}}"#;
    let cancelled = server.receive(&mut channel, None, cancel.as_bytes(), NOW);
    let [Event::Cancelled(event)] = cancelled.events.as_slice() else {
        panic!("{cancelled:?}")
    };
    assert_eq!(
        (event.token, cancelled.closes.as_slice()),
        (call.token, [received.exchange].as_slice())
    );
    assert_eq!(event.reason.as_deref(), Some("late"));
    let output = server.answer(
        &mut channel,
        call.token,
        Ok(Json::from_text("{\"tools\":[]}").unwrap()),
        NOW,
    );
    assert_eq!((output.fate, output.send.len()), (Fate::Unknown, 0));
    // Its id is free again.
    assert_eq!(
        calls(&server.receive(&mut channel, None, list.as_bytes(), NOW)).len(),
        1
    );
}

#[test]
fn a_request_is_cancelled_by_its_id_however_it_is_spelled() {
    let server = server(Revision::V2025_11_25);
    let cancelled = |channel: &mut Channel, params: Value| {
        let method = "notifications/cancelled";
        let text = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        server.receive(channel, None, text.as_bytes(), NOW).events
    };
    for (id, other) in [(json!(7), json!("7")), (json!("7"), json!(7))] {
        let mut channel = open(&server, "2025-11-25");
        let list = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string();
        server.receive(&mut channel, None, list.as_bytes(), NOW);
        for params in [
            json!({}),
            json!({"requestId": null}),
            json!({"requestId": [7]}),
        ] {
            let events = cancelled(&mut channel, params);
            let [Event::Ignored(Ignored::Invalid(_, why))] = events.as_slice() else {
                panic!("{events:?}")
            };
            assert!(why.contains("/params/requestId"), "{why}");
        }
        let events = cancelled(&mut channel, json!({"requestId": 8}));
        assert!(matches!(
            events.as_slice(),
            [Event::Ignored(Ignored::Late(_))]
        ));
        let events = cancelled(&mut channel, json!({"requestId": other}));
        let [Event::Mended(mended), Event::Cancelled(_)] = events.as_slice() else {
            panic!("{events:?}")
        };
        let why = format!("at /params/requestId: expected {id}, found {other}");
        assert_eq!((mended.why.as_str(), channel.pending()), (&*why, 0));
    }
    // Where both wait, each is cancelled by its own.
    let mut channel = open(&server, "2025-11-25");
    for id in [json!(7), json!("7")] {
        let list = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string();
        server.receive(&mut channel, None, list.as_bytes(), NOW);
    }
    for left in [1, 0] {
        let events = cancelled(&mut channel, json!({"requestId": "7"}));
        assert_eq!((channel.pending(), events.len()), (left, 2 - left));
    }
}

#[test]
fn answers_to_nothing_are_put_aside() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-11-25");
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":99999999999999999999999,"result":{}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
    ] {
        let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
        assert!(
            matches!(
                received.events.as_slice(),
                [Event::Ignored(
                    Ignored::AnswerToNothing(_) | Ignored::Error(_)
                )]
            ),
            "{text}"
        );
        assert_eq!(received.reply.unwrap().body, None);
    }
}

#[test]
fn an_answer_to_nothing_that_is_no_message_is_put_aside_too() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2025-03-26");
    let answer = r#"{"id":99,"result":{}}"#;
    for text in [
        answer.to_owned(),
        format!("[{answer}]"),
        r#"[{"result":{}}]"#.to_owned(),
    ] {
        let events = server
            .receive(&mut channel, None, text.as_bytes(), NOW)
            .events;
        let is_told = matches!(events.as_slice(), [Event::Ignored(Ignored::Unreadable(..))]);
        assert!(is_told, "{text}: {events:?}");
    }
}

#[test]
fn an_answer_that_is_no_message_is_refused_without_an_id() {
    let server = server(Revision::V2025_11_25);
    for id in ["1", "\"a\"", "99999999999999999999999"] {
        let mut channel = open(&server, "2025-03-26");
        let call = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        let received = server.receive(&mut channel, None, call.as_bytes(), NOW);
        let call = calls(&received).remove(0);
        let (question, _) = server.ask(&mut channel, None, "roots/list", None, NOW);
        let both = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"error":{{"code":1,"message":"m"}}}}"#
        );
        // The client takes an error of this id as the answer to its own request.
        let received = server.receive(&mut channel, None, both.as_bytes(), NOW);
        let reply = received.reply.unwrap();
        assert_eq!((reply.status, reply.body), (400, None), "{id}");
        let answered =
            |event: &Event| matches!(event, Event::Answered(it) if Some(it.token) == question);
        let is_answered = received.events.iter().any(answered);
        assert_eq!(is_answered, id == "1", "{id}");
        let batch = format!(r#"[{both},{{"jsonrpc":"2.0","id":2,"method":"ping"}}]"#);
        let answer = get(&server, &mut channel, &batch);
        assert_eq!(answer, json!([{"jsonrpc": "2.0", "id": 2, "result": {}}]));
        let tools = Json::from_text(r#"{"tools":[]}"#).unwrap();
        let output = server.answer(&mut channel, call.token, Ok(tools), NOW);
        assert_eq!(text_of(&output)["result"]["tools"], json!([]));
    }
}

#[test]
fn a_request_of_the_server_is_converted_and_so_is_its_answer() {
    let server = server(Revision::V2025_11_25);
    let mut channel = open(&server, "2024-11-05");
    let (key, output) = server.ask(&mut channel, None, "roots/list", None, NOW);
    let asked = text_of(&output);
    assert_eq!(
        (&asked["method"], &asked["id"]),
        (&json!("roots/list"), &json!(1))
    );
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"}]}}"#;
    let received = server.receive(&mut channel, None, answer.as_bytes(), NOW);
    let [Event::Answered(answered)] = received.events.as_slice() else {
        panic!("{received:?}")
    };
    assert_eq!((Some(answered.token), channel.asked()), (key, 0));
    let Answer::Result(result) = &answered.answer else {
        panic!("{answered:?}")
    };
    assert_eq!(result.text(), r#"{"roots":[{"uri":"file:///a"}]}"#);
    // The second answer is one to nothing.
    let again = server.receive(&mut channel, None, answer.as_bytes(), NOW);
    assert!(matches!(again.events.as_slice(), [Event::Ignored(_)]));
    // What the client did not declare it is not asked.
    let params = Json::from_text(r#"{"messages":[],"maxTokens":1}"#).unwrap();
    let (_, output) = server.ask(
        &mut channel,
        None,
        "sampling/createMessage",
        Some(&params),
        NOW,
    );
    let Fate::Refused(error) = output.fate else {
        panic!("{output:?}")
    };
    assert_eq!(error.code, -32021);
}

#[test]
fn progress_takes_the_way_of_its_request_and_only_if_asked_for() {
    let server = server(Revision::V2026_07_28);
    let mut channel = open(&server, "2024-11-05");
    let progress =
        Json::from_text(r#"{"progressToken":"t","progress":1,"message":"half"}"#).unwrap();
    let list = |id: u8, meta: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{{meta}}}}}"#)
    };
    let with = server.receive(
        &mut channel,
        None,
        list(1, r#""_meta":{"progressToken":"t"}"#).as_bytes(),
        NOW,
    );
    let call = calls(&with).remove(0);
    assert_eq!(call.progress_token.as_ref().unwrap().text(), "\"t\"");
    let output = server.notify(
        &mut channel,
        To::Request(call.token),
        "notifications/progress",
        Some(&progress),
        NOW,
    );
    assert_eq!(
        text_of(&output)["params"],
        json!({"progressToken": "t", "progress": 1})
    );
    assert_eq!(output.losses[0].value().unwrap().text(), "\"half\"");
    let without = server.receive(&mut channel, None, list(2, "").as_bytes(), NOW);
    let token = calls(&without)[0].token;
    let output = server.notify(
        &mut channel,
        To::Request(token),
        "notifications/progress",
        Some(&progress),
        NOW,
    );
    assert_eq!(output.fate, Fate::Dropped("progress-token"));
}

#[test]
fn what_a_listen_request_is_told_bears_its_id() {
    let server = server(Revision::V2026_07_28);
    let mut channel = Channel::new();
    let listen = claim(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let received = server.receive(&mut channel, None, listen.as_bytes(), NOW);
    let token = calls(&received)[0].token;
    let id = "io.modelcontextprotocol/subscriptionId";
    let method = "notifications/tools/list_changed";
    // A handler that does not acknowledge is acknowledged for, in front of the first that it says.
    let output = server.notify(&mut channel, To::Request(token), method, None, NOW);
    let sent: Vec<Value> = (output.send.iter())
        .map(|text| serde_json::from_str(&text.body).unwrap())
        .collect();
    assert_eq!(
        sent[0]["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(
        sent[0]["params"],
        json!({"notifications": {"toolsListChanged": true}, "_meta": {id: 7}})
    );
    assert_eq!(sent[1]["params"]["_meta"][id], 7);
    let again = server.notify(&mut channel, To::Request(token), method, None, NOW);
    assert_eq!(text_of(&again)["method"], method);
    let agreed = Json::from_text(r#"{"notifications":{},"_meta":{"mine/x":1}}"#).unwrap();
    let method = "notifications/subscriptions/acknowledged";
    let output = server.notify(&mut channel, To::Request(token), method, Some(&agreed), NOW);
    assert_eq!(
        text_of(&output)["params"]["_meta"],
        json!({"mine/x": 1, id: 7})
    );
    let end = Json::from_text(r#"{"resultType":"complete"}"#).unwrap();
    let output = server.answer(&mut channel, token, Ok(end), NOW);
    // Who ends a stream says so, and answers.
    let ends: Vec<Value> = (output.send.iter())
        .map(|text| serde_json::from_str(&text.body).unwrap())
        .collect();
    assert_eq!(ends[0]["method"], "notifications/cancelled");
    assert_eq!(ends[0]["params"], json!({"requestId": 7}));
    assert_eq!(ends[1]["result"]["_meta"][id], 7);
}

#[test]
fn changes_are_listened_to_once_however_often_a_client_says_that_it_is_initialized() {
    let profile = profile_text(r#"{"tools":{"listChanged":true}}"#);
    let server = Server::new(Revision::V2026_07_28, profile).unwrap();
    let mut channel = Channel::new();
    get(
        &server,
        &mut channel,
        &crate::support::initialize("2025-06-18"),
    );
    let note = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let called = calls(&server.receive(&mut channel, None, note, NOW));
    assert_eq!(called.len(), 1);
    assert_eq!(called[0].method, "subscriptions/listen");
    let again = server.receive(&mut channel, None, note, NOW);
    assert_eq!(again.events, [Event::Initialized]);
}

#[test]
fn a_stream_that_nobody_listens_to_any_more_is_over_for_its_handler() {
    let profile = profile_text(r#"{"resources":{"subscribe":true}}"#);
    let server = Server::new(Revision::V2026_07_28, profile).unwrap();
    let mut channel = open(&server, "2025-06-18");
    let of = |method: &str| {
        json!({"jsonrpc": "2.0", "id": method, "method": method, "params": {"uri": "a:1"}})
            .to_string()
    };
    let subscribe = of("resources/subscribe");
    let called = calls(&server.receive(&mut channel, None, subscribe.as_bytes(), NOW));
    assert_eq!(called[0].method, "subscriptions/listen");
    let unsubscribe = of("resources/unsubscribe");
    let ended = server.receive(&mut channel, None, unsubscribe.as_bytes(), NOW);
    let is_it =
        |event: &Event| matches!(event, Event::Cancelled(it) if it.token == called[0].token);
    assert!(ended.events.iter().any(is_it), "{ended:?}");
    let end = Json::from_text(r#"{"resultType":"complete"}"#).unwrap();
    let late = server.answer(&mut channel, called[0].token, Ok(end), NOW);
    assert_eq!((late.fate, late.send.len()), (Fate::Unknown, 0));
}

/// Says how the handlers end the call by which a session listens.
#[test]
fn a_stream_of_changes_that_ends_is_opened_again_and_the_client_hears_that_all_may_have_changed() {
    let end = Json::from_text(r#"{"resultType":"complete"}"#).unwrap();
    for result in [
        Ok(end),
        Err(mcp_revisions::sansio::errors::internal("cut").error),
    ] {
        let profile = profile_text(r#"{"tools":{"listChanged":true}}"#);
        let server = Server::new(Revision::V2026_07_28, profile).unwrap();
        let mut channel = Channel::new();
        let initialize = crate::support::initialize("2025-06-18");
        get(&server, &mut channel, &initialize);
        let note = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let mut call = calls(&server.receive(&mut channel, None, note, NOW)).remove(0);
        let mut pause = NOW;
        for round in 0..3 {
            let acknowledged = "notifications/subscriptions/acknowledged";
            let said = server.notify(
                &mut channel,
                To::Request(call.token),
                acknowledged,
                Some(&call.params),
                NOW,
            );
            let told = said.send.iter();
            let told: Vec<Value> = told
                .map(|text| serde_json::from_str(&text.body).unwrap())
                .collect();
            let expected = ["notifications/tools/list_changed"];
            assert_eq!(
                told.iter().map(|it| &it["method"]).collect::<Vec<_>>(),
                expected[..usize::from(round > 0)]
            );
            server.answer(&mut channel, call.token, result.clone(), NOW);
            let again = channel.wake_at().unwrap();
            assert!(again > pause, "the pauses grow");
            pause = again;
            let events = server.tick(&mut channel, again).events;
            let next = events.into_iter().find_map(|event| match event {
                Event::Request(next) => Some(next),
                _ => None,
            });
            let next = next.unwrap();
            assert_eq!((next.method, &next.params), (call.method, &call.params));
            call = next;
        }
    }
}

#[test]
fn a_subscription_that_the_handlers_decline_or_do_not_acknowledge_is_refused() {
    for is_declined in [true, false] {
        let profile = profile_text(r#"{"resources":{"subscribe":true}}"#);
        let server = Server::new(Revision::V2026_07_28, profile).unwrap();
        let mut channel = open(&server, "2025-06-18");
        let subscribe =
            r#"{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"a:1"}}"#;
        let received = server.receive(&mut channel, None, subscribe.as_bytes(), NOW);
        let call = calls(&received).remove(0);
        let output = if is_declined {
            let none = Json::from_text(r#"{"notifications":{}}"#).unwrap();
            let acknowledged = "notifications/subscriptions/acknowledged";
            let to = To::Request(call.token);
            server.notify(&mut channel, to, acknowledged, Some(&none), NOW)
        } else {
            let until = channel.wake_at().unwrap();
            server.tick(&mut channel, until)
        };
        let answer = text_of(&output);
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(5), &json!(-32603))
        );
    }
}

/// The subscriptions before a refused one go on.
#[test]
fn a_refused_subscription_costs_no_other_one() {
    let profile = profile_text(r#"{"resources":{"subscribe":true}}"#);
    let server = Server::new(Revision::V2026_07_28, profile).unwrap();
    let mut channel = open(&server, "2025-06-18");
    let mut calls_of = Vec::new();
    for (id, uri) in [(1, "a:1"), (2, "a:2")] {
        let params = json!({"uri": uri});
        let text =
            json!({"jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": params});
        let received = server.receive(&mut channel, None, text.to_string().as_bytes(), NOW);
        let call = calls(&received).remove(0);
        if id == 1 {
            let acknowledged = "notifications/subscriptions/acknowledged";
            let to = To::Request(call.token);
            server.notify(&mut channel, to, acknowledged, Some(&call.params), NOW);
        }
        calls_of.push(call.token);
    }
    let refusal = mcp_revisions::sansio::errors::invalid_params("no such resource").error;
    let refused = server.answer(&mut channel, calls_of[1], Err(refusal), NOW);
    let answer = text_of(&refused);
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(2), &json!(-32602))
    );
    let updated = Json::from_text(r#"{"uri":"a:1"}"#).unwrap();
    let to = To::Request(calls_of[0]);
    let told = server.notify(
        &mut channel,
        to,
        "notifications/resources/updated",
        Some(&updated),
        NOW,
    );
    assert_eq!(text_of(&told)["params"]["uri"], "a:1");
    assert_eq!(channel.wake_at(), None);
}

/// A per-request client shares a server with those that say the same of themselves: the end of its subscription goes there.
#[test]
fn a_stream_that_is_closed_ends_its_subscriptions_on_behalf_of_the_client_that_opened_it() {
    let profile = profile_text(r#"{"resources":{"subscribe":true}}"#);
    let server = Server::new(Revision::V2025_11_25, profile).unwrap();
    let mut channel = Channel::new();
    let filter = json!({"notifications": {"resourceSubscriptions": ["a:1"]}});
    let listen = claim("subscriptions/listen", filter);
    let opened = server.receive(&mut channel, None, listen.as_bytes(), NOW);
    let subscribed = calls(&opened).remove(0);
    assert_eq!(subscribed.method, "resources/subscribe");
    let empty = Json::from_text("{}").unwrap();
    server.answer(&mut channel, subscribed.token, Ok(empty), NOW);
    let id = serde_json::from_str::<Value>(&listen).unwrap()["id"].clone();
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let closed = server.receive(&mut channel, None, cancelled.to_string().as_bytes(), NOW);
    let ended = calls(&closed).remove(0);
    assert_eq!(ended.method, "resources/unsubscribe");
    assert_eq!(ended.caller, subscribed.caller);
    assert!(ended.caller.capabilities.is_some());
}

#[test]
fn what_an_older_client_is_not_told_of_its_server_is_a_loss() {
    let info = json!({"name": "s", "title": "S", "version": "1"});
    let capabilities = json!({"completions": {}, "tools": {}});
    let profile = Profile::new(&Json::from(info), &Json::from(capabilities));
    let members = [("_meta", json!({"a/b": 1})), ("more", json!(1))];
    let members = members.map(|(name, value)| (name, Json::from(value)));
    let profile = profile.with_members(members.into_iter().collect());
    let lost = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&lost);
    let server = Server::new(Revision::V2025_11_25, profile)
        .unwrap()
        .told(|server| {
            server.on_loss(move |report| {
                let pointers = report.losses.iter().map(|loss| loss.pointer());
                told.lock().unwrap().extend(pointers);
            })
        });
    let mut channel = Channel::new();
    let initialize = crate::support::initialize("2024-11-05");
    let result = get(&server, &mut channel, &initialize)["result"].clone();
    assert_eq!(result["_meta"], json!({"a/b": 1}));
    assert_eq!(result["serverInfo"], json!({"name": "s", "version": "1"}));
    assert_eq!(result["protocolVersion"], "2024-11-05");
    let lost = lost.lock().unwrap();
    for pointer in ["/serverInfo/title", "/capabilities/completions"] {
        assert!(lost.iter().any(|one| one == pointer), "{pointer}: {lost:?}");
    }
    assert_eq!(
        result.get("more").is_none(),
        lost.iter().any(|one| one == "/more")
    );
}

#[test]
fn nothing_but_logs_before_the_client_is_initialized() {
    let server = server(Revision::V2025_11_25);
    let mut channel = Channel::new();
    get(
        &server,
        &mut channel,
        &crate::support::initialize("2025-06-18"),
    );
    let changed = "notifications/tools/list_changed";
    let output = server.notify(&mut channel, To::Session, changed, None, NOW);
    assert_eq!(output.fate, Fate::Dropped("initialize-first"));
    let log = Json::from_text(r#"{"level":"info","data":"starting"}"#).unwrap();
    let output = server.notify(
        &mut channel,
        To::Session,
        "notifications/message",
        Some(&log),
        NOW,
    );
    assert_eq!(output.send.len(), 1);
    let note = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    server.receive(&mut channel, None, note, NOW);
    let output = server.notify(&mut channel, To::Session, changed, None, NOW);
    assert_eq!(
        text_of(&output),
        json!({"jsonrpc": "2.0", "method": changed})
    );
}

/// Opens a stream of a client that carries these resources, and returns the calls of the handlers that it makes.
fn listen(server: &Server, channel: &mut Channel, id: u8, uris: &[&str]) -> Received {
    let filter = json!({"notifications": {"resourceSubscriptions": uris}});
    let text = claim("subscriptions/listen", filter);
    let text = text.replace(r#""id":7"#, &format!(r#""id":{id}"#));
    server.receive(channel, None, text.as_bytes(), NOW)
}

fn close(server: &Server, channel: &mut Channel, id: u8) -> Received {
    let params = json!({"requestId": id});
    let text = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    server.receive(channel, None, text.to_string().as_bytes(), NOW)
}

fn subscribing_server() -> Server {
    let profile = profile_text(r#"{"resources":{"subscribe":true}}"#);
    Server::new(Revision::V2025_11_25, profile).unwrap()
}

/// The methods of the requests among some events, each with its token.
fn requests(events: &[Event]) -> Vec<(&'static str, Token)> {
    let request = |event: &Event| match event {
        Event::Request(call) => Some((call.method, call.token)),
        _ => None,
    };
    events.iter().filter_map(request).collect()
}

#[test]
fn the_handlers_subscribe_to_a_resource_and_end_that_one_after_the_other() {
    let server = subscribing_server();
    let mut channel = Channel::new();
    let empty = Json::from_text("{}").unwrap();
    let opened = listen(&server, &mut channel, 1, &["a:1"]);
    let [(method, first)] = requests(&opened.events)[..] else {
        panic!("{opened:?}")
    };
    assert_eq!(method, "resources/subscribe");
    // Opened and closed again and again while the handlers are at it.
    for id in 2..9 {
        assert_eq!(requests(&close(&server, &mut channel, id - 1).events), []);
        assert_eq!(
            requests(&listen(&server, &mut channel, id, &["a:1"]).events),
            []
        );
    }
    let ended = server.answer(&mut channel, first, Ok(empty.clone()), NOW);
    assert_eq!(
        requests(&ended.events),
        [],
        "it is as the last stream wants it"
    );
    let closed = close(&server, &mut channel, 8);
    let [(method, second)] = requests(&closed.events)[..] else {
        panic!("{closed:?}")
    };
    assert_eq!(method, "resources/unsubscribe");
    assert_eq!(
        requests(&listen(&server, &mut channel, 9, &["a:1"]).events),
        []
    );
    let ended = server.answer(&mut channel, second, Ok(empty.clone()), NOW);
    let [(method, third)] = requests(&ended.events)[..] else {
        panic!("{ended:?}")
    };
    assert_eq!(method, "resources/subscribe");
    assert_eq!(requests(&close(&server, &mut channel, 9).events), []);
    let ended = server.answer(&mut channel, third, Ok(empty), NOW);
    assert_eq!(requests(&ended.events)[0].0, "resources/unsubscribe");
}

#[test]
fn a_subscription_that_the_handlers_refuse_is_reported_and_carried_by_no_stream() {
    let server = subscribing_server();
    let mut channel = Channel::new();
    let opened = listen(&server, &mut channel, 1, &["a:1", "a:2"]);
    let [(_, first), (_, second)] = requests(&opened.events)[..] else {
        panic!("{opened:?}")
    };
    let refusal = mcp_revisions::sansio::errors::invalid_params("no such resource").error;
    let refused = server.answer(&mut channel, first, Err(refusal.clone()), NOW);
    let ignored = Ignored::Refused("resources/subscribe", refusal);
    assert_eq!(refused.events, [Event::Ignored(ignored)]);
    server.answer(
        &mut channel,
        second,
        Ok(Json::from_text("{}").unwrap()),
        NOW,
    );
    for (uri, told) in [("a:1", 0), ("a:2", 1)] {
        let params = Json::from(json!({"uri": uri}));
        let method = "notifications/resources/updated";
        let output = server.notify(&mut channel, To::Session, method, Some(&params), NOW);
        assert_eq!(output.send.len(), told, "{uri}");
    }
    let closed = close(&server, &mut channel, 1);
    assert_eq!(
        requests(&closed.events).len(),
        1,
        "the other is none to end"
    );
}

#[test]
fn streams_are_refused_while_the_handlers_are_called_for_as_many_resources_as_may_wait() {
    let limits = Limits {
        max_pending_requests: 2,
        ..Limits::default()
    };
    let server = subscribing_server().with_limits(limits);
    let mut channel = Channel::new();
    let first = listen(&server, &mut channel, 1, &["a:1", "a:2"]);
    close(&server, &mut channel, 1);
    let refused = listen(&server, &mut channel, 2, &["a:3"]);
    let error = crate::support::body(&refused.reply.unwrap());
    assert!(
        error["error"]["message"].to_string().contains("2 requests"),
        "{error}"
    );
    for (_, token) in requests(&first.events) {
        let ended = server.answer(
            &mut channel,
            token,
            Err(mcp_revisions::sansio::errors::internal("no").error),
            NOW,
        );
        assert_eq!(requests(&ended.events), []);
    }
    let taken = listen(&server, &mut channel, 2, &["a:3"]);
    assert_eq!(requests(&taken.events).len(), 1);
}

#[test]
fn what_a_stream_carries_is_counted_once_and_is_no_longer_than_is_kept() {
    let limits = Limits {
        max_subscriptions: 2,
        max_identifier_bytes: 8,
        ..Limits::default()
    };
    let server = subscribing_server().with_limits(limits);
    let mut channel = Channel::new();
    let taken = listen(&server, &mut channel, 1, &["a:1", "a:1", "a:1", "a:2"]);
    assert_eq!(requests(&taken.events).len(), 2);
    for (uris, why) in [
        (&["a:1", "a:2", "a:3"][..], "2 subscriptions"),
        (&["a:3456789"], "a URI of 9 bytes; at most 8"),
    ] {
        let refused = listen(&server, &mut channel, 2, uris);
        let error = crate::support::body(&refused.reply.unwrap());
        assert!(
            error["error"]["message"].to_string().contains(why),
            "{error}"
        );
    }
}
