//! How the lifecycle is found: each thing that a server may do with the probe, over both channels.

use std::time::Duration;

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::client::{Channel, Event, Options, Profile};
use mcp_revisions::{Lifecycle, Revision, RevisionSet};
use serde_json::{Value, json};

use crate::client::{
    End, NOW, client, discovered, error, hear, initialized, latest, list, open, options, profile,
    result, say,
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
    let cases = [
        (json!({"result": discovered()}), PerRequest),
        (
            json!({"error": {"code": -32020, "message": "headers"}}),
            PerRequest,
        ),
        (
            json!({"error": {"code": -32021, "message": "capability"}}),
            PerRequest,
        ),
        (
            json!({"error": {"code": -32022, "message": "version"}}),
            PerRequest,
        ),
        (
            json!({"error": {"code": -32022, "message": "version", "data": {"supported": ["2025-06-18"]}}}),
            Handshake,
        ),
        (
            json!({"error": {"code": -32601, "message": "unknown"}}),
            Handshake,
        ),
        (
            json!({"error": {"code": -32600, "message": "not initialized"}}),
            Handshake,
        ),
        (
            json!({"error": {"code": -32602, "message": "params"}}),
            Handshake,
        ),
        (
            json!({"error": {"code": -32603, "message": "crash"}}),
            Handshake,
        ),
        (
            json!({"error": {"code": -32000, "message": "first initialize"}}),
            Handshake,
        ),
        (
            json!({"error": {"code": -32002, "message": "not ready"}}),
            Handshake,
        ),
        (json!({"result": {}}), Handshake),
        (
            json!({"result": {"supportedVersions": "2026-07-28"}}),
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

#[test]
fn stdio_silence_is_handshake_when_the_time_is_over_and_not_before() {
    let mut client = open(
        Revision::V2025_11_25,
        options(Channel::Stdio).with_probe_timeout(Duration::from_secs(3)),
    );
    let (_, id) = probed(&mut client);
    let deadline = client.wake_at().unwrap();
    assert_eq!(deadline, NOW + Duration::from_secs(3));
    client.wake(deadline - Duration::from_millis(1));
    assert!(client.poll().is_none(), "too early");
    client.wake(deadline);
    assert_eq!(found(&mut client), Handshake);
    assert_eq!(client.wake_at(), None);

    // The answer that comes after all is one to nothing: the handshake goes on.
    say(&mut client, &result(&id, discovered()));
    let heard = hear(&mut client);
    assert!(
        matches!(heard.events.as_slice(), [Event::Ignored(_)]),
        "{:?}",
        heard.events
    );
    assert!(heard.sent.is_empty());
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
        (404, failed(-32601), PerRequest),
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
        // Servers of the handshake lifecycle fail at a method that they do not know.
        (500, failed(-32603), Handshake),
        (500, String::new(), Handshake),
        (501, "Unsupported method ('POST')".to_owned(), Handshake),
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
    // Silence over HTTP is the driver's business: there is no deadline.
    assert_eq!(client.wake_at(), None);
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
        say(
            &mut client,
            &error(
                &id,
                -32022,
                json!({"supported": supported, "requested": refused}),
            ),
        );
        let heard = hear(&mut client);
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
        say(&mut client, &error(&id, -32601, Value::Null));
        let (_, initialize) = hear(&mut client).only();
        say(&mut client, &error(&initialize["id"], -32602, data));
        let failure = hear(&mut client).answer().unwrap_err();
        assert!(failure.starts_with(said), "{failure}");
    }
}

#[test]
fn a_server_that_was_silent_and_then_wants_no_handshake_is_spoken_to_in_its_revision() {
    let mut client = open(
        Revision::V2025_11_25,
        options(Channel::Stdio).with_probe_timeout(Duration::from_secs(3)),
    );
    probed(&mut client);
    client.wake(client.wake_at().unwrap());
    let (_, initialize) = hear(&mut client).only();
    assert_eq!(initialize["method"], "initialize");
    let refused = json!({"supported": [latest()]});
    say(&mut client, &error(&initialize["id"], -32022, refused));
    let (_, list) = hear(&mut client).only();
    assert_eq!(list["method"], "tools/list");
    let claim = &list["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    assert_eq!(claim, latest());
}

#[test]
fn a_version_that_is_refused_and_named_all_the_same_is_tried_once_more() {
    let mut client = client(Channel::Stdio);
    let (_, id) = probed(&mut client);
    let refused = json!({"supported": [latest()], "requested": latest()});
    say(&mut client, &error(&id, -32022, refused.clone()));
    let (_, list) = hear(&mut client).only();
    assert_eq!(list["method"], "tools/list");
    let claim = &list["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    assert_eq!(claim, latest());
    say(&mut client, &error(&list["id"], -32022, refused));
    let failure = hear(&mut client).answer().unwrap_err();
    assert!(failure.starts_with("no revision in common"), "{failure}");
}

#[test]
fn a_dual_era_server_whose_per_request_revision_is_unknown_is_spoken_to_in_its_newest_handshake_one()
 {
    let mut client = client(Channel::Stdio);
    let (_, id) = probed(&mut client);
    let mut answer = discovered();
    answer["supportedVersions"] = json!(["2031-01-01", "2025-03-26", "2025-06-18"]);
    say(&mut client, &result(&id, answer));
    let (_, initialize) = hear(&mut client).only();
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
    say(&mut per_request, &error(&id, -32601, Value::Null));
    assert_eq!(
        hear(&mut per_request).answer(),
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
                    say(&mut client, &error(&probe["id"], -32601, Value::Null));
                    let (_, initialize) = hear(&mut client).only();
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
            say(&mut client, &answer);
            let events = hear(&mut client).events;
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
