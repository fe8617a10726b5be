//! Many clients over HTTP, each with the server that is its own.

mod questions;
mod reach;
mod servers;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use mcp_revisions_core::Revision;
use serde_json::{Value, json};

use crate::bridge::talk::{PATIENCE, Talk, bridge, peer};
use crate::mcp_rev;

/// A message over HTTP, and the body that answers.
pub(super) fn post(port: u16, revision: Revision, body: &Value) -> String {
    post_with(port, revision, "", body)
}

/// The same, with these headers, each with its end of line.
pub(super) fn post_with(port: u16, revision: Revision, more: &str, body: &Value) -> String {
    let headers = format!(
        "MCP-Protocol-Version: {}\r\nMcp-Method: {}\r\nMcp-Name: {}\r\n{more}",
        revision.protocol_version(),
        body["method"].as_str().unwrap(),
        body["params"]["name"].as_str().unwrap_or_default(),
    );
    exchange(port, "POST /mcp", &headers, &body.to_string())
}

/// What answers `initialize` at a bridge that listens.
pub(super) fn initialize_over_http(port: u16, revision: Revision) -> Value {
    let info = json!({ "name": "client", "version": "1" });
    let params = json!({ "protocolVersion": revision.protocol_version(), "capabilities": {}, "clientInfo": info });
    let opening = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    json!({ "result": result(&exchange(port, "POST /mcp", "", &opening.to_string())) })
}

/// A request over a connection of its own, with these headers beside those of every request, and all that answers it.
pub(super) fn exchange(port: u16, asked: &str, headers: &str, body: &str) -> String {
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "{asked} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A program that ends with the test, however that ends.
pub(super) struct Program(Child);

impl std::ops::Deref for Program {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Program {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Program {
    pub(super) fn of(child: Child) -> Self {
        Self(child)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server over HTTP, and its URL.
fn serving(revision: Revision) -> (Program, String) {
    let server = Command::new(peer())
        .args(["--only", revision.id(), "--http", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut server = Program(server);
    let mut line = String::new();
    let mut said = BufReader::new(server.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    let url = line.trim().trim_start_matches("listening on ");
    (server, url.to_owned())
}

pub(super) const LISTENING: [&str; 4] = ["--listen", "http://127.0.0.1:0/mcp", "--loss-log", "off"];

/// A bridge that listens on HTTP, and its port.
fn listening(server: Revision) -> (Program, u16) {
    listening_with(&[], server)
}

pub(super) fn listening_with(more: &[&str], server: Revision) -> (Program, u16) {
    port_of(bridge(&[&LISTENING, more].concat(), server))
}

/// A bridge that listens, and where.
pub(super) fn port_of(child: Child) -> (Program, u16) {
    let mut child = Program(child);
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let port = line.trim().rsplit(':').next().unwrap();
    let port = port.split('/').next().unwrap();
    let port: u16 = port.parse().unwrap_or_else(|_| panic!("{line}"));
    child.stderr = Some(said.into_inner());
    (child, port)
}

/// A client at the standard streams of a bridge to what listens there.
fn bridged(client: Revision, url: &str, options: &[&str]) -> Talk {
    let child = mcp_rev("bridge --loss-log off")
        .args(options)
        .arg(url)
        .spawn()
        .unwrap();
    Talk::new(client, child)
}

/// A body of a per-request call, by a client of that name.
pub(super) fn call(name: &str, tool: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": Revision::LATEST.protocol_version(),
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": name, "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": { "a": 1, "b": 2 }, "_meta": meta
    }})
}

/// A message in a session, and what answers it; the session is over with the one that has no body.
pub(super) fn in_session(port: u16, session: Option<&str>, body: Option<&Value>) -> String {
    let asked = if body.is_some() {
        "POST /mcp"
    } else {
        "DELETE /mcp"
    };
    let body = body.map(Value::to_string).unwrap_or_default();
    let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
    exchange(port, asked, &session, &body)
}

pub(super) fn initialize() -> Value {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

/// The id of the session that this answer opens, if it does.
pub(super) fn session_of(answer: &str) -> Option<String> {
    let answer = answer.to_lowercase();
    let (_, id) = answer.split_once("mcp-session-id: ")?;
    id.lines().next().map(str::to_owned)
}

/// A call of a tool in a session.
pub(super) fn call_in(port: u16, session: &str, tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {"a": 1, "b": 2.5}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    in_session(port, Some(session), Some(&call))
}

/// A call of a client that can be asked for a form.
pub(super) fn asking(tool: &str, more: Value) -> Value {
    let mut asking = call("asked", tool);
    let form = json!({ "elicitation": { "form": {} } });
    asking["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = form;
    for (name, value) in more.as_object().unwrap() {
        asking["params"][name] = value.clone();
    }
    asking
}

/// What a body says that answers, whether it is one of JSON or a stream of events.
pub(super) fn result(answer: &str) -> Value {
    let message = answer.lines().rev().find_map(|line| {
        let line = line.strip_prefix("data: ").unwrap_or(line);
        serde_json::from_str::<Value>(line).ok()
    });
    message.unwrap_or_default()["result"].clone()
}
