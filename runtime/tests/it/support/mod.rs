//! Servers, sessions and messages that several tests need.

#![allow(dead_code, reason = "each test uses its own part")]

use std::time::Duration;

use mcp_revisions::core::Spoken;
use mcp_revisions::latest::{self as mcp, ClientHandlers};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::{Event, IncomingRequest, Profile};
use mcp_revisions::service::client::ClientContext;
use mcp_revisions::service::{Error, McpServer};
use mcp_revisions::{Latest, Lifecycle, Revision};
use serde_json::{Value, json};
use tokio::io::{DuplexStream, duplex, split};

pub(crate) mod handlers;
pub(crate) mod steps;

pub(crate) use steps::{Channel, Output, Received, Reply, Server};

/// Starts a task, behind a box: one kind of task is compiled, not one for each caller.
pub(crate) fn spawn<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> tokio::task::JoinHandle<T> {
    tokio::spawn(mcp_revisions::service::boxed(work))
}

/// Serves one end of a pipe; the other is the client's.
pub(crate) fn served<App: Spoken + 'static>(running: McpServer<App>) -> DuplexStream {
    let (near, far) = duplex(1 << 16);
    spawn(async move {
        let (input, output) = split(far);
        running.lines(input, output).await.unwrap();
    });
    near
}

/// Checks that a text has this part.
#[track_caller]
pub(crate) fn says(value: &Value, part: &str) {
    let text = value.as_str().unwrap_or_default();
    assert!(text.contains(part), "{part} is not in {value}");
}

/// The time does not matter here.
pub(crate) const NOW: Duration = Duration::ZERO;

/// What is negotiated in a lifecycle, latest first, as the wire has it.
pub(crate) fn negotiated(lifecycle: Lifecycle) -> Vec<&'static str> {
    let all = Revision::NEGOTIATED.iter().rev();
    let of_era = all.filter(|revision| revision.lifecycle() == lifecycle);
    of_era.map(|revision| revision.protocol_version()).collect()
}

/// A profile that every revision can say.
pub(crate) fn profile() -> Profile {
    profile_text(r#"{"tools":{},"prompts":{},"resources":{},"logging":{}}"#)
}

/// A profile of these capabilities.
pub(crate) fn profile_text(capabilities: &str) -> Profile {
    let info = Json::from_text(r#"{"name":"tester","version":"1.0"}"#).unwrap();
    Profile::new(&info, &Json::from_text(capabilities).unwrap()).with_instructions("be kind")
}

/// A server of every revision.
pub(crate) fn server(app: Revision) -> Server {
    Server::new(app, profile()).unwrap()
}

/// `initialize` of a client that can list roots.
pub(crate) fn initialize(version: &str) -> String {
    json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "client", "version": "1"},
    }})
    .to_string()
}

/// A channel on which the handshake is done.
pub(crate) fn open(server: &Server, version: &str) -> Channel {
    open_on(server, Channel::new(), version)
}

/// As [`open`], without adapters.
pub(crate) fn open_bare(server: &Server, version: &str) -> Channel {
    open_on(server, Channel::bare(), version)
}

fn open_on(server: &Server, mut channel: Channel, version: &str) -> Channel {
    let answer = get(server, &mut channel, &initialize(version));
    assert_eq!(answer["result"]["protocolVersion"], version);
    let note = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    server.receive(&mut channel, None, note, NOW);
    channel
}

/// A request of 2026-07-28 whose id is 7.
pub(crate) fn claim(method: &str, mut params: Value) -> String {
    let mut meta = params["_meta"].take();
    if meta.is_null() {
        meta = json!({});
    }
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params["_meta"] = meta;
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string()
}

/// What a text is answered with at once.
pub(crate) fn get(server: &Server, channel: &mut Channel, text: &str) -> Value {
    let received = server.receive(channel, None, text.as_bytes(), NOW);
    let reply = received
        .reply
        .unwrap_or_else(|| panic!("no answer at once to {text}"));
    body(&reply)
}

/// The body of a reply.
pub(crate) fn body(reply: &Reply) -> Value {
    serde_json::from_str(reply.body.as_deref().unwrap()).unwrap()
}

/// The only text of an output.
pub(crate) fn text_of(output: &Output) -> Value {
    assert_eq!(output.send.len(), 1, "{output:?}");
    serde_json::from_str(&output.send[0].body).unwrap()
}

/// The calls among the events.
pub(crate) fn calls(received: &Received) -> Vec<IncomingRequest> {
    let call = |event: &Event| match event {
        Event::Request(call) => Some(call.clone()),
        _ => None,
    };
    received.events.iter().filter_map(call).collect()
}

/// The handlers of a client whose user is called Ada.
pub(crate) struct Ada;

impl ClientHandlers<ClientContext<Latest>> for Ada {
    async fn elicit(
        &self,
        _: mcp::ElicitRequestParams,
        _: ClientContext<Latest>,
    ) -> Result<mcp::ElicitResult, Error> {
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        Ok(Json::from(answer).read()?)
    }
}
