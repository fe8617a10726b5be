//! Connections in both roles: texts come in line by line, and every request is answered once.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use mcp_revisions_core::{MessageKind, Revision, v2025_11_25 as app};
use mcp_revisions_sansio::client::{Channel, Client, Options};
use mcp_revisions_sansio::server::Server;
use mcp_revisions_sansio::{Connection, Event, Limits, OutgoingRequest, Output, Profile, Token};
use mcp_wire::{ErrorObject, Json, args::Version, peek};

use super::messages::{SampleKind, all};
use super::{Signature, Target, digest, expect_json};

pub(super) const SERVER: Target = Target {
    name: "server",
    corpus: server_corpus,
    run: run_server,
};

pub(super) const CLIENT_STDIO: Target = Target {
    name: "client",
    corpus: client_corpus,
    run: |input| run_client(input, Channel::Stdio),
};

pub(super) const CLIENT_HTTP: Target = Target {
    name: "posts",
    corpus: client_corpus,
    run: |input| run_client(input, Channel::Http),
};

/// Maximum number of lines of one input: a connection has limits of its own, which are smaller here.
const LINES: usize = 60;
/// Maximum number of outputs of one step, which is far beyond what a line may cause.
const OUTPUTS: usize = 5000;

/// Limits that inputs reach.
fn limits() -> Limits {
    Limits {
        max_message_bytes: 32 << 10,
        max_batch_length: 8,
        max_pending_requests: 6,
        max_pending_bytes: 24 << 10,
        max_identifier_bytes: 64,
        max_input_rounds: 3,
        max_input_requests: 4,
        max_change_streams: 2,
        max_subscriptions: 4,
        max_suspended_requests: 2,
        ..Limits::default()
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{},"sampling":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#;

/// Conversations: a handshake of one revision, or none, and messages of a client.
fn server_corpus() -> Vec<Vec<u8>> {
    let clients: Vec<&str> = (all().iter())
        .filter(|sample| sample.kind != SampleKind::Response && sample.text.contains("\"method\""))
        .map(|sample| sample.text.as_str())
        .collect();
    let handshake = |version: &str| {
        let initialize = INITIALIZE.replace("2025-06-18", version);
        format!(
            "{initialize}\n{}\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
        )
    };
    let heads = [
        handshake("2024-11-05"),
        handshake("2025-03-26"),
        handshake("2025-11-25"),
        String::new(),
    ];
    let chunks = clients.chunks(3).enumerate();
    let conversations =
        chunks.map(|(index, lines)| format!("{}{}", heads[index % heads.len()], lines.join("\n")));
    conversations.map(String::into_bytes).collect()
}

/// Hands lines to a server whose handlers answer, ask or wait, by the number of the call.
fn run_server(input: &[u8]) -> Result<Signature, String> {
    static PROFILE: LazyLock<Profile> = LazyLock::new(|| {
        let capabilities = app::ServerCapabilities::new()
            .with_tools(app::ServerCapabilitiesTools::new())
            .with_resources(app::ServerCapabilitiesResources::new())
            .with_prompts(app::ServerCapabilitiesPrompts::new());
        Profile::new(
            &app::Implementation::new("fuzzed", Version("1")),
            &capabilities,
        )
    });
    let server =
        Server::new(Revision::V2025_11_25, PROFILE.clone()).map_err(|error| error.to_string())?;
    let mut connection = Connection::new(
        server
            .with_limits(limits())
            .with_request_state_key([7; 32])
            .with_other_methods(),
    );
    let mut now = Duration::ZERO;
    let mut waiting: Vec<Token> = Vec::new();
    let mut signature = String::new();
    for (number, line) in input.split(|byte| *byte == b'\n').take(LINES).enumerate() {
        now += Duration::from_millis(300);
        connection.receive(None, line, now);
        drain_server(&mut connection, number, now, &mut waiting, &mut signature)?;
        if connection.unanswered() > limits().max_pending_requests * 2 {
            return Err(format!("{} requests are pending", connection.unanswered()));
        }
        if let (3.., Some(token)) = (number, waiting.pop()) {
            let _ = connection.answer(
                token,
                Ok(Json::of(&app::CallToolResult::new(Vec::new()))),
                now,
            );
            drain_server(&mut connection, number, now, &mut waiting, &mut signature)?;
        }
    }
    for _ in 0..100 {
        let Some(at) = connection.wake_at() else {
            break;
        };
        now = now.max(at);
        connection.wake(now);
        drain_server(&mut connection, 0, now, &mut waiting, &mut signature)?;
    }
    if connection.wake_at().is_some_and(|at| at <= now) {
        return Err("wants to be woken again and again at one time".to_owned());
    }
    connection.closed(now);
    drain_server(&mut connection, 0, now, &mut waiting, &mut signature)?;
    Ok(digest(signature.as_bytes()))
}

fn drain_server(
    connection: &mut Connection<Server>,
    number: usize,
    now: Duration,
    waiting: &mut Vec<Token>,
    signature: &mut String,
) -> Result<(), String> {
    for _ in 0..OUTPUTS {
        let Some(output) = connection.poll() else {
            return Ok(());
        };
        match output {
            Output::Send(text) => {
                expect_json(&text.body, "a server")?;
                if text.body.contains('\n') {
                    return Err(format!("a server wrote two lines: {}", text.body));
                }
                let kind = peek(text.body.as_bytes()).map(|message| message.kind);
                signature.push_str(&format!("{kind:?}"));
            }
            Output::Event(Event::Request(call)) => {
                signature.push_str(call.method);
                match number % 3 {
                    0 => waiting.push(call.token),
                    1 => {
                        let ask = OutgoingRequest::new(
                            "elicitation/create",
                            Json::from_text(QUESTION).ok(),
                        )
                        .about(call.token);
                        let asked = connection.ask(ask, now);
                        signature.push_str(if asked.is_ok() { "asks" } else { "may not ask" });
                        waiting.push(call.token);
                    }
                    _ => {
                        let error = ErrorObject::new(ErrorObject::INVALID_PARAMS, "no");
                        let _ = connection.answer(call.token, Err(error), now);
                    }
                }
            }
            Output::Event(event) => {
                let shown = format!("{event:?}");
                signature.extend(shown.chars().take_while(|char| char.is_alphanumeric()));
            }
            _ => signature.push('.'),
        }
    }
    Err(format!("more than {OUTPUTS} outputs of one line"))
}

const QUESTION: &str = r#"{"message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;

/// Answers of servers: to `initialize`, to `server/discover`, and to what follows.
fn client_corpus() -> Vec<Vec<u8>> {
    let first = |version: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{version}","capabilities":{{"tools":{{"listChanged":true}},"resources":{{"subscribe":true}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        )
    };
    let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}"#;
    let discovered = r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"ttlMs":0,"cacheScope":"public"}}"#;
    let heads = [
        first("2024-11-05"),
        first("2025-03-26"),
        first("2025-11-25"),
        format!("{refused}\n{discovered}"),
    ];
    let of_servers = all().iter().filter(|sample| match sample.kind {
        SampleKind::Response => {
            ["tools/call", "tools/list", "resources/read"].contains(&sample.method)
        }
        _ => true,
    });
    let texts: Vec<&str> = of_servers.map(|sample| sample.text.as_str()).collect();
    let chunks = texts.chunks(4).enumerate();
    chunks
        .map(|(index, lines)| {
            format!("{}\n{}", heads[index % heads.len()], lines.join("\n")).into_bytes()
        })
        .collect()
}

/// Hands lines to a client that has called a tool, listed tools and read a resource. Each has one answer, at the end if not before.
fn run_client(input: &[u8], channel: Channel) -> Result<Signature, String> {
    static PROFILE: LazyLock<Profile> = LazyLock::new(|| {
        Profile::new(
            &app::Implementation::new("fuzz", Version("1")),
            &app::ClientCapabilities::new(),
        )
    });
    let options = Options::new(channel, PROFILE.clone())
        .with_limits(limits())
        .with_tasks()
        .with_other_methods();
    let mut connection = Connection::new(Client::new(Revision::V2025_11_25, options));
    let mut now = Duration::ZERO;
    let mut client = Calls {
        answers: HashMap::new(),
        posts: Vec::new(),
        signature: String::new(),
    };
    for (method, params) in [
        ("tools/call", r#"{"name":"t","arguments":{}}"#),
        ("tools/list", "{}"),
        ("resources/read", r#"{"uri":"file:///a"}"#),
    ] {
        let ask = OutgoingRequest::new(method, Json::from_text(params).ok()).with_progress();
        if let Ok(token) = connection.ask(ask, now) {
            client.answers.insert(token, 0);
        }
    }
    client.drain(&mut connection)?;
    for (number, line) in input.split(|byte| *byte == b'\n').take(LINES).enumerate() {
        now += Duration::from_millis(300);
        match (channel, client.posts.pop()) {
            (Channel::Stdio, _) | (Channel::Http, None) => {
                connection.receive(None, line, now);
            }
            (Channel::Http, Some(exchange)) if number % 3 == 2 => {
                connection.answered(exchange, 200, None, None, now);
                connection.receive(Some(exchange), line, now);
                connection.ended(exchange, now);
            }
            (Channel::Http, Some(exchange)) => {
                let status = [200, 200, 200, 400, 404, 202, 500][number % 7];
                connection.answered(exchange, status, Some("session"), Some(line), now);
            }
        }
        client.drain(&mut connection)?;
    }
    for exchange in std::mem::take(&mut client.posts) {
        connection.failed(exchange, "the connection broke", now);
        client.drain(&mut connection)?;
    }
    for _ in 0..200 {
        let Some(at) = connection.wake_at() else {
            break;
        };
        now = now.max(at);
        connection.wake(now);
        client.drain(&mut connection)?;
    }
    connection.closed(now);
    client.drain(&mut connection)?;
    match client.answers.values().find(|count| **count != 1) {
        Some(count) => Err(format!("a request was answered {count} times")),
        None => Ok(digest(client.signature.as_bytes())),
    }
}

/// The calls of a client, the posts that wait for an answer, and what happened.
struct Calls {
    answers: HashMap<Token, usize>,
    posts: Vec<mcp_revisions_sansio::Exchange>,
    signature: String,
}

impl Calls {
    fn drain(&mut self, connection: &mut Connection<Client>) -> Result<(), String> {
        for _ in 0..OUTPUTS {
            let Some(output) = connection.poll() else {
                return Ok(());
            };
            match output {
                Output::Send(post) => {
                    expect_json(&post.text, "a client")?;
                    if post.text.contains('\n') {
                        return Err(format!("a client wrote two lines: {}", post.text));
                    }
                    if post
                        .headers
                        .iter()
                        .any(|(name, value)| (name.clone() + value).contains(['\r', '\n', '\0']))
                    {
                        return Err(format!("a header ends its line: {:?}", post.headers));
                    }
                    let method = peek(post.text.as_bytes())
                        .ok()
                        .and_then(|message| message.method);
                    self.signature
                        .push_str(method.as_deref().unwrap_or("response"));
                    if post.kind == MessageKind::Request {
                        self.posts.push(post.exchange);
                    }
                }
                Output::Event(Event::Answered(answered)) => {
                    if let Some(count) = self.answers.get_mut(&answered.token) {
                        *count += 1;
                    }
                    let shown = format!("{:?}", answered.answer);
                    self.signature
                        .extend(shown.chars().take_while(|char| char.is_alphanumeric()));
                }
                Output::Event(event) => {
                    let shown = format!("{event:?}");
                    self.signature
                        .extend(shown.chars().take_while(|char| char.is_alphanumeric()));
                }
                _ => self.signature.push('.'),
            }
        }
        Err(format!("more than {OUTPUTS} outputs of one line"))
    }
}
