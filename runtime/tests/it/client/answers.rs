//! Answers are read by the method of their request, in the revision that it was written in.

use mcp_revisions::sansio::client::{
    Answer, Answered, Channel, Event, Failure, Ignored, OutgoingRequest,
};
use mcp_revisions::{Limits, Revision, core::ConversionError};
use mcp_wire::Json;
use serde_json::{Value, json};

use crate::client::{
    End, NOW, answer_first, call, client, error, hear, initialized, list, open, options, reaction,
    result, say, settle, settled,
};

fn ask(client: &mut End, call: OutgoingRequest) -> Value {
    client.ask(call, NOW).unwrap();
    hear(client).only().1["id"].clone()
}

#[test]
fn a_result_without_result_type_is_complete_whoever_leaves_it_out() {
    let bare = json!({"content": []});
    let mut old = settled("2025-11-25");
    let id = ask(&mut old, call("add"));
    assert_eq!(
        reaction(&mut old, &result(&id, bare.clone()))
            .answer()
            .unwrap(),
        bare
    );

    let mut new = settled("2026-07-28");
    let id = ask(&mut new, call("add"));
    assert_eq!(
        reaction(&mut new, &result(&id, bare.clone()))
            .answer()
            .unwrap(),
        bare
    );

    // An application of the latest revision sees it, wherever it came from.
    let mut latest = open(Revision::V2026_07_28, options(Channel::Stdio));
    settle(&mut latest, "2024-11-05");
    latest.ask(call("add"), NOW).unwrap();
    let id = hear(&mut latest).only().1["id"].clone();
    assert_eq!(
        reaction(&mut latest, &result(&id, json!({"content": []})))
            .answer()
            .unwrap()["resultType"],
        "complete"
    );
}

#[test]
fn a_result_is_read_by_its_method_and_not_by_its_shape() {
    let mut client = settled("2025-06-18");
    let tools = ask(&mut client, list());
    let prompts = ask(&mut client, OutgoingRequest::new("prompts/list", None));
    // Each answered with what would do for the other.
    let failure = reaction(&mut client, &result(&tools, json!({"prompts": []})))
        .answer()
        .unwrap_err();
    assert!(failure.contains("member `tools`"), "{failure}");
    let failure = reaction(&mut client, &result(&prompts, json!({"tools": []})))
        .answer()
        .unwrap_err();
    assert!(failure.contains("member `prompts`"), "{failure}");
}

#[test]
fn unknown_result_types_are_invalid() {
    for (method, kind) in [
        ("tools/call", "partial"),
        ("tools/list", "input_required"),
        ("tools/call", ""),
    ] {
        let mut client = settled("2026-07-28");
        let params = (method == "tools/call").then(|| Json::from(json!({"name": "x"})));
        let id = ask(&mut client, OutgoingRequest::new(method, params));
        let failure = reaction(&mut client,
            &result(
                &id,
                json!({"resultType": kind, "requestState": "s", "tools": [], "content": [], "ttlMs": 0, "cacheScope": "private"}),
            )).answer().unwrap_err();
        assert!(
            failure.contains(&format!("resultType {kind:?}")),
            "{failure}"
        );
    }
}

#[test]
fn losses_of_the_way_out_and_of_the_way_back_come_with_the_answer() {
    let mut client = open(Revision::V2025_11_25, options(Channel::Stdio));
    settle(&mut client, "2025-03-26");
    let params = json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "v"}, "context": {"arguments": {"b": "c"}}});
    client
        .ask(
            OutgoingRequest::new("completion/complete", Some(params.into())),
            NOW,
        )
        .unwrap();
    let (_, sent) = hear(&mut client).only();
    assert_eq!(
        sent["params"].get("context"),
        None,
        "2025-03-26 knows no context"
    );
    let heard = reaction(
        &mut client,
        &result(&sent["id"], json!({"completion": {"values": ["x"]}})),
    );
    let [Event::Answered(Answered { losses, .. })] = heard.events.as_slice() else {
        panic!("{:?}", heard.events)
    };
    assert_eq!(losses.len(), 1, "{losses:?}");
    assert_eq!(losses[0].pointer(), "/context");
}

#[test]
fn what_the_server_cannot_be_told_fails_before_it_is_sent() {
    let mut client = settled("2026-07-28");
    let uri = Json::from(json!({"uri": "file:///a"}));
    client
        .ask(OutgoingRequest::new("resources/subscribe", Some(uri)), NOW)
        .unwrap();
    let heard = hear(&mut client);
    assert!(heard.sent.is_empty());
    let answers = heard.answers();
    assert!(
        matches!(&answers[0].1, Answer::Failed(Failure::NotConverted(ConversionError::RequiresState(needs))) if needs.adapter.as_str() == "subscription"),
        "{answers:?}"
    );

    client
        .ask(
            OutgoingRequest::new("tools/call", Some(Json::from(json!({"name": 5})))),
            NOW,
        )
        .unwrap();
    let failure = hear(&mut client).answer().unwrap_err();
    assert!(failure.contains("/name"), "{failure}");
    client
        .ask(OutgoingRequest::new("tools/fly", None), NOW)
        .unwrap();
    let failure = hear(&mut client).answer().unwrap_err();
    assert!(failure.contains("no method `tools/fly`"), "{failure}");
}

#[test]
fn errors_of_the_server_are_the_applications_own() {
    let mut client = settled("2026-07-28");
    let id = ask(&mut client, call("add"));
    let answers = reaction(
        &mut client,
        &error(
            &id,
            -32021,
            json!({"requiredCapabilities": {"sampling": {}}}),
        ),
    )
    .answers();
    let Answer::Error(error) = &answers[0].1 else {
        panic!("{answers:?}")
    };
    assert_eq!(
        error.code.as_i64(),
        Some(-32602),
        "2025-11-25 has no such code"
    );
    assert!(error.data.as_ref().unwrap().text().contains("sampling"));
}

#[test]
fn what_answers_nothing_is_reported_and_disturbs_nothing() {
    let mut client = settled("2025-11-25");
    let id = ask(&mut client, call("add"));
    let stray = [
        result(&json!(4711), json!({})),
        result(&json!("1"), json!({})),
        result(&json!(-1), json!({})),
        result(&json!(1e30), json!({})),
        error(&json!(4711), -32603, Value::Null),
        json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": "what?"}}),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "what?"}}),
    ];
    for message in stray {
        let heard = reaction(&mut client, &message);
        assert!(
            matches!(
                heard.events.as_slice(),
                [Event::Ignored(
                    Ignored::AnswerToNothing(_) | Ignored::Error(_)
                )]
            ),
            "{message}: {:?}",
            heard.events
        );
    }
    // The same answer twice: once to the request, once to nothing.
    say(&mut client, &result(&id, json!({"content": []})));
    let heard = reaction(&mut client, &result(&id, json!({"content": []})));
    assert!(
        matches!(
            heard.events.as_slice(),
            [
                Event::Answered(_),
                Event::Ignored(Ignored::AnswerToNothing(Some(_)))
            ]
        ),
        "{:?}",
        heard.events
    );
}

#[test]
fn an_id_is_the_same_in_another_spelling() {
    let mut client = settled("2025-11-25");
    let id = ask(&mut client, call("add")).as_i64().unwrap();
    client.receive(
        None,
        format!(r#"{{"jsonrpc":"2.0","id":{id}.0,"result":{{"content":[]}}}}"#).as_bytes(),
        NOW,
    );
    assert!(hear(&mut client).answer().is_ok());
}

#[test]
fn hostile_bytes_are_reported_and_disturb_nothing() {
    let mut client = settled("2025-11-25");
    let id = ask(&mut client, call("add"));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let texts: [&[u8]; 9] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"{\"jsonrpc\":\"2.0\"}",
        b"{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}",
        b"\"text\"",
        deep.as_bytes(),
    ];
    for text in texts {
        client.receive(None, text, NOW);
        let heard = hear(&mut client);
        assert!(
            matches!(
                heard.events.as_slice(),
                [Event::Ignored(Ignored::Unreadable(..) | Ignored::Batch(0))]
            ),
            "{:?}",
            heard.events
        );
    }
    assert!(
        reaction(&mut client, &result(&id, json!({"content": []})))
            .answer()
            .is_ok()
    );
}

#[test]
fn an_answer_that_cannot_be_read_ends_its_call_and_says_why() {
    let limits = Limits {
        max_message_bytes: 1000,
        ..Limits::default()
    };
    let mut client = open(
        Revision::V2025_11_25,
        options(Channel::Stdio).with_limits(limits),
    );
    settle(&mut client, "2025-11-25");
    let long = "x".repeat(2000);
    // As a line is cut that is too long: of what follows the beginning only the end is there.
    let cut = |text: &str| format!("{}{}", &text[..901], &text[text.len() - 100..]);
    let cases = [
        (r#"{"jsonrpc":"2.0","id":ID}"#.to_owned(), "JSON-RPC"),
        (
            r#"{"jsonrpc":"2.0","id":ID,"error":null}"#.to_owned(),
            "JSON-RPC",
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"no"}}"#.to_owned(),
            "one of `method`, `result` and `error`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":NaN}}"#.to_owned(),
            "not JSON",
        ),
        (
            cut(&format!(
                r#"{{"jsonrpc":"2.0","id":ID,"result":{{"content":["{long}"]}}}}"#
            )),
            "1000 bytes",
        ),
        (
            cut(&format!(
                r#"{{"result":{{"content":["{long}"]}},"jsonrpc":"2.0","id":ID}}"#
            )),
            "1000 bytes",
        ),
        (
            cut(&format!(
                r#"{{"result":{{"content":["{long}",[[["{}"]]]]}},"id":ID,"jsonrpc":"2.0"}}"#,
                "\\u00e9".repeat(10)
            )),
            "1000 bytes",
        ),
    ];
    for (text, why) in cases {
        let id = ask(&mut client, call("add")).to_string();
        let other = ask(&mut client, call("add"));
        client.receive(None, text.replace("ID", &id).as_bytes(), NOW);
        let failed = hear(&mut client).answer().unwrap_err();
        assert!(failed.contains(why), "{text}: {failed}");
        assert!(
            reaction(&mut client, &result(&other, json!({"content": []})))
                .answer()
                .is_ok()
        );
    }
    // What only looks like one is none: a line of a log, a request, a notification.
    let id = ask(&mut client, call("add"));
    for text in [
        r#"{"level":"info","id":ID}"#.to_owned(),
        r#"sent: {"jsonrpc":"2.0","id":ID,"method":"tools/call"}"#.to_owned(),
        r#"{"id":ID,"method":"roots/list","result":{}}"#.to_owned(),
        cut(&format!(
            r#"{{"jsonrpc":"2.0","id":ID,"method":"roots/list","params":{{"x":"{long}"}}}}"#
        )),
        cut(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"{long}","id":ID}}}}"#
        )),
    ] {
        client.receive(None, text.replace("ID", &id.to_string()).as_bytes(), NOW);
        let told = hear(&mut client).events;
        assert!(matches!(told.as_slice(), [Event::Ignored(_)]), "{told:?}");
    }
    assert!(
        reaction(&mut client, &result(&id, json!({"content": []})))
            .answer()
            .is_ok()
    );
}

#[test]
fn a_server_whose_handshake_cannot_be_read_is_not_waited_for() {
    let mut client = client(Channel::Stdio);
    client.ask(list(), NOW).unwrap();
    let (_, probe) = hear(&mut client).only();
    for (id, said) in [(&probe["id"], ""), (&json!(2), "not JSON")] {
        let text = result(id, initialized("2025-11-25")).to_string();
        let text = text.replace("\"2025-11-25\"", "NaN");
        client.receive(None, text.as_bytes(), NOW);
        let heard = hear(&mut client);
        match said {
            "" => assert_eq!(heard.methods(), ["initialize"]),
            said => {
                let next = heard.messages().remove(0);
                say(&mut client, &error(&next["id"], -32602, Value::Null));
                let heard = answer_first(&mut client, |first| {
                    error(&first["id"], -32602, Value::Null)
                });
                assert!(heard.answer().unwrap_err().contains(said));
            }
        }
    }
}

#[test]
fn limits_hold_and_disturb_nothing() {
    let limits = Limits {
        max_pending_requests: 3,
        max_message_bytes: 1000,
        max_batch_length: 2,
        ..Limits::default()
    };
    let mut client = open(
        Revision::V2025_11_25,
        options(Channel::Stdio).with_limits(limits),
    );
    settle(&mut client, "2025-03-26");
    for _ in 0..3 {
        client.ask(list(), NOW).unwrap();
    }
    assert_eq!(
        client.ask(list(), NOW),
        Err(Box::new(Failure::TooManyPending))
    );
    let heard = hear(&mut client);
    assert_eq!(heard.sent.len(), 3);

    let id = &heard.messages()[0]["id"];
    let long = result(id, json!({"tools": [], "nextCursor": "x".repeat(1000)}));
    say(&mut client, &long);
    let ping = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    say(&mut client, &json!([ping, ping, ping]));
    let long = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x".repeat(1000)}});
    let told = reaction(&mut client, &long).events;
    assert!(
        matches!(
            told.as_slice(),
            [
                Event::Answered(_),
                Event::Ignored(Ignored::Batch(3)),
                Event::Ignored(Ignored::TooLong(_)),
            ]
        ),
        "{told:?}"
    );

    let id = &heard.messages()[1]["id"];
    assert!(
        reaction(&mut client, &result(id, json!({"tools": []})))
            .answer()
            .is_ok()
    );
    assert!(client.ask(list(), NOW).is_ok(), "there is room again");
}

#[test]
fn a_batch_is_taken_from_a_server_of_2025_03_26_alone() {
    for (version, taken) in [
        ("2025-03-26", true),
        ("2024-11-05", false),
        ("2025-06-18", false),
        ("2026-07-28", false),
    ] {
        let mut client = settled(version);
        let one = ask(&mut client, OutgoingRequest::new("resources/list", None));
        let two = ask(&mut client, list());
        let answers = reaction(
            &mut client,
            &json!([
                result(&two, json!({"tools": []})),
                result(&one, json!({"resources": []}))
            ]),
        )
        .answers();
        assert_eq!(
            answers.len(),
            2,
            "{version}: a call waits for what was in the batch"
        );
        for (_, answer) in answers {
            let read = answer.read::<Json>();
            assert_eq!(read.is_ok(), taken, "{version}");
            assert!(
                read.is_ok() || read.unwrap_err().contains("a batch"),
                "{version}"
            );
        }
    }
}

#[test]
fn a_client_that_has_not_asked_is_not_answered() {
    let mut client = client(Channel::Stdio);
    let heard = reaction(&mut client, &result(&json!(1), json!({})));
    assert!(heard.sent.is_empty());
    assert!(matches!(heard.events.as_slice(), [Event::Ignored(_)]));
}
