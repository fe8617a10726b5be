//! What a server's lifecycle has in another form than the application's: questions, subscriptions, log levels.

use std::time::Duration;

use mcp_revisions::sansio::client::{
    Answer, Channel, Event, Failure, Fate, Ignored, Notification, Options, OutgoingRequest,
    Profile, Reopened, Token,
};
use mcp_revisions::{Revision, latest};
use mcp_wire::{ErrorObject, Json};
use serde_json::{Value, json};

use crate::client::{
    End, NOW, call, discovered, error, hear, initialized, open, profile, reaction, result, say,
};

/// A client with adapters, of any application, that knows what its server can do.
fn client(app: Revision, version: &str) -> End {
    let capabilities =
        json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}, "logging": {}});
    let options = Options::new(Channel::Stdio, profile()).with_own_revision(Revision::LATEST);
    let mut client = open(app, options);
    client.connect(NOW).unwrap();
    let (_, probe) = hear(&mut client).only();
    if version == "2026-07-28" {
        let mut discovered = discovered();
        discovered["capabilities"] = capabilities;
        say(&mut client, &result(&probe["id"], discovered));
    } else {
        let (_, initialize) =
            reaction(&mut client, &error(&probe["id"], -32601, Value::Null)).only();
        let mut initialized = initialized(version);
        initialized["capabilities"] = capabilities;
        say(&mut client, &result(&initialize["id"], initialized));
    }
    client
}

fn input(id: &Value, names: &[&str]) -> Value {
    let question = json!({"method": "elicitation/create", "params": {"mode": "form", "message": "who?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}});
    let questions: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), question.clone()))
        .collect();
    result(
        id,
        json!({"resultType": "input_required", "requestState": "s", "inputRequests": questions}),
    )
}

#[test]
fn a_result_that_asks_for_more_than_is_taken_ends_its_call_and_asks_nobody() {
    let mut client = client(Revision::V2025_11_25, "2026-07-28");
    hear(&mut client);
    for (most, is_taken) in [(100, true), (101, false), (10_000, false)] {
        let token = client.ask(call("greet"), NOW).unwrap();
        let (_, sent) = hear(&mut client).only();
        let names: Vec<String> = (0..most).map(|name: u32| name.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let heard = reaction(&mut client, &input(&sent["id"], &names));
        if is_taken {
            assert_eq!(heard.events.len(), 100);
            client.cancel(token, None, NOW);
            hear(&mut client);
        } else {
            let failure = heard.answer().unwrap_err();
            assert!(failure.contains("at most 100 are taken"), "{failure}");
        }
    }
}

fn yes() -> Json {
    Json::from(json!({"action": "accept", "content": {"name": "Ada"}}))
}

fn questions(app: Revision) {
    let mut client = client(app, "2026-07-28");
    hear(&mut client);
    let before = client.pending();
    let token = client.ask(call("greet"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    say(&mut client, &input(&sent["id"], &["one", "two"]));
    let mut asked = Vec::new();
    for event in hear(&mut client).events {
        match event {
            Event::Request(call) => {
                assert_eq!(call.method, "elicitation/create");
                asked.push(call.token);
            }
            other => panic!("{other:?}"),
        }
    }
    let [one, two] = asked.try_into().unwrap();
    assert_eq!(client.answer(one, Ok(yes()), NOW).fate, Fate::Adapted);
    assert!(hear(&mut client).sent.is_empty());
    assert_eq!(client.answer(one, Ok(yes()), NOW).fate, Fate::Unknown);
    let _ = client.answer(two, Ok(yes()), NOW);
    let (_, again) = hear(&mut client).only();
    assert_ne!(again["id"], sent["id"]);
    assert_eq!(again["params"]["requestState"], "s");
    assert_eq!(
        again["params"]["inputResponses"]["two"],
        json!({"action": "accept", "content": {"name": "Ada"}})
    );
    let answers = reaction(
        &mut client,
        &result(
            &again["id"],
            json!({"resultType": "complete", "content": []}),
        ),
    )
    .answers();
    assert!(
        matches!(answers.as_slice(), [(one, Answer::Result(_))] if *one == token),
        "{answers:?}"
    );
    assert_eq!(client.pending(), before);
}

#[test]
fn questions_in_a_result_reach_the_application_as_those_of_an_older_server_do() {
    questions(Revision::V2025_11_25);
    questions(Revision::V2026_07_28);
}

#[test]
fn a_round_ends_with_a_refusal_a_cancellation_or_its_time_and_always_with_one_answer() {
    let asked = |client: &mut End| {
        let token = client.ask(call("greet"), NOW).unwrap();
        let (_, sent) = hear(client).only();
        say(client, &input(&sent["id"], &["one"]));
        let mut events = hear(client).events;
        let Some(Event::Request(call)) = events.pop() else {
            panic!()
        };
        (token, call.token)
    };
    let mut client = client(Revision::V2025_11_25, "2026-07-28");
    hear(&mut client);
    let (_, request) = asked(&mut client);
    let _ = client.answer(request, Err(ErrorObject::new(-1, "no")), NOW);
    assert!(matches!(hear(&mut client).answers()[0].1, Answer::Error(_)));

    let (token, request) = asked(&mut client);
    client.cancel(token, None, NOW);
    assert!(matches!(
        hear(&mut client).answers()[0].1,
        Answer::Failed(Failure::Cancelled)
    ));
    assert_eq!(client.answer(request, Ok(yes()), NOW).fate, Fate::Unknown);

    asked(&mut client);
    let end = client.wake_at().unwrap();
    client.wake(end - Duration::from_millis(1));
    assert!(hear(&mut client).events.is_empty());
    client.wake(end);
    assert!(matches!(
        hear(&mut client).answers()[0].1,
        Answer::Failed(Failure::Unanswered)
    ));

    asked(&mut client);
    client.closed(NOW);
    assert!(matches!(
        hear(&mut client).answers()[0].1,
        Answer::Failed(Failure::Closed)
    ));
    assert_eq!((client.pending(), client.wake_at()), (0, None));
}

#[test]
fn an_answer_that_is_not_valid_ends_the_call_with_the_reason() {
    let mut client = client(Revision::V2025_11_25, "2026-07-28");
    hear(&mut client);
    client.ask(call("greet"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    let mut events = reaction(&mut client, &input(&sent["id"], &["one"])).events;
    let Some(Event::Request(question)) = events.pop() else {
        panic!("{events:?}")
    };
    let shrug = Json::from(json!({"action": "shrug"}));
    let _ = client.answer(question.token, Ok(shrug), NOW);
    let heard = hear(&mut client);
    assert!(heard.sent.is_empty());
    let why = heard.answer().unwrap_err();
    assert!(why.contains("/action"), "{why}");
}

#[test]
fn a_server_that_asks_for_ever_is_not_answered_for_ever() {
    let mut client = client(Revision::V2025_11_25, "2026-07-28");
    hear(&mut client);
    client.ask(call("greet"), NOW).unwrap();
    for _ in 0..100 {
        let heard = hear(&mut client);
        let Some(sent) = heard.messages().pop() else {
            let answers = heard.answers();
            assert!(
                matches!(answers[0].1, Answer::Failed(Failure::InvalidResult(_))),
                "{answers:?}"
            );
            return;
        };
        // It asks for nothing, but to be called again.
        say(
            &mut client,
            &result(
                &sent["id"],
                json!({"resultType": "input_required", "requestState": "s"}),
            ),
        );
    }
    panic!("a hundred rounds");
}

fn subscribe(uri: &str) -> OutgoingRequest {
    let params = Json::from(json!({"uri": uri}));
    OutgoingRequest::new("resources/subscribe", Some(params))
}

/// The acknowledgement of all that a request listens to.
fn acknowledged(listens: &Value) -> Value {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": listens["id"]});
    let params = json!({"notifications": listens["params"]["notifications"], "_meta": meta});
    let method = "notifications/subscriptions/acknowledged";
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

#[test]
fn a_subscription_leaves_no_gap_between_two_requests_that_listen() {
    let mut client = client(Revision::V2025_11_25, "2026-07-28");
    let (_, first) = hear(&mut client).only();
    say(&mut client, &acknowledged(&first));
    // A request that the server refuses leaves the one before.
    client.ask(subscribe("file:///a"), NOW).unwrap();
    let (_, second) = hear(&mut client).only();
    let heard = reaction(&mut client, &error(&second["id"], -32602, Value::Null));
    assert!(heard.sent.is_empty());
    assert!(matches!(heard.answers()[0].1, Answer::Error(_)));
    assert_eq!(client.wake_at(), None);
    // One that it acknowledges takes its place.
    client.ask(subscribe("file:///a"), NOW).unwrap();
    let (_, third) = hear(&mut client).only();
    let heard = reaction(&mut client, &acknowledged(&third));
    let (_, cancelled) = heard.only();
    assert_eq!(
        (&cancelled["method"], &cancelled["params"]["requestId"]),
        (&json!("notifications/cancelled"), &first["id"])
    );
    assert!(matches!(heard.answers()[0].1, Answer::Result(_)));
    // One that the server itself takes down before that may have missed something.
    client.ask(subscribe("file:///b"), NOW).unwrap();
    let (_, fourth) = hear(&mut client).only();
    let complete = json!({"resultType": "complete"});
    say(&mut client, &result(&third["id"], complete));
    let heard = reaction(&mut client, &acknowledged(&fourth));
    assert!(heard.sent.is_empty());
    let is_told = |event: &Event| matches!(event, Event::Reopened(Reopened::Changes));
    assert!(heard.events.iter().any(is_told), "{:?}", heard.events);
}

#[test]
fn a_subscription_is_confirmed_only_once_the_server_has_decided() {
    for is_cancelled in [false, true] {
        let mut client = client(Revision::V2025_11_25, "2026-07-28");
        hear(&mut client);
        let token = client.ask(subscribe("file:///a"), NOW).unwrap();
        if is_cancelled {
            client.cancel(token, None, NOW);
        }
        let mut listens = hear(&mut client).messages().remove(0);
        client.ask(subscribe("file:///a"), NOW).unwrap();
        let heard = hear(&mut client);
        if let Some(again) = heard.messages().into_iter().next() {
            listens = again;
        }
        assert!(heard.answers().is_empty());
        listens["params"]["notifications"] = json!({"toolsListChanged": true});
        let answers = reaction(&mut client, &acknowledged(&listens)).answers();
        assert_eq!(answers.len(), if is_cancelled { 1 } else { 2 });
        for (_, answer) in answers {
            assert!(matches!(answer, Answer::Error(_)), "{answer:?}");
        }
    }
}

#[test]
fn an_older_application_subscribes_by_one_request_that_listens() {
    let mut client = client(Revision::V2025_11_25, "2026-07-28");
    // The lists that it expects to hear of unasked.
    let (_, first) = hear(&mut client).only();
    assert_eq!(
        (&first["method"], &first["params"]["notifications"]),
        (
            &json!("subscriptions/listen"),
            &json!({"toolsListChanged": true})
        )
    );
    client.ask(subscribe("file:///a"), NOW).unwrap();
    let heard = hear(&mut client);
    // The first one is not acknowledged.
    let [second, cancelled] = heard.messages().try_into().unwrap();
    assert_eq!(
        second["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]})
    );
    assert_eq!(
        (&cancelled["method"], &cancelled["params"]["requestId"]),
        (&json!("notifications/cancelled"), &first["id"])
    );
    assert!(heard.answers().is_empty());
    let of = |id: &Value| json!({"io.modelcontextprotocol/subscriptionId": id});
    let answers = reaction(&mut client, &acknowledged(&second)).answers();
    assert!(
        matches!(answers.as_slice(), [(_, Answer::Result(_))]),
        "{answers:?}"
    );
    let events = reaction(
        &mut client,
        &json!({"jsonrpc": "2.0", "method": "notifications/resources/updated",
        "params": {"uri": "file:///a", "_meta": of(&second["id"])}}),
    )
    .events;
    let [Event::Notification(Notification { method, params, .. })] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(*method, "notifications/resources/updated");
    assert!(!params.text().contains("subscriptionId"), "{params}");
    // The server ends the stream: it is asked for again, later.
    assert!(
        reaction(
            &mut client,
            &result(&second["id"], json!({"resultType": "complete"}))
        )
        .sent
        .is_empty()
    );
    client.wake(client.wake_at().unwrap());
    let (_, third) = hear(&mut client).only();
    assert_eq!(
        third["params"]["notifications"],
        second["params"]["notifications"]
    );
    // What it has missed is not told again: all may have changed.
    let heard = reaction(&mut client, &acknowledged(&third)).events;
    let told = heard.iter().filter_map(|event| match event {
        Event::Notification(notice) => Some((notice.method, notice.params.to_string())),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert_eq!(
        told,
        [
            ("notifications/tools/list_changed", "{}".to_owned()),
            (
                "notifications/resources/updated",
                r#"{"uri":"file:///a"}"#.to_owned()
            ),
        ]
    );
}

#[test]
fn a_subscription_that_a_server_declines_or_does_not_acknowledge_is_refused() {
    for is_declined in [true, false] {
        let mut client = client(Revision::V2025_11_25, "2026-07-28");
        hear(&mut client);
        client.ask(subscribe("file:///a"), NOW).unwrap();
        let mut listens = hear(&mut client).messages().remove(0);
        if is_declined {
            listens["params"]["notifications"] = json!({"toolsListChanged": true});
            say(&mut client, &acknowledged(&listens));
        } else {
            client.wake(client.wake_at().unwrap());
            client.wake(client.wake_at().unwrap());
        }
        let answers = hear(&mut client).answers();
        assert!(
            matches!(answers.as_slice(), [(_, Answer::Error(_))]),
            "{is_declined}: {answers:?}"
        );
    }
}

#[test]
fn a_per_request_application_listens_to_an_older_server() {
    let mut client = client(Revision::V2026_07_28, "2025-06-18");
    hear(&mut client);
    let filter = json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["file:///a"]});
    let listen = OutgoingRequest::new(
        "subscriptions/listen",
        Some(Json::from(json!({"notifications": filter}))),
    );
    let token = client.ask(listen, NOW).unwrap();
    let heard = hear(&mut client);
    let (_, subscribe) = heard.only();
    assert_eq!(
        (&subscribe["method"], &subscribe["params"]),
        (&json!("resources/subscribe"), &json!({"uri": "file:///a"}))
    );
    let [
        Event::Notification(Notification {
            params: agreed,
            about,
            ..
        }),
    ] = heard.events.as_slice()
    else {
        panic!()
    };
    assert_eq!(*about, Some(token));
    assert_eq!(
        agreed.parse::<Value>().unwrap()["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]})
    );
    say(&mut client, &result(&subscribe["id"], json!({})));
    say(
        &mut client,
        &json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "file:///a"}}),
    );
    let events = reaction(
        &mut client,
        &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
    )
    .events;
    let told = events.iter().filter(
        |event| matches!(event, Event::Notification(notice) if notice.about == Some(token)),
    );
    assert_eq!((told.count(), events.len()), (2, 2), "{events:?}");
    client.cancel(token, None, NOW);
    let heard = hear(&mut client);
    assert_eq!(heard.methods(), ["resources/unsubscribe"]);
    assert!(matches!(
        heard.answers()[0].1,
        Answer::Failed(Failure::Cancelled)
    ));
    assert_eq!(
        client.pending(),
        1,
        "the server has not answered `resources/unsubscribe`"
    );
}

fn listen(uri: &str) -> OutgoingRequest {
    let params = json!({"notifications": {"resourceSubscriptions": [uri]}});
    OutgoingRequest::new("subscriptions/listen", Some(Json::from(params)))
}

#[test]
fn streams_that_come_and_go_send_one_request_about_a_resource_at_a_time() {
    let mut client = client(Revision::V2026_07_28, "2025-06-18");
    hear(&mut client);
    let mut stream = client.ask(listen("file:///a"), NOW).unwrap();
    let mut heard = hear(&mut client);
    for (stays_open, next) in [
        (false, Some("resources/unsubscribe")),
        (true, Some("resources/subscribe")),
        (true, None),
    ] {
        let (_, sent) = heard.only();
        client.cancel(stream, None, NOW);
        stream = client.ask(listen("file:///a"), NOW).unwrap();
        if !stays_open {
            client.cancel(stream, None, NOW);
        }
        assert!(hear(&mut client).sent.is_empty(), "{sent} has no answer");
        say(&mut client, &result(&sent["id"], json!({})));
        heard = hear(&mut client);
        assert_eq!(heard.methods(), Vec::from_iter(next));
    }
}

#[test]
fn a_subscription_of_a_stream_that_the_server_refuses_is_told_and_made_again_by_the_next_stream() {
    let mut client = client(Revision::V2026_07_28, "2025-06-18");
    hear(&mut client);
    for _ in 0..2 {
        client.ask(listen("file:///a"), NOW).unwrap();
        let (_, sent) = hear(&mut client).only();
        assert_eq!(sent["method"], "resources/subscribe");
        let heard = reaction(&mut client, &error(&sent["id"], -32602, Value::Null));
        assert!(heard.sent.is_empty());
        let [Event::Ignored(Ignored::Refused(method, _))] = heard.events.as_slice() else {
            panic!("{:?}", heard.events)
        };
        assert_eq!(*method, "resources/subscribe");
    }
}

#[test]
fn a_level_that_is_set_once_goes_with_every_request_to_a_per_request_server() {
    let mut client = client(Revision::V2025_11_25, "2026-07-28");
    hear(&mut client);
    let set = OutgoingRequest::new(
        "logging/setLevel",
        Some(Json::from(json!({"level": "warning"}))),
    );
    client.ask(set, NOW).unwrap();
    let heard = hear(&mut client);
    assert!(heard.sent.is_empty());
    assert!(matches!(heard.answers()[0].1, Answer::Result(_)));
    client.ask(call("greet"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    assert_eq!(
        sent["params"]["_meta"]["io.modelcontextprotocol/logLevel"],
        "warning"
    );
    let bad = OutgoingRequest::new(
        "logging/setLevel",
        Some(Json::from(json!({"level": "loud"}))),
    );
    client.ask(bad, NOW).unwrap();
    assert!(matches!(hear(&mut client).answers()[0].1, Answer::Error(_)));
}

#[test]
fn a_stream_that_the_server_takes_down_ends_once() {
    let listen = || {
        let params = json!({"notifications": {"toolsListChanged": true}});
        OutgoingRequest::new("subscriptions/listen", Some(Json::from(params)))
    };
    let cancelled = |id: &Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let mut client = client(Revision::V2026_07_28, "2026-07-28");
    hear(&mut client);
    for result_follows in [true, false] {
        let token = client.ask(listen(), NOW).unwrap();
        let (_, sent) = hear(&mut client).only();
        let answers = reaction(&mut client, &cancelled(&sent["id"])).answers();
        assert_eq!((answers.len(), answers[0].0), (1, token));
        let result_of_it = answers[0].1.read::<Json>().unwrap();
        assert!(result_of_it.text().contains(&format!(
            r#""io.modelcontextprotocol/subscriptionId":{}"#,
            sent["id"]
        )));
        if result_follows {
            let complete = json!({"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": sent["id"]}});
            assert!(
                reaction(&mut client, &result(&sent["id"], complete))
                    .answers()
                    .is_empty()
            );
        }
    }
    // No other request can be ended so.
    client.ask(call("greet"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    assert!(
        reaction(&mut client, &cancelled(&sent["id"]))
            .answers()
            .is_empty()
    );
    assert_eq!(client.pending(), 1);
}

#[test]
fn an_older_application_listens_again_when_the_server_takes_its_stream_down() {
    let mut client = client(Revision::V2025_11_25, "2026-07-28");
    let listens = hear(&mut client);
    let (_, sent) = listens.only();
    assert_eq!(sent["method"], "subscriptions/listen");
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": sent["id"]}});
    assert!(reaction(&mut client, &cancelled).sent.is_empty());
    client.wake(NOW + Duration::from_secs(60));
    assert_eq!(hear(&mut client).methods(), ["subscriptions/listen"]);
}

#[test]
fn an_application_that_takes_the_questions_of_a_result_is_asked_none_of_them() {
    let mut client = client(Revision::LATEST, "2026-07-28");
    hear(&mut client);
    let ask = call("greet").with_questions_in_result();
    client.ask(ask, NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    let answer = reaction(&mut client, &input(&sent["id"], &["name"]))
        .answer()
        .unwrap();
    assert_eq!(answer["requestState"], "s", "{answer}");
    assert!(answer["inputRequests"]["name"].is_object(), "{answer}");
}

const NEEDS_A_PAGE: i64 = -32042;

/// A client with adapters of an application of the latest revision, whose server speaks 2025-11-25 and has been called.
fn calls_old_server(capabilities: &str) -> (End, Value) {
    let info = latest::Implementation::new("tester", mcp_revisions::args::Version("1.0"));
    let profile = Profile::new(&info, &Json::from_text(capabilities).unwrap());
    let mut client = open(Revision::LATEST, Options::new(Channel::Stdio, profile));
    client.connect(NOW).unwrap();
    let (_, probe) = hear(&mut client).only();
    let (_, initialize) = reaction(&mut client, &error(&probe["id"], -32601, Value::Null)).only();
    reaction(
        &mut client,
        &result(&initialize["id"], initialized("2025-11-25")),
    );
    client.ask(call("greet"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    (client, sent["id"].clone())
}

fn page() -> Value {
    json!({"elicitations": [{"mode": "url", "elicitationId": "e", "url": "https://example.com/", "message": "log in"}]})
}

/// The call by which the application is asked to open the page.
fn asked_to_open(client: &mut End) -> Token {
    let mut events = hear(client).events;
    match events.pop() {
        Some(Event::Request(call)) if events.is_empty() => {
            assert_eq!(call.method, "elicitation/create");
            let params: Value = call.params.parse().unwrap();
            assert_eq!(
                (&params["mode"], &params["url"], &params["message"]),
                (
                    &json!("url"),
                    &json!("https://example.com/"),
                    &json!("log in")
                )
            );
            call.token
        }
        other => panic!("{other:?}, after {events:?}"),
    }
}

#[test]
fn a_page_that_an_older_server_wants_visited_is_asked_for_and_the_call_made_again() {
    let (mut client, id) = calls_old_server(r#"{"elicitation":{"form":{},"url":{}}}"#);
    say(&mut client, &error(&id, NEEDS_A_PAGE, page()));
    let question = asked_to_open(&mut client);
    let accept = Json::from(json!({"action": "accept"}));
    let said = client.answer(question, Ok(accept), NOW);
    assert_eq!(said.fate, Fate::Adapted);
    let (_, again) = hear(&mut client).only();
    assert_eq!(
        (&again["method"], &again["params"]["name"]),
        (&json!("tools/call"), &json!("greet"))
    );
    assert_ne!(again["id"], id);
    for member in ["inputResponses", "requestState"] {
        assert_eq!(again["params"].get(member), None, "{again}");
    }
    assert!(
        reaction(&mut client, &result(&again["id"], json!({"content": []})))
            .answer()
            .is_ok()
    );
    assert_eq!((client.pending(), client.wake_at()), (0, None));
}

#[test]
fn an_error_of_an_older_server_that_asks_for_pages_is_handed_on_where_none_is_opened() {
    let told = |client: &mut End, data: Value| {
        let mut answers = hear(client).answers();
        assert_eq!(answers.len(), 1, "{answers:?}");
        match answers.remove(0).1 {
            Answer::Error(told) => {
                assert_eq!(told.code.as_i64(), Some(NEEDS_A_PAGE));
                let told: Value = told.data.unwrap().parse().unwrap();
                assert_eq!(told, data);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!((client.pending(), client.wake_at()), (0, None));
    };
    let opens = r#"{"elicitation":{"form":{},"url":{}}}"#;
    let declined = || Ok(Json::from(json!({"action": "decline"})));
    for answer in [declined(), Err(ErrorObject::new(-32603, "no screen"))] {
        let (mut client, id) = calls_old_server(opens);
        say(&mut client, &error(&id, NEEDS_A_PAGE, page()));
        let question = asked_to_open(&mut client);
        let _ = client.answer(question, answer, NOW);
        told(&mut client, page());
    }
    // A client that opens none, and an error that names none.
    for (capabilities, data) in [
        (r#"{"elicitation":{"form":{}}}"#, page()),
        (opens, json!({"elicitations": []})),
        (opens, json!(7)),
    ] {
        let (mut client, id) = calls_old_server(capabilities);
        say(&mut client, &error(&id, NEEDS_A_PAGE, data.clone()));
        told(&mut client, data);
    }
}
