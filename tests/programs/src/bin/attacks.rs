//! The memory of a server under each of several attacks, measured from outside.
//!
//! `ulimit -n 25000; cargo run --release -p mcp-test-programs --bin attacks`. The server is a process of its own; the memory is what
//! Linux says is resident, beyond what it was before.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcp_revisions::mcp_wire::{ErrorObject, Json, JsonObject};
use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
use mcp_revisions::serve::Peer;
use mcp_revisions::{Limits, Revision, http, latest as mcp};
use serde_json::{Value, json};

type Done<T = ()> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Done {
    match std::env::args().nth(1).as_deref() {
        Some("serve") => serve().await,
        wanted => run(wanted.unwrap_or_default()),
    }
}

/// The attacks, and what each is divided by.
type Attack = (&'static str, u32, fn(&Target) -> Done<Vec<TcpStream>>);

const ATTACKS: [Attack; 10] = [
    ("one unread call, progress token of 15 MB", 1, |at| {
        unread(at, 15 << 20)
    }),
    ("one unread call, progress token of 1,000 bytes", 1, |at| {
        unread(at, 1_000)
    }),
    ("one unread call that asks and gives up, for ever", 1, asks),
    ("1,000 calls of 2 MB hung up in one session", 1, hung_up),
    ("100 calls of 12 MB that wait for input", 1, suspended),
    ("40 unread answers of 100 MB", 1, unread_answers),
    ("200 bodies that stall after 15 MB", 200, stalled),
    ("100,000 sessions", 1, sessions),
    (
        "20,000 sessions that have called once",
        20_000,
        used_sessions,
    ),
    ("10,000 connections that have called once", 1, connections),
];

fn run(wanted: &str) -> Done {
    println!(
        "| attack | MB taken up | a connection | call of another before, after (ms) |\n|---|---|---|---|"
    );
    for (name, parts, attack) in ATTACKS {
        if !name.contains(wanted) {
            continue;
        }
        let target = Target::start()?;
        let session = target.session("2025-11-25")?;
        let before = (target.resident()?, target.call(&session)?);
        let open = attack(&target)?;
        std::thread::sleep(Duration::from_secs(3));
        let after = (target.resident()?, target.call(&session)?);
        let taken = after.0.saturating_sub(before.0) as f64 / 1024.0;
        let (one, other) = (before.1.as_secs_f64() * 1e3, after.1.as_secs_f64() * 1e3);
        println!(
            "| {name} | {taken:.1} | {:.3} | {one:.2}, {other:.2} |",
            taken / f64::from(parts)
        );
        drop(open);
    }
    Ok(())
}

/// The server that is attacked.
struct Target {
    process: Child,
    address: String,
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Target {
    fn start() -> Done<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("serve")
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let output = process.stdout.take().ok_or("no output")?;
        BufReader::new(output).read_line(&mut address)?;
        let address = address.trim().to_owned();
        Ok(Self { process, address })
    }

    /// KiB.
    fn resident(&self) -> Done<usize> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number.ok_or("no VmRSS")?.parse()?)
    }

    fn connect(&self) -> Done<TcpStream> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(stream)
    }

    fn head(session: Option<&str>, bytes: usize) -> String {
        let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{session}\
             Accept: application/json, text/event-stream\r\nContent-Length: {bytes}\r\n\r\n"
        )
    }

    fn post(&self, stream: &mut TcpStream, session: Option<&str>, message: &Value) -> Done {
        let body = message.to_string();
        stream.write_all(Self::head(session, body.len()).as_bytes())?;
        Ok(stream.write_all(body.as_bytes())?)
    }

    /// The head of a response whose body is read, too.
    fn answer(stream: &mut TcpStream) -> Done<String> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Err("it was closed".into());
            }
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(Ok(0), str::parse)?];
        std::io::Read::read_exact(&mut reader, &mut body)?;
        Ok(head)
    }

    fn initialize(&self, stream: &mut TcpStream, version: &str) -> Done<String> {
        let params = json!({"protocolVersion": version, "capabilities": {"roots": {}}, "clientInfo": {"name": "c", "version": "1"}});
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        self.post(stream, None, &message)?;
        let head = Self::answer(stream)?;
        let id = head
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        Ok(id.ok_or(head.clone())?.to_owned())
    }

    fn session(&self, version: &str) -> Done<String> {
        let mut stream = self.connect()?;
        let id = self.initialize(&mut stream, version)?;
        let message = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.post(&mut stream, Some(&id), &message)?;
        Self::answer(&mut stream)?;
        Ok(id)
    }

    fn call(&self, session: &str) -> Done<Duration> {
        let mut stream = self.connect()?;
        let start = Instant::now();
        self.post(
            &mut stream,
            Some(session),
            &tool("add", json!({}), "p".into()),
        )?;
        Self::answer(&mut stream)?;
        Ok(start.elapsed())
    }
}

fn tool(name: &str, arguments: Value, token: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": name, "arguments": arguments, "_meta": {"progressToken": token}}})
}

fn unread(at: &Target, bytes: usize) -> Done<Vec<TcpStream>> {
    let session = at.session("2025-11-25")?;
    let mut stream = at.connect()?;
    at.post(
        &mut stream,
        Some(&session),
        &tool("say", json!({}), "t".repeat(bytes).into()),
    )?;
    Ok(vec![stream])
}

fn asks(at: &Target) -> Done<Vec<TcpStream>> {
    let session = at.session("2025-11-25")?;
    let mut stream = at.connect()?;
    at.post(
        &mut stream,
        Some(&session),
        &tool("ask", json!({}), "p".into()),
    )?;
    Ok(vec![stream])
}

fn hung_up(at: &Target) -> Done<Vec<TcpStream>> {
    let session = at.session("2025-11-25")?;
    let text = "x".repeat(2 << 20);
    for id in 0..1_000 {
        let mut stream = at.connect()?;
        let mut call = tool("hang", json!({"text": text}), "p".into());
        call["id"] = json!(id);
        at.post(&mut stream, Some(&session), &call)?;
        // It was taken, or refused: either way nobody waits.
        stream.set_read_timeout(Some(Duration::from_millis(20)))?;
        let _ = std::io::Read::read(&mut stream, &mut [0; 16]);
        stream.shutdown(Shutdown::Both)?;
    }
    Ok(Vec::new())
}

/// A call of the per-request lifecycle.
fn per_request(name: &str, arguments: Value) -> Value {
    let mut call = tool(name, arguments, "p".into());
    call["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"roots": {}});
    call
}

fn post_per_request(stream: &mut TcpStream, name: &str, call: &Value) -> Done {
    let body = call.to_string();
    let headers = format!(
        "Content-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
    );
    let head =
        Target::head(None, body.len()).replace("Content-Type: application/json\r\n", &headers);
    stream.write_all(head.as_bytes())?;
    Ok(stream.write_all(body.as_bytes())?)
}

fn suspended(at: &Target) -> Done<Vec<TcpStream>> {
    let call = per_request("wait", json!({"text": "x".repeat(12 << 20)}));
    for _ in 0..100 {
        let mut stream = at.connect()?;
        // Refused in the middle, where there is no room for more.
        let _ = post_per_request(&mut stream, "wait", &call);
        let _ = Target::answer(&mut stream);
    }
    Ok(Vec::new())
}

fn unread_answers(at: &Target) -> Done<Vec<TcpStream>> {
    let mut open = Vec::new();
    for _ in 0..40 {
        let mut stream = at.connect()?;
        post_per_request(&mut stream, "much", &per_request("much", json!({})))?;
        open.push(stream);
    }
    Ok(open)
}

fn stalled(at: &Target) -> Done<Vec<TcpStream>> {
    let part = vec![b' '; 15 << 20];
    let mut open = Vec::new();
    for _ in 0..200 {
        let mut stream = at.connect()?;
        stream.write_all(Target::head(None, 16 << 20).as_bytes())?;
        // Refused in the middle, where there is no room for more.
        let _ = stream.write_all(&part);
        open.push(stream);
    }
    Ok(open)
}

fn sessions(at: &Target) -> Done<Vec<TcpStream>> {
    let mut stream = at.connect()?;
    for _ in 0..100_000 {
        at.initialize(&mut stream, "2025-11-25")?;
    }
    Ok(Vec::new())
}

fn used_sessions(at: &Target) -> Done<Vec<TcpStream>> {
    let mut stream = at.connect()?;
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    for _ in 0..20_000 {
        let id = at.initialize(&mut stream, "2025-11-25")?;
        for message in [&initialized, &tool("add", json!({}), "p".into())] {
            at.post(&mut stream, Some(&id), message)?;
            Target::answer(&mut stream)?;
        }
    }
    Ok(Vec::new())
}

fn connections(at: &Target) -> Done<Vec<TcpStream>> {
    let session = at.session("2025-11-25")?;
    let mut open = Vec::new();
    // The measuring itself takes a few.
    for _ in 0..9_990 {
        let mut stream = at.connect()?;
        at.post(
            &mut stream,
            Some(&session),
            &tool("add", json!({}), "p".into()),
        )?;
        Target::answer(&mut stream)?;
        open.push(stream);
    }
    Ok(open)
}

/// The handlers: one hangs, one says something for ever, one asks and does not wait, the others answer.
async fn handle(call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
    let name = JsonObject::try_from(call.params.clone())
        .ok()
        .and_then(|params| params.get("name"));
    let name = name.and_then(|name| name.read::<String>().ok());
    match name.as_deref() {
        Some("hang") => std::future::pending().await,
        Some("say") => loop {
            let token: Value = call
                .progress_token
                .as_ref()
                .map_or(Value::Null, |it| it.parse().unwrap_or_default());
            let progress = Json::from(json!({"progressToken": token, "progress": 1}));
            let _ = peer.notify("notifications/progress", Some(&progress)).await;
        },
        Some("ask") => loop {
            let progress = Json::from(json!({"progressToken": "p", "progress": 1}));
            let _ = peer.notify("notifications/progress", Some(&progress)).await;
            let _ =
                tokio::time::timeout(Duration::from_millis(1), peer.ask("roots/list", None)).await;
        },
        Some("wait") => peer.ask("roots/list", None).await,
        Some("much") => Ok(Json::from(
            json!({"resultType": "complete", "content": [{"type": "text", "text": "x".repeat(100 << 20)}]}),
        )),
        _ => Ok(Json::from(
            json!({"resultType": "complete", "content": [{"type": "text", "text": "3"}]}),
        )),
    }
}

async fn serve() -> Done {
    let info = mcp::Implementation::new("target", mcp_revisions::args::Version("1.0"));
    let capabilities =
        mcp::ServerCapabilities::new().with_tools(mcp::ServerCapabilitiesTools::new());
    // All of them come from one address.
    let limits = Limits {
        max_sessions_per_owner: Limits::default().max_sessions,
        ..Limits::default()
    };
    let server =
        Server::new(Revision::LATEST, Profile::new(&info, &capabilities))?.with_limits(limits);
    let listener = http::bind(("127.0.0.1", 0)).await?;
    println!("{}", listener.local_addr()?);
    let options = http::Options::new().with_connections_per_address(10_000);
    let service = http::Service::with_options(server, handle, options);
    http::serve(listener, service).await;
    Ok(())
}
