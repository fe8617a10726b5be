//! The client endpoint, message by message: what it sends, and what it tells the application.

mod adapters;
mod answers;
mod http;
mod lifecycle;
mod multi;
mod odd;
mod once;
mod peer;
mod relist;
mod tasks;
mod verdict;

use std::time::Duration;

use mcp_revisions::sansio::client::{
    Answer, Channel, Event, Options, OutgoingRequest, Output, Post, Profile, Token,
};
use mcp_revisions::{Lifecycle, Revision, RevisionSet, core::v2025_11_25 as app};
use serde_json::{Value, json};

pub(crate) const NOW: Duration = Duration::from_secs(100);

pub(crate) fn profile() -> Profile {
    Profile::new(
        &app::Implementation::new("tester", mcp_revisions::args::Version("1.0")),
        &mcp_wire::from_str::<app::ClientCapabilities>(
            r#"{"elicitation":{"form":{}},"roots":{"listChanged":true}}"#,
        )
        .unwrap(),
    )
}

/// What a client claims first: the latest that is negotiated by each request.
pub(crate) fn latest() -> &'static str {
    let latest = RevisionSet::per_request().latest(Lifecycle::PerRequest);
    latest.map(Revision::protocol_version).unwrap()
}

pub(crate) fn options(channel: Channel) -> Options {
    Options::new(channel, profile())
        .without_adapters()
        .with_own_revision(Revision::LATEST)
}

/// A client's end of a conversation.
pub(crate) type End = mcp_revisions::sansio::Connection<mcp_revisions::sansio::client::Client>;

/// A client on which nothing has been said.
pub(crate) fn open(app: Revision, options: Options) -> End {
    End::new(mcp_revisions::sansio::client::Client::new(app, options))
}

/// A client of an application that speaks 2025-11-25.
pub(crate) fn client(channel: Channel) -> End {
    open(Revision::V2025_11_25, options(channel))
}

pub(crate) fn list() -> OutgoingRequest {
    OutgoingRequest::new("tools/list", None)
}

pub(crate) fn call(name: &str) -> OutgoingRequest {
    let params = json!({"name": name, "arguments": {"a": 1}});
    OutgoingRequest::new("tools/call", Some(mcp_wire::Json::from(params)))
}

/// What a client has to say: messages and events in order.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) sent: Vec<Post>,
    pub(crate) events: Vec<Event>,
    pub(crate) restarts: usize,
    pub(crate) closed: usize,
}

impl Heard {
    /// The messages as JSON.
    pub(crate) fn messages(&self) -> Vec<Value> {
        self.sent
            .iter()
            .map(|send| serde_json::from_str(&send.text).unwrap())
            .collect()
    }

    /// The methods of the messages, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.messages()
            .iter()
            .map(|message| message["method"].as_str().unwrap_or("answer").to_owned())
            .collect()
    }

    /// The one message that was sent.
    pub(crate) fn only(&self) -> (Post, Value) {
        assert_eq!(self.sent.len(), 1, "{:?}", self.methods());
        (self.sent[0].clone(), self.messages().remove(0))
    }

    /// The answers to requests of the application.
    pub(crate) fn answers(self) -> Vec<(Token, Answer)> {
        let answer = |event| match event {
            Event::Answered(answered) => Some((answered.token, answered.answer)),
            _ => None,
        };
        self.events.into_iter().filter_map(answer).collect()
    }

    /// The one answer, as a result or as what came instead.
    pub(crate) fn answer(self) -> Result<Value, String> {
        let mut answers = self.answers();
        assert_eq!(answers.len(), 1, "one answer: {answers:?}");
        let answer = answers.remove(0).1;
        answer
            .read::<mcp_wire::Json>()
            .map(|json| json.parse().unwrap())
    }
}

pub(crate) fn hear(client: &mut End) -> Heard {
    let mut heard = Heard::default();
    while let Some(output) = client.poll() {
        match output {
            Output::Send(send) => heard.sent.push(send),
            Output::Empty(..) => panic!("a server's alone"),
            Output::Restart => heard.restarts += 1,
            Output::Close(_) => heard.closed += 1,
            Output::Event(event) => heard.events.push(event),
        }
    }
    heard
}

/// Hands in a message of the server.
pub(crate) fn say(client: &mut End, message: &Value) {
    client.receive(None, message.to_string().as_bytes(), NOW);
}

/// Hands in a message of the server, and returns what the client does with it.
pub(crate) fn reaction(client: &mut End, message: &Value) -> Heard {
    say(client, message);
    hear(client)
}

pub(crate) fn result(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(crate) fn error(id: &Value, code: i64, data: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", "data": data}})
}

pub(crate) fn discovered() -> Value {
    json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "instructions": "be kind",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "per-request", "version": "2"}},
    })
}

pub(crate) fn initialized(version: &str) -> Value {
    json!({
        "protocolVersion": version, "capabilities": {"tools": {}, "logging": {}},
        "serverInfo": {"name": "handshake", "version": "1"}, "instructions": "be kind",
    })
}

/// A client over stdio that has settled on a revision.
pub(crate) fn settled(version: &str) -> End {
    settled_over(Channel::Stdio, version)
}

pub(crate) fn settled_over(channel: Channel, version: &str) -> End {
    let mut client = client(channel);
    settle(&mut client, version);
    client
}

/// Answers each first message that a server is sent, until there is none; what is heard then.
pub(crate) fn answer_first(client: &mut End, answer: impl Fn(&Value) -> Value) -> Heard {
    loop {
        let heard = hear(client);
        let is_first = |it: &Value| {
            let method = it["method"].as_str().unwrap_or_default();
            ["initialize", "server/discover"].contains(&method)
        };
        match heard.messages().as_slice() {
            [first] if is_first(first) => say(client, &answer(first)),
            _ => return heard,
        }
    }
}

pub(crate) fn settle(client: &mut End, version: &str) {
    client.connect(NOW).unwrap();
    let (_, probe) = hear(client).only();
    if version == "2026-07-28" {
        say(client, &result(&probe["id"], discovered()));
    } else {
        say(client, &error(&probe["id"], -32601, Value::Null));
        let (_, initialize) = hear(client).only();
        say(client, &result(&initialize["id"], initialized(version)));
        assert_eq!(hear(client).methods(), ["notifications/initialized"]);
    }
    hear(client);
    assert_eq!(client.verdict().unwrap().to_string(), version);
}
