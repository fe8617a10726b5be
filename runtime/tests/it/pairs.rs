//! The client endpoint against the server endpoint, in memory: every revision of both applications, every set of
//! revisions that either is willing to speak, over both channels.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::support::{Server, steps};
use mcp_revisions::core::values::method_name;
use mcp_revisions::mcp_wire::{Direction, ErrorObject, Json};
use mcp_revisions::sansio::client::{
    Answer, Channel, Client, Connection, Event, Failure, Options, OutgoingRequest, Output, Post,
    Profile, Token,
};
use mcp_revisions::{Lifecycle, Revision, RevisionSet, core::Headers};
use serde_json::{Value, json};

const NOW: Duration = Duration::ZERO;

/// The revisions that both ends can speak.
fn revisions() -> Vec<Revision> {
    RevisionSet::all().iter().collect()
}

/// Every set of revisions but the empty one.
fn sets() -> impl Iterator<Item = RevisionSet> {
    (1..1_u32 << revisions().len()).map(|bits| {
        let chosen = revisions()
            .into_iter()
            .enumerate()
            .filter(move |(index, _)| bits & (1 << index) != 0);
        chosen.map(|(_, revision)| revision).collect()
    })
}

/// What the client's application asks, and what its server's application is to see of it.
const ARGUMENTS: &str = r#"{"a":1.0,"b":[1e2,"\u00e9",{ }]}"#;

fn questions() -> Vec<(&'static str, Option<Json>)> {
    let text = |text: &str| Some(Json::from_text(text).unwrap());
    vec![
        ("tools/list", None),
        (
            "tools/call",
            text(&format!(r#"{{"name":"größe","arguments":{ARGUMENTS}}}"#)),
        ),
        ("resources/read", text(r#"{"uri":"file:///a b"}"#)),
        (
            "prompts/get",
            text(r#"{"name":"greet","arguments":{"name":"Ada"}}"#),
        ),
        (
            "completion/complete",
            text(
                r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"A"}}"#,
            ),
        ),
        ("prompts/list", text(r#"{"cursor":"c"}"#)),
        ("resources/read", text(r#"{"uri":"nowhere"}"#)),
    ]
}

/// What the application of a revision calls a method of clients that is called so in the revision of handlers.
fn called(method: &'static str, app: Revision) -> &'static str {
    method_name(method, Direction::ClientToServer, Revision::LATEST, app)
}

/// The server's application: its answer in its revision.
fn handle(method: &str, params: &Json, app: Revision) -> Result<Json, ErrorObject> {
    let rows = app.methods();
    assert!(
        rows.iter().any(|row| row.name == method),
        "the application of {app} has no {method}"
    );
    let method = method_name(method, Direction::ClientToServer, app, Revision::LATEST);
    let given: Value = params.parse().unwrap();
    let mut result = match method {
        "tools/list" => json!({"tools": [{"name": "größe", "inputSchema": {"type": "object"}}]}),
        "tools/call" => {
            assert_eq!(given["name"], "größe");
            let arguments = params.text().contains(ARGUMENTS);
            json!({"content": [{"type": "text", "text": format!("arguments as they were: {arguments}")}]})
        }
        "resources/read" if given["uri"] == "nowhere" => {
            let code = if app.lifecycle() == Lifecycle::PerRequest {
                ErrorObject::INVALID_PARAMS
            } else {
                -32002
            };
            return Err(ErrorObject::new(code, "nowhere to be found"));
        }
        "resources/read" => json!({"contents": [{"uri": given["uri"], "text": "content"}]}),
        "prompts/get" => {
            json!({"messages": [{"role": "user", "content": {"type": "text", "text": given["arguments"]["name"]}}]})
        }
        "completion/complete" => json!({"completion": {"values": [given["argument"]["value"]]}}),
        "prompts/list" => json!({"prompts": [], "nextCursor": given["cursor"]}),
        other => panic!("nobody asked {other}"),
    };
    if app.lifecycle() == Lifecycle::PerRequest {
        result["resultType"] = json!("complete");
        if method.ends_with("/list") || method == "resources/read" {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
    }
    Ok(Json::from(result))
}

/// The server side: its channels, as its transport would keep them.
struct Side {
    app: Revision,
    server: Server,
    /// Over stdio the one channel; over HTTP that of the session.
    channel: steps::Channel,
    over: Channel,
}

impl Side {
    fn new(app: Revision, over: Channel, served: RevisionSet) -> Self {
        let info = Json::from(json!({"name": "pairs", "version": "1"}));
        let capabilities = Json::from(json!({"tools": {}, "resources": {}, "prompts": {}}));
        let server = Server::new(app, Profile::new(&info, &capabilities))
            .unwrap()
            .with_revisions(served);
        Self {
            app,
            server,
            channel: steps::Channel::new(),
            over,
        }
    }

    /// What comes back for a text: the status, whether a session was opened, the body.
    fn post(&mut self, send: &Post) -> (u16, bool, Option<String>) {
        let headers = Headers::from_pairs(
            send.headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        let in_session = send
            .headers
            .iter()
            .any(|(name, _)| name == "Mcp-Session-Id");
        let mut fresh = steps::Channel::new();
        let (channel, headers) = match self.over {
            Channel::Stdio => (&mut self.channel, None),
            Channel::Http if in_session => (&mut self.channel, Some(&headers)),
            Channel::Http => (&mut fresh, Some(&headers)),
        };
        let received = self
            .server
            .receive(channel, headers, send.text.as_bytes(), NOW);
        if let Some(reply) = received.reply {
            if reply.opens_session && self.over == Channel::Http {
                self.channel = fresh;
            }
            return (reply.status, reply.opens_session, reply.body);
        }
        let [Event::Request(call)] = received.events.as_slice() else {
            panic!("{:?}", received.events)
        };
        let answer = handle(call.method, &call.params, self.app);
        let mut output = self.server.answer(channel, call.token, answer, NOW);
        assert_eq!(output.send.len(), 1, "{output:?}");
        let text = output.send.remove(0);
        assert!(text.last);
        (text.status, false, Some(text.body))
    }
}

/// One client against one server: the answers, and the revision that they settled on.
fn talk(
    client: Revision,
    server: Revision,
    over: Channel,
    ours: RevisionSet,
    theirs: RevisionSet,
) -> (Vec<Answer>, Option<Revision>) {
    let info = Json::from(json!({"name": "pairs", "version": "1"}));
    let options =
        Options::new(over, Profile::new(&info, &Json::from(json!({})))).with_revisions(ours);
    let app = client;
    let mut client = Connection::new(Client::new(app, options));
    let mut side = Side::new(server, over, theirs);
    let asked: Vec<Token> = questions()
        .into_iter()
        .map(|(method, params)| {
            let method = called(method, app);
            client
                .ask(OutgoingRequest::new(method, params), NOW)
                .unwrap()
        })
        .collect();
    let mut answers = BTreeMap::new();
    let mut sent = 0;
    while let Some(output) = client.poll() {
        match output {
            Output::Send(send) => {
                sent += 1;
                assert!(sent < 100, "they talk for ever");
                let (status, opens, body) = side.post(&send);
                match (over, body) {
                    (Channel::Stdio, Some(body)) => {
                        client.receive(None, body.as_bytes(), NOW);
                    }
                    (Channel::Stdio, None) => {}
                    (Channel::Http, body) => {
                        let session = opens.then_some("session");
                        client.answered(
                            send.exchange,
                            status,
                            session,
                            Some(body.unwrap_or_default().as_bytes()),
                            NOW,
                        );
                    }
                }
            }
            Output::Event(Event::Answered(answered)) => {
                let before = answers.insert(answered.token, answered.answer);
                assert!(before.is_none(), "a second answer");
            }
            Output::Event(Event::Settled(_) | Event::NotSettled(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(client.pending(), 0);
    assert!(asked.iter().eq(answers.keys()), "an answer to each");
    (
        answers.into_values().collect(),
        client.verdict().map(|verdict| verdict.0),
    )
}

/// What two applications must make of the questions, whatever was spoken between them.
fn check(client: Revision, answers: &[Answer], what: &str) {
    let value = |index: usize| -> Value {
        let Answer::Result(result) = &answers[index] else {
            panic!("{what}: {:?}", answers[index])
        };
        result.parse().unwrap()
    };
    assert_eq!(value(0)["tools"][0]["name"], "größe", "{what}");
    assert_eq!(
        value(1)["content"][0]["text"],
        "arguments as they were: true",
        "{what}"
    );
    assert_eq!(value(2)["contents"][0]["uri"], "file:///a b", "{what}");
    assert_eq!(value(3)["messages"][0]["content"]["text"], "Ada", "{what}");
    assert_eq!(value(4)["completion"]["values"], json!(["A"]), "{what}");
    assert_eq!(value(5)["nextCursor"], "c", "{what}");
    let per_request = client.lifecycle() == Lifecycle::PerRequest;
    for index in 0..6 {
        assert_eq!(
            value(index).get("resultType").is_some(),
            per_request,
            "{what}"
        );
    }
    let Answer::Error(error) = &answers[6] else {
        panic!("{what}: {:?}", answers[6])
    };
    assert_eq!(error.message, "nowhere to be found", "{what}");
    let code = error.code.as_i64().unwrap();
    assert!([-32002, -32602].contains(&code), "{what}: {code}");
    assert!(
        !per_request || code == -32602,
        "{what}: a code that the application's revision does not send"
    );
}

fn apps(client: Revision, server: Revision) {
    for over in [Channel::Stdio, Channel::Http] {
        for served in sets() {
            let what = format!("client {client}, server {server} serving {served}, {over:?}");
            let (answers, spoken) = talk(client, server, over, RevisionSet::all(), served);
            check(client, &answers, &what);
            // The client's own revision comes first. A handshake server offers its latest in place of it, and a server of the
            // other lifecycle is spoken to in its latest.
            let own = served.iter().find(|revision| *revision == client);
            let expected = own
                .or_else(|| served.latest(client.lifecycle()))
                .or_else(|| served.iter().next());
            assert_eq!(spoken, expected, "{what}");
        }
    }
}

/// Each speaks its own names and members, whatever the other end calls them.
#[test]
fn every_client_and_every_server() {
    std::thread::scope(|scope| {
        for client in revisions() {
            scope.spawn(move || {
                for server in revisions() {
                    apps(client, server);
                }
            });
        }
    });
}

#[test]
fn two_sets_come_together_exactly_where_a_common_revision_is_to_be_found() {
    for over in [Channel::Stdio, Channel::Http] {
        for ours in sets() {
            for theirs in sets() {
                let what = format!("client speaks {ours}, server {theirs}, {over:?}");
                let (answers, spoken) = talk(
                    Revision::V2025_11_25,
                    Revision::V2025_06_18,
                    over,
                    ours,
                    theirs,
                );
                match spoken {
                    Some(revision) => {
                        assert!(
                            ours.contains(revision) && theirs.contains(revision),
                            "{what}: {revision}"
                        );
                        check(Revision::V2025_11_25, &answers, &what);
                    }
                    None => {
                        let told = |answer: &Answer| {
                            matches!(
                                answer,
                                Answer::Failed(
                                    Failure::NoCommonRevision(_)
                                        | Failure::StartRefused(..)
                                        | Failure::NotNegotiated(..)
                                )
                            )
                        };
                        assert!(answers.iter().all(told), "{what}: {answers:?}");
                        assert!(
                            !reachable(ours, theirs),
                            "{what}: they did not find each other"
                        );
                    }
                }
            }
        }
    }
}

/// Whether the rules of the protocol lead two sets to a revision.
///
/// A handshake server counter-offers its latest revision alone, so an older common one that the client did not offer is missed.
fn reachable(ours: RevisionSet, theirs: RevisionSet) -> bool {
    let per_request = !ours.and(theirs).and(RevisionSet::per_request()).is_empty();
    let offer = ours.latest(Lifecycle::Handshake);
    let counter = theirs.latest(Lifecycle::Handshake);
    per_request
        || offer.is_some_and(|offer| theirs.contains(offer))
        || counter.is_some_and(|counter| ours.contains(counter))
}
