//! Random interleavings: every request gets exactly one answer, and it is its own.

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_revisions::Revision;
use mcp_revisions::sansio::client::{
    Answer, Answered, Channel, Event, Exchange, OutgoingRequest, Output, Post, Token,
};
use mcp_wire::Json;
use serde_json::{Value, json};

use crate::client::{End, discovered, error, initialized, open, options, result};

/// How the server of a run behaves.
#[derive(Debug, Clone, Copy)]
struct Server {
    version: &'static str,
    channel: Channel,
}

impl Server {
    /// What answers a message, if anything does.
    fn answer(self, message: &Value) -> Option<Value> {
        let id = message.get("id")?;
        let per_request = self.version == "2026-07-28";
        Some(match message["method"].as_str() {
            Some("server/discover") if per_request => result(id, discovered()),
            Some("server/discover") => error(id, -32601, Value::Null),
            Some("initialize") => result(id, initialized(self.version)),
            Some("tools/list") if message["params"]["cursor"].as_str().unwrap().ends_with('7') => {
                error(id, -32603, message["params"]["cursor"].clone())
            }
            Some("tools/list") => {
                let mut list = json!({"tools": [], "nextCursor": message["params"]["cursor"]});
                if per_request {
                    list["resultType"] = json!("complete");
                    list["ttlMs"] = json!(0);
                    list["cacheScope"] = json!("private");
                }
                result(id, list)
            }
            _ => return None,
        })
    }
}

/// One run: the client, what is on its way, and what has been answered.
struct Run {
    server: Server,
    client: End,
    /// Answers that have not arrived, each with its POST.
    on_the_way: Vec<(Exchange, Option<Value>)>,
    asked: BTreeMap<Token, String>,
    answered: BTreeMap<Token, Result<String, String>>,
    cancelled: usize,
    stray: usize,
    now: Duration,
}

impl Run {
    fn new(server: Server) -> Self {
        let client = open(Revision::V2025_11_25, options(server.channel));
        let now = Duration::ZERO;
        Self {
            server,
            client,
            on_the_way: Vec::new(),
            asked: BTreeMap::new(),
            answered: BTreeMap::new(),
            cancelled: 0,
            stray: 0,
            now,
        }
    }

    fn ask(&mut self, number: usize) {
        let cursor = format!("c{number}");
        let call = OutgoingRequest::new("tools/list", Some(Json::from(json!({"cursor": cursor}))));
        let token = self.client.ask(call, self.now).unwrap();
        assert!(
            self.asked.insert(token, cursor).is_none(),
            "a token comes once"
        );
    }

    fn pump(&mut self) {
        while let Some(output) = self.client.poll() {
            match output {
                Output::Send(Post { exchange, text, .. }) => {
                    let message: Value = serde_json::from_str(&text).unwrap();
                    self.on_the_way
                        .push((exchange, self.server.answer(&message)));
                }
                Output::Close(post) => self.on_the_way.retain(|(other, _)| *other != post),
                Output::Empty(..) => panic!("a server's alone"),
                Output::Restart => panic!("no server has ended"),
                Output::Event(Event::Answered(Answered { token, answer, .. })) => {
                    let told = match answer {
                        Answer::Result(result) => {
                            Ok(result.parse::<Value>().unwrap()["nextCursor"]
                                .as_str()
                                .unwrap()
                                .to_owned())
                        }
                        Answer::Error(error) => Err(error.data.unwrap().parse().unwrap()),
                        other => Err(format!("{other:?}")),
                    };
                    assert!(
                        self.answered.insert(token, told).is_none(),
                        "a second answer to {token:?}"
                    );
                }
                Output::Event(Event::Ignored(_)) => self.stray += 1,
                Output::Event(_) => {}
            }
        }
    }

    /// Something that was on its way arrives.
    fn arrive(&mut self, index: usize, twice: bool) {
        let (post, message) = self.on_the_way.swap_remove(index);
        let text = message.map(|message| message.to_string());
        match (self.server.channel, text) {
            (Channel::Stdio, Some(text)) => {
                for _ in 0..=usize::from(twice) {
                    self.client.receive(None, text.as_bytes(), self.now);
                }
            }
            (Channel::Stdio, None) => {}
            (Channel::Http, None) => self.client.answered(post, 202, None, Some(b""), self.now),
            (Channel::Http, Some(text)) => {
                if twice {
                    self.client.answered(post, 200, None, None, self.now);
                    self.client.receive(Some(post), text.as_bytes(), self.now);
                    self.client.ended(post, self.now);
                } else {
                    self.client
                        .answered(post, 200, None, Some(text.as_bytes()), self.now);
                }
            }
        }
    }

    fn random(mut self, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut number = 0;
        for _ in 0..200 {
            self.now += Duration::from_millis(10);
            match random.usize(..5) {
                0 | 1 => {
                    number += 1;
                    self.ask(number);
                }
                2 if !self.asked.is_empty() => {
                    let index = random.usize(..self.asked.len());
                    let token = *self.asked.keys().nth(index).unwrap();
                    if random.usize(..4) == 0 {
                        self.cancelled += usize::from(!self.answered.contains_key(&token));
                        self.client.cancel(token, None, self.now);
                    }
                }
                _ if !self.on_the_way.is_empty() => {
                    let index = random.usize(..self.on_the_way.len());
                    let twice = random.usize(..8) == 0;
                    self.arrive(index, twice);
                }
                _ => self.client.wake(self.now),
            }
            self.pump();
        }
        while !self.on_the_way.is_empty() {
            self.arrive(0, false);
            self.pump();
        }
        self
    }
}

#[test]
fn every_request_gets_one_answer_and_it_is_its_own() {
    let (mut results, mut errors, mut cancelled, mut stray) = (0, 0, 0, 0);
    for version in ["2026-07-28", "2025-11-25", "2024-11-05"] {
        for channel in [Channel::Stdio, Channel::Http] {
            for seed in 1..=60_u64 {
                let run = Run::new(Server { version, channel }).random(seed);
                assert_eq!(run.client.pending(), 0, "{version} {channel:?} {seed}");
                assert!(
                    run.asked.keys().eq(run.answered.keys()),
                    "{version} {channel:?} {seed}"
                );
                for (token, answer) in &run.answered {
                    let cursor = &run.asked[token];
                    match answer {
                        Ok(echo) => {
                            assert_eq!(echo, cursor);
                            results += 1;
                        }
                        Err(failure) if failure.contains("Cancelled") => cancelled += 1,
                        Err(echo) => {
                            assert_eq!(echo, cursor);
                            errors += 1;
                        }
                    }
                }
                stray += run.stray;
            }
        }
    }
    // The runs went through all of it.
    assert!(
        results > 10_000 && errors > 500 && cancelled > 500 && stray > 100,
        "{results} {errors} {cancelled} {stray}"
    );
}
