//! What is said unasked, between every pair of revisions: notifications both ways, and requests of servers.
//!
//! Params and results are drawn from the model of whoever says them, and must reach the other in its own revision,
//! judged by its schema, or be dropped, refused or put aside by a rule.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::runtime::{Voice, voices};
use crate::steps::{Channel, Output, Server};
use mcp_revisions::Lifecycle;
use mcp_revisions::core::translate::find_method;
use mcp_revisions::mcp_wire::{Direction, Json, JsonObject, MethodInfo, MethodKind, from_str};
use mcp_revisions::sansio::server::{Answer, Event, Fate, Ignored, Profile, To};
use mcp_tests::parallel;
use serde_json::json;

const NOW: Duration = Duration::ZERO;

#[derive(Default)]
struct Counts {
    reached: usize,
    stopped: BTreeMap<String, usize>,
    failures: Vec<String>,
}

impl Counts {
    fn stop(&mut self, why: impl Into<String>) {
        *self.stopped.entry(why.into()).or_default() += 1;
    }

    fn judge(&mut self, voice: &Voice<'_>, definition: Option<&str>, given: &str, from: &str) {
        self.reached += 1;
        if let Err(why) = voice.judged(definition, given) {
            let what = format!(
                "{definition:?} of {}: {why}\n  {from}\n  {given}",
                voice.revision
            );
            self.failures.push(what);
        }
    }
}

#[test]
fn what_is_said_unasked_reaches_every_peer_in_its_own_revision() {
    let models = crate::specs::models();
    let voices = voices(models);
    let handshake = |peer: &&Voice<'_>| peer.revision.lifecycle() == Lifecycle::Handshake;
    let jobs: Vec<(&Voice<'_>, &Voice<'_>)> = voices
        .iter()
        .flat_map(|app| voices.iter().filter(handshake).map(move |peer| (app, peer)))
        .collect();
    let done = parallel::map(&jobs, |&(app, peer)| one_session(app, peer));
    let mut failures = Vec::new();
    for ((app, peer), counts) in jobs.iter().zip(done) {
        let (app, peer) = (app.revision, peer.revision);
        println!(
            "application {app}, peer {peer}: {} reached, {:?}",
            counts.reached, counts.stopped
        );
        assert!(counts.reached > 50, "too little was tried");
        let named = |what| format!("app {app} peer {peer}: {what}");
        failures.extend(counts.failures.into_iter().map(named));
    }
    let shown: Vec<_> = failures.iter().take(20).cloned().collect();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        shown.join("\n")
    );
}

/// The application and its handshake peer.
fn one_session(app: &Voice<'_>, peer: &Voice<'_>) -> Counts {
    let capabilities = Json::from_text(r#"{"tools":{},"logging":{}}"#).unwrap();
    let info = app.info();
    let server = Server::new(app.revision, Profile::new(&info, &capabilities)).unwrap();
    let mut channel = Channel::bare();
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": peer.revision.protocol_version(),
        "capabilities": {"roots": {}, "sampling": {}, "elicitation": {}},
        "clientInfo": {"name": "c", "version": "1"},
    }});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    for message in [initialize, initialized] {
        server.receive(&mut channel, None, message.to_string().as_bytes(), NOW);
    }
    let mut counts = Counts::default();
    to_peer(&server, &mut channel, app, peer, &mut counts);
    from_peer(&server, &mut channel, app, peer, &mut counts);
    requests(&server, &mut channel, app, peer, &mut counts);
    counts
}

/// The params of the only message of an output.
fn sent_params(output: &Output) -> (JsonObject, String) {
    let [sent] = output.send.as_slice() else {
        panic!("{output:?}")
    };
    let body: JsonObject = from_str(&sent.body).unwrap();
    let params = body
        .get("params")
        .map_or_else(|| "{}".to_owned(), Json::into_text);
    (body, params)
}

/// The method of a message, in its receiver's revision.
fn named(
    message: &JsonObject,
    peer: &Voice<'_>,
    direction: Direction,
    kind: MethodKind,
) -> Option<&'static MethodInfo> {
    let method: String = message.get("method")?.read().ok()?;
    find_method(peer.revision, &method, direction, kind)
}

fn to_peer(
    server: &Server,
    channel: &mut Channel,
    app: &Voice<'_>,
    peer: &Voice<'_>,
    counts: &mut Counts,
) {
    let (direction, kind) = (Direction::ServerToClient, MethodKind::Notification);
    for row in app.rows(direction, kind) {
        for text in app.samples(row.params, "to peer") {
            let params = Json::from_text(&text).unwrap();
            let output = server.notify(channel, To::Session, row.name, Some(&params), NOW);
            match &output.fate {
                Fate::Sent => {
                    let (body, given) = sent_params(&output);
                    let there = named(&body, peer, direction, kind);
                    let there = there.expect("a notification that the peer does not know");
                    counts.judge(peer, there.params, &given, &text);
                }
                Fate::Dropped(rule) => counts.stop(*rule),
                Fate::RequiresState(needs) => counts.stop(needs.rule),
                other => counts
                    .failures
                    .push(format!("{}: {other:?}\n  {text}", row.name)),
            }
        }
    }
}

fn from_peer(
    server: &Server,
    channel: &mut Channel,
    app: &Voice<'_>,
    peer: &Voice<'_>,
    counts: &mut Counts,
) {
    let (direction, kind) = (Direction::ClientToServer, MethodKind::Notification);
    let own = ["notifications/initialized", "notifications/cancelled"];
    for row in peer
        .rows(direction, kind)
        .filter(|row| !own.contains(&row.name))
    {
        for text in peer.samples(row.params, "from peer") {
            let whole = format!(
                r#"{{"jsonrpc":"2.0","method":"{}","params":{text}}}"#,
                row.name
            );
            let received = server.receive(channel, None, whole.as_bytes(), NOW);
            assert_eq!(received.reply.unwrap().body, None);
            match received.events.as_slice() {
                [Event::Notification(notice)] => {
                    let here = find_method(app.revision, notice.method, direction, kind);
                    let here = here.expect("a notification that the application does not know");
                    counts.judge(app, here.params, notice.params.text(), &text);
                }
                [Event::Ignored(Ignored::Dropped(_, rule))] => counts.stop(*rule),
                [Event::RequiresState(_, needs)] => counts.stop(needs.rule),
                other => counts
                    .failures
                    .push(format!("{}: {other:?}\n  {text}", row.name)),
            }
        }
    }
}

fn requests(
    server: &Server,
    channel: &mut Channel,
    app: &Voice<'_>,
    peer: &Voice<'_>,
    counts: &mut Counts,
) {
    let (direction, kind) = (Direction::ServerToClient, MethodKind::Request);
    for row in app.rows(direction, kind) {
        for (key, text) in app.samples(row.params, "request").into_iter().enumerate() {
            let params = Json::from_text(&text).unwrap();
            let (token, output) = server.ask(channel, None, row.name, Some(&params), NOW);
            match &output.fate {
                Fate::Sent => {}
                Fate::Refused(error) => {
                    // By a rule, and not because what the application said could not be read.
                    assert!(
                        !error.message.contains("expected"),
                        "{}: {error:?}\n  {text}",
                        row.name
                    );
                    counts.stop(format!("refused: {}", error.message));
                    continue;
                }
                other => {
                    counts
                        .failures
                        .push(format!("{}: {other:?}\n  {text}", row.name));
                    continue;
                }
            }
            let (body, given) = sent_params(&output);
            let there = named(&body, peer, direction, kind);
            let there = there.expect("a request that the peer does not know");
            counts.judge(peer, there.params, &given, &text);
            let results = peer.samples(there.result, "request");
            let result = &results[key % results.len()];
            let id = body.get("id").unwrap();
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
            let received = server.receive(channel, None, answer.as_bytes(), NOW);
            let [Event::Answered(answered)] = received.events.as_slice() else {
                panic!("{received:?}")
            };
            assert_eq!(Some(answered.token), token, "the answer of another request");
            match &answered.answer {
                Answer::Result(given) => counts.judge(app, row.result, given.text(), result),
                Answer::Error(error) if error.message.contains("adapter") => counts.stop("adapter"),
                Answer::Error(error) if error.message.contains("not part of revision") => {
                    counts.stop(format!("answer refused: {}", error.message));
                }
                other => counts
                    .failures
                    .push(format!("{}: {other:?}\n  {result}", row.name)),
            }
        }
    }
    assert_eq!(channel.asked(), 0);
}
