//! Calls one tool again and again over 64 connections, and prints calls a second, p50 and p99 in microseconds:
//! `load PORT sessions|stateless|modern SECONDS`.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

const CONNECTIONS: usize = 64;
/// What is not counted: connections open, and code and memory get warm.
const WARM: Duration = Duration::from_secs(1);

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Sessions,
    Stateless,
    Modern,
}

/// One connection, and what each request on it says in its headers.
struct Client {
    sender: SendRequest<Full<Bytes>>,
    port: u16,
    headers: Vec<(&'static str, String)>,
}

impl Client {
    async fn connect(port: u16, mode: Mode) -> Result<Self, Failure> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let mut client = Self {
            sender,
            port,
            headers: Vec::new(),
        };
        match mode {
            Mode::Sessions => client.open().await?,
            Mode::Stateless => client.say("mcp-protocol-version", "2025-11-25"),
            Mode::Modern => {
                client.say("mcp-protocol-version", "2026-07-28");
                client.say("mcp-method", "tools/call");
                client.say("mcp-name", "add");
            }
        }
        Ok(client)
    }

    fn say(&mut self, name: &'static str, value: &str) {
        self.headers.push((name, value.to_owned()));
    }

    async fn open(&mut self) -> Result<(), Failure> {
        let hello = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}},
        });
        let answer = self.post(&hello).await?;
        let id = answer
            .headers()
            .get("mcp-session-id")
            .ok_or("no session")?
            .to_str()?
            .to_owned();
        answer.into_body().collect().await?;
        self.say("mcp-session-id", &id);
        self.say("mcp-protocol-version", "2025-11-25");
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.post(&done).await?.into_body().collect().await?;
        Ok(())
    }

    async fn post(&mut self, message: &Value) -> Result<Response<Incoming>, Failure> {
        let mut request = Request::post("/mcp")
            .header("host", format!("127.0.0.1:{}", self.port))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        self.sender.ready().await?;
        Ok(self
            .sender
            .send_request(request.body(Full::from(message.to_string()))?)
            .await?)
    }

    /// Calls the tool, and sees to it that its answer is right.
    async fn call(&mut self, mode: Mode, number: u64) -> Result<(), Failure> {
        let mut params = json!({"name": "add", "arguments": {"a": number, "b": 1}});
        if mode == Mode::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let message =
            json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
        let answer = self.post(&message).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        let expected = format!("\"text\":\"{}\"", number + 1);
        match status.is_success() && String::from_utf8_lossy(&body).contains(&expected) {
            true => Ok(()),
            false => Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into()),
        }
    }
}

async fn work(port: u16, mode: Mode, until: Instant, from: Instant) -> Result<Vec<u32>, Failure> {
    let mut client = Client::connect(port, mode).await?;
    let mut took = Vec::new();
    let mut number = 0;
    while Instant::now() < until {
        number += 1;
        let start = Instant::now();
        client.call(mode, number).await?;
        if start >= from {
            took.push(u32::try_from(start.elapsed().as_micros())?);
        }
    }
    Ok(took)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let [port, mode, seconds] = peers_http::arguments()?;
    let (port, seconds) = (port.parse()?, Duration::from_secs(seconds.parse()?));
    let mode = match mode.as_str() {
        "sessions" => Mode::Sessions,
        "stateless" => Mode::Stateless,
        "modern" => Mode::Modern,
        other => return Err(format!("`sessions`, `stateless` or `modern`, not `{other}`").into()),
    };
    let from = Instant::now() + WARM;
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|_| tokio::spawn(work(port, mode, from + seconds, from)))
        .collect();
    let mut took = Vec::new();
    for task in tasks {
        took.extend(task.await??);
    }
    took.sort_unstable();
    let at = |part: usize| {
        took.get(took.len() * part / 100)
            .copied()
            .unwrap_or_default()
    };
    let rate = took.len() as u64 / seconds.as_secs().max(1);
    println!(
        "{rate:>7} calls/s   p50 {:>6} us   p99 {:>6} us",
        at(50),
        at(99)
    );
    Ok(())
}
