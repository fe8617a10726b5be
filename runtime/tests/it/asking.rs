//! Handlers of the latest revision that ask in the middle of a call, with clients of every revision.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{
    Channel, NOW, Received, Server, body, calls, claim, open, says, server, text_of,
};
use mcp_revisions::mcp_wire::{self, Json};
use mcp_revisions::sansio::driver::server::tasks::{answer_with_task, starting};
use mcp_revisions::sansio::server::{
    Answer, Connection, Event, Fate, Ignored, OutgoingRequest, Output, TaskOptions, TaskSupport,
};
use mcp_revisions::{Limits, Revision};
use serde_json::{Value, json};

const DONE: &str = r#"{"resultType":"complete","content":[]}"#;

fn call(id: u64, params: Value) -> String {
    let text = claim("tools/call", params).replace(r#""id":7"#, &format!(r#""id":{id}"#));
    text.replace(
        r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        r#""io.modelcontextprotocol/clientCapabilities":{"roots":{}}"#,
    )
}

fn answered(received: &Received) -> Value {
    let answers: Vec<_> = (received.events.iter())
        .filter_map(|event| match event {
            Event::Answered(answered) => Some(&answered.answer),
            _ => None,
        })
        .collect();
    let [Answer::Result(result)] = answers.as_slice() else {
        panic!("{received:?}")
    };
    result.parse().unwrap()
}

#[test]
fn an_older_client_is_asked_by_a_request() {
    let server = server(Revision::V2026_07_28);
    let mut channel = open(&server, "2025-03-26");
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    let call = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let (_, asked) = server.ask(&mut channel, Some(call.token), "roots/list", None, NOW);
    let asked = text_of(&asked);
    assert_eq!(asked["method"], "roots/list");
    let answer =
        json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": "file:///a"}]}});
    let received = server.receive(&mut channel, None, answer.to_string().as_bytes(), NOW);
    assert_eq!(answered(&received)["roots"][0]["uri"], "file:///a");
    let done = Json::from_text(DONE).unwrap();
    let output = server.answer(&mut channel, call.token, Ok(done), NOW);
    assert_eq!(text_of(&output)["result"], json!({"content": []}));
}

#[test]
fn an_older_client_is_asked_to_open_a_url_under_an_id_of_its_own() {
    let app = Revision::V2026_07_28;
    let server = server(app);
    let mut channel = Channel::new();
    let can = r#""capabilities":{"elicitation":{"url":{}}}"#;
    let initialize = crate::support::initialize("2025-11-25");
    let initialize = initialize.replace(r#""capabilities":{"roots":{}}"#, can);
    assert!(initialize.contains(can), "{initialize}");
    crate::support::get(&server, &mut channel, &initialize);
    let page = json!({"mode": "url", "message": "log in", "url": "https://example.com/"});
    let mut ids = BTreeSet::new();
    // Asked by a request, and by a result.
    for id in 1..=2 {
        let text =
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "t"}});
        let received = server.receive(&mut channel, None, text.to_string().as_bytes(), NOW);
        let call = calls(&received).remove(0);
        let asked = match id {
            1 => {
                let params = Json::from_text(&page.to_string()).unwrap();
                let about = Some(call.token);
                (server.ask(
                    &mut channel,
                    about,
                    "elicitation/create",
                    Some(&params),
                    NOW,
                ))
                .1
            }
            _ => {
                let request = json!({"method": "elicitation/create", "params": page});
                let result =
                    json!({"resultType": "input_required", "inputRequests": {"q": request}});
                let result = Json::from_text(&result.to_string()).unwrap();
                server.answer(&mut channel, call.token, Ok(result), NOW)
            }
        };
        let mut params = text_of(&asked)["params"].take();
        let id = params["elicitationId"].take();
        assert!(
            ids.insert(id.as_str().expect("an id").to_owned()),
            "{id} names two questions"
        );
        params.as_object_mut().unwrap().remove("elicitationId");
        assert_eq!(params, page);
    }
}

#[test]
fn a_question_whose_answer_is_no_message_ends_with_the_reason() {
    let server = server(Revision::V2026_07_28);
    for (answer, expected) in [
        (r#""result":{"roots":[]}"#, "jsonrpc"),
        (r#""jsonrpc":"2.0","result":{},"error":{}"#, "result"),
        (
            r#""jsonrpc":"1.0","error":{"code":1,"message":""}"#,
            "jsonrpc",
        ),
        (r#""jsonrpc":"2.0","result":{"roots":[}"#, "not JSON"),
    ] {
        for is_batch in [false, true] {
            // A batch that is not JSON does not say what it belongs to.
            if is_batch && expected == "not JSON" {
                continue;
            }
            let mut channel = open(&server, "2025-03-26");
            let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
            let call = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
            let (_, asked) = server.ask(&mut channel, Some(call.token), "roots/list", None, NOW);
            let answer = format!(r#"{{"id":{},{answer}}}"#, text_of(&asked)["id"]);
            let text = match is_batch {
                true => format!("[{answer}]"),
                false => answer,
            };
            let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
            let told = (received.events.iter()).find_map(|event| match event {
                Event::Answered(answered) => Some(&answered.answer),
                _ => None,
            });
            let Some(Answer::Error(error)) = told else {
                panic!("{text}: {received:?}")
            };
            assert!(
                error.message.contains(expected),
                "{text}: {}",
                error.message
            );
            assert_eq!(channel.asked(), 0);
        }
    }
}

#[test]
fn what_a_result_asks_of_an_older_client_is_withdrawn_with_the_call() {
    let server = server(Revision::V2026_07_28);
    let mut channel = open(&server, "2025-06-18");
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    let call = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let asks = r#"{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}}}"#;
    let asks = Json::from_text(asks).unwrap();
    let asked = text_of(&server.answer(&mut channel, call.token, Ok(asks), NOW));
    assert_eq!(asked["method"], "roots/list");
    let cancel =
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let received = server.receive(&mut channel, None, cancel, NOW);
    // Nobody has to answer any more, nobody is waited for, and what is answered all the same calls nobody.
    let withdrawn: Value = serde_json::from_str(&received.send[0].body).unwrap();
    assert_eq!(
        (&withdrawn["method"], &withdrawn["params"]["requestId"]),
        (&json!("notifications/cancelled"), &asked["id"])
    );
    assert_eq!(
        (channel.asked(), channel.pending(), channel.wake_at()),
        (0, 0, None)
    );
    let late = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}});
    let received = server.receive(&mut channel, None, late.to_string().as_bytes(), NOW);
    assert_eq!(calls(&received), []);
}

#[test]
fn a_client_of_the_same_revision_is_asked_in_a_result_and_comes_again() {
    let server = server(Revision::V2026_07_28);
    let mut channel = Channel::new();
    let text = call(1, json!({"name": "t", "arguments": {"a": 1, "b": 2}}));
    let first = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let (_, asked) = server.ask(&mut channel, Some(first.token), "roots/list", None, NOW);
    let asked = text_of(&asked)["result"].take();
    assert_eq!(asked["resultType"], "input_required");
    let (name, question) = asked["inputRequests"]
        .as_object()
        .unwrap()
        .iter()
        .next()
        .unwrap();
    assert_eq!(question["method"], "roots/list");
    let answers = json!({name: {"roots": [{"uri": "file:///a"}]}});

    // For another request the state is worth nothing, and nothing is begun anew for it.
    let other =
        json!({"name": "u", "requestState": asked["requestState"], "inputResponses": answers});
    let received = server.receive(&mut channel, None, call(2, other).as_bytes(), NOW);
    assert_eq!(calls(&received), [], "{received:?}");
    assert_eq!(body(&received.reply.unwrap())["error"]["code"], -32602);

    let again = json!({"name": "t", "arguments": {"b": 2, "a": 1}, "requestState": asked["requestState"], "inputResponses": answers});
    let text = call(3, again);
    let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
    assert_eq!(answered(&received)["roots"][0]["uri"], "file:///a");
    assert_eq!(calls(&received), [], "the first call goes on");
    let done = Json::from_text(DONE).unwrap();
    let output = server.answer(&mut channel, first.token, Ok(done), NOW);
    assert_eq!(
        (text_of(&output)["id"].clone(), output.send[0].exchange),
        (json!(3), Some(received.exchange))
    );

    // Nothing waits for it any more, and nobody is called for it.
    let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
    assert_eq!(calls(&received), []);
    assert_eq!(body(&received.reply.unwrap())["error"]["code"], -32602);
}

/// What a call of `t` is asked by a handler that keeps a state of its own with its client.
fn asked_by_result(server: &Server, arguments: &str) -> Value {
    let mut channel = Channel::new();
    let text = format!(r#"{{"name":"t","arguments":{arguments}}}"#);
    let text = call_text(1, &text);
    let call = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let asks = r#"{"resultType":"input_required","requestState":"mine","inputRequests":{"q":{"method":"roots/list"}}}"#;
    let asks = Json::from_text(asks).unwrap();
    text_of(&server.answer(&mut channel, call.token, Ok(asks), NOW))["result"]["requestState"]
        .take()
}

/// A call of a client that can list roots, its params letter by letter.
fn call_text(id: u64, params: &str) -> String {
    let claim = call(id, json!({"name": "t"}));
    let (claim, text) = (
        claim.parse::<Value>().unwrap(),
        params.trim_end_matches('}'),
    );
    let meta = &claim["params"]["_meta"];
    let closed = params.len() - text.len() - 1;
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{text}{},"_meta":{meta}}}}}"#,
        "}".repeat(closed)
    )
}

/// The state that a handler is called with when a call is made again; else the error.
fn again(server: &Server, arguments: &str, state: &Value, now: Duration) -> Result<Value, Value> {
    let text = format!(
        r#"{{"requestState":{state},"inputResponses":{{}},"name":"t","arguments":{arguments}}}"#
    );
    let mut channel = Channel::new();
    let received = server.receive(&mut channel, None, call_text(2, &text).as_bytes(), now);
    match calls(&received).pop() {
        Some(call) => Ok(call.params.parse::<Value>().unwrap()["requestState"].take()),
        None => Err(body(&received.reply.unwrap())["error"].take()),
    }
}

#[test]
fn the_state_of_a_handler_comes_back_as_it_was_and_for_the_same_call_alone() {
    let server = server(Revision::V2026_07_28);
    let pays = r#"{"to":"ada","eur":1}"#;
    let state = asked_by_result(&server, pays);
    assert_ne!(state, "mine");
    let heard = again(&server, r#"{ "eur":1, "to":"ada" }"#, &state, NOW);
    assert_eq!(heard, Ok(json!("mine")));
    let late = Limits::default().client_response_timeout;
    for (arguments, state, now) in [
        (r#"{"to":"eve","eur":1}"#, &state, NOW),
        (r#"{"to":"ada","to":"eve","eur":1}"#, &state, NOW),
        ("{}", &state, NOW),
        (pays, &json!("mine"), NOW),
        (pays, &json!(7), NOW),
        (pays, &state, late),
    ] {
        let refused = again(&server, arguments, state, now).unwrap_err();
        assert_eq!(refused["code"], -32602, "{arguments} {state}");
        says(&refused["message"], "make the request again");
    }
    // Nor is what was signed for arguments with a repeated member good for others.
    let state = asked_by_result(&server, r#"{"to":"ada","to":"eve"}"#);
    for other in [r#"{"to":"ada","to":"bob"}"#, "{}"] {
        assert!(again(&server, other, &state, NOW).is_err(), "{other}");
    }
    // Another process takes it if it has the key, and not otherwise.
    let state = asked_by_result(&server, pays);
    let other = crate::support::server(Revision::V2026_07_28);
    assert!(again(&other, pays, &state, NOW).is_err());
    let keyed = |keys: &[u8]| {
        let keys = keys.to_vec();
        crate::support::server(Revision::V2026_07_28).told(|server| {
            let with = |server: mcp_revisions::sansio::Server, key| {
                server.with_request_state_key([key; 32])
            };
            keys.into_iter().fold(server, with)
        })
    };
    let state = asked_by_result(&keyed(&[1, 2]), pays);
    assert_eq!(again(&keyed(&[3, 1]), pays, &state, NOW), Ok(json!("mine")));
    assert!(again(&keyed(&[2]), pays, &state, NOW).is_err());
}

#[test]
fn without_adapters_a_state_is_the_application_s_own_business() {
    let server = server(Revision::V2026_07_28);
    let mut channel = Channel::bare();
    let text = call(
        1,
        json!({"name": "t", "requestState": "mine", "inputResponses": {}}),
    );
    let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
    let call = calls(&received).remove(0);
    let params: Value = call.params.parse().unwrap();
    assert_eq!(params["requestState"], "mine");
    let asks = r#"{"resultType":"input_required","requestState":"mine too","inputRequests":{"q":{"method":"roots/list"}}}"#;
    let output = server.answer(
        &mut channel,
        call.token,
        Ok(Json::from_text(asks).unwrap()),
        NOW,
    );
    assert_eq!(text_of(&output)["result"]["requestState"], "mine too");
}

#[test]
fn a_client_whose_call_waits_in_a_process_that_is_gone_is_told_so_and_nothing_begins_anew() {
    let before = server(Revision::V2026_07_28);
    let mut channel = Channel::new();
    let text = call(1, json!({"name": "t"}));
    let first = calls(&before.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let (_, asked) = before.ask(&mut channel, Some(first.token), "roots/list", None, NOW);
    let asked = text_of(&asked)["result"].take();
    let restarted = server(Revision::V2026_07_28);
    for state in [asked["requestState"].clone(), json!("made up")] {
        let mut channel = Channel::new();
        let text = call(
            2,
            json!({"name": "t", "requestState": state, "inputResponses": {}}),
        );
        let received = restarted.receive(&mut channel, None, text.as_bytes(), NOW);
        assert_eq!((calls(&received), channel.pending()), (Vec::new(), 0));
        let refused = body(&received.reply.unwrap())["error"].take();
        assert_eq!(refused["code"], -32602, "{refused}");
    }
}

#[test]
fn a_client_is_not_asked_what_it_did_not_declare() {
    let server = server(Revision::V2026_07_28);
    let mut channel = Channel::new();
    let text = claim("tools/call", json!({"name": "t"}));
    let call = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let (token, output) = server.ask(&mut channel, Some(call.token), "roots/list", None, NOW);
    let [Event::Answered(answered)] = output.events.as_slice() else {
        panic!("{output:?}")
    };
    let Answer::Error(error) = &answered.answer else {
        panic!("{answered:?}")
    };
    assert_eq!(
        (Some(answered.token), error.code.as_i64()),
        (token, Some(-32021))
    );
    // Nor are handlers of the handshake lifecycle refused what they could before.
    let older = crate::support::server(Revision::V2025_11_25);
    let mut channel = Channel::new();
    let text = self::call(1, json!({"name": "t"}));
    let call = calls(&older.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let (_, asked) = older.ask(&mut channel, Some(call.token), "roots/list", None, NOW);
    assert_eq!(text_of(&asked)["result"]["resultType"], "input_required");
}

#[test]
fn an_older_client_is_not_asked_for_more_at_once_than_is_taken() {
    let server = server(Revision::V2026_07_28);
    let mut channel = open(&server, "2025-11-25");
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    let call = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let questions: serde_json::Map<_, _> = (0..=100)
        .map(|name| (format!("{name}"), json!({"method": "roots/list"})))
        .collect();
    let asks = json!({"resultType": "input_required", "inputRequests": questions});
    let output = server.answer(&mut channel, call.token, Ok(Json::from(asks)), NOW);
    let error = &text_of(&output)["error"];
    let why = error["message"].as_str().unwrap();
    assert!(why.contains("101 inputs"), "{error}");
    assert_eq!((channel.pending(), channel.asked()), (0, 0));
}

#[test]
fn a_call_of_an_older_client_goes_on_once_all_of_its_questions_are_answered() {
    let server = server(Revision::V2026_07_28);
    let mut channel = open(&server, "2025-11-25");
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    let call = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let roots = json!({"method": "roots/list"});
    let asks = json!({"resultType": "input_required", "inputRequests": {"a": roots, "b": roots}});
    let output = server.answer(&mut channel, call.token, Ok(Json::from(asks)), NOW);
    let ids: Vec<Value> = (output.send.iter())
        .map(|text| serde_json::from_str::<Value>(&text.body).unwrap()["id"].take())
        .collect();
    assert_eq!(ids.len(), 2);
    let mut answer = |id: &Value| {
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"roots": []}}).to_string();
        calls(&server.receive(&mut channel, None, answer.as_bytes(), NOW))
    };
    assert_eq!(answer(&ids[0]).len(), 0);
    let again = answer(&ids[1]).remove(0);
    let params: Value = again.params.parse().unwrap();
    let answers = params["inputResponses"].as_object().unwrap();
    assert_eq!(answers.keys().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn who_does_not_wait_any_more_for_an_answer_gets_none_when_the_client_comes_again() {
    let server = server(Revision::V2026_07_28);
    let mut channel = Channel::new();
    let text = call(1, json!({"name": "t"}));
    let first = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let (ask, asked) = server.ask(&mut channel, Some(first.token), "roots/list", None, NOW);
    let asked = text_of(&asked)["result"].take();
    server.cancel(&mut channel, ask.unwrap(), NOW);
    let name = asked["inputRequests"].as_object().unwrap().keys().next();
    let again = json!({"name": "t", "requestState": asked["requestState"], "inputResponses": {name.unwrap(): {"roots": []}}});
    let received = server.receive(&mut channel, None, call(2, again).as_bytes(), NOW);
    let is_answered = |event: &Event| matches!(event, Event::Answered(_));
    assert!(!received.events.iter().any(is_answered), "{received:?}");
    // The handler goes on all the same.
    let done = Json::from_text(DONE).unwrap();
    let output = server.answer(&mut channel, first.token, Ok(done), NOW);
    assert_eq!(text_of(&output)["id"], 2);
}

#[test]
fn a_client_that_comes_again_takes_the_place_that_its_call_has() {
    let limits = Limits {
        max_pending_requests: 1,
        ..Limits::default()
    };
    let server = server(Revision::V2026_07_28).with_limits(limits);
    let mut channel = Channel::new();
    let text = call(1, json!({"name": "t"}));
    let first = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
    let (_, asked) = server.ask(&mut channel, Some(first.token), "roots/list", None, NOW);
    let asked = text_of(&asked)["result"].take();
    let other = call(2, json!({"name": "t"}));
    let other = server.receive(&mut channel, None, other.as_bytes(), NOW);
    assert_eq!(other.reply.unwrap().status, 503);
    let name = asked["inputRequests"].as_object().unwrap().keys().next();
    let again = json!({"name": "t", "requestState": asked["requestState"], "inputResponses": {name.unwrap(): {"roots": []}}});
    let received = server.receive(&mut channel, None, call(3, again).as_bytes(), NOW);
    assert_eq!(answered(&received)["roots"], json!([]));
}

/// What the handler of a call to that client is answered when it asks for the roots, and hands on.
fn unasked(server: &Server, channel: &mut Channel, text: &str) -> Value {
    let call = calls(&server.receive(channel, None, text.as_bytes(), NOW)).remove(0);
    let (_, output) = server.ask(channel, Some(call.token), "roots/list", None, NOW);
    let error = match (output.fate, output.events.as_slice()) {
        (Fate::Refused(error), _) => *error,
        (_, [Event::Answered(answered)]) => match &answered.answer {
            Answer::Error(error) => error.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    text_of(&server.answer(channel, call.token, Err(error), NOW))["error"].take()
}

#[test]
fn a_client_that_cannot_be_asked_is_told_so_in_the_code_of_its_revision() {
    fn codes(app: Revision) {
        let required = json!({"requiredCapabilities": {"roots": {}}});
        let server = server(app);
        let per_request = claim("tools/call", json!({"name": "t"}));
        let error = unasked(&server, &mut Channel::new(), &per_request);
        assert_eq!(
            (&error["code"], &error["data"]),
            (&json!(-32021), &required)
        );
        let mut channel = Channel::new();
        let initialize = crate::support::initialize("2025-11-25").replace(r#""roots":{}"#, "");
        crate::support::get(&server, &mut channel, &initialize);
        let older = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
        let error = unasked(&server, &mut channel, older);
        assert_eq!(
            (&error["code"], &error["data"]),
            (&json!(-32602), &required)
        );
    }
    codes(Revision::V2025_11_25);
    codes(Revision::V2026_07_28);
}

#[test]
fn a_page_that_older_handlers_want_visited_is_asked_for_and_the_call_made_anew() {
    let server = server(Revision::V2025_11_25);
    let mut channel = Channel::new();
    let needs = r#"{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://example.com/","message":"log in"}]}}"#;
    let failing = |channel: &mut Channel, text: &str| {
        let call = calls(&server.receive(channel, None, text.as_bytes(), NOW)).remove(0);
        let error = mcp_wire::from_str(needs).unwrap();
        text_of(&server.answer(channel, call.token, Err(error), NOW))
    };
    let can =
        |id, params| call(id, params).replace(r#"{"roots":{}}"#, r#"{"elicitation":{"url":{}}}"#);
    let asked = failing(&mut channel, &can(1, json!({"name": "t"})))["result"].take();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let (name, question) = asked["inputRequests"]
        .as_object()
        .unwrap()
        .iter()
        .next()
        .unwrap();
    assert_eq!(
        (&question["method"], &question["params"]["url"]),
        (&json!("elicitation/create"), &json!("https://example.com/"))
    );
    assert_eq!(
        (channel.pending(), channel.wake_at()),
        (0, None),
        "nothing waits for it"
    );

    let again = |action: &str| json!({"name": "t", "requestState": asked["requestState"], "inputResponses": {name: {"action": action}}});
    let received = server.receive(&mut channel, None, can(2, again("decline")).as_bytes(), NOW);
    assert_eq!(body(&received.reply.unwrap())["error"]["code"], -32602);
    let received = server.receive(&mut channel, None, can(3, again("accept")).as_bytes(), NOW);
    let call = calls(&received).remove(0);
    assert!(
        !call.params.text().contains("inputResponses"),
        "{}",
        call.params
    );
    let done = Json::from_text(r#"{"content":[]}"#).unwrap();
    let output = server.answer(&mut channel, call.token, Ok(done), NOW);
    assert_eq!(text_of(&output)["result"]["resultType"], "complete");
    // Who cannot be asked is told what is wrong, and nothing else.
    let refused = failing(&mut channel, &self::call(4, json!({"name": "t"})));
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let required = &refused["error"]["data"]["requiredCapabilities"];
    assert_eq!(*required, json!({"elicitation": {"url": {}}}));
}

const NEEDS_A_PAGE: &str = r#"{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://example.com/","message":"log in"}]}}"#;

#[test]
fn a_client_that_opens_no_urls_is_told_which_capability_is_missing_and_the_urls_are_told_as_lost() {
    let server = server(Revision::V2025_11_25);
    let mut channel = Channel::new();
    let received = server.receive(
        &mut channel,
        None,
        call(1, json!({"name": "t"})).as_bytes(),
        NOW,
    );
    let call = calls(&received).remove(0);
    let error = mcp_wire::from_str(NEEDS_A_PAGE).unwrap();
    let output = server.answer(&mut channel, call.token, Err(error), NOW);
    let refused = text_of(&output)["error"].take();
    assert_eq!(refused["code"], -32021, "{refused}");
    assert_eq!(
        refused["data"]["requiredCapabilities"],
        json!({"elicitation": {"url": {}}})
    );
    let lost: Vec<(String, String)> = (output.losses.iter())
        .map(|loss| (loss.pointer(), loss.value().unwrap().text().to_owned()))
        .collect();
    let urls = serde_json::from_str::<Value>(NEEDS_A_PAGE).unwrap()["data"].take();
    assert_eq!(lost[0], ("/message".to_owned(), "\"visit\"".to_owned()));
    assert_eq!(lost[1].0, "/data");
    assert_eq!(serde_json::from_str::<Value>(&lost[1].1).unwrap(), urls);
    assert!(
        output
            .losses
            .iter()
            .all(|loss| loss.rule() == "url-elicitation-required")
    );
}

#[test]
fn an_error_that_wants_no_page_visited_after_all_keeps_what_it_says() {
    let server = server(Revision::V2025_11_25);
    let mut channel = Channel::new();
    let received = server.receive(
        &mut channel,
        None,
        call(1, json!({"name": "t"})).as_bytes(),
        NOW,
    );
    let call = calls(&received).remove(0);
    let error =
        mcp_wire::from_str(r#"{"code":-32042,"message":"quota used up","data":7}"#).unwrap();
    let output = server.answer(&mut channel, call.token, Err(error), NOW);
    let told = text_of(&output)["error"].take();
    assert_eq!(
        told,
        json!({"code": -32603, "message": "quota used up", "data": 7})
    );
    assert_eq!(output.losses.len(), 1, "{:?}", output.losses);
}

#[test]
fn a_client_that_does_not_answer_in_time_is_not_waited_for() {
    let server = server(Revision::V2026_07_28);
    let late = server.limits().client_response_timeout;
    let asks = r#"{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}}}"#;
    let asks = Json::from_text(asks).unwrap();
    for is_asked_by_result in [false, true] {
        let mut channel = open(&server, "2025-11-25");
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
        let call = calls(&server.receive(&mut channel, None, text.as_bytes(), NOW)).remove(0);
        let asked = if is_asked_by_result {
            server.answer(&mut channel, call.token, Ok(asks.clone()), NOW)
        } else {
            server
                .ask(&mut channel, Some(call.token), "roots/list", None, NOW)
                .1
        };
        let id = text_of(&asked)["id"].take();
        assert_eq!(channel.wake_at(), Some(late));
        let before = server.tick(&mut channel, late - Duration::from_millis(1));
        assert_eq!((before.send.len(), before.events.len()), (0, 0));
        let after = server.tick(&mut channel, late);
        let sent = after.send.iter().map(|text| text.body.parse().unwrap());
        let sent: Vec<Value> = sent.collect();
        assert_eq!(sent[0]["method"], "notifications/cancelled");
        assert_eq!(sent[0]["params"]["requestId"], id);
        let told = after.events.first().map(|event| match event {
            Event::Answered(answered) => answered.answer.read::<Json>().unwrap_err(),
            other => panic!("{other:?}"),
        });
        let refused = sent.get(1).map(|answer| answer["error"].to_string());
        let why = told.or(refused).unwrap();
        assert!(why.contains("did not answer in time"), "{why}");
        assert_eq!((channel.asked(), channel.wake_at()), (0, None));
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"roots": []}}).to_string();
        let received = server.receive(&mut channel, None, answer.as_bytes(), late);
        let is_late = |event: &Event| matches!(event, Event::Ignored(Ignored::Late(_)));
        assert!(received.events.iter().all(is_late), "{received:?}");
    }
}

#[test]
fn a_client_may_be_waited_for_as_long_as_a_clock_can_say() {
    let limits = Limits {
        client_response_timeout: Duration::MAX,
        ..Limits::default()
    };
    let server = server(Revision::V2026_07_28).with_limits(limits);
    let now = Duration::from_secs(1);
    let asks = r#"{"resultType":"input_required","requestState":"mine","inputRequests":{"q":{"method":"roots/list"}}}"#;
    let asks = Json::from_text(asks).unwrap();
    let texts = [
        call(1, json!({"name": "t"})),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#.to_owned(),
    ];
    for (text, is_asked_by_result) in texts
        .iter()
        .zip([false, true])
        .chain(texts.iter().zip([true, false]))
    {
        let mut channel = open(&server, "2025-11-25");
        let call = calls(&server.receive(&mut channel, None, text.as_bytes(), now)).remove(0);
        let asked = if is_asked_by_result {
            server.answer(&mut channel, call.token, Ok(asks.clone()), now)
        } else {
            server
                .ask(&mut channel, Some(call.token), "roots/list", None, now)
                .1
        };
        assert!(text_of(&asked).to_string().contains("roots/list"));
        // The driver adds it to the time at which it started.
        let wake = channel.wake_at().unwrap_or_default();
        assert!(std::time::Instant::now().checked_add(wake).is_some());
    }
}

#[test]
fn a_call_that_its_client_has_to_make_again_becomes_no_task() {
    let tasks = TaskOptions::new().with_tool("t", TaskSupport::Optional);
    let server = server(Revision::V2026_07_28).told(|server| server.with_tasks(tasks));
    let mut connection: Connection<mcp_revisions::sansio::Server> =
        Connection::new(Arc::clone(&server.0));
    let tasks = r#"{"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    let text = |id: u64, params: Value| call(id, params).replace(r#"{"roots":{}}"#, tasks);
    connection.receive(None, text(1, json!({"name": "t"})).as_bytes(), NOW);
    let Some(Output::Event(Event::Request(call))) = connection.poll() else {
        panic!("no call")
    };
    assert!(starting(&connection, call.token).is_some());
    let ask = OutgoingRequest::new("roots/list", None).about(call.token);
    connection.ask(ask, NOW).unwrap();
    assert!(starting(&connection, call.token).is_none());
    assert!(!answer_with_task(&mut connection, call.token, Json::null()));
    let mut asked = None;
    while let Some(output) = connection.poll() {
        if let Output::Send(text) = output {
            asked = Some(text.body.parse::<Value>().unwrap()["result"].take());
        }
    }
    let mut again = asked.unwrap();
    again["name"] = json!("t");
    let name = again["inputRequests"].as_object().unwrap().keys().next();
    again["inputResponses"] = json!({name.unwrap(): {"roots": []}});
    connection.receive(None, text(2, again).as_bytes(), NOW);
    let outputs = std::iter::from_fn(|| connection.poll());
    let resumed = |output| matches!(output, Output::Event(Event::Resumed { token, .. }) if token == call.token);
    assert_eq!(outputs.map(resumed).filter(|it| *it).count(), 1);
    assert!(answer_with_task(&mut connection, call.token, Json::null()));
}
