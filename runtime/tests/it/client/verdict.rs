//! What was found out is kept, mended where it proves wrong, and told to the application.

use mcp_revisions::sansio::client::{Channel, Event, Verdict};
use mcp_revisions::{Revision, RevisionSet};
use serde_json::{Value, json};

use crate::client::lifecycle::probed;
use crate::client::{
    NOW, answer_first, client, discovered, error, hear, initialized, list, open, options, reaction,
    result, say,
};

#[test]
fn a_verdict_spares_the_probe() {
    for (version, first) in [("2026-07-28", "tools/list"), ("2025-06-18", "initialize")] {
        let verdict: Verdict = version.parse().unwrap();
        let mut client = open(
            Revision::V2025_11_25,
            options(Channel::Http).with_verdict(verdict),
        );
        client.ask(list(), NOW).unwrap();
        assert_eq!(hear(&mut client).methods(), [first]);
        assert_eq!(verdict.to_string(), version);
    }
    // One that the client may not act upon is as good as none.
    let options = options(Channel::Http)
        .with_revisions(RevisionSet::handshake())
        .with_verdict(Verdict(Revision::V2026_07_28));
    let mut client = open(Revision::V2025_11_25, options);
    client.ask(list(), NOW).unwrap();
    assert_eq!(hear(&mut client).methods(), ["initialize"]);
}

#[test]
fn a_per_request_verdict_that_has_become_wrong_is_mended_and_the_request_answered() {
    // The server was exchanged for one of the handshake lifecycle.
    let options = options(Channel::Http).with_verdict(Verdict(Revision::V2026_07_28));
    let mut client = open(Revision::V2025_11_25, options);
    client.ask(list(), NOW).unwrap();
    let (send, _) = hear(&mut client).only();
    client.answered(
        send.exchange,
        400,
        None,
        Some(b"Bad Request: no session"),
        NOW,
    );
    let (send, probe) = hear(&mut client).only();
    assert_eq!(probe["method"], "server/discover");
    client.answered(
        send.exchange,
        400,
        None,
        Some(b"Bad Request: no session"),
        NOW,
    );
    let (send, initialize) = hear(&mut client).only();
    assert_eq!(initialize["method"], "initialize");
    client.answered(
        send.exchange,
        200,
        Some("s1"),
        Some(
            result(&initialize["id"], initialized("2025-11-25"))
                .to_string()
                .as_bytes(),
        ),
        NOW,
    );
    let heard = hear(&mut client);
    assert_eq!(heard.methods(), ["notifications/initialized", "tools/list"]);
    let id = heard.messages()[1]["id"].clone();
    client.answered(
        heard.sent[1].exchange,
        200,
        None,
        Some(result(&id, json!({"tools": []})).to_string().as_bytes()),
        NOW,
    );
    assert_eq!(hear(&mut client).answer().unwrap(), json!({"tools": []}));
    assert_eq!(client.verdict().unwrap().to_string(), "2025-11-25");
}

#[test]
fn a_server_that_has_answered_once_is_not_probed_again_for_a_refusal() {
    let options = options(Channel::Http).with_verdict(Verdict(Revision::V2026_07_28));
    let mut client = open(Revision::V2025_11_25, options);
    client.ask(list(), NOW).unwrap();
    let (send, sent) = hear(&mut client).only();
    let tools = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": []});
    let answer = result(&sent["id"], tools).to_string();
    client.answered(send.exchange, 200, None, Some(answer.as_bytes()), NOW);
    hear(&mut client).answer().unwrap();
    client.ask(list(), NOW).unwrap();
    let (send, _) = hear(&mut client).only();
    client.answered(send.exchange, 400, None, Some(b"Bad Request"), NOW);
    let heard = hear(&mut client);
    assert_eq!(heard.methods(), Vec::<String>::new());
    heard.answer().unwrap_err();
}

#[test]
fn a_request_that_is_refused_for_its_version_is_sent_again_in_another() {
    let options = options(Channel::Stdio).with_verdict(Verdict(Revision::V2026_07_28));
    let mut client = open(Revision::V2025_11_25, options);
    let token = client.ask(list(), NOW).unwrap();
    let heard = hear(&mut client);
    let request = heard.messages().remove(0);
    let (_, initialize) = reaction(
        &mut client,
        &error(&request["id"], -32022, json!({"supported": ["2025-06-18"]})),
    )
    .only();
    assert_eq!(initialize["params"]["protocolVersion"], "2025-06-18");
    let heard = reaction(
        &mut client,
        &result(&initialize["id"], initialized("2025-06-18")),
    );
    let again = heard.messages().remove(1);
    assert_eq!(again["method"], "tools/list");
    assert_ne!(again["id"], request["id"], "a new id");
    let answers = reaction(&mut client, &result(&again["id"], json!({"tools": []}))).answers();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].0, token);
}

#[test]
fn what_the_server_says_of_itself_reaches_the_application_in_its_revision() {
    for version in ["2026-07-28", "2025-11-25", "2024-11-05"] {
        let mut client = client(Channel::Stdio);
        client.connect(NOW).unwrap();
        let (_, probe) = hear(&mut client).only();
        if version == "2026-07-28" {
            say(&mut client, &result(&probe["id"], discovered()));
        } else {
            let (_, initialize) =
                reaction(&mut client, &error(&probe["id"], -32601, Value::Null)).only();
            say(
                &mut client,
                &result(&initialize["id"], initialized(version)),
            );
        }
        let heard = hear(&mut client);
        let [Event::Settled(facts)] = heard.events.as_slice() else {
            panic!("{:?}", heard.events)
        };
        assert_eq!(facts.revision.id(), version);
        assert_eq!(facts.instructions.as_deref(), Some("be kind"));
        assert!(
            facts
                .capabilities
                .as_ref()
                .unwrap()
                .text()
                .contains("tools")
        );
        assert!(facts.info.as_ref().unwrap().text().contains("version"));
    }
}

#[test]
fn initialize_takes_the_version_that_the_server_offers_if_the_client_speaks_it() {
    for (version, expected) in [
        ("2024-11-05", true),
        ("2025-11-25", true),
        ("2026-07-28", false),
        ("1999-01-01", false),
    ] {
        let mut client = client(Channel::Stdio);
        let (_, id) = probed(&mut client);
        let (_, initialize) = reaction(&mut client, &error(&id, -32601, Value::Null)).only();
        assert_eq!(initialize["params"]["clientInfo"]["name"], "tester");
        assert_eq!(
            initialize["params"]["capabilities"]["roots"]["listChanged"],
            true
        );
        say(
            &mut client,
            &result(&initialize["id"], initialized(version)),
        );
        let heard = answer_first(&mut client, |first| {
            result(&first["id"], initialized(version))
        });
        match expected {
            true => assert_eq!(heard.methods(), ["notifications/initialized", "tools/list"]),
            false => {
                let failure = heard.answer().unwrap_err();
                let why = format!("no revision in common with the server, which speaks {version}");
                assert!(failure.starts_with(&why), "{failure}");
            }
        }
    }
}

#[test]
fn a_refused_handshake_is_tried_once_more_with_a_version_that_is_named() {
    let mut client = client(Channel::Stdio);
    let (_, id) = probed(&mut client);
    let (_, first) = reaction(&mut client, &error(&id, -32601, Value::Null)).only();
    let (_, second) = reaction(
        &mut client,
        &error(&first["id"], -32602, json!({"supported": ["2024-11-05"]})),
    )
    .only();
    assert_eq!(second["params"]["protocolVersion"], "2024-11-05");
    let failure = reaction(
        &mut client,
        &error(&second["id"], -32602, json!({"supported": ["2024-11-05"]})),
    )
    .answer()
    .unwrap_err();
    assert!(failure.contains("2024-11-05"), "{failure}");
}

#[test]
fn a_server_that_ended_is_spoken_to_as_before() {
    for (version, first) in [("2026-07-28", "tools/list"), ("2025-03-26", "initialize")] {
        let mut client = crate::client::settled(version);
        client.ask(list(), NOW).unwrap();
        hear(&mut client);
        client.closed(NOW);
        assert_eq!(
            hear(&mut client).answer(),
            Err("the connection ended before the answer".to_owned())
        );
        // Its successor is not probed.
        client.ask(list(), NOW).unwrap();
        let (_, sent) = hear(&mut client).only();
        assert_eq!(sent["method"], first);
    }
}
