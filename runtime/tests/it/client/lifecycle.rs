//! How the lifecycle is found: each thing that a server may do with the probe, over both channels.

use std::time::Duration;

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::client::lifecycle::order;
use mcp_revisions::sansio::client::{Channel, Event, Options, Profile};
use mcp_revisions::{Lifecycle, Revision, RevisionSet};
use serde_json::{Value, json};

use crate::client::{
    End, Heard, NOW, answer_first, client, discovered, error, hear, initialized, latest, list,
    open, options, profile, reaction, result, say,
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Found {
    PerRequest,
    Handshake,
    Nothing,
}
use Found::{Handshake, Nothing, PerRequest};

/// What the client takes the server for, by what it does next.
fn found(client: &mut End) -> Found {
    let heard = hear(client);
    let methods = heard.methods();
    match methods
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["tools/list"] => PerRequest,
        ["initialize"] => Handshake,
        [] => {
            assert_eq!(heard.answers().len(), 1, "the request that waited is told");
            assert_eq!(client.verdict(), None);
            Nothing
        }
        other => panic!("{other:?}"),
    }
}

/// The probe has been sent; its id.
pub(crate) fn probed(client: &mut End) -> (mcp_revisions::sansio::client::Exchange, Value) {
    client.ask(list(), NOW).unwrap();
    let (send, probe) = hear(client).only();
    assert_eq!(probe["method"], "server/discover");
    let meta = &probe["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], latest());
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "tester");
    assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
    (send.exchange, probe["id"].clone())
}

#[test]
fn stdio_each_answer_to_the_probe() {
    let fails = |code: i64| json!({"error": {"code": code, "message": "no"}});
    let mut older = fails(-32022);
    older["error"]["data"] = json!({"supported": ["2025-06-18"]});
    let cases = [
        (json!({"result": discovered()}), PerRequest),
        (fails(-32020), PerRequest),
        (fails(-32021), PerRequest),
        (fails(-32022), PerRequest),
        (older, Handshake),
        (fails(-32601), Handshake),
        (fails(-32600), Handshake),
        (fails(-32602), Handshake),
        (fails(-32603), Handshake),
        (fails(-32000), Handshake),
        (fails(-32002), Handshake),
        (json!({"result": {}}), Handshake),
        (
            json!({"result": {"supportedVersions": latest()}}),
            Handshake,
        ),
    ];
    for (answer, expected) in cases {
        let mut client = client(Channel::Stdio);
        let (_, id) = probed(&mut client);
        let mut message = json!({"jsonrpc": "2.0", "id": id});
        message
            .as_object_mut()
            .unwrap()
            .extend(answer.as_object().unwrap().clone());
        say(&mut client, &message);
        assert_eq!(found(&mut client), expected, "{answer}");
    }
}

/// A client over stdio whose server may be silent about the probe for 3 seconds.
fn impatient() -> End {
    open(
        Revision::V2025_11_25,
        options(Channel::Stdio).with_probe_timeout(Duration::from_secs(3)),
    )
}

/// The probe was sent, and `initialize` after it, since the server was silent; the ids of both.
fn both_sent(client: &mut End) -> (Value, Value) {
    let (_, probe) = probed(client);
    client.wake(client.wake_at().unwrap());
    let (_, initialize) = hear(client).only();
    assert_eq!(initialize["method"], "initialize");
    (probe, initialize["id"].clone())
}

#[test]
fn stdio_silence_is_answered_by_initialize_when_the_time_is_over_and_not_before() {
    let mut client = impatient();
    let (_, id) = probed(&mut client);
    let deadline = client.wake_at().unwrap();
    assert_eq!(deadline, NOW + Duration::from_secs(3));
    client.wake(deadline - Duration::from_millis(1));
    assert!(client.poll().is_none(), "too early");
    client.wake(deadline);
    let (_, initialize) = hear(&mut client).only();
    assert_eq!(initialize["method"], "initialize");
    // From now on only the end of the start is waited for.
    assert_eq!(client.wake_at(), Some(NOW + Duration::from_secs(60)));

    let answer = result(&initialize["id"], initialized("2025-06-18"));
    let heard = reaction(&mut client, &answer);
    assert_eq!(heard.methods(), ["notifications/initialized", "tools/list"]);
    // The response to the probe changes nothing any more, and is no fault of the server.
    let heard = reaction(&mut client, &error(&id, -32601, Value::Null));
    assert!(heard.sent.is_empty() && heard.events.is_empty());
}

#[test]
fn a_slow_start_does_not_hide_what_the_server_says_of_itself() {
    let refused = json!({"supported": [latest()], "requested": "2025-11-25"});
    for initialize_is_answered_first in [false, true] {
        let mut client = impatient();
        let (probe, initialize) = both_sent(&mut client);
        let mut answers = [
            result(&probe, discovered()),
            error(&initialize, -32022, refused.clone()),
        ];
        if initialize_is_answered_first {
            answers.reverse();
        }
        let mut heard = Vec::new();
        for answer in &answers {
            let Heard { sent, events, .. } = reaction(&mut client, answer);
            heard.extend(events);
            if let [list] = sent.as_slice() {
                assert!(list.text.contains("tools/list"), "{}", list.text);
            }
        }
        let [Event::Settled(facts)] = heard.as_slice() else {
            panic!("{heard:?}")
        };
        assert_eq!(facts.revision.protocol_version(), latest());
        let capabilities = facts.capabilities.as_ref().unwrap();
        assert!(capabilities.text().contains("tools"), "{capabilities:?}");
        assert!(facts.info.as_ref().unwrap().text().contains("per-request"));
    }
}

#[test]
fn a_server_that_refuses_initialize_and_names_its_versions_is_asked_what_it_is() {
    let own = options(Channel::Stdio).with_own_revision(Revision::V2025_11_25);
    let mut client = open(Revision::V2025_11_25, own);
    client.ask(list(), NOW).unwrap();
    let (_, initialize) = hear(&mut client).only();
    assert_eq!(initialize["params"]["protocolVersion"], "2025-11-25");
    let refused = json!({"supported": [latest()], "requested": "2025-11-25"});
    let (_, probe) = reaction(&mut client, &error(&initialize["id"], -32022, refused)).only();
    assert_eq!(probe["method"], "server/discover");
    let heard = reaction(&mut client, &result(&probe["id"], discovered()));
    assert_eq!(heard.methods(), ["tools/list"]);
    let [Event::Settled(facts)] = heard.events.as_slice() else {
        panic!("{:?}", heard.events)
    };
    assert!(facts.capabilities.is_some() && facts.info.is_some());
}

/// Both first messages are sent, that of the own lifecycle first: the ids of the probe and of `initialize`.
fn both_sent_by(own: Revision) -> (End, Value, Value) {
    let options = options(Channel::Stdio)
        .with_probe_timeout(Duration::from_secs(3))
        .with_own_revision(own);
    let mut client = open(Revision::V2025_11_25, options);
    client.ask(list(), NOW).unwrap();
    let (_, first) = hear(&mut client).only();
    let silent_until = client.wake_at().unwrap();
    client.wake(silent_until);
    let (_, second) = hear(&mut client).only();
    assert_eq!(client.wake_at(), Some(NOW + Duration::from_secs(60)));
    let mut both = [first, second];
    both.sort_by_key(|sent| sent["method"] == "initialize");
    let [probe, initialize] = both.map(|sent| sent["id"].clone());
    (client, probe, initialize)
}

#[test]
fn a_server_that_takes_initialize_beside_the_probe_is_in_a_session() {
    for own in [Revision::V2025_11_25, Revision::V2026_07_28] {
        for answers_probe_first in [true, false] {
            let (mut client, probe, initialize) = both_sent_by(own);
            let mut answers = [
                result(&probe, discovered()),
                result(&initialize, initialized("2025-11-25")),
            ];
            if answers_probe_first {
                let heard = reaction(&mut client, &answers[0]);
                assert!(heard.sent.is_empty() && heard.events.is_empty());
                answers.swap(0, 1);
            } else {
                answers.reverse();
            }
            let heard = reaction(&mut client, &answers[0]);
            assert_eq!(heard.methods(), ["notifications/initialized", "tools/list"]);
            // No second lifecycle begins.
            let heard = reaction(&mut client, &answers[1]);
            assert!(heard.sent.is_empty() && client.verdict().is_some());
        }
    }
}

#[test]
fn a_server_that_stays_silent_about_initialize_is_taken_at_its_other_answer() {
    // What has had its time already gets a shorter one.
    for (own, seconds) in [(Revision::V2025_11_25, 3), (Revision::V2026_07_28, 9)] {
        let (mut client, probe, initialize) = both_sent_by(own);
        assert!(
            reaction(&mut client, &result(&probe, discovered()))
                .sent
                .is_empty()
        );
        let over = client.wake_at().unwrap();
        assert_eq!(over, NOW + Duration::from_secs(seconds));
        client.wake(over);
        assert_eq!(hear(&mut client).methods(), ["tools/list"]);
        assert!(
            reaction(&mut client, &result(&initialize, initialized("2025-11-25")))
                .sent
                .is_empty()
        );
        assert_eq!(client.verdict().unwrap().to_string(), "2026-07-28");
        // Its end says the same, and a refusal does, at once.
        let (mut client, probe, _) = both_sent_by(own);
        say(&mut client, &result(&probe, discovered()));
        client.closed(NOW);
        let heard = hear(&mut client);
        assert_eq!(
            (heard.restarts, heard.methods()),
            (1, vec!["tools/list".to_owned()])
        );
        let (mut client, probe, initialize) = both_sent_by(own);
        say(&mut client, &result(&probe, discovered()));
        assert_eq!(
            reaction(&mut client, &error(&initialize, -32600, Value::Null)).methods(),
            ["tools/list"]
        );
    }
}

/// Answers of a server that does not know the version of a first message.
fn refusals(id: &Value) -> Vec<(u16, String)> {
    let error = |code: i64| error(id, code, Value::Null).to_string();
    vec![
        (
            400,
            r#"{"error":"unsupported protocol version"}"#.to_owned(),
        ),
        (400, error(-32602)),
        (404, error(-32601)),
        (404, String::new()),
        (406, "<html>".to_owned()),
        (422, error(-32000)),
        (500, error(-32603)),
        (202, String::new()),
        (200, String::new()),
        (200, "<html>".to_owned()),
        (200, "{}".to_owned()),
        (200, error(-32600)),
        (200, result(id, json!({})).to_string()),
        (
            200,
            result(id, json!({"protocolVersion": null})).to_string(),
        ),
        (
            200,
            result(id, json!({"protocolVersion": "1999-01-01"})).to_string(),
        ),
    ]
}

#[test]
fn after_any_answer_that_settles_nothing_the_next_revision_is_tried() {
    let kinds = refusals(&json!(1)).len();
    for own in Revision::NEGOTIATED.iter().copied() {
        for only in RevisionSet::handshake().iter() {
            for kind in 0..kinds {
                let own = options(Channel::Http).with_own_revision(own);
                let mut client = open(Revision::V2025_11_25, own);
                client.ask(list(), NOW).unwrap();
                let mut tried = 0;
                while client.verdict().is_none() {
                    let (post, first) = hear(&mut client).only();
                    tried += 1;
                    assert!(tried <= Revision::NEGOTIATED.len(), "{first}");
                    let version = &first["params"]["protocolVersion"];
                    let (status, body) = match version == only.protocol_version() {
                        true => {
                            let good = initialized(only.protocol_version());
                            (200, result(&first["id"], good).to_string())
                        }
                        false => refusals(&first["id"]).remove(kind),
                    };
                    client.answered(post.exchange, status, None, Some(body.as_bytes()), NOW);
                }
                assert_eq!(client.verdict().unwrap().to_string(), only.to_string());
            }
        }
    }
}

#[test]
fn a_stream_that_ends_without_an_answer_settles_nothing_and_the_next_revision_is_tried() {
    let mut client = client(Channel::Http);
    let (probe, _) = probed(&mut client);
    client.answered(probe, 200, None, None, NOW);
    client.ended(probe, NOW);
    let (post, first) = hear(&mut client).only();
    assert_eq!(first["method"], "initialize");
    client.answered(post.exchange, 200, None, None, NOW);
    client.ended(post.exchange, NOW);
    let (_, second) = hear(&mut client).only();
    assert_eq!(second["params"]["protocolVersion"], "2025-06-18");
}

#[test]
fn a_session_has_no_revision_that_its_server_has_refused() {
    let mut client = client(Channel::Stdio);
    client.ask(list(), NOW).unwrap();
    let heard = answer_first(
        &mut client,
        |first| match first["params"]["protocolVersion"].as_str() {
            Some("2025-03-26") => result(&first["id"], initialized("2025-06-18")),
            _ => error(&first["id"], -32602, Value::Null),
        },
    );
    assert_eq!(heard.methods(), ["notifications/initialized", "tools/list"]);
    assert!(matches!(
        &heard.events[..],
        [Event::Mended(_), Event::Settled(_)]
    ));
    assert_eq!(client.verdict().unwrap().to_string(), "2025-03-26");
}

#[test]
fn a_per_request_server_without_discover_is_spoken_to_once_every_handshake_is_refused() {
    let mut client = client(Channel::Http);
    client.ask(list(), NOW).unwrap();
    for tried in 0.. {
        let (post, first) = hear(&mut client).only();
        if first["method"] == "tools/list" {
            assert_eq!(tried, Revision::NEGOTIATED.len());
            break;
        }
        let body = error(&first["id"], -32601, Value::Null).to_string();
        client.answered(post.exchange, 404, None, Some(body.as_bytes()), NOW);
    }
    assert_eq!(client.verdict().unwrap().to_string(), "2026-07-28");
}

#[test]
fn a_server_that_is_silent_about_the_probe_and_refuses_initialize_gets_older_ones_at_once() {
    let (mut client, _, initialize) = both_sent_by(Revision::V2026_07_28);
    say(&mut client, &error(&initialize, -32602, Value::Null));
    let heard = answer_first(
        &mut client,
        |first| match first["params"]["protocolVersion"].as_str() {
            Some("2024-11-05") => result(&first["id"], initialized("2024-11-05")),
            _ => error(&first["id"], -32602, Value::Null),
        },
    );
    assert_eq!(heard.methods(), ["notifications/initialized", "tools/list"]);
}

#[test]
fn a_server_that_ends_on_the_second_first_message_is_not_started_for_ever() {
    let own = options(Channel::Stdio).with_own_revision(Revision::V2025_11_25);
    let mut client = open(Revision::V2025_11_25, own);
    client.ask(list(), NOW).unwrap();
    hear(&mut client);
    let probed = client.wake_at().unwrap();
    client.wake(probed);
    assert_eq!(hear(&mut client).methods(), ["server/discover"]);
    client.closed(probed);
    assert_eq!(hear(&mut client).methods(), ["initialize"]);
    let over = client.wake_at().unwrap();
    assert_eq!(over, probed + Duration::from_secs(60));
    client.wake(over);
    hear(&mut client).answer().unwrap_err();
}

#[test]
fn a_revision_that_is_wanted_alone_waits_for_a_server_that_starts_late() {
    for revisions in [RevisionSet::per_request(), RevisionSet::handshake()] {
        let options = options(Channel::Stdio).with_revisions(revisions);
        let mut client = open(Revision::V2025_11_25, options);
        client.ask(list(), NOW).unwrap();
        let (_, first) = hear(&mut client).only();
        client.wake(NOW + Duration::from_secs(59));
        assert!(client.poll().is_none(), "it still has a second");
        let answer = match first["method"].as_str() {
            Some("server/discover") => discovered(),
            _ => initialized("2025-11-25"),
        };
        assert!(
            reaction(&mut client, &result(&first["id"], answer))
                .methods()
                .contains(&"tools/list".into())
        );
    }
}

#[test]
fn a_server_that_never_says_what_it_speaks_fails_what_waits_and_the_next_request_tries_again() {
    for channel in [Channel::Stdio, Channel::Http] {
        let options = options(channel).with_start_timeout(Duration::from_secs(20));
        let mut client = open(Revision::V2025_11_25, options);
        client.ask(list(), NOW).unwrap();
        hear(&mut client);
        for seconds in [19, 20] {
            client.wake(NOW + Duration::from_secs(seconds));
            let heard = hear(&mut client);
            let failed = heard.events.len() == 2;
            assert_eq!(failed, seconds == 20, "{channel:?}: {:?}", heard.events);
            if failed {
                let why = "the server did not say which revision it speaks within 20 s";
                let failure = heard.answer().unwrap_err();
                assert!(failure.starts_with(why), "{failure}");
            }
        }
        assert_eq!(client.wake_at(), None);
        client.ask(list(), NOW + Duration::from_secs(30)).unwrap();
        assert_eq!(hear(&mut client).methods(), ["server/discover"]);
    }
}

#[test]
fn the_revision_that_is_tried_next_is_the_nearest() {
    let all = Revision::NEGOTIATED;
    for (at, own) in all.iter().copied().enumerate() {
        // Newer before older within the lifecycle, the nearest first; then the newest of the other lifecycle.
        let is_alike = |revision: &&Revision| revision.lifecycle() == own.lifecycle();
        let newer = all.iter().skip(at + 1).filter(is_alike);
        let older = all.iter().take(at).rev().filter(is_alike);
        let across = all.iter().rev().filter(|revision| !is_alike(revision));
        let nearest = newer.chain(older).chain(across);
        let expected: Vec<Revision> = std::iter::once(&own).chain(nearest).copied().collect();
        assert_eq!(order(own, RevisionSet::all()), expected, "{own}");
        for left_out in Revision::NEGOTIATED {
            let is_left = |revision: &Revision| revision != left_out;
            let ours: RevisionSet = RevisionSet::all().iter().filter(is_left).collect();
            let expected: Vec<_> = expected.iter().copied().filter(is_left).collect();
            assert_eq!(order(own, ours), expected, "{own} without {left_out}");
        }
    }
}

#[test]
fn the_own_revision_of_the_application_is_offered_first() {
    for app in Revision::NEGOTIATED {
        let options = Options::new(Channel::Stdio, profile()).without_adapters();
        let mut client = open(*app, options);
        client.ask(list(), NOW).unwrap();
        let (_, first) = hear(&mut client).only();
        let meta = &first["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let offered = match app.lifecycle() {
            Lifecycle::Handshake => &first["params"]["protocolVersion"],
            Lifecycle::PerRequest => meta,
        };
        assert_eq!(offered, app.protocol_version());
    }
}

#[test]
fn http_each_answer_to_initialize() {
    let refused = |code: i64, data: Value| error(&json!(1), code, data).to_string();
    let per_request = json!({"supported": [latest()]});
    let cases = [
        (400, refused(-32022, per_request.clone()), true),
        (200, refused(-32022, per_request), true),
        (200, refused(-32601, Value::Null), true),
        (400, refused(-32602, Value::Null), true),
        (404, String::new(), true),
        (405, String::new(), true),
        (500, refused(-32603, Value::Null), true),
        (501, String::new(), true),
        (401, String::new(), false),
        (403, refused(-32022, Value::Null), false),
        (429, String::new(), false),
        (502, String::new(), false),
        (503, String::new(), false),
        (301, String::new(), false),
    ];
    for (status, body, goes_on) in cases {
        let own = options(Channel::Http).with_own_revision(Revision::V2025_11_25);
        let mut client = open(Revision::V2025_11_25, own);
        client.ask(list(), NOW).unwrap();
        let (post, initialize) = hear(&mut client).only();
        assert_eq!(initialize["method"], "initialize");
        client.answered(post.exchange, status, None, Some(body.as_bytes()), NOW);
        let heard = hear(&mut client);
        if goes_on {
            assert_eq!(heard.methods(), ["server/discover"], "{status} {body}");
        } else {
            heard.answer().unwrap_err();
        }
    }
}

#[test]
fn stdio_a_server_that_ends_is_started_again_and_handshake() {
    let mut client = client(Channel::Stdio);
    probed(&mut client);
    client.closed(NOW);
    let heard = hear(&mut client);
    assert_eq!(heard.restarts, 1);
    assert_eq!(heard.methods(), ["initialize"]);

    // It is not started a third time.
    client.closed(NOW);
    let heard = hear(&mut client);
    assert_eq!((heard.restarts, heard.sent.len()), (0, 0));
    assert_eq!(
        heard.answer(),
        Err("the connection ended before the answer".to_owned())
    );
}

#[test]
fn http_each_answer_to_the_probe() {
    let message = |content: Value| {
        let mut message = json!({"jsonrpc": "2.0", "id": 1});
        message
            .as_object_mut()
            .unwrap()
            .extend(content.as_object().unwrap().clone());
        message.to_string()
    };
    let failed = |code: i64| message(json!({"error": {"code": code, "message": "no"}}));
    let discovered = message(json!({"result": discovered()}));
    let cases = [
        (200, discovered.clone(), PerRequest),
        (400, failed(-32020), PerRequest),
        (400, failed(-32021), PerRequest),
        (400, failed(-32022), PerRequest),
        (200, failed(-32022), PerRequest),
        // A gateway before a handshake server says so, too.
        (404, failed(-32601), Handshake),
        (200, failed(-32601), Handshake),
        (400, failed(-32601), Handshake),
        (400, failed(-32600), Handshake),
        (400, failed(-32602), Handshake),
        (400, failed(-32000), Handshake),
        (404, failed(-32001), Handshake),
        (400, "Bad Request".to_owned(), Handshake),
        (404, String::new(), Handshake),
        (405, String::new(), Handshake),
        (406, "<html>".to_owned(), Handshake),
        (415, String::new(), Handshake),
        (202, String::new(), Handshake),
        (401, failed(-32022), Nothing),
        (403, failed(-32022), Nothing),
        (401, String::new(), Nothing),
        (403, String::new(), Nothing),
        // Servers that fail at a method which they do not know may know another one.
        (500, failed(-32603), Handshake),
        (500, String::new(), Handshake),
        (501, "Unsupported method ('POST')".to_owned(), Handshake),
        (429, String::new(), Nothing),
        (502, String::new(), Nothing),
        (503, "busy".to_owned(), Nothing),
        (301, String::new(), Nothing),
    ];
    for (status, body, expected) in cases {
        let mut client = client(Channel::Http);
        let (post, _) = probed(&mut client);
        client.answered(post, status, None, Some(body.as_bytes()), NOW);
        assert_eq!(found(&mut client), expected, "{status} {body}");
    }
}

#[test]
fn http_an_error_without_an_id_belongs_to_its_post() {
    let mut client = client(Channel::Http);
    let (post, _) = probed(&mut client);
    let body = json!({"jsonrpc": "2.0", "error": {"code": -32022, "message": "no", "data": {"supported": ["2025-03-26"]}}});
    client.answered(post, 400, None, Some(body.to_string().as_bytes()), NOW);
    let (_, initialize) = hear(&mut client).only();
    assert_eq!(initialize["params"]["protocolVersion"], "2025-03-26");
}

#[test]
fn http_a_network_that_fails_says_nothing_and_the_next_request_asks_again() {
    let mut client = client(Channel::Http);
    let (post, _) = probed(&mut client);
    client.ended(post, NOW);
    assert_eq!(found(&mut client), Nothing);
    probed(&mut client);
    // Silence over HTTP says nothing of the lifecycle: only the time of the start ends.
    assert_eq!(client.wake_at(), Some(NOW + Duration::from_secs(60)));
}

#[test]
fn http_a_probe_may_be_answered_by_a_stream() {
    let mut client = client(Channel::Http);
    let (post, id) = probed(&mut client);
    client.answered(post, 200, None, None, NOW);
    client.receive(
        Some(post),
        result(&id, discovered()).to_string().as_bytes(),
        NOW,
    );
    assert_eq!(found(&mut client), PerRequest);
    client.ended(post, NOW);
    assert!(client.poll().is_none());
}

#[test]
fn the_version_that_both_speak_is_taken() {
    let refused = latest();
    let cases: [(&[&str], Option<&str>); 5] = [
        (&["2025-11-25", "2025-06-18"], Some("2025-11-25")),
        (&["2024-11-05", "2025-06-18"], Some("2025-06-18")),
        (&["2099-01-01", "2024-11-05"], Some("2024-11-05")),
        (&["2099-01-01"], None),
        // The first of them was just refused.
        (&[refused, "2025-03-26"], Some("2025-03-26")),
    ];
    for (supported, expected) in cases {
        let mut client = client(Channel::Stdio);
        let (_, id) = probed(&mut client);
        let heard = reaction(
            &mut client,
            &error(
                &id,
                -32022,
                json!({"supported": supported, "requested": refused}),
            ),
        );
        match expected {
            Some(version) => {
                let (_, initialize) = heard.only();
                assert_eq!(initialize["params"]["protocolVersion"], version);
            }
            None => {
                let failure = heard.answer().unwrap_err();
                assert!(
                    failure.starts_with("no revision in common") && failure.contains(supported[0]),
                    "{failure}"
                );
            }
        }
    }
}

#[test]
fn a_handshake_that_is_refused_says_why_and_what_would_have_been_spoken() {
    let cases = [
        (Value::Null, "the server refused `initialize`: no (-32602)"),
        (
            json!({"supported": ["2099-01-01"]}),
            "no revision in common with the server, which speaks 2099-01-01",
        ),
    ];
    for (data, said) in cases {
        let mut client = client(Channel::Stdio);
        let (_, id) = probed(&mut client);
        let (_, initialize) = reaction(&mut client, &error(&id, -32601, Value::Null)).only();
        let refused = error(&initialize["id"], -32602, data);
        say(&mut client, &refused);
        let heard = answer_first(&mut client, |first| {
            error(&first["id"], -32603, Value::Null)
        });
        let failure = heard.answer().unwrap_err();
        let tried = "; tried `server/discover` in 2026-07-28, `initialize` in 2025-11-25";
        assert!(failure.starts_with(&format!("{said}{tried}")), "{failure}");
    }
}

#[test]
fn a_version_that_is_refused_and_named_all_the_same_is_tried_once_more() {
    let mut client = client(Channel::Stdio);
    let (_, id) = probed(&mut client);
    let refused = json!({"supported": [latest()], "requested": latest()});
    let (_, list) = reaction(&mut client, &error(&id, -32022, refused.clone())).only();
    assert_eq!(list["method"], "tools/list");
    let claim = &list["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    assert_eq!(claim, latest());
    let failure = reaction(&mut client, &error(&list["id"], -32022, refused))
        .answer()
        .unwrap_err();
    assert!(failure.starts_with("no revision in common"), "{failure}");
}

#[test]
fn a_dual_era_server_whose_per_request_revision_is_unknown_is_spoken_to_in_its_newest_handshake_one()
 {
    let mut client = client(Channel::Stdio);
    let (_, id) = probed(&mut client);
    let mut answer = discovered();
    answer["supportedVersions"] = json!(["2031-01-01", "2025-03-26", "2025-06-18"]);
    let (_, initialize) = reaction(&mut client, &result(&id, answer)).only();
    assert_eq!(initialize["params"]["protocolVersion"], "2025-06-18");
}

#[test]
fn a_client_of_one_era_alone_does_not_ask_for_the_other() {
    let mut handshake = open(
        Revision::V2025_11_25,
        options(Channel::Http).with_revisions(RevisionSet::handshake()),
    );
    handshake.ask(list(), NOW).unwrap();
    assert_eq!(hear(&mut handshake).methods(), ["initialize"]);

    let mut per_request = open(
        Revision::V2025_11_25,
        options(Channel::Stdio).with_revisions(RevisionSet::per_request()),
    );
    let (_, id) = probed(&mut per_request);
    assert_eq!(
        reaction(&mut per_request, &error(&id, -32601, Value::Null)).answer(),
        Err("no revision in common with the server".to_owned())
    );

    let none = Options::new(Channel::Stdio, profile()).with_revisions(RevisionSet::none());
    assert!(open(Revision::V2025_11_25, none).ask(list(), NOW).is_err());
}

/// What peers declare of an extension that this project has never heard of.
const CHARTS: &str = r#"{"com.example/charts":{"depth":2,"of":["bars"]}}"#;

#[test]
fn extensions_that_nobody_here_knows_are_declared_to_servers_of_every_revision_and_heard_of_them() {
    let charts: Value = serde_json::from_str(CHARTS).unwrap();
    let own = json!({"roots": {}, "extensions": charts});
    for revision in Revision::NEGOTIATED {
        for takes_tasks in [false, true] {
            let info = json!({"name": "tester", "version": "1.0"});
            let profile = Profile::new(&Json::from(info), &Json::from(own.clone()));
            let mut options = Options::new(Channel::Stdio, profile);
            if takes_tasks {
                options = options.with_tasks();
            }
            let mut client = open(Revision::LATEST, options);
            client.ask(list(), NOW).unwrap();
            let (_, probe) = hear(&mut client).only();
            let (sent, version) = (
                |sent: &Value| sent["params"].clone(),
                revision.protocol_version(),
            );
            let (declared, mut answer) = match revision.lifecycle() {
                Lifecycle::PerRequest => {
                    let meta = &sent(&probe)["_meta"];
                    let declared = meta["io.modelcontextprotocol/clientCapabilities"].clone();
                    (declared, result(&probe["id"], discovered()))
                }
                Lifecycle::Handshake => {
                    let (_, initialize) =
                        reaction(&mut client, &error(&probe["id"], -32601, Value::Null)).only();
                    let declared = sent(&initialize)["capabilities"].clone();
                    (declared, result(&initialize["id"], initialized(version)))
                }
            };
            let found = &declared["extensions"]["com.example/charts"];
            assert_eq!(
                *found, charts["com.example/charts"],
                "{revision}: {declared}"
            );
            answer["result"]["capabilities"]["extensions"] = charts.clone();
            let events = reaction(&mut client, &answer).events;
            let facts = events.iter().find_map(|event| match event {
                Event::Settled(facts) => Some(facts),
                _ => None,
            });
            let facts = facts.unwrap_or_else(|| panic!("{revision}: {events:?}"));
            let heard: Value = facts.capabilities.as_ref().unwrap().parse().unwrap();
            assert_eq!(heard["extensions"], charts, "{revision}: {heard}");
        }
    }
}

#[test]
fn a_server_may_start_for_as_long_as_a_clock_can_say() {
    for channel in [Channel::Stdio, Channel::Http] {
        let options = options(channel)
            .with_start_timeout(Duration::MAX)
            .with_probe_timeout(Duration::MAX);
        let mut client = open(Revision::V2025_11_25, options);
        client.connect(NOW).unwrap();
        let wake = client.wake_at().unwrap_or_default();
        assert!(std::time::Instant::now().checked_add(wake).is_some());
    }
}
