//! Responses and notifications with mistakes: taken where they can mean one thing only, else reported, and no call waits for
//! what will not come.

use std::sync::{Arc, Mutex};

use fastrand::Rng;
use mcp_revisions::Revision;
use mcp_revisions::sansio::client::{Answer, Channel, Client, Event, Exchange};
use mcp_wire::ErrorObject;
use serde_json::{Value, json};

use crate::client::{
    End, Heard, NOW, answer_first, call, client, discovered, error, hear, initialized, list, open,
    options, reaction, result, say, settle, settled,
};

/// The texts of what a client reported.
fn told(heard: &Heard) -> Vec<String> {
    let event = |event: &Event| match event {
        Event::Mended(mended) => Some(mended.to_string()),
        Event::Ignored(ignored) if ignored.is_mistake() => Some(ignored.to_string()),
        _ => None,
    };
    heard.events.iter().filter_map(event).collect()
}

/// Why the revision of the server is not known.
fn failure(heard: &Heard) -> Option<String> {
    heard.events.iter().find_map(|event| match event {
        Event::NotSettled(failure) => Some(failure.to_string()),
        _ => None,
    })
}

fn begin(client: &mut End) -> Value {
    client.ask(call("add"), NOW).unwrap();
    hear(client).only().1["id"].clone()
}

#[test]
fn a_response_whose_id_is_the_string_of_a_number_reaches_its_call_and_is_told() {
    let mut client = settled("2025-11-25");
    let (one, two) = (begin(&mut client), begin(&mut client));
    for id in [two, one] {
        let id = id.to_string();
        let heard = reaction(
            &mut client,
            &result(
                &json!(id),
                json!({"content": [{"type": "text", "text": id}]}),
            ),
        );
        let told = told(&heard);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].contains("tools/call") && told[0].contains("/id: expected"),
            "{told:?}"
        );
        assert_eq!(heard.answer().unwrap()["content"][0]["text"], id);
    }
}

#[test]
fn a_response_of_no_request_is_taken_only_where_one_request_can_be_meant() {
    let full = json!({"content": [{"type": "text", "text": "done"}]});
    let taken = |client: &mut End, id: Value, content: &Value| {
        say(client, &result(&id, content.clone()));
        let heard = hear(client);
        assert_eq!(told(&heard).len(), 1, "{:?}", heard.events);
        !heard.answers().is_empty()
    };
    for id in [json!(0), json!("call"), json!(null), json!(1.5), json!(-3)] {
        let mut alone = settled("2025-11-25");
        begin(&mut alone);
        assert!(
            !taken(&mut alone, id.clone(), &json!({})),
            "it may answer a notification"
        );
        assert!(taken(&mut alone, id.clone(), &full), "{id}");

        let mut two = settled("2025-11-25");
        begin(&mut two);
        begin(&mut two);
        assert!(
            !taken(&mut two, id.clone(), &full),
            "either may be meant: {id}"
        );

        let mut after = settled("2025-11-25");
        let token = after.ask(call("add"), NOW).unwrap();
        after.cancel(token, None, NOW);
        hear(&mut after);
        begin(&mut after);
        assert!(
            !taken(&mut after, id, &full),
            "it may answer what was cancelled"
        );
    }
    // One that was given out and answered before is no other spelling of the one that waits.
    let mut again = settled("2025-11-25");
    begin(&mut again);
    assert!(!taken(&mut again, json!(1), &full));
}

#[test]
fn a_response_of_no_request_in_the_stream_of_a_call_is_its_answer_only_if_no_other_comes() {
    let content = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    for id in [json!(0), json!("call"), json!(1.5), json!(true)] {
        for without_version in [false, true] {
            let mut foreign = result(&id, content("foreign"));
            if without_version {
                foreign.as_object_mut().unwrap().remove("jsonrpc");
            }
            let foreign = foreign.to_string();
            let begin = || {
                let mut client = at_work(Channel::Http, "2025-11-25");
                client.ask(call("add"), NOW).unwrap();
                let (post, message) = hear(&mut client).only();
                client.answered(post.exchange, 200, None, None, NOW);
                client.receive(Some(post.exchange), foreign.as_bytes(), NOW);
                let heard = hear(&mut client);
                assert!(
                    heard.answers().is_empty(),
                    "{foreign}: the right one may come"
                );
                (client, post.exchange, message["id"].clone())
            };
            let (mut client, exchange, right) = begin();
            let right = result(&right, content("right")).to_string();
            client.receive(Some(exchange), right.as_bytes(), NOW);
            client.ended(exchange, NOW);
            let answer = hear(&mut client).answer().unwrap();
            assert_eq!(answer["content"][0]["text"], "right", "{foreign}");

            let (mut client, exchange, _) = begin();
            client.receive(
                Some(exchange),
                foreign.replace("foreign", "second").as_bytes(),
                NOW,
            );
            client.ended(exchange, NOW);
            let heard = hear(&mut client);
            assert!(!told(&heard).is_empty(), "{foreign}");
            let answer = heard.answer().unwrap();
            assert_eq!(answer["content"][0]["text"], "foreign", "{foreign}");
        }
    }
}

#[test]
fn the_response_with_the_right_id_counts_wherever_it_stands_in_a_batch() {
    let content = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    for is_first in [true, false] {
        let mut client = at_work(Channel::Http, "2025-03-26");
        client.ask(call("add"), NOW).unwrap();
        let (post, message) = hear(&mut client).only();
        let mut batch = vec![
            result(&message["id"], content("right")),
            result(&json!("other"), content("foreign")),
        ];
        if !is_first {
            batch.reverse();
        }
        let body = json!(batch).to_string();
        client.answered(post.exchange, 200, None, Some(body.as_bytes()), NOW);
        let answer = hear(&mut client).answer().unwrap();
        assert_eq!(answer["content"][0]["text"], "right", "{body}");
    }
}

#[test]
fn a_broken_envelope_around_the_answer_to_initialize_is_taken_and_told() {
    for broken in 0..7 {
        let mut client = client(Channel::Stdio);
        client.connect(NOW).unwrap();
        let (_, probe) = hear(&mut client).only();
        let (_, initialize) =
            reaction(&mut client, &error(&probe["id"], -32601, Value::Null)).only();
        let mut good = result(&initialize["id"], initialized("2025-06-18"));
        match broken {
            0 => good["id"] = json!(good["id"].to_string()),
            1 => good["id"] = json!(0),
            2 => drop(good.as_object_mut().unwrap().remove("jsonrpc")),
            3 => good["jsonrpc"] = json!(2.0),
            4 => good = json!([good]),
            5 => good["id"] = Value::Null,
            _ => drop(good.as_object_mut().unwrap().remove("id")),
        }
        let heard = reaction(&mut client, &good);
        let told = told(&heard);
        assert_eq!(told.len(), 1, "{good}: {told:?}");
        assert!(told[0].contains("initialize"), "{told:?}");
        assert_eq!(heard.methods(), ["notifications/initialized"], "{good}");
        assert_eq!(client.verdict().unwrap().to_string(), "2025-06-18");
    }
}

#[test]
fn an_answer_to_initialize_that_names_no_version_is_refused_for_that() {
    let mut client = client(Channel::Stdio);
    client.connect(NOW).unwrap();
    let (_, probe) = hear(&mut client).only();
    let (_, initialize) = reaction(&mut client, &error(&probe["id"], -32601, Value::Null)).only();
    say(
        &mut client,
        &result(&initialize["id"], json!({"protocolVersion": 20250618})),
    );
    let heard = answer_first(&mut client, |first| {
        error(&first["id"], -32602, Value::Null)
    });
    let failure = failure(&heard).unwrap();
    assert!(
        failure.contains("/result/protocolVersion") && failure.contains("20250618"),
        "{failure}"
    );
}

#[test]
fn an_entry_that_is_nested_too_deep_costs_that_entry() {
    let deep = |levels: usize| format!("{}1{}", r#"{"a":["#.repeat(levels), "]}".repeat(levels));
    for at in 0..3 {
        for version in ["2025-11-25", "2025-06-18", "2026-07-28"] {
            let mut client = settled(version);
            client.ask(list(), NOW).unwrap();
            let (_, sent) = hear(&mut client).only();
            let tool = |name: &str, schema: &str| {
                format!(r#"{{"name":"{name}","inputSchema":{{"type":"object","x":{schema}}}}}"#)
            };
            let mut tools = vec![tool("a", r#""]}\\""#), tool("b", "[[1,2],{}]")];
            tools.insert(at, tool("deep", &deep(80)));
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{}]}}}}"#,
                sent["id"],
                tools.join(" , ")
            );
            client.receive(None, text.as_bytes(), NOW);
            let heard = hear(&mut client);
            let why = told(&heard).join(" ");
            let expected = format!("at entry {at} of a list of the result (`deep`)");
            assert!(why.contains(&expected), "{why}");
            let result = heard.answer().unwrap();
            let names: Vec<_> = result["tools"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| &it["name"])
                .collect();
            assert_eq!(names, ["a", "b"], "{version}");
        }
    }
}

#[test]
fn an_error_that_is_no_error_object_keeps_the_words_of_its_server() {
    let rows = r#"
"disk is full" | -32603 | disk is full
{"code": "E_DISK", "message": "disk is full"} | -32603 | disk is full (code "E_DISK")
{"code": "-32000", "message": "disk is full"} | -32000 | disk is full
{"code": 1.5, "message": "disk is full"} | -32603 | disk is full (code 1.5)
{"code": -32007, "message": null, "data": "disk is full"} | -32007 | disk is full
{"code": -32007, "data": {"reason": "x"}} | -32007 | an error without a message
{"message": "disk is full"} | -32603 | disk is full
{"code": -1, "message": {"text": "full"}} | -1 | {"text":"full"}
["full"] | -32603 | ["full"]
7 | -32603 | 7
"#;
    for row in rows.trim().lines() {
        let [given, code, message] = row.split(" | ").collect::<Vec<_>>().try_into().unwrap();
        let given: Value = serde_json::from_str(given).unwrap();
        let code: i64 = code.parse().unwrap();
        let mut client = settled("2025-11-25");
        let id = begin(&mut client);
        let heard = reaction(
            &mut client,
            &json!({"jsonrpc": "2.0", "id": id, "error": given}),
        );
        let told = told(&heard);
        assert_eq!(told.len(), 1, "{given}");
        assert!(told[0].contains("/error"), "{told:?}");
        let answers = heard.answers();
        let Answer::Error(ErrorObject {
            code: found,
            message: words,
            data,
            ..
        }) = &answers[0].1
        else {
            panic!("{given}: {answers:?}")
        };
        assert_eq!(
            (found.as_i64(), words.as_str()),
            (Some(code), message),
            "{given}"
        );
        assert_eq!(data.is_some(), given.get("data").is_some(), "{given}");
    }
}

#[test]
fn a_notification_that_is_not_valid_is_told_with_its_method_and_place() {
    // The revisions differ, so that each is read.
    let mut client = open(Revision::V2025_11_25, options(Channel::Stdio));
    settle(&mut client, "2024-11-05");
    for (method, params, place) in [
        (
            "notifications/message",
            json!({"level": "warn", "data": 1}),
            "/level",
        ),
        ("notifications/message", json!({"level": "info"}), "data"),
        (
            "notifications/progress",
            json!({"progressToken": 1, "progress": "2"}),
            "/progress",
        ),
        ("notifications/resources/updated", json!({"uri": 7}), "/uri"),
    ] {
        let heard = reaction(
            &mut client,
            &json!({"jsonrpc": "2.0", "method": method, "params": params}),
        );
        let is_passed_on = |event: &Event| matches!(event, Event::Notification(_));
        let told = told(&heard);
        assert!(
            heard.events.iter().any(is_passed_on)
                || told
                    .iter()
                    .any(|it| it.contains(method) && it.contains(place)),
            "{params}: {:?}",
            heard.events
        );
    }
}

#[test]
fn progress_for_the_string_of_a_token_reaches_its_call_and_is_told() {
    let mut client = settled("2025-11-25");
    let token = client.ask(call("slow").with_progress(), NOW).unwrap();
    let sent = hear(&mut client).only().1;
    let named = sent["params"]["_meta"]["progressToken"].to_string();
    let params = json!({"progressToken": named, "progress": 1});
    let heard = reaction(
        &mut client,
        &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
    );
    assert_eq!(told(&heard).len(), 1);
    let is_about =
        |event: &Event| matches!(event, Event::Notification(it) if it.about == Some(token));
    assert!(heard.events.iter().any(is_about), "{:?}", heard.events);
}

#[test]
fn text_beside_a_response_hangs_no_call() {
    let mut client = settled("2025-11-25");
    for around in [
        "Loading... TEXT",
        "TEXT trailing",
        "data: TEXT",
        "\u{feff}TEXT",
        "{\"level\":\"info\"}TEXT",
    ] {
        let id = begin(&mut client);
        let text = around.replace("TEXT", &result(&id, json!({"content": []})).to_string());
        client.receive(None, text.as_bytes(), NOW);
        let heard = hear(&mut client);
        assert_eq!(
            told(&heard).is_empty(),
            around.starts_with('\u{feff}'),
            "{around}"
        );
        assert!(heard.answer().is_ok(), "{around}");
    }
    // Two messages in one line are two messages.
    let (one, two) = (begin(&mut client), begin(&mut client));
    let texts = [one, two].map(|id| result(&id, json!({"content": []})).to_string());
    client.receive(None, texts.concat().as_bytes(), NOW);
    assert_eq!(hear(&mut client).answers().len(), 2);
}

#[test]
fn mistakes_of_one_kind_are_reported_a_few_times_and_counted() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&reports);
    let role = Client::new(Revision::V2025_11_25, options(Channel::Stdio))
        .on_mistake(move |mistake| told.lock().unwrap().push(mistake.to_string()));
    let mut client = End::new(role);
    for line in 0..1_000 {
        client.receive(None, format!("log line {line}").as_bytes(), NOW);
    }
    let reports = reports.lock().unwrap();
    assert_eq!(reports.len(), 5 + 7, "{reports:?}");
    assert!(reports[0].contains("log line 0"), "{reports:?}");
    assert!(
        reports[11].contains("log line 511") && reports[11].contains("number 512"),
        "{reports:?}"
    );
}

fn pick<'a>(dice: &mut Rng, choices: &[&'a str]) -> &'a str {
    choices[dice.usize(..choices.len())]
}

/// Values of every kind, in the place of a member.
const KINDS: [&str; 12] = [
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "1e400",
    "\"\"",
    "\"x\"",
    "[]",
    "{}",
    "[{}]",
    "\"\\ud800\"",
];

/// A response to a request in which members are absent, of another kind, or there twice; and what is around it.
fn odd_response(dice: &mut Rng, id: &str) -> String {
    let result = r#"{"content":[{"type":"text","text":"done"}]}"#;
    let error = r#"{"code":-32000,"message":"quota is used up"}"#;
    let (string, float) = (format!("\"{id}\""), format!("{id}.0"));
    let good: [(&str, Vec<&str>); 4] = [
        ("jsonrpc", vec!["\"2.0\""]),
        ("id", vec![id, id, string.as_str(), float.as_str()]),
        ("result", vec![result]),
        ("error", vec![error]),
    ];
    let is_error = dice.usize(..2);
    let mut members = Vec::new();
    for (index, (name, values)) in good.iter().enumerate() {
        let is_other = index == 3 - is_error;
        let value = match dice.usize(..8) {
            0 => continue,
            1 => pick(dice, &KINDS),
            2 if is_other => pick(dice, values),
            _ if is_other => continue,
            _ => pick(dice, values),
        };
        members.push(format!("\"{name}\":{value}"));
        if dice.usize(..10) == 0 {
            members.push(format!("\"{name}\":{}", pick(dice, &[value, "null", "7"])));
        }
    }
    if dice.usize(..10) == 0 {
        members.push("\"method\":\"tools/call\"".to_owned());
    }
    let message = format!("{{{}}}", members.join(","));
    match dice.usize(..12) {
        0 => format!("[{message}]"),
        1 => format!("\u{feff}{message}"),
        2 => format!("Starting... {message}"),
        3 => format!("[{message},{message}]"),
        4 => message[..message.len() - 1].to_owned(),
        5 => format!("{message}{message}"),
        _ => message,
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Carrier {
    Lines,
    Json,
    Events,
}

/// Hands in a text in answer to a request, as a transport does, and the end of what answers it.
fn answer_with(client: &mut End, carrier: Carrier, exchange: Exchange, text: &str) -> Heard {
    match carrier {
        Carrier::Lines => drop(client.receive(None, text.as_bytes(), NOW)),
        Carrier::Json => client.answered(exchange, 200, None, Some(text.as_bytes()), NOW),
        Carrier::Events => {
            client.answered(exchange, 200, None, None, NOW);
            client.receive(Some(exchange), text.as_bytes(), NOW);
            client.ended(exchange, NOW);
        }
    }
    hear(client)
}

/// What reaches the application of a response, in words; `None` if the call still waits.
fn words(answers: &[(mcp_revisions::sansio::client::Token, Answer)]) -> Option<String> {
    assert!(answers.len() <= 1, "one call, several answers: {answers:?}");
    let (_, answer) = answers.first()?;
    Some(match answer {
        Answer::Result(result) => result.to_string(),
        other => other.read::<mcp_wire::Json>().unwrap_err(),
    })
}

/// Every response ends its call over HTTP; over standard streams it ends it, or is reported. Whatever it is, the client goes
/// on with the server.
#[test]
fn every_odd_response_ends_its_call_or_is_told_and_disturbs_nothing() {
    let mut dice = Rng::with_seed(47);
    for carrier in [Carrier::Lines, Carrier::Json, Carrier::Events] {
        for _ in 0..3_000 {
            let version = ["2025-03-26", "2025-11-25", "2026-07-28"][dice.usize(..3)];
            let channel = match carrier {
                Carrier::Lines => Channel::Stdio,
                _ => Channel::Http,
            };
            let mut client = at_work(channel, version);
            client.ask(call("add"), NOW).unwrap();
            let (post, message) = hear(&mut client).only();
            let text = odd_response(&mut dice, &message["id"].to_string());
            let heard = answer_with(&mut client, carrier, post.exchange, &text);
            let passes_on =
                |event: &Event| matches!(event, Event::Notification(_) | Event::Request(_));
            let is_noted = !told(&heard).is_empty() || heard.events.iter().any(passes_on);
            let answers = heard.answers();
            let words = words(&answers);
            match &words {
                Some(words) => assert!(
                    !words.contains("without an answer") && !words.contains("that is none"),
                    "{carrier:?} {text}: {words}"
                ),
                None => assert!(
                    carrier == Carrier::Lines && is_noted,
                    "{carrier:?} {text}: neither answered nor told"
                ),
            }
            if let Some((_, Answer::Result(result))) = answers.first() {
                let is_one_of_its = text.contains(result.text())
                    || result.text().contains("done")
                    || result.text().len() < 40;
                assert!(is_one_of_its, "{carrier:?} {text}: {result}");
            }
            if words.is_none() {
                assert_eq!(
                    reaction(
                        &mut client,
                        &result(
                            &message["id"],
                            json!({"content": [], "resultType": "complete"}),
                        )
                    )
                    .answers()
                    .len(),
                    1,
                    "{text}"
                );
            }
            assert_eq!(client.pending(), 0, "{carrier:?} {text}");
        }
    }
}

/// A client that speaks this revision with its server.
fn at_work(channel: Channel, version: &str) -> End {
    let mut client = open(Revision::V2025_11_25, options(channel));
    if channel == Channel::Stdio {
        settle(&mut client, version);
        return client;
    }
    client.connect(NOW).unwrap();
    let (probe, message) = hear(&mut client).only();
    if version == "2026-07-28" {
        let found = result(&message["id"], discovered()).to_string();
        client.answered(probe.exchange, 200, None, Some(found.as_bytes()), NOW);
        hear(&mut client);
        return client;
    }
    client.answered(probe.exchange, 404, None, Some(b""), NOW);
    let (initialize, message) = hear(&mut client).only();
    let opened = result(&message["id"], initialized(version)).to_string();
    client.answered(initialize.exchange, 200, None, Some(opened.as_bytes()), NOW);
    let (noted, _) = hear(&mut client).only();
    client.answered(noted.exchange, 202, None, Some(b""), NOW);
    hear(&mut client);
    client
}

/// Whatever a server answers to `initialize`, the client gives up with a reason, or goes on.
#[test]
fn every_odd_answer_to_initialize_settles_or_fails_with_its_mistake() {
    let mut dice = Rng::with_seed(2025);
    for _ in 0..3_000 {
        let mut client = client(Channel::Http);
        client.connect(NOW).unwrap();
        let (probe, _) = hear(&mut client).only();
        client.answered(probe.exchange, 404, None, Some(b""), NOW);
        let (post, message) = hear(&mut client).only();
        let text = odd_response(&mut dice, &message["id"].to_string());
        let text = text.replace(
            r#"{"content":[{"type":"text","text":"done"}]}"#,
            &initialized("2025-06-18").to_string(),
        );
        client.answered(post.exchange, 200, None, Some(text.as_bytes()), NOW);
        let mut heard = hear(&mut client);
        while let (None, [next]) = (client.verdict(), heard.sent.as_slice()) {
            client.answered(next.exchange, 404, None, Some(b""), NOW);
            heard = hear(&mut client);
        }
        match (client.verdict(), failure(&heard)) {
            (Some(verdict), _) => assert_eq!(verdict.to_string(), "2025-06-18"),
            (None, Some(why)) => assert!(!why.contains("without an answer"), "{text}: {why}"),
            (None, None) => panic!("{text}: nothing is known of the server, and no reason why"),
        }
    }
}
