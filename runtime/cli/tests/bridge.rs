//! `mcp-rev bridge`: every revision of a client in front of every revision of a server, and what happens when one goes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails should say where"
)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use mcp_registry::{Era, Revision, V2025_11_25};
use mcp_revisions::RevisionSet;
use mcp_revisions::client::{
    Answer, Ask, Channel, Client, Connection, Event, Options, Output, Profile, Token,
};
use mcp_wire::Json;
use serde_json::{Value, json};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn peer() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-rev"));
    program
        .with_file_name("examples")
        .join(format!("peer{}", std::env::consts::EXE_SUFFIX))
}

fn bridge(options: &[&str], server: Revision) -> Child {
    Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .arg("bridge")
        .args(options)
        .arg("--")
        .arg(peer())
        .args(["--only", server.id()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A client over stdio of one revision, driven by hand.
struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    client: Connection<Client<V2025_11_25>>,
    start: Instant,
    progress: usize,
}

impl Talk {
    fn new(revision: Revision, mut child: Child) -> Self {
        let info = Json::from(json!({ "name": "client", "version": "1" }));
        let capabilities = Json::from(json!({ "elicitation": { "form": {} } }));
        let options = Options::new(Channel::Stdio, Profile::new(&info, &capabilities))
            .with_revisions(RevisionSet::none().with(revision));
        let output = child.stdout.take().unwrap();
        let (told, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if told.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            client: Connection::new(Client::new(options)),
            start: Instant::now(),
            progress: 0,
        }
    }

    fn ask(&mut self, ask: Ask) -> Token {
        self.client.ask(ask, self.start.elapsed()).unwrap()
    }

    fn tool(&mut self, name: &str) -> Token {
        let params = json!({ "name": name, "arguments": { "a": 1, "b": 2.5 } });
        self.ask(Ask::new("tools/call", Some(Json::from(params))).with_progress())
    }

    /// Goes on until all of these are answered.
    fn answers(&mut self, asked: &[Token]) -> BTreeMap<Token, Answer> {
        let mut answers = BTreeMap::new();
        while answers.len() < asked.len() {
            while let Some(output) = self.client.poll() {
                self.does(output, &mut answers);
            }
            if answers.len() == asked.len() {
                break;
            }
            assert!(self.start.elapsed() < PATIENCE, "no answer");
            let wake = self
                .client
                .wake_at()
                .map(|at| at.saturating_sub(self.start.elapsed()));
            let now = match self.lines.recv_timeout(wake.unwrap_or(PATIENCE)) {
                Ok(line) => {
                    self.client
                        .receive(None, line.as_bytes(), self.start.elapsed());
                    continue;
                }
                Err(RecvTimeoutError::Timeout) if wake.is_some() => self.start.elapsed(),
                Err(RecvTimeoutError::Timeout) => panic!("the bridge keeps silent"),
                Err(RecvTimeoutError::Disconnected) => {
                    self.client.closed(self.start.elapsed());
                    continue;
                }
            };
            self.client.wake(now);
        }
        answers
    }

    fn does(
        &mut self,
        output: Output<mcp_revisions::client::Post>,
        answers: &mut BTreeMap<Token, Answer>,
    ) {
        match output {
            Output::Send(post) => {
                // A bridge that has ended takes nothing.
                let _ = self
                    .input
                    .as_mut()
                    .unwrap()
                    .write_all(format!("{}\n", post.text).as_bytes());
            }
            Output::Event(Event::Answered(answered)) => {
                answers.insert(answered.token, answered.answer);
            }
            Output::Event(Event::Call(call)) => {
                assert_eq!(call.method, "elicitation/create");
                let day = json!({ "action": "accept", "content": { "day": "Monday" } });
                let _ = self
                    .client
                    .answer(call.token, Ok(Json::from(day)), self.start.elapsed());
            }
            Output::Event(Event::Notice(notice)) => {
                self.progress += usize::from(notice.method == "notifications/progress");
            }
            Output::Restart => panic!("the bridge ended when it was probed"),
            _ => {}
        }
    }

    /// Hangs up; the code that the bridge ends with, and what it said.
    fn ends(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "the bridge does not end");
            thread::sleep(Duration::from_millis(5));
        };
        let mut said = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        (status.code(), said)
    }
}

fn value(answer: &Answer) -> Value {
    match answer {
        Answer::Result(result) => result.parse().unwrap(),
        other => json!({ "failed": format!("{other:?}") }),
    }
}

/// One client in front of one server: tools, a question in mid-call, progress, a resource, a prompt.
fn talks(client: Revision, server: Revision) -> Result<(), String> {
    let mut talk = Talk::new(client, bridge(&["--losses", "off"], server));
    let list = talk.ask(Ask::new("tools/list", None));
    let add = talk.tool("add");
    let ask = talk.tool("ask");
    let progress = talk.tool("progress");
    let uri = json!({ "uri": "file:///hello" });
    let read = talk.ask(Ask::new("resources/read", Some(Json::from(uri))));
    let prompt = talk.ask(Ask::new(
        "prompts/get",
        Some(Json::from(json!({ "name": "greet" }))),
    ));
    let answers = talk.answers(&[list, add, ask, progress, read, prompt]);
    let at = |token: Token, pointer: &str| value(&answers[&token]).pointer(pointer).cloned();
    // Who knows no elicitation is not asked.
    let asks = Revision::V2025_06_18 <= client && Revision::V2025_06_18 <= server;
    let day = if asks { Some(json!("Monday")) } else { None };
    for (what, found, expected) in [
        ("list", at(list, "/tools/0/name"), Some(json!("add"))),
        (
            "unknown member",
            at(list, "/tools/0/x-vendor"),
            Some(json!(1)),
        ),
        ("add", at(add, "/content/0/text"), Some(json!("3.5"))),
        ("ask", at(ask, "/content/0/text"), day),
        (
            "progress",
            at(progress, "/content/0/text"),
            Some(json!("done")),
        ),
        ("read", at(read, "/contents/0/text"), Some(json!("Hello"))),
        ("number", at(read, "/contents/0/size"), Some(json!(50.0))),
        (
            "prompt",
            at(prompt, "/messages/0/content/text"),
            Some(json!("Greet")),
        ),
    ] {
        if found != expected {
            return Err(format!("{what}: {found:?}, {answers:?}"));
        }
    }
    if talk.progress != 3 {
        return Err(format!("{} of 3 told of progress", talk.progress));
    }
    match talk.ends() {
        (Some(0), _) => Ok(()),
        (code, said) => Err(format!("ended with {code:?}: {said}")),
    }
}

#[test]
fn every_client_talks_to_every_server() {
    let mut failures = Vec::new();
    for client in Revision::NEGOTIATED {
        for server in Revision::NEGOTIATED {
            if let Err(problem) = talks(*client, *server) {
                failures.push(format!("{client} in front of {server}: {problem}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_server_that_dies_leaves_an_answer_and_an_end() {
    for client in [Revision::V2025_11_25, Revision::NEWEST] {
        let mut talk = Talk::new(client, bridge(&[], Revision::V2025_06_18));
        let add = talk.tool("add");
        assert_eq!(
            value(&talk.answers(&[add])[&add])["content"][0]["text"],
            "3.5"
        );
        let (sleep, die) = (talk.tool("sleep"), talk.tool("die"));
        for (token, answer) in talk.answers(&[sleep, die]) {
            assert!(
                !matches!(answer, Answer::Result(_)),
                "{token:?}: {answer:?}"
            );
        }
        // The client has not hung up.
        let deadline = Instant::now() + PATIENCE;
        while talk.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "the bridge does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_client_that_goes_leaves_nothing_behind() {
    let mut talk = Talk::new(Revision::V2025_11_25, bridge(&[], Revision::V2025_11_25));
    let add = talk.tool("add");
    talk.answers(&[add]);
    let _ = talk.tool("sleep");
    while let Some(output) = talk.client.poll() {
        talk.does(output, &mut BTreeMap::new());
    }
    drop(talk.ends());
}

#[test]
fn losses_are_told_and_refused_where_they_are_not_put_up_with() {
    let losses = Path::new(env!("CARGO_TARGET_TMPDIR")).join("losses.jsonl");
    let name = losses.to_str().unwrap();
    let mut talk = Talk::new(
        Revision::V2025_06_18,
        bridge(&["--losses", name], Revision::NEWEST),
    );
    let list = talk.ask(Ask::new("tools/list", None));
    assert_eq!(
        value(&talk.answers(&[list])[&list])["tools"][0]["name"],
        "add"
    );
    talk.ends();
    let told = std::fs::read_to_string(&losses).unwrap();
    assert!(
        told.lines()
            .all(|line| serde_json::from_str::<Value>(line).unwrap()["rule"].is_string()),
        "{told}"
    );
    assert!(!told.is_empty());
    // Nobody puts up with that: the request is answered, by an error.
    let mut talk = Talk::new(
        Revision::V2025_06_18,
        bridge(
            &["--losses", "off", "--refuse", "cosmetic"],
            Revision::NEWEST,
        ),
    );
    let list = talk.ask(Ask::new("tools/list", None));
    let answer = value(&talk.answers(&[list])[&list]).to_string();
    assert!(answer.contains("refused: cosmetic at "), "{answer}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_bridge_with_grace() {
    let mut talk = Talk::new(Revision::V2025_11_25, bridge(&[], Revision::V2025_11_25));
    let add = talk.tool("add");
    talk.answers(&[add]);
    let id = talk.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = talk.child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < deadline, "the bridge does not end");
        thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(0));
}

#[test]
fn what_goes_by_is_a_transcript_without_faults() {
    let record = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bridged.jsonl");
    let name = record.to_str().unwrap();
    let mut talk = Talk::new(
        Revision::NEWEST,
        bridge(
            &["--losses", "off", "--record", name],
            Revision::V2025_11_25,
        ),
    );
    let (list, ask) = (talk.ask(Ask::new("tools/list", None)), talk.tool("ask"));
    talk.answers(&[list, ask]);
    talk.ends();
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .args(["transcript", name])
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("2025-11-25"), "{told}");
    assert!(told.contains("elicitation/create: 1 answered"), "{told}");
    assert!(output.status.success(), "{told}");
}

/// A message over HTTP, and the body that answers.
fn post(port: u16, revision: Revision, body: &Value) -> String {
    let body = body.to_string();
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    let method: Value = serde_json::from_str(&body).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: {}\r\nMcp-Method: {}\r\nMcp-Name: {}\r\nContent-Length: {}\r\n\r\n{body}",
        revision.wire(),
        method["method"].as_str().unwrap(),
        method["params"]["name"].as_str().unwrap_or_default(),
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A bridge that listens on HTTP, and its port.
fn listening(server: Revision) -> (Child, u16) {
    let mut child = bridge(
        &["--listen", "http://127.0.0.1:0/mcp", "--losses", "off"],
        server,
    );
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let port = line
        .trim()
        .rsplit(':')
        .next()
        .unwrap()
        .trim_end_matches("/mcp");
    let port: u16 = port.parse().unwrap_or_else(|_| panic!("{line}"));
    (child, port)
}

fn is_over(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Standard streams, HTTP and standard streams again: two bridges, one behind the other.
#[test]
fn a_server_is_reached_over_http() {
    for server in Revision::NEGOTIATED {
        let (listener, port) = listening(*server);
        for client in Revision::NEGOTIATED {
            let url = format!("http://127.0.0.1:{port}/mcp");
            let child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
                .args(["bridge", "--losses", "off", "--header", "X-Test: 1", &url])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut talk = Talk::new(*client, child);
            let list = talk.ask(Ask::new("tools/list", None));
            let listed = value(&talk.answers(&[list])[&list]);
            assert_eq!(
                listed["tools"][0]["x-vendor"], 1,
                "{client}, {server}: {listed}"
            );
            for (tool, text) in [("add", "3.5"), ("progress", "done"), ("ask", "Monday")] {
                let asks = Revision::V2025_06_18 <= *client && Revision::V2025_06_18 <= *server;
                if tool == "ask" && !asks {
                    continue;
                }
                let called = talk.tool(tool);
                let answer = value(&talk.answers(&[called])[&called]);
                assert_eq!(
                    answer["content"][0]["text"], text,
                    "{client}, {server}: {answer}"
                );
            }
            assert_eq!(talk.progress, 3, "{client}, {server}");
            let (code, said) = talk.ends();
            assert_eq!(code, Some(0), "{client}, {server}: {said}");
        }
        is_over(listener);
    }
}

#[test]
fn many_clients_come_over_http() {
    let (child, port) = listening(Revision::V2025_06_18);
    let modern = Revision::NEWEST;
    assert_eq!(modern.era(), Era::PerRequest);
    let clients: Vec<_> = (0..8)
        .map(|number| {
            thread::spawn(move || {
                let call = json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
                    "name": "add",
                    "arguments": { "a": number, "b": 1 },
                    "_meta": { "io.modelcontextprotocol/protocolVersion": modern.wire(), "io.modelcontextprotocol/clientCapabilities": {} }
                }});
                (number, post(port, modern, &call))
            })
        })
        .collect();
    for client in clients {
        let (number, answer) = client.join().unwrap();
        assert!(
            answer.contains(&format!("\"text\":\"{}\"", number + 1)),
            "{answer}"
        );
    }
    is_over(child);
}

#[test]
fn what_cannot_be_bridged_is_an_error() {
    for arguments in [
        &["--", "/no/such/program"][..],
        &["--record", "/no/such/folder/file", "--", "true"],
        &["--", "true"],
        &["http://127.0.0.1:1/mcp"],
        &["ftp://127.0.0.1/mcp"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
            .arg("bridge")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let _ = input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{arguments:?}"
        );
        drop(input);
    }
}
