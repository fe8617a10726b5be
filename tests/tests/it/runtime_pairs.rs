//! Every revision of a peer with every revision of an application, through one endpoint and with every method.
//!
//! On one channel there is a handshake session, and between its requests come those of the per-request lifecycle.
//! Params are drawn from the peer's model and must reach the application as params of its own revision; results are
//! drawn from the application's model, come in another order than their requests, and must reach the peer as results of
//! its revision. Both are judged by the schema, by the `jsonschema` crate.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::runtime::{Voice, voices};
use crate::steps::{Channel, Server};
use mcp_revisions::core::values::method_name;
use mcp_revisions::mcp_wire::{self, Direction, Extra, Json, JsonObject, MethodInfo, MethodKind};
use mcp_revisions::sansio::server::{Event, Fate, IncomingRequest, Profile};
use mcp_revisions::{Lifecycle, Limits, Revision, mcp_wire::meta};
use mcp_tests::parallel;
use mcp_tests::random::{Random, seed};
use serde_json::{Value, json};

const NOW: Duration = Duration::ZERO;

fn row(revision: Revision, method: &str) -> Option<&'static MethodInfo> {
    mcp_revisions::core::translate::find_method(
        revision,
        method,
        Direction::ClientToServer,
        MethodKind::Request,
    )
}

/// The requests of a client that are the application's business.
fn methods(voice: &Voice<'_>) -> impl Iterator<Item = &'static MethodInfo> {
    let protocol = ["initialize", "ping", "logging/setLevel", "server/discover"];
    let rows = voice.rows(Direction::ClientToServer, MethodKind::Request);
    let (sender, of) = (Direction::ClientToServer, voice.revision);
    rows.filter(move |row| !protocol.contains(&method_name(row.name, sender, of, Revision::LATEST)))
}

/// A request that was sent, and what has to answer it.
struct Sent<'v, 'm> {
    voice: &'v Voice<'m>,
    method: &'static MethodInfo,
    text: String,
}

/// What is said where a draft demands what nothing says.
const UNFILLED: &str = "nothing says what it is";

#[derive(Default)]
struct Counts {
    calls: usize,
    answers: usize,
    errors: BTreeMap<String, usize>,
    failures: Vec<String>,
    methods: BTreeSet<&'static str>,
}

#[test]
fn every_pair_of_revisions_with_every_method_on_one_channel() {
    let models = crate::specs::models();
    let voices = voices(models);
    // A peer of a draft with the string of a release on the wire is taken for one of the release.
    let of = |lifecycle| {
        let peers = (voices.iter()).filter(|peer| peer.revision.is_negotiated());
        peers.filter(move |peer| peer.revision.lifecycle() == lifecycle)
    };
    let peers = || {
        let handshake = of(Lifecycle::Handshake);
        handshake.flat_map(|handshake| {
            of(Lifecycle::PerRequest).map(move |per_request| (handshake, per_request))
        })
    };
    let jobs: Vec<_> = (voices.iter())
        .flat_map(|app| peers().map(move |(handshake, per_request)| (app, handshake, per_request)))
        .collect();
    let done = parallel::map(&jobs, |&(app, peer, per_request)| {
        one_channel(app, peer, per_request)
    });
    let mut failures = Vec::new();
    for ((app, peer, per_request), counts) in jobs.iter().zip(done) {
        let Counts {
            calls,
            answers,
            errors,
            failures: found,
            methods,
        } = counts;
        println!(
            "application {}, peers {} and {}: {} methods, {calls} calls, {answers} results, errors {errors:?}",
            app.revision,
            peer.revision,
            per_request.revision,
            methods.len(),
        );
        // A draft may demand what nobody has said yet how it comes to be.
        let open = errors.get(UNFILLED).copied().unwrap_or_default();
        assert!(
            methods.len() >= 7 && calls + open > 100 && answers + open > 100,
            "too little was tried"
        );
        failures.extend(found.into_iter().map(|what| {
            let [app, peer, per_request] = [app, peer, per_request].map(|voice| voice.revision);
            format!("app {app} peers {peer} and {per_request}: {what}")
        }));
    }
    let shown: Vec<_> = failures.iter().take(20).cloned().collect();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        shown.join("\n")
    );
}

/// The application, its handshake peer and its per-request one.
fn one_channel(app: &Voice<'_>, handshake: &Voice<'_>, per_request: &Voice<'_>) -> Counts {
    let round = format!("{} {}", app.revision, handshake.revision);
    let mut random = Random::new(seed(&[&round]));
    let capabilities = r#"{"tools":{},"prompts":{},"resources":{},"logging":{}}"#;
    let info = app.info();
    let profile = Profile::new(&info, &Json::from_text(capabilities).unwrap());
    // Progress tokens are drawn as long as any string: what is told here is how they are said, not how long they may be.
    let limits = Limits::default();
    let server = Server::new(app.revision, profile)
        .unwrap()
        .with_limits(Limits {
            max_identifier_bytes: limits.max_message_bytes,
            ..limits
        });
    let mut channel = Channel::bare();
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": handshake.revision.protocol_version(), "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
    let received = server.receive(&mut channel, None, initialize.to_string().as_bytes(), NOW);
    let body: Value = serde_json::from_str(&received.reply.unwrap().body.unwrap()).unwrap();
    let mut counts = Counts::default();
    counts.failures.extend(
        handshake
            .judged(Some("InitializeResult"), &body["result"].to_string())
            .err(),
    );
    let mut waiting: Vec<(IncomingRequest, usize)> = Vec::new();
    let mut requests = requests(handshake, &round);
    requests.extend(self::requests(per_request, &round));
    random.shuffle(&mut requests);
    let results: BTreeMap<&str, Vec<String>> = methods(app)
        .map(|method| (method.name, completed(app.samples(method.result, &round))))
        .collect();
    for (id, sent) in requests.iter().enumerate() {
        let Sent {
            voice,
            method,
            text,
        } = sent;
        let whole = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{}","params":{text}}}"#,
            method.name
        );
        let received = server.receive(&mut channel, None, whole.as_bytes(), NOW);
        let called = received.events.iter().find_map(|event| match event {
            Event::Request(call) => Some(call.clone()),
            _ => None,
        });
        counts.methods.insert(method.name);
        match (called, received.reply) {
            (Some(call), None) => {
                counts.calls += 1;
                let fits = match row(app.revision, call.method) {
                    Some(row) => app.judged(row.params, call.params.text()),
                    None => Err(format!("the application has no {}", call.method)),
                };
                if let Err(why) = fits {
                    let what = format!(
                        "params of {} from {}: {why}\n  {whole}\n  {}",
                        call.method, voice.revision, call.params
                    );
                    counts.failures.push(what);
                }
                waiting.push((call, id));
            }
            (None, Some(reply)) => refused(sent, id, reply.body.as_deref().unwrap(), &mut counts),
            other => counts.failures.push(format!(
                "neither called nor answered, or both: {other:?}\n  {whole}"
            )),
        }
        while waiting.len() > random.below(8) {
            let (call, id) = waiting.swap_remove(random.below(waiting.len()));
            let samples = results
                .get(call.method)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let result = random
                .pick(samples)
                .cloned()
                .unwrap_or_else(|| "{}".to_owned());
            answer(
                &server,
                &mut channel,
                &call,
                &requests[id],
                id,
                &result,
                &mut counts,
            );
        }
    }
    for (call, id) in waiting {
        let result = results[call.method][0].clone();
        answer(
            &server,
            &mut channel,
            &call,
            &requests[id],
            id,
            &result,
            &mut counts,
        );
    }
    if channel.pending() > 0 {
        counts
            .failures
            .push(format!("{} requests still wait", channel.pending()));
    }
    counts
}

/// The same results, of a type that the protocol knows; but for a few, which no older peer can be told.
fn completed(samples: Vec<String>) -> Vec<String> {
    let complete = |(index, text): (usize, String)| {
        let mut members: Extra = mcp_wire::from_str(&text).unwrap();
        if !members.contains_key("resultType") || index % 8 == 7 {
            return text;
        }
        // What asks for input may say nothing else, and a result that is complete has one of these.
        let whole = [
            "content",
            "messages",
            "contents",
            "completion",
            "tools",
            "prompts",
            "resources",
            "resourceTemplates",
        ];
        let is_whole = whole.iter().any(|name| members.contains_key(name));
        members.insert(
            "resultType",
            Json::of(if is_whole {
                "complete"
            } else {
                "input_required"
            }),
        );
        mcp_wire::to_string(&members)
    };
    samples.into_iter().enumerate().map(complete).collect()
}

fn requests<'v, 'm>(voice: &'v Voice<'m>, round: &str) -> Vec<Sent<'v, 'm>> {
    let mut requests = Vec::new();
    for method in methods(voice) {
        for mut text in voice.samples(method.params, round) {
            if voice.revision.lifecycle() == Lifecycle::PerRequest {
                let claim = Json::of(voice.revision.protocol_version());
                let params = Json::from_text(&text).unwrap();
                text = meta::with(&params, meta::PROTOCOL_VERSION, &claim).into_text();
            }
            requests.push(Sent {
                voice,
                method,
                text,
            });
        }
    }
    requests
}

/// What no revision on the way can say is answered with an error, which says so.
fn refused(sent: &Sent<'_, '_>, id: usize, body: &str, counts: &mut Counts) {
    let body: Value = serde_json::from_str(body).unwrap();
    let message = body["error"]["message"].as_str().unwrap_or_default();
    let reasons = [
        "adapter",
        "tasks are not",
        "not part of",
        "has no such",
        "no counterpart",
        "no method",
        UNFILLED,
    ];
    let known = reasons.iter().find(|reason| message.contains(**reason));
    match known {
        Some(reason) if body["id"] == json!(id) => {
            *counts.errors.entry((*reason).to_owned()).or_default() += 1
        }
        _ => counts.failures.push(format!(
            "{} was refused: {body}\n  {}",
            sent.method.name, sent.text
        )),
    }
}

fn answer(
    server: &Server,
    channel: &mut Channel,
    call: &IncomingRequest,
    sent: &Sent<'_, '_>,
    id: usize,
    result: &str,
    counts: &mut Counts,
) {
    let Sent { voice, method, .. } = sent;
    let output = server.answer(
        channel,
        call.token,
        Ok(Json::from_text(result).unwrap()),
        NOW,
    );
    let [outgoing] = output.send.as_slice() else {
        counts.failures.push(format!(
            "{} texts answer {}: {output:?}",
            output.send.len(),
            method.name
        ));
        return;
    };
    let body: JsonObject = mcp_wire::from_str(&outgoing.body).unwrap();
    assert_eq!(
        body.get("id").unwrap().text(),
        id.to_string(),
        "the answer of another request"
    );
    if let Some(given) = body.get("result") {
        counts.answers += 1;
        if let Err(why) = voice.judged(method.result, given.text()) {
            let what = format!(
                "result of {} to {}: {why}\n  {result}\n  {given}",
                method.name, voice.revision
            );
            counts.failures.push(what);
        }
        return;
    }
    let error: Value = serde_json::from_str(body.get("error").unwrap().text()).unwrap();
    let message = error["message"].as_str().unwrap();
    // What cannot be said needs an adapter, or is refused by a rule.
    let reason = match &output.fate {
        Fate::RequiresState(needs) => needs.rule.to_owned(),
        Fate::Refused(_) if message.contains("revision") => "refused by a rule".to_owned(),
        // A draft has what no rule says anything of yet.
        Fate::Refused(_) if message.contains("has no counterpart in") => "open".to_owned(),
        Fate::Sent if error["code"] == -32021 => "capability".to_owned(),
        _ => {
            let what = format!(
                "{} to {}: {error} {:?}\n  {result}",
                method.name, voice.revision, output.fate
            );
            counts.failures.push(what);
            return;
        }
    };
    *counts.errors.entry(reason).or_default() += 1;
}
