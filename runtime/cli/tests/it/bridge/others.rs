//! Methods that no revision has, and members that nobody names, pass the bridge as they are.

use mcp_revisions::sansio::client::{Answer, OutgoingRequest};
use mcp_revisions::sansio::server::{Fate, To};
use mcp_revisions_core::{Lifecycle, Revision};
use mcp_wire::Json;

use crate::bridge::talk::{Talk, bridge};

/// Members in an order of their own, and numbers as they are spelled.
const TEXT: &str = r#"{"z":1.0,"a":1e2,"n":100000000000000000000000001}"#;

#[test]
fn what_a_client_says_unasked_reaches_the_server() {
    let handshake = || {
        Revision::NEGOTIATED
            .iter()
            .filter(|it| it.lifecycle() == Lifecycle::Handshake)
    };
    for client in handshake() {
        for server in handshake() {
            let mut talk = Talk::new(*client, bridge(&["--loss-log", "off"], *server));
            talk.adds();
            let (method, now) = ("notifications/roots/list_changed", talk.start.elapsed());
            let said = talk.client.notify(To::Session, method, None, now);
            assert_eq!(said.fate, Fate::Sent, "{client}, {server}");
            let heard = talk.hears("acme/heard");
            assert_eq!(heard["method"], method, "{client}, {server}");
            let (code, said) = talk.ends();
            assert_eq!(code, Some(0), "{client}, {server}: {said}");
        }
    }
}

#[test]
fn what_no_revision_names_passes_untouched() {
    for client in Revision::NEGOTIATED {
        for server in Revision::NEGOTIATED {
            let ends = format!("{client} in front of {server}");
            let mut talk = Talk::new(*client, bridge(&["--loss-log", "off"], *server));
            let params = || Some(Json::from_text(TEXT).unwrap());
            let greeted = talk.ask(OutgoingRequest::new("acme/greet", params()));
            let answers = talk.answers(&[greeted]);
            let Answer::Result(result) = &answers[&greeted] else {
                panic!("{ends}: {answers:?}")
            };
            let text = result.text();
            let inner = TEXT.trim_matches(['{', '}']);
            let begins = r#""z":1.0,"method":"acme/greet","params":{"#;
            assert!(text.contains(begins), "{ends}: {text}");
            assert!(text.contains(inner), "{ends}: {text}");
            // A server that asks by requests asks a client that takes some.
            let asks = [client, server]
                .iter()
                .all(|end| end.lifecycle() == Lifecycle::Handshake);
            let asked = text.split(r#""asked":"#).nth(1).unwrap();
            assert_eq!(asked.contains(inner), asks, "{ends}: {text}");
            talk.hears("acme/soon");
            if asks {
                let _ = talk.client.notify(
                    To::Session,
                    "acme/hello",
                    params().as_ref(),
                    talk.start.elapsed(),
                );
                let heard = talk.hears("acme/heard").to_string();
                assert!(heard.contains("\"z\":1.0"), "{ends}: {heard}");
            }
            let (code, said) = talk.ends();
            assert_eq!(code, Some(0), "{ends}: {said}");
        }
    }
}
