//! What the server sends by itself, and what the client tells it beside requests.

use mcp_revisions::Revision;
use mcp_revisions::sansio::client::{
    Channel, Event, Failure, Fate, Ignored, Notification, OutgoingRequest, To, Token,
};
use mcp_wire::{ErrorObject, Json};
use serde_json::{Value, json};

use crate::client::{
    NOW, call, hear, list, open, options, reaction, result, say, settle, settled, settled_over,
};
use crate::support::says;

fn asked(heard: crate::client::Heard) -> (Token, &'static str, Json) {
    assert!(heard.sent.is_empty(), "{:?}", heard.methods());
    match heard.events.into_iter().next() {
        Some(Event::Request(call)) => (call.token, call.method, call.params),
        other => panic!("{other:?}"),
    }
}

fn elicit(id: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": {"message": "who?", "requestedSchema": schema}})
}

#[test]
fn a_request_of_a_handshake_server_is_asked_and_answered_in_both_revisions() {
    // The application speaks the latest revision, where such a question is part of a result.
    let mut client = open(Revision::V2026_07_28, options(Channel::Stdio));
    settle(&mut client, "2025-06-18");
    say(&mut client, &elicit(&json!("q1")));
    let (request, method, params) = asked(hear(&mut client));
    assert_eq!(method, "elicitation/create");
    let params: Value = params.parse().unwrap();
    assert_eq!(params["message"], "who?");
    let _ = client.answer(
        request,
        Ok(Json::from(
            json!({"action": "accept", "content": {"name": "me"}}),
        )),
        NOW,
    );
    let (_, sent) = hear(&mut client).only();
    assert_eq!(
        sent,
        json!({"jsonrpc": "2.0", "id": "q1", "result": {"action": "accept", "content": {"name": "me"}}})
    );
    assert_eq!(
        client
            .answer(request, Err(ErrorObject::new(-1, "late")), NOW)
            .fate,
        Fate::Unknown,
        "one answer"
    );
}

#[test]
fn a_question_that_the_application_cannot_be_asked_is_refused_for_it() {
    let mut client = open(Revision::V2024_11_05, options(Channel::Stdio));
    settle(&mut client, "2025-06-18");
    let heard = reaction(&mut client, &elicit(&json!(7)));
    let (_, sent) = heard.only();
    assert_eq!(
        (&sent["id"], &sent["error"]["code"]),
        (&json!(7), &json!(-32601)),
        "{sent}"
    );
    assert!(
        matches!(
            heard.events.as_slice(),
            [Event::Ignored(Ignored::Invalid(..))]
        ),
        "{:?}",
        heard.events
    );
}

#[test]
fn an_answer_that_is_not_valid_is_an_error_to_the_server() {
    let mut client = settled("2025-06-18");
    say(&mut client, &elicit(&json!(7)));
    let (request, ..) = asked(hear(&mut client));
    let _ = client.answer(request, Ok(Json::from(json!({"action": "shrug"}))), NOW);
    let (_, sent) = hear(&mut client).only();
    assert_eq!(sent["id"], 7);
    says(&sent["error"]["message"], "/action");
}

#[test]
fn a_request_before_the_handshake_is_over_is_answered() {
    let app = Revision::V2025_11_25;
    let options = options(Channel::Stdio).with_own_revision(app);
    let mut client = open(app, options);
    client.connect(NOW).unwrap();
    assert_eq!(hear(&mut client).methods(), ["initialize"]);
    say(
        &mut client,
        &json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}),
    );
    let (request, method, _) = asked(hear(&mut client));
    assert_eq!(method, "roots/list");
    let roots = json!({"roots": [{"uri": "file:///a"}]});
    let sent = client.answer(request, Ok(Json::from(roots.clone())), NOW);
    assert_eq!(sent.fate, Fate::Sent);
    let (_, sent) = hear(&mut client).only();
    assert_eq!(sent, result(&json!("r"), roots));
}

#[test]
fn a_sign_of_life_is_given_without_the_application() {
    let mut client = settled("2025-03-26");
    let (_, sent) = reaction(
        &mut client,
        &json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}),
    )
    .only();
    assert_eq!(sent, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
}

#[test]
fn a_request_that_nobody_can_answer_gets_an_error() {
    for channel in [Channel::Stdio, Channel::Http] {
        let mut client = settled_over(channel, "2026-07-28");
        for (at, method) in ["elicitation/create", "ping", "roots/list", "x/y"]
            .into_iter()
            .enumerate()
        {
            let request = json!({"jsonrpc": "2.0", "id": at, "method": method, "params": {}});
            let heard = reaction(&mut client, &request);
            assert!(
                matches!(
                    heard.events.as_slice(),
                    [Event::Ignored(Ignored::Request(_))]
                ),
                "{method}: {:?}",
                heard.events
            );
            let (_, sent) = heard.only();
            assert_eq!(
                (&sent["id"], &sent["error"]["code"]),
                (&json!(at), &json!(-32601))
            );
        }
    }
    // One that cannot be read is answered by its id, or as JSON-RPC has it.
    for version in ["2026-07-28", "2025-06-18"] {
        for (text, id) in [
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"roots/list"}"#,
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":{},"method":"roots/list"}"#,
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"roots/list","params":NaN}"#,
                json!("a"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":["roots/list"]}"#,
                json!(7),
            ),
        ] {
            let mut client = settled(version);
            client.receive(None, text.as_bytes(), NOW);
            let sent = hear(&mut client).only().1;
            assert_eq!(
                (&sent["id"], &sent["error"]["code"]),
                (&id, &json!(-32600)),
                "{text}"
            );
        }
    }
}

#[test]
fn an_id_that_the_server_uses_twice_is_answered_once_by_the_application() {
    let mut client = settled("2025-11-25");
    say(&mut client, &elicit(&json!(7)));
    let (request, ..) = asked(hear(&mut client));
    let heard = reaction(&mut client, &elicit(&json!(7)));
    assert_eq!(heard.only().1["error"]["code"], -32600);
    let _ = client.answer(request, Ok(Json::from(json!({"action": "cancel"}))), NOW);
    assert_eq!(hear(&mut client).only().1["result"]["action"], "cancel");
}

#[test]
fn a_request_that_the_server_gave_up_is_not_answered() {
    let mut client = settled("2025-11-25");
    say(&mut client, &elicit(&json!("q")));
    let (request, ..) = asked(hear(&mut client));
    let heard = reaction(
        &mut client,
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q"}}),
    );
    assert!(matches!(
        heard.events.as_slice(),
        [Event::Cancelled(cancelled), Event::Notification(notice)]
            if cancelled.token == request && notice.method == "notifications/cancelled"
    ));
    assert_eq!(
        client
            .answer(request, Ok(Json::from(json!({"action": "cancel"}))), NOW)
            .fate,
        Fate::Unknown
    );
}

#[test]
fn progress_names_the_request() {
    for version in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let mut client = settled(version);
        client.ask(list(), NOW).unwrap();
        let token = client.ask(call("slow").with_progress(), NOW).unwrap();
        let sent = hear(&mut client).messages().remove(1);
        let progress = &sent["params"]["_meta"]["progressToken"];
        let mut params = json!({"progress": 1});
        params["progressToken"] = progress.clone();
        let heard = reaction(
            &mut client,
            &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
        );
        assert!(
            matches!(heard.events.as_slice(), [Event::Notification(notice)] if notice.about == Some(token)),
            "{version}: {:?}",
            heard.events
        );
        params["progressToken"] = json!("another");
        let heard = reaction(
            &mut client,
            &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
        );
        assert!(matches!(
            heard.events.as_slice(),
            [Event::Notification(Notification { about: None, .. })]
        ));
    }
}

#[test]
fn a_token_of_the_applications_own_stays() {
    let mut client = settled("2026-07-28");
    let params =
        json!({"name": "slow", "_meta": {"progressToken": "mine", "com.example/trace": 1}});
    let token = client
        .ask(
            OutgoingRequest::new("tools/call", Some(params.into())).with_progress(),
            NOW,
        )
        .unwrap();
    let (_, sent) = hear(&mut client).only();
    assert_eq!(sent["params"]["_meta"]["progressToken"], "mine");
    assert_eq!(sent["params"]["_meta"]["com.example/trace"], 1);
    let heard = reaction(
        &mut client,
        &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "mine", "progress": 1}}),
    );
    assert!(
        matches!(heard.events.as_slice(), [Event::Notification(notice)] if notice.about == Some(token))
    );
}

#[test]
fn the_log_level_goes_where_the_revision_has_it() {
    const LEVEL: &str = "io.modelcontextprotocol/logLevel";
    let mut new = settled("2026-07-28");
    new.ask(list(), NOW).unwrap();
    assert_eq!(
        hear(&mut new).only().1["params"]["_meta"].get(LEVEL),
        None,
        "not asked for"
    );
    new.set_log_level(Some("info"));
    new.ask(list(), NOW).unwrap();
    new.ask(list().with_log_level("debug"), NOW).unwrap();
    let sent = hear(&mut new).messages();
    assert_eq!(sent[0]["params"]["_meta"][LEVEL], "info");
    assert_eq!(sent[1]["params"]["_meta"][LEVEL], "debug");

    let mut old = settled("2025-06-18");
    old.set_log_level(Some("info"));
    old.set_log_level(Some("info"));
    let (_, sent) = hear(&mut old).only();
    assert_eq!(
        (&sent["method"], &sent["params"]),
        (&json!("logging/setLevel"), &json!({"level": "info"}))
    );
    assert!(
        reaction(&mut old, &result(&sent["id"], json!({})))
            .events
            .is_empty(),
        "nobody asked for the answer"
    );

    // An application of the latest revision asks in `_meta`, which an older server does not read.
    let mut app = open(Revision::V2026_07_28, options(Channel::Stdio));
    settle(&mut app, "2025-06-18");
    let params = json!({"name": "x", "_meta": {LEVEL: "error"}});
    app.ask(OutgoingRequest::new("tools/call", Some(params.into())), NOW)
        .unwrap();
    // The server has the level before it handles the call.
    let (_, level) = hear(&mut app).only();
    assert_eq!(level["method"], "logging/setLevel");
    let (call, sent) = reaction(&mut app, &result(&level["id"], json!({}))).only();
    assert_eq!(sent["method"], "tools/call");
    assert!(!call.text.contains("logLevel"));
}

#[test]
fn a_server_that_refuses_the_log_level_is_told_of_with_what_it_refused() {
    let mut client = settled("2025-06-18");
    client.set_log_level(Some("info"));
    let id = hear(&mut client).only().1["id"].clone();
    let refused = json!({ "code": -32601, "message": "no levels" });
    let heard = reaction(
        &mut client,
        &json!({ "jsonrpc": "2.0", "id": id, "error": refused }),
    );
    let [Event::Ignored(ignored)] = heard.events.as_slice() else {
        panic!("{:?}", heard.events)
    };
    assert_eq!(
        ignored.to_string(),
        "the error in answer to `logging/setLevel`: no levels (-32601)"
    );
}

#[test]
fn a_call_does_not_wait_for_ever_for_the_answer_to_its_log_level() {
    let mut client = settled("2025-06-18");
    client
        .ask(call("slow").with_log_level("debug"), NOW)
        .unwrap();
    assert_eq!(hear(&mut client).methods(), ["logging/setLevel"]);
    client.wake(NOW);
    assert!(hear(&mut client).sent.is_empty());
    let until = client.wake_at().unwrap();
    assert!(until > NOW);
    client.wake(until);
    assert_eq!(hear(&mut client).methods(), ["tools/call"]);
}

#[test]
fn a_cancelled_request_is_answered_at_once_and_never_again() {
    for version in ["2025-03-26", "2026-07-28"] {
        let mut client = settled(version);
        let token = client.ask(call("slow"), NOW).unwrap();
        let id = hear(&mut client).only().1["id"].clone();
        client.cancel(token, Some("bored"), NOW);
        let heard = hear(&mut client);
        let (_, sent) = heard.only();
        assert_eq!(sent["method"], "notifications/cancelled");
        assert_eq!(sent["params"], json!({"requestId": id, "reason": "bored"}));
        assert_eq!(heard.answer(), Err(Failure::Cancelled.to_string()));
        client.cancel(token, None, NOW);
        let heard = reaction(
            &mut client,
            &result(&id, json!({"content": [], "resultType": "complete"})),
        );
        assert!(
            matches!(
                heard.events.as_slice(),
                [Event::Ignored(late @ Ignored::Late(_))] if !late.is_mistake()
            ),
            "{:?}",
            heard.events
        );
        assert!(heard.sent.is_empty());
    }
}

#[test]
fn notifications_of_the_application_go_where_the_revision_has_them() {
    let mut old = settled("2025-03-26");
    let changed = "notifications/roots/list_changed";
    assert_eq!(old.notify(To::Session, changed, None, NOW).fate, Fate::Sent);
    assert_eq!(
        hear(&mut old).methods(),
        ["notifications/roots/list_changed"]
    );
    // Params that are given, and empty, are said as they are.
    let empty = Json::from(json!({}));
    let said = old.notify(To::Session, changed, Some(&empty), NOW);
    assert_eq!(said.fate, Fate::Sent);
    assert_eq!(hear(&mut old).only().1["params"], json!({}));
    let mut new = settled("2026-07-28");
    let fate = new.notify(To::Session, changed, None, NOW).fate;
    assert_eq!(fate, Fate::Dropped("roots-changed"));
    assert!(hear(&mut new).sent.is_empty());
}

#[test]
fn notifications_of_the_server_are_the_applications_own() {
    let mut client = settled("2026-07-28");
    say(
        &mut client,
        &json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"notifications": {}}}),
    );
    say(
        &mut client,
        &json!({"jsonrpc": "2.0", "method": "notifications/unheard", "params": {}}),
    );
    let heard = reaction(
        &mut client,
        &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1.0}}),
    );
    let [
        Event::RequiresState(..),
        Event::Ignored(Ignored::Invalid(..)),
        Event::Notification(Notification { params, .. }),
    ] = heard.events.as_slice()
    else {
        panic!("{:?}", heard.events)
    };
    assert_eq!(params.text(), r#"{"data":1.0,"level":"info"}"#);
}
