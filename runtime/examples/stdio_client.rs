//! A client that does not care which revision its server speaks: `cargo run -p mcp-revisions --example stdio_client -- SERVER [ARGUMENT...]`.
//!
//! It starts the server, lists and calls tools, reads a resource, gets a prompt, and prints what came, one JSON line for each.
//! The endpoint decides what to send; this file moves lines and tells the time.

mod arguments;

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mcp_revisions::client::{Ask, Channel, Client, Connection, Event, Options, Output, Profile};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::{RevisionSet, V2026_07_28, v2026_07_28 as mcp};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// The server, and both ends of its pipes.
struct Server {
    _child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Server {
    fn start(command: &[String]) -> Result<Self, Box<dyn std::error::Error>> {
        let (program, arguments) = command.split_first().ok_or("name the server to start")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let input = child.stdin.take().ok_or("no standard input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no standard output")?).lines();
        Ok(Self {
            _child: child,
            input,
            output,
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (only, command) = arguments::arguments()?;
    let profile = Profile::new(
        &mcp::Implementation::new("example", "1.0.0"),
        &mcp::ClientCapabilities::new(),
    );
    let options =
        Options::new(Channel::Stdio, profile).with_revisions(only.unwrap_or_else(RevisionSet::all));
    let mut client = Connection::new(Client::<V2026_07_28>::new(options));
    let start = Instant::now();
    let mut server = Server::start(&command)?;

    let tool = |name: &str, arguments: Value| {
        Ask::new(
            "tools/call",
            Some(Json::from(json!({"name": name, "arguments": arguments}))),
        )
    };
    let mut asked = BTreeMap::new();
    for (step, ask) in [
        ("tools/list", Ask::new("tools/list", None)),
        ("add", tool("add", json!({"a": 1, "b": 2}))),
        ("pixel", tool("pixel", json!({}))),
        ("weather", tool("weather", json!({}))),
        ("fail", tool("fail", json!({}))),
        (
            "resources/read",
            Ask::new(
                "resources/read",
                Some(Json::from(json!({"uri": "example://greeting"}))),
            ),
        ),
        (
            "prompts/get",
            Ask::new(
                "prompts/get",
                Some(Json::from(
                    json!({"name": "greet", "arguments": {"name": "Ada"}}),
                )),
            ),
        ),
    ] {
        asked.insert(client.ask(ask, start.elapsed())?, step);
    }

    while !asked.is_empty() {
        while let Some(output) = client.poll() {
            match output {
                Output::Send(send) => {
                    // A server that takes no more lines has ended.
                    let line = format!("{}\n", send.text);
                    if server.input.write_all(line.as_bytes()).await.is_err() {
                        client.closed(start.elapsed());
                    }
                }
                Output::Restart => server = Server::start(&command)?,
                Output::Event(Event::Settled(facts)) => println!(
                    "{}",
                    json!({"step": "connect", "value": facts.revision.id()})
                ),
                Output::Event(Event::Answered(answered)) => {
                    let step = asked.remove(&answered.token).unwrap_or("?");
                    let result = answered.answer;
                    let line = match result.read::<Json>().map(|result| result.parse::<Value>()) {
                        Ok(result) => json!({"step": step, "value": result?}),
                        Err(why) => json!({"step": step, "error": why}),
                    };
                    println!("{line}");
                }
                Output::Event(_) | Output::Close(_) => {}
            }
        }
        if asked.is_empty() {
            break;
        }
        let patience = client.wake_at().map_or(Duration::from_secs(60), |at| {
            at.saturating_sub(start.elapsed())
        });
        match tokio::time::timeout(patience, server.output.next_line()).await {
            Ok(Ok(Some(line))) => {
                client.receive(None, line.as_bytes(), start.elapsed());
            }
            Ok(_) => client.closed(start.elapsed()),
            Err(_) if client.wake_at().is_some() => client.wake(start.elapsed()),
            Err(_) => return Err("the server keeps silent".into()),
        }
    }
    Ok(())
}
