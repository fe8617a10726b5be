//! Random interleavings against a model: every request gets exactly one answer, in its own revision, and none gets
//! another's.
//!
//! Five channels, each with a session of another revision and per-request requests in between; batches, cancellations, ids
//! taken twice, answers in any order, answers given twice. All of it drawn from a seed, which a failure prints.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Channel, NOW, Received, Server, open, server};
use mcp_revisions::Revision;
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::{Event, Exchange, Fate, IncomingRequest, Outgoing};
use serde_json::{Value, json};

/// What a request has to be answered with.
#[derive(Debug, Clone, PartialEq)]
struct Expected {
    revision: Revision,
    cursor: String,
    exchange: Exchange,
}

/// One channel, and what the model knows of it.
struct Line {
    channel: Channel,
    session: Revision,
    /// By the text of the id: ids are free again once they are answered.
    open: BTreeMap<String, Expected>,
    waiting: Vec<(IncomingRequest, String)>,
    answered: usize,
    cancelled: BTreeSet<String>,
}

fn list(id: &str, cursor: &str, per_request: bool) -> Value {
    let mut params = json!({"cursor": cursor});
    if per_request {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    let id: Value = serde_json::from_str(id).unwrap();
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params})
}

/// A list whose page bears the cursor of its request, and whose tool has what each revision has or has not.
fn result(app: Revision, cursor: &str) -> Json {
    let mut tool = json!({"name": cursor, "inputSchema": {"type": "object"}});
    let mut result = json!({"nextCursor": cursor});
    if app >= Revision::V2025_03_26 {
        tool["annotations"] = json!({"readOnlyHint": true});
    }
    if app >= Revision::V2025_06_18 {
        tool["outputSchema"] = json!({"type": "object"});
    }
    if app >= Revision::V2025_11_25 {
        tool["icons"] = json!([{"src": "data:,"}]);
    }
    if app >= Revision::V2026_07_28 {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(5);
        result["cacheScope"] = json!("public");
    }
    result["tools"] = json!([tool]);
    Json::from_value(&result).unwrap()
}

/// Whether an answer is in this revision: what it must have, and what it must not.
fn check_revision(app: Revision, peer: Revision, result: &Value) {
    let tool = &result["tools"][0];
    let has = |from: Revision, value: &Value| {
        assert_eq!(
            !value.is_null(),
            app >= from && peer >= from,
            "{from} {peer}: {result}"
        );
    };
    has(Revision::V2025_03_26, &tool["annotations"]);
    has(Revision::V2025_06_18, &tool["outputSchema"]);
    has(Revision::V2025_11_25, &tool["icons"]);
    assert_eq!(
        !result["resultType"].is_null(),
        peer >= Revision::V2026_07_28,
        "{result}"
    );
    assert_eq!(
        !result["ttlMs"].is_null(),
        peer >= Revision::V2026_07_28,
        "{result}"
    );
}

impl Line {
    /// One answer: its request must be open, and its own.
    fn answered(&mut self, app: Revision, answer: &Value, exchange: Option<Exchange>) {
        let id = answer["id"].to_string();
        let expected = self
            .open
            .remove(&id)
            .unwrap_or_else(|| panic!("an answer to nothing: {answer}"));
        assert_eq!(
            exchange,
            Some(expected.exchange),
            "the answer took another way: {answer}"
        );
        assert_eq!(answer["jsonrpc"], "2.0");
        assert_eq!(
            answer["result"]["nextCursor"],
            json!(expected.cursor),
            "the answer of another request"
        );
        check_revision(app, expected.revision, &answer["result"]);
        self.answered += 1;
    }

    fn sent(&mut self, app: Revision, outgoing: &Outgoing, batches: &mut usize) {
        assert!(outgoing.last);
        let body: Value = serde_json::from_str(&outgoing.body).unwrap();
        match body.as_array() {
            Some(answers) => {
                *batches += 1;
                answers
                    .iter()
                    .for_each(|answer| self.answered(app, answer, outgoing.exchange));
            }
            None => self.answered(app, &body, outgoing.exchange),
        }
    }

    fn events(
        &mut self,
        app: Revision,
        received: &Received,
        batches: &mut usize,
    ) -> Vec<IncomingRequest> {
        let mut calls = Vec::new();
        for outgoing in &received.send {
            self.sent(app, outgoing, batches);
        }
        for event in &received.events {
            match event {
                Event::Request(call) => calls.push(call.clone()),
                Event::Cancelled(cancelled) => {
                    let at = self
                        .waiting
                        .iter()
                        .position(|(call, _)| call.token == cancelled.token);
                    let (_, id) = self.waiting.remove(at.expect("cancelled, but not waiting"));
                    assert!(self.open.remove(&id).is_some());
                    self.cancelled.insert(id);
                }
                other => panic!("{other:?}"),
            }
        }
        calls
    }
}

fn run(app: Revision, seed: u64, steps: usize) -> (usize, usize, usize) {
    let server: Server = server(app);
    let mut random = fastrand::Rng::with_seed(seed);
    let sessions = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2025_03_26,
    ];
    let mut lines: Vec<Line> = sessions
        .into_iter()
        .map(|session| Line {
            channel: open(&server, session.protocol_version()),
            session,
            open: BTreeMap::new(),
            waiting: Vec::new(),
            answered: 0,
            cancelled: BTreeSet::new(),
        })
        .collect();
    let mut serial = 0;
    let (mut sent, mut gone, mut batches) = (0, 0, 0);
    for _ in 0..steps {
        let at = random.usize(..lines.len());
        let line = &mut lines[at];
        match random.usize(..10) {
            // A request, of the session or of the per-request lifecycle, whose id may be in use.
            0..=3 => {
                serial += 1;
                let per_request = random.usize(..2) == 0;
                let id = if random.usize(..2) == 0 {
                    format!("{}", random.usize(..30))
                } else {
                    format!("\"{}\"", random.usize(..30))
                };
                let cursor = format!("page-{serial}");
                let text = list(&id, &cursor, per_request).to_string();
                let received = server.receive(&mut line.channel, None, text.as_bytes(), NOW);
                let calls = line.events(app, &received, &mut batches);
                if line.open.contains_key(&id) {
                    let body: Value =
                        serde_json::from_str(received.reply.unwrap().body.as_deref().unwrap())
                            .unwrap();
                    assert_eq!(
                        (&body["error"]["code"], body["id"].to_string()),
                        (&json!(-32600), id)
                    );
                    assert!(calls.is_empty());
                } else {
                    assert_eq!((received.reply, calls.len()), (None, 1));
                    let revision = if per_request {
                        Revision::V2026_07_28
                    } else {
                        line.session
                    };
                    assert_eq!(calls[0].revision, revision);
                    line.open.insert(
                        id.clone(),
                        Expected {
                            revision,
                            cursor,
                            exchange: received.exchange,
                        },
                    );
                    line.waiting
                        .extend(calls.into_iter().map(|call| (call, id.clone())));
                    sent += 1;
                }
            }
            // A batch, where there are any.
            4 if line.session == Revision::V2025_03_26 => {
                let mut elements = Vec::new();
                let mut ids = Vec::new();
                for _ in 0..1 + random.usize(..4) {
                    serial += 1;
                    let id = format!("\"b{serial}\"");
                    elements.push(list(&id, &format!("page-{serial}"), false));
                    ids.push((id, format!("page-{serial}")));
                }
                let text = Value::from(elements).to_string();
                let received = server.receive(&mut line.channel, None, text.as_bytes(), NOW);
                assert_eq!(received.reply, None);
                let calls = line.events(app, &received, &mut batches);
                assert_eq!(calls.len(), ids.len());
                for (call, (id, cursor)) in calls.into_iter().zip(ids) {
                    let expected = Expected {
                        revision: Revision::V2025_03_26,
                        cursor,
                        exchange: received.exchange,
                    };
                    line.open.insert(id.clone(), expected);
                    line.waiting.push((call, id));
                    sent += 1;
                }
            }
            // A cancellation: of what waits, or of what never was.
            5 => {
                let id = match line.waiting.len() {
                    0 => "\"nothing\"".to_owned(),
                    length => line.waiting[random.usize(..length)].1.clone(),
                };
                let text = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                );
                let before = line.cancelled.len();
                let mut received = server.receive(&mut line.channel, None, text.as_bytes(), NOW);
                received
                    .events
                    .retain(|event| !matches!(event, Event::Ignored(_)));
                line.cancelled.remove(&id);
                line.events(app, &received, &mut batches);
                gone +=
                    usize::from(line.cancelled.len() + 1 > before && line.cancelled.contains(&id));
            }
            // The answer to any that waits; given twice, it is no answer the second time.
            _ => {
                if line.waiting.is_empty() {
                    continue;
                }
                let (call, id) = line.waiting.swap_remove(random.usize(..line.waiting.len()));
                let cursor: Value = serde_json::from_str(call.params.text()).unwrap();
                assert_eq!(
                    cursor["cursor"],
                    json!(line.open[&id].cursor),
                    "the params of another request"
                );
                let result = result(app, cursor["cursor"].as_str().unwrap());
                let output = server.answer(&mut line.channel, call.token, Ok(result.clone()), NOW);
                output
                    .send
                    .iter()
                    .for_each(|outgoing| line.sent(app, outgoing, &mut batches));
                assert_eq!(output.fate, Fate::Sent);
                let again = server.answer(&mut line.channel, call.token, Ok(result), NOW);
                assert_eq!((again.fate, again.send.len()), (Fate::Unknown, 0));
            }
        }
    }
    // All that is left is answered, and then nothing is open, on either side.
    let mut answered = 0;
    for line in &mut lines {
        while let Some((call, id)) = line.waiting.pop() {
            let cursor = line.open[&id].cursor.clone();
            let output =
                server.answer(&mut line.channel, call.token, Ok(result(app, &cursor)), NOW);
            output
                .send
                .iter()
                .for_each(|outgoing| line.sent(app, outgoing, &mut batches));
        }
        assert!(line.open.is_empty(), "never answered: {:?}", line.open);
        assert_eq!(line.channel.pending(), 0);
        answered += line.answered;
    }
    assert_eq!(answered + gone, sent, "requests, and what became of them");
    (answered, gone, batches)
}

fn seeds(app: Revision) {
    for seed in 0..20 {
        let done = std::panic::catch_unwind(|| run(app, seed, 1_000));
        match done {
            Ok((answered, gone, batches)) => {
                assert!(
                    answered > 200 && gone > 20 && batches > 5,
                    "seed {seed} tried too little: {answered} {gone} {batches}"
                );
            }
            Err(panic) => {
                println!("with seed {seed} and an application of {app}");
                std::panic::resume_unwind(panic);
            }
        }
    }
}

#[test]
fn handlers_of_2024_11_05() {
    seeds(Revision::V2024_11_05);
}

#[test]
fn handlers_of_2025_06_18() {
    seeds(Revision::V2025_06_18);
}

#[test]
fn handlers_of_2025_11_25() {
    seeds(Revision::V2025_11_25);
}

#[test]
fn handlers_of_2026_07_28() {
    seeds(Revision::V2026_07_28);
}
