//! Methods that no revision has, or not the one that is spoken: both ends pass them on as they are, in every revision and in both directions.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::client::{Answer, Channel, Client, Options, OutgoingRequest, Post};
use mcp_revisions::sansio::server::{Event, Fate, Outgoing, Output, Profile, Server, To};
use mcp_revisions::{Lifecycle, Revision, RevisionSet, sansio::Connection};
use serde_json::json;

const NOW: Duration = Duration::ZERO;

/// Members in an order of their own, a number as it is spelled, a name that is nobody's.
const TEXT: &str = r#"{"z":1.0,"a":1e2,"_meta":{"acme":[1.50]}}"#;

/// Both ends of one conversation, and what each was told.
struct Pair {
    client: Connection<Client>,
    server: Connection<Server>,
    at_client: Vec<Event>,
    at_server: Vec<Event>,
    said: Vec<String>,
}

impl Pair {
    fn new(app: Revision, peer: Revision) -> Self {
        let info = Json::from(json!({ "name": "one", "version": "1" }));
        let profile = || Profile::new(&info, &Json::from(json!({})));
        let only = RevisionSet::none().with(peer);
        let options = Options::new(Channel::Stdio, profile())
            .with_revisions(only)
            .with_other_methods();
        let server = Server::new(app, profile()).unwrap().with_revisions(only);
        let mut pair = Self {
            client: Connection::new(Client::new(app, options)),
            server: Connection::new(server.with_other_methods()),
            at_client: Vec::new(),
            at_server: Vec::new(),
            said: Vec::new(),
        };
        pair.client.connect(NOW).unwrap();
        pair.run();
        pair.at_client.clear();
        pair.at_server.clear();
        pair.said.clear();
        pair
    }

    /// Carries texts until there are no more.
    fn run(&mut self) {
        loop {
            if let Some(output) = self.client.poll() {
                match output {
                    Output::Send(Post { text, .. }) => {
                        self.server.receive(None, text.as_bytes(), NOW);
                        self.said.push(text);
                    }
                    Output::Event(event) => self.at_client.push(event),
                    _ => {}
                }
            } else if let Some(output) = self.server.poll() {
                match output {
                    Output::Send(Outgoing { body, .. }) => {
                        self.client.receive(None, body.as_bytes(), NOW);
                        self.said.push(body);
                    }
                    Output::Event(event) => self.at_server.push(event),
                    _ => {}
                }
            } else {
                return;
            }
        }
    }
}

/// Sends messages of these methods in both directions; each arrives as it was sent.
fn they_pass(app: Revision, peer: Revision, methods: [&str; 5]) {
    let [greet, soon, hello, news, who] = methods;
    let mut pair = Pair::new(app, peer);
    let is_per_request = peer.lifecycle() == Lifecycle::PerRequest;
    let params = || Some(Json::from_text(TEXT).unwrap());

    // A request of the client, with what a per-request one says of itself, and its answer.
    let claims = r#"{"z":1.0,"a":1e2,"_meta":{"acme":[1.50],"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
    let claimed = Some(Json::from_text(claims).unwrap());
    pair.client
        .ask(OutgoingRequest::new(greet, claimed), NOW)
        .unwrap();
    pair.run();
    let Some(Event::CustomRequest(call)) = pair.at_server.pop() else {
        panic!("{peer}: {:?}", pair.at_server)
    };
    let text = call.params.text();
    assert!(
        text.starts_with(r#"{"z":1.0,"a":1e2,"_meta":{"acme":[1.50]"#),
        "{text}"
    );
    assert_eq!(
        text.contains("protocolVersion"),
        is_per_request,
        "{peer}: {text}"
    );
    // What it says meanwhile goes with it.
    let fate = pair
        .server
        .notify(To::Request(call.token), soon, params().as_ref(), NOW);
    assert_eq!(fate.fate, Fate::Sent);
    let result = Json::from_text(TEXT).unwrap();
    let _ = pair.server.answer(call.token, Ok(result.clone()), NOW);
    pair.run();
    let [Event::CustomNotification(notice), Event::Answered(answered)] = &pair.at_client[..] else {
        panic!("{peer}: {:?}", pair.at_client)
    };
    assert_eq!((notice.method.as_str(), notice.params.text()), (soon, TEXT));
    let Answer::Result(result) = &answered.answer else {
        panic!("{peer}: {answered:?}")
    };
    assert!(
        result
            .text()
            .contains(r#""z":1.0,"a":1e2,"_meta":{"acme":[1.50]"#),
        "{peer}: {result:?}"
    );
    pair.at_client.clear();

    // A notification of the client.
    let fate = pair
        .client
        .notify(To::Session, hello, params().as_ref(), NOW);
    assert_eq!(fate.fate, Fate::Sent);
    pair.run();
    if !is_per_request {
        let Some(Event::CustomNotification(notice)) = pair.at_server.pop() else {
            panic!("{peer}: {:?}", pair.at_server)
        };
        assert_eq!(notice.params.text(), TEXT);
    }

    // What the server says by itself, a per-request client does not take.
    let fate = pair
        .server
        .notify(To::Session, news, params().as_ref(), NOW);
    let asked = pair.server.ask(OutgoingRequest::new(who, params()), NOW);
    pair.run();
    if is_per_request {
        assert_eq!(fate.fate, Fate::Dropped("no-session"));
        assert!(matches!(asked, Err(Fate::Refused(_))), "{asked:?}");
        return;
    }
    assert_eq!(fate.fate, Fate::Sent);
    let [
        Event::CustomNotification(notice),
        Event::CustomRequest(call),
    ] = &pair.at_client[..]
    else {
        panic!("{peer}: {:?}", pair.at_client)
    };
    assert_eq!((notice.params.text(), call.params.text()), (TEXT, TEXT));
    let (token, wanted) = (call.token, asked.unwrap());
    let _ = pair
        .client
        .answer(token, Ok(Json::from_text(TEXT).unwrap()), NOW);
    pair.run();
    let Some(Event::Answered(answered)) = pair.at_server.pop() else {
        panic!("{peer}: {:?}", pair.at_server)
    };
    assert_eq!(answered.token, wanted);
    assert_eq!(
        answered.answer,
        Answer::Result(Json::from_text(TEXT).unwrap())
    );
    // And one that is taken back is called off.
    let asked = pair
        .server
        .ask(OutgoingRequest::new(who, None), NOW)
        .unwrap();
    pair.server.cancel(asked, None, NOW);
    pair.run();
    assert!(
        pair.at_client
            .iter()
            .any(|event| matches!(event, Event::Cancelled(_))),
        "{peer}: {:?}",
        pair.at_client
    );
}

#[test]
fn they_pass_in_every_revision_both_ways() {
    for app in Revision::NEGOTIATED {
        for peer in Revision::NEGOTIATED {
            let methods = [
                "acme/greet",
                "acme/soon",
                "acme/hello",
                "acme/news",
                "acme/who",
            ];
            they_pass(*app, *peer, methods);
        }
    }
}

/// A server may have tasks before its revision has them, and its client may know that.
#[test]
fn what_one_revision_lacks_passes_between_two_peers_that_speak_it() {
    for revision in Revision::NEGOTIATED {
        let rows = Revision::CONVERTED.iter().flat_map(|one| one.methods());
        let names: BTreeSet<&str> = rows.map(|row| row.name).collect();
        let lacks = |name: &&&str| !revision.methods().iter().any(|row| row.name == **name);
        let missing: Vec<&str> = names.iter().filter(lacks).copied().collect();
        assert!(!missing.is_empty(), "{revision}");
        for method in missing {
            they_pass(*revision, *revision, [method; 5]);
        }
    }
}

#[test]
fn requests_that_a_revision_has_are_not_passed_on_and_others_only_where_that_is_wanted() {
    let mut pair = Pair::new(Revision::V2025_11_25, Revision::V2025_06_18);
    // The client declared no roots.
    let asked = (pair.server).ask(OutgoingRequest::new("roots/list", None), NOW);
    assert!(matches!(asked, Err(Fate::Refused(_))), "{asked:?}");
    let info = Json::from(json!({ "name": "one", "version": "1" }));
    let profile = Profile::new(&info, &Json::from(json!({})));
    let plain = Server::new(Revision::V2025_11_25, profile).unwrap();
    let mut server = Connection::new(plain);
    let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    for text in [initialize, initialized] {
        server.receive(None, text.to_string().as_bytes(), NOW);
    }
    let asked = server.ask(OutgoingRequest::new("acme/who", None), NOW);
    assert!(matches!(asked, Err(Fate::Refused(_))), "{asked:?}");
}
