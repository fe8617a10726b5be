//! Many clients over HTTP, each with the server that is its own.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use mcp_protocol::{Lifecycle, Revision};
use mcp_revisions::sansio::client::OutgoingRequest;
use serde_json::{Value, json};

use crate::bridge::talk::{PATIENCE, Talk, bridge, bridge_to, leaves_nobody, peer, value};

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

/// A request over a connection of its own, with these headers beside those of every request, and all that answers it.
fn exchange(port: u16, asked: &str, headers: &str, body: &str) -> String {
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
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
    let port = line
        .trim()
        .rsplit(':')
        .next()
        .unwrap()
        .trim_end_matches("/mcp");
    let port: u16 = port.parse().unwrap_or_else(|_| panic!("{line}"));
    child.stderr = Some(said.into_inner());
    (child, port)
}

/// A client at the standard streams of a bridge to what listens there.
fn bridged(client: Revision, url: &str, options: &[&str]) -> Talk {
    let child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .args(["bridge", "--loss-log", "off"])
        .args(options)
        .arg(url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Talk::new(client, child)
}

/// Standard streams, HTTP and standard streams again: two bridges, one behind the other.
#[test]
fn a_server_is_reached_over_http() {
    for server in Revision::NEGOTIATED {
        let (_listener, port) = listening(*server);
        for client in Revision::NEGOTIATED {
            let url = format!("http://127.0.0.1:{port}/mcp");
            let mut talk = bridged(*client, &url, &["--header", "X-Test: 1"]);
            let list = talk.ask(OutgoingRequest::new("tools/list", None));
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
    }
}

/// What stands before a listener takes no message at its path: who reaches it speaks HTTP+SSE.
fn only_http_sse(port: u16) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let own = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut head = [0; 4096];
            let read = client.read(&mut head).unwrap_or_default();
            let head = &head[..read];
            if head.starts_with(b"POST /sse HTTP") {
                let refused = "HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
                let _ = client.write_all(refused.as_bytes());
                continue;
            }
            let mut server = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
            server.write_all(head).unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut to));
            thread::spawn(move || std::io::copy(&mut server, &mut client));
        }
    });
    own
}

#[test]
fn the_transport_of_2024_11_05_is_spoken_at_both_ends() {
    for revision in [Revision::V2024_11_05, Revision::V2025_11_25] {
        let (_listener, port) = listening_with(&["--http-sse", "/sse"], Revision::LATEST);
        let url = format!("http://127.0.0.1:{}/sse", only_http_sse(port));
        let mut talk = bridged(revision, &url, &[]);
        let called = ["add", "progress"].map(|tool| talk.tool(tool));
        let answers = talk.answers(&called);
        let texts = called.map(|call| value(&answers[&call])["content"][0]["text"].clone());
        assert_eq!(texts, ["3.5", "done"], "{revision}");
        let (code, said) = talk.ends();
        assert_eq!(code, Some(0), "{revision}: {said}");
    }
}

#[test]
fn headers_of_the_command_line_reach_the_server() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .args(["bridge", "--log", "off", "--header", "X-Tenant: ours", &url])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut child = Program(child);
    let mut input = child.stdin.take().unwrap();
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let opening = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    writeln!(input, "{opening}").unwrap();
    let (tell, told) = channel();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        tell.send(head).unwrap();
    });
    let head = told.recv_timeout(Duration::from_secs(20));
    let head = head.unwrap();
    let there = (head.iter()).any(|line| line.eq_ignore_ascii_case("X-Tenant: ours"));
    assert!(there, "{head:?}");
}

/// The bridge that listens is killed among calls: those who wait for it get an end, and its servers end by themselves.
#[test]
fn a_bridge_that_listens_may_be_killed() {
    let mut random = fastrand::Rng::with_seed(17);
    for client in [
        Revision::V2024_11_05,
        Revision::V2025_11_25,
        Revision::LATEST,
    ] {
        let (mut listener, port) = listening(Revision::V2025_06_18);
        let url = format!("http://127.0.0.1:{port}/mcp");
        let mut talk = bridged(client, &url, &["--log", "off"]);
        let add = talk.tool("add");
        talk.answers(&[add]);
        let asked = ["ask", "progress", "sample"].map(|tool| talk.tool(tool));
        while let Some(output) = talk.client.poll() {
            talk.does(output, &mut BTreeMap::new());
        }
        thread::sleep(Duration::from_millis(random.u64(..20)));
        listener.kill().unwrap();
        assert_eq!(talk.answers(&asked).len(), asked.len(), "{client}");
        leaves_nobody(&mut listener);
        let (code, said) = talk.ends();
        assert_eq!(code, Some(0), "{client}: {said}");
    }
}

#[test]
fn many_clients_come_over_http() {
    let (_child, port) = listening(Revision::V2025_06_18);
    let modern = Revision::LATEST;
    assert_eq!(modern.lifecycle(), Lifecycle::PerRequest);
    let clients: Vec<_> = (0..8)
        .map(|number| {
            thread::spawn(move || {
                let call = json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
                    "name": "add",
                    "arguments": { "a": number, "b": 1 },
                    "_meta": { "io.modelcontextprotocol/protocolVersion": modern.protocol_version(), "io.modelcontextprotocol/clientCapabilities": {} }
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
}

/// A body of a modern call, by a client of that name.
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

/// Sessions have a server each, and so have modern clients that say different things of themselves.
#[test]
fn each_client_has_a_server_of_its_own() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-servers");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let record = folder.join("talk.jsonl");
    let options = ["--record", record.to_str().unwrap()];
    let (_child, port) = listening_with(&options, Revision::V2025_06_18);
    let ok = |answer: &str| answer.contains("\"text\":\"3\"");
    for name in ["one", "one", "two"] {
        let answer = post(port, Revision::LATEST, &call(name, "add"));
        assert!(ok(&answer), "{answer}");
    }
    let talks = || std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(talks(), 2, "those who say the same share a server");
    // One takes its server with it; the other one's lives, and a new one is there for the first.
    let died = post(port, Revision::LATEST, &call("one", "die"));
    assert!(died.contains("-32603"), "{died}");
    for name in ["two", "one"] {
        let answer = post(port, Revision::LATEST, &call(name, "add"));
        assert!(ok(&answer), "{answer}");
    }
    assert_eq!(talks(), 3);
    let healthy = exchange(port, "GET /healthz", "", "");
    assert!(
        healthy.starts_with("HTTP/1.1 200") && healthy.ends_with("ok"),
        "{healthy}"
    );
    // Sessions: what one has subscribed to, the other does not hear of.
    let url = format!("http://127.0.0.1:{port}/mcp");
    let session = || bridged(Revision::V2025_11_25, &url, &["--log", "off"]);
    let (mut first, mut second) = (session(), session());
    let uri = json!({ "uri": "file:///hello" });
    let subscribed = first.ask(OutgoingRequest::new(
        "resources/subscribe",
        Some(uri.into()),
    ));
    first.answers(&[subscribed]);
    let touched = second.tool("touch");
    second.answers(&[touched]);
    assert!(first.told.is_empty(), "{:?}", first.told);
    let touched = first.tool("touch");
    first.answers(&[touched]);
    assert_eq!(
        first.hears("notifications/resources/updated")["uri"],
        "file:///hello"
    );
    for talk in [first, second] {
        assert_eq!(talk.ends().0, Some(0));
    }
}

/// A message in a session, and what answers it; the session is over with the one that has no body.
fn in_session(port: u16, session: Option<&str>, body: Option<&Value>) -> String {
    let asked = if body.is_some() {
        "POST /mcp"
    } else {
        "DELETE /mcp"
    };
    let body = body.map(Value::to_string).unwrap_or_default();
    let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
    exchange(port, asked, &session, &body)
}

fn initialize() -> Value {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

/// The id of the session that this answer opens, if it does.
fn session_of(answer: &str) -> Option<String> {
    let answer = answer.to_lowercase();
    let (_, id) = answer.split_once("mcp-session-id: ")?;
    id.lines().next().map(str::to_owned)
}

/// A call of a tool in a session.
fn call_in(port: u16, session: &str, tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {"a": 1, "b": 2.5}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    in_session(port, Some(session), Some(&call))
}

/// Who finds no room is told so at once, and a session that is over takes its server with it.
#[test]
fn a_session_that_is_over_makes_room_for_another() {
    let (_child, port) = listening_with(&["--max-servers", "1"], Revision::V2025_06_18);
    let opened = || session_of(&in_session(port, None, Some(&initialize())));
    let first = opened().unwrap();
    assert!(call_in(port, &first, "add").contains("\"3.5\""));
    assert_eq!(opened(), None, "there is room for one");
    let left = in_session(port, Some(&first), None);
    assert!(left.starts_with("HTTP/1.1 2"), "{left}");
    let second = opened().unwrap();
    assert!(call_in(port, &second, "add").contains("\"3.5\""));
}

/// A client that is gone without a word does not hold its server for ever.
#[test]
fn a_session_on_which_nothing_is_said_is_ended() {
    let options = ["--max-servers", "1", "--idle-timeout", "1"];
    let (_child, port) = listening_with(&options, Revision::V2025_06_18);
    let opened = || session_of(&in_session(port, None, Some(&initialize())));
    let first = opened().unwrap();
    assert!(call_in(port, &first, "add").contains("\"3.5\""));
    let deadline = Instant::now() + PATIENCE;
    while opened().is_none() {
        assert!(Instant::now() < deadline, "it holds the only server");
        thread::sleep(Duration::from_millis(50));
    }
}

/// What many clients can do.
fn able() -> Value {
    let mut opening = initialize();
    let roots = json!({ "listChanged": true });
    opening["params"]["capabilities"] =
        json!({ "elicitation": {}, "sampling": {}, "roots": roots });
    opening
}

/// No server runs until there is a client, and one for the first, whatever that can do.
#[test]
fn a_listener_starts_no_server_in_vain() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("started-by-listener");
    for server in [Revision::V2025_11_25, Revision::LATEST] {
        for [first, second] in [[able(), initialize()], [initialize(), able()]] {
            let _ = std::fs::remove_file(&file);
            let own = ["--started", file.to_str().unwrap()];
            let (_child, port) = port_of(bridge_to(&LISTENING, server, &own));
            let started = || std::fs::read_to_string(&file).map_or(0, |it| it.lines().count());
            // None of these is a client.
            exchange(port, "GET /healthz", "", "");
            exchange(port, "GET /mcp", "", "");
            exchange(port, "POST /mcp", "", "{}");
            exchange(
                port,
                "POST /mcp",
                "Origin: https://evil.example\r\n",
                &first.to_string(),
            );
            assert_eq!(started(), 0, "{server}");
            let session = session_of(&in_session(port, None, Some(&first))).unwrap();
            assert!(call_in(port, &session, "add").contains("\"3.5\""));
            assert_eq!(started(), 1, "{server}");
            // The capabilities of another one are not sent to a server that has a client.
            let session = session_of(&in_session(port, None, Some(&second))).unwrap();
            assert!(call_in(port, &session, "add").contains("\"3.5\""));
            assert_eq!(started(), 2, "{server}");
        }
    }
}

/// A web server that hands everything on to another one, and the methods of HTTP that it has seen.
fn spied(url: &str) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let spy = format!("http://{}/mcp", listener.local_addr().unwrap());
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let address = address.to_owned();
    let (tell, told) = channel();
    thread::spawn(move || {
        while let Ok((mut client, _)) = listener.accept() {
            let mut server = std::net::TcpStream::connect(&address).unwrap();
            let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(std::net::Shutdown::Both);
            });
            let tell = tell.clone();
            thread::spawn(move || {
                let mut chunk = [0; 1 << 16];
                while let Ok(count @ 1..) = client.read(&mut chunk) {
                    let text = String::from_utf8_lossy(&chunk[..count]);
                    if text.starts_with("DELETE") {
                        let _ = tell.send(text.into_owned());
                    }
                    if server.write_all(&chunk[..count]).is_err() {
                        break;
                    }
                }
                let _ = server.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    (spy, told)
}

/// The client is answered with the reason, and so is the next one.
#[test]
fn a_listener_whose_server_cannot_be_used_tells_each_client_why() {
    let child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .arg("bridge")
        .args(LISTENING)
        .args(["--", "/no/such/program"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (_child, port) = port_of(child);
    for _ in 0..2 {
        let answer = in_session(port, None, Some(&initialize()));
        assert!(answer.contains("cannot start /no/such/program"), "{answer}");
        assert!(answer.contains("\"id\":1"), "{answer}");
    }
}

/// Some servers end for all with the first session that is left.
#[test]
fn no_session_of_a_server_at_a_url_is_left_before_its_client_leaves() {
    for opening in [initialize(), able()] {
        let (_server, url) = serving(Revision::V2025_03_26);
        let (url, left) = spied(&url);
        let child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
            .arg("bridge")
            .args(LISTENING)
            .arg(&url)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (_child, port) = port_of(child);
        let session = session_of(&in_session(port, None, Some(&opening))).unwrap();
        assert!(call_in(port, &session, "add").contains("\"3.5\""));
        assert!(left.try_recv().is_err(), "nobody has left yet");
        in_session(port, Some(&session), None);
        let left = left.recv_timeout(PATIENCE).unwrap();
        assert!(left.to_lowercase().contains("mcp-session-id"), "{left}");
    }
}

/// Over HTTP as over standard streams: the call ends, and others go on.
#[test]
fn an_answer_over_http_that_is_too_long_is_an_error() {
    for server in [Revision::V2025_06_18, Revision::LATEST] {
        let (_server, url) = serving(server);
        let mut talk = bridged(Revision::V2025_11_25, &url, &["--log", "off"]);
        let endless = talk.tool("endless");
        let answers = talk.answers(&[endless]);
        let told = format!("{:?}", answers[&endless]);
        assert!(told.contains("16777216"), "{server}: {told}");
        let add = talk.tool("add");
        let answers = talk.answers(&[add]);
        assert_eq!(value(&answers[&add])["content"][0]["text"], "3.5");
    }
}

/// What a session was subscribed to is gone with its server: its client is told, and begins a new one.
#[test]
fn a_client_whose_server_dies_is_told_to_begin_anew() {
    let (_child, port) = listening(Revision::V2025_06_18);
    let session = session_of(&in_session(port, None, Some(&initialize()))).unwrap();
    let opened = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    in_session(port, Some(&session), Some(&opened));
    let died = call_in(port, &session, "die");
    assert!(died.contains("-32603"), "{died}");
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = call_in(port, &session, "add");
        if answer.starts_with("HTTP/1.1 404") {
            break;
        }
        assert!(Instant::now() < deadline, "{answer}");
        thread::sleep(Duration::from_millis(20));
    }
    // One of the modern lifecycle listens on a stream: that ends.
    let mut listen = call("one", "");
    listen["method"] = "subscriptions/listen".into();
    listen["params"].as_object_mut().unwrap().remove("name");
    listen["params"]
        .as_object_mut()
        .unwrap()
        .remove("arguments");
    let resources = json!({ "resourceSubscriptions": ["file:///hello"] });
    listen["params"]["notifications"] = resources;
    let (told, ended) = channel();
    let listening = thread::spawn(move || {
        let answer = post(port, Revision::LATEST, &listen);
        let _ = told.send(());
        answer
    });
    let deadline = Instant::now() + PATIENCE;
    loop {
        let died = post(port, Revision::LATEST, &call("one", "die"));
        assert!(died.contains("-32603"), "{died}");
        if ended.recv_timeout(Duration::from_millis(500)).is_ok() {
            break;
        }
        assert!(Instant::now() < deadline, "the stream is open and mute");
    }
    let said = listening.join().unwrap();
    assert!(said.contains("acknowledged"), "{said}");
}

/// As many names as a client likes, and no more servers than are its share.
#[test]
fn one_address_has_its_share_of_servers() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("share");
    let _ = std::fs::remove_file(&file);
    let options = [&LISTENING[..], &["--max-servers-per-client", "2"]].concat();
    let own = ["--started", file.to_str().unwrap()];
    let (_child, port) = port_of(bridge_to(&options, Revision::V2025_06_18, &own));
    // Those that nobody uses make room.
    for number in 0..5 {
        let name = format!("idle {number}");
        let answer = post(port, Revision::LATEST, &call(&name, "add"));
        assert!(answer.contains("\"text\":\"3\""), "{answer}");
    }
    for number in 0..2 {
        let body = call(&format!("busy {number}"), "sleep");
        // One that finds no room comes again.
        thread::spawn(move || {
            while post(port, Revision::LATEST, &body).contains("are at work") {
                thread::sleep(Duration::from_millis(50));
            }
        });
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = post(port, Revision::LATEST, &call("one more", "add"));
        if answer.contains("2 servers are at work for this client") {
            break;
        }
        assert!(Instant::now() < deadline, "{answer}");
        thread::sleep(Duration::from_millis(20));
    }
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

/// The client that was asked does not come back; others go on, and can be asked.
#[test]
fn an_abandoned_question_holds_up_nobody() {
    let (_child, port) = listening(Revision::V2025_06_18);
    let ask = |body: &Value| post(port, Revision::LATEST, body);
    let asked = result(&ask(&asking("ask", json!({}))));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let added = result(&ask(&asking("add", json!({}))));
    assert_eq!(added["content"][0]["text"], "3", "{added}");
    // Nor does any other call wait, of which it is not known whether it asks.
    let began = Instant::now();
    for number in 0..13 {
        let unknown = format!("no such tool {number}");
        ask(&asking(&unknown, json!({})));
        assert!(
            began.elapsed() < PATIENCE,
            "each call waits for the question"
        );
    }
    // It is asked in the call that is at work, though an earlier one waits.
    let asked = result(&ask(&asking("ask", json!({}))));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let questions = asked["inputRequests"].as_object().unwrap();
    let day = json!({ "action": "accept", "content": { "day": "Monday" } });
    let answers: serde_json::Map<String, Value> = (questions.keys())
        .map(|key| (key.clone(), day.clone()))
        .collect();
    let again = json!({ "requestState": asked["requestState"], "inputResponses": answers });
    let answered = result(&ask(&asking("ask", again)));
    assert_eq!(answered["content"][0]["text"], "Monday", "{answered}");
}

/// Calls of a tool that does not ask are at work at the same time, though their clients could be asked.
#[test]
fn calls_that_ask_nothing_go_side_by_side() {
    let (_child, port) = listening(Revision::V2025_06_18);
    let meet = |wanted: usize| asking("meet", json!({ "arguments": { "a": wanted } }));
    let first = result(&post(port, Revision::LATEST, &meet(1)));
    assert_eq!(first["content"][0]["text"], "met", "{first}");
    // Those before count, too: two more meet each time. One that waits for the other to end begins when it has waited
    // long enough, which so many do not have the time for.
    let began = Instant::now();
    for round in 1..=13 {
        let wanted = 1 + 2 * round;
        let both = [(); 2]
            .map(|()| thread::spawn(move || result(&post(port, Revision::LATEST, &meet(wanted)))));
        for one in both {
            let one = one.join().unwrap();
            assert_eq!(one["content"][0]["text"], "met", "{one}");
        }
        assert!(began.elapsed() < PATIENCE, "one call waits for another");
    }
}

/// A question that comes while others are at work belongs to one of them: it is clear to whom, once they are answered.
#[test]
fn a_question_waits_until_it_is_clear_whose_it_is() {
    let (_child, port) = listening(Revision::V2025_06_18);
    let nap = move || result(&post(port, Revision::LATEST, &asking("nap", json!({}))));
    let text = nap();
    assert_eq!(text["content"][0]["text"], "napped", "{text}");
    let napping = thread::spawn(nap);
    thread::sleep(Duration::from_millis(300));
    let asked = result(&post(port, Revision::LATEST, &asking("ask", json!({}))));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let napped = napping.join().unwrap();
    assert_eq!(napped["content"][0]["text"], "napped", "{napped}");
}

/// What its call tells is more than a client reads: the others that share its server are answered.
#[test]
fn a_client_that_does_not_read_holds_up_nobody_else() {
    let (mut child, port) = listening(Revision::V2025_06_18);
    let (full, is_full) = channel();
    let log = BufReader::new(child.stderr.take().unwrap());
    thread::spawn(move || {
        for line in log.lines().map_while(Result::ok) {
            if line.contains("the client does not read its call") {
                let _ = full.send(());
            }
        }
    });
    let mut flood = call("one", "flood");
    flood["params"]["_meta"]["progressToken"] = 1.into();
    let body = flood.to_string();
    let mut unread = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        unread,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: {}\r\nMcp-Method: tools/call\r\nMcp-Name: flood\r\nContent-Length: {}\r\n\r\n{body}",
        Revision::LATEST.protocol_version(),
        body.len()
    )
    .unwrap();
    // All that holds some of it is full.
    is_full.recv_timeout(PATIENCE).unwrap();
    let until = Instant::now() + PATIENCE;
    for _ in 0..20 {
        let (answered, answer) = channel();
        thread::spawn(move || answered.send(post(port, Revision::LATEST, &call("one", "add"))));
        let answer = answer.recv_timeout(until.saturating_duration_since(Instant::now()));
        let answer = answer.unwrap_or_else(|_| panic!("it waits for somebody else's reader"));
        assert!(answer.contains("\"text\":\"3\""), "{answer}");
    }
    // None of them had to wait until its connection was closed.
    let mut rest = Vec::new();
    unread.read_to_end(&mut rest).unwrap();
    assert!(String::from_utf8_lossy(&rest).contains("\"dry\""));
}

/// Names that a listener is told of are served, and pages from origins that it is told of may read the answers.
#[test]
fn a_listener_serves_the_names_that_it_is_given() {
    let more = [
        "--allow-host",
        "mcp.example.com",
        "--allow-origin",
        "https://app.example.com",
    ];
    let (_child, port) = listening_with(&more, Revision::V2025_06_18);
    let body = call("one", "add").to_string();
    let asked = |host: &str, more: &str| {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: {}\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\n{more}Content-Length: {}\r\n\r\n{body}",
            Revision::LATEST.protocol_version(),
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(asked("mcp.example.com", "").starts_with("HTTP/1.1 200"));
    assert!(asked("other.example.com", "").starts_with("HTTP/1.1 403"));
    let page = asked("127.0.0.1", "Origin: https://app.example.com\r\n");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let page = page.to_lowercase();
    assert!(
        page.contains("access-control-allow-origin: https://app.example.com"),
        "{page}"
    );
    assert!(asked("127.0.0.1", "Origin: https://evil.example\r\n").starts_with("HTTP/1.1 403"));
}

/// What a call repeats in its headers reaches a server that wants it there with the call itself: a client need not have
/// listed the tools.
#[test]
fn headers_that_repeat_arguments_are_handed_on() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("repeated-headers");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let (_server, url) = serving(Revision::LATEST);
    let record = folder.join("talk.jsonl");
    let child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .arg("bridge")
        .args(LISTENING)
        .args(["--record", record.to_str().unwrap(), &url])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (_child, port) = port_of(child);
    for name in ["one", "two"] {
        let mut asked = call(name, "where");
        asked["params"]["arguments"] = json!({ "region": "eu" });
        let answer = post_with(port, Revision::LATEST, "Mcp-Param-Region: eu\r\n", &asked);
        assert!(answer.contains("\"text\":\"eu\""), "{answer}");
    }
    let files = std::fs::read_dir(&folder).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let calls = texts.map(|text| text.matches("\"method\":\"tools/call\"").count());
    assert_eq!(
        calls.collect::<Vec<_>>(),
        [1, 1],
        "one call each, and none is refused"
    );
}
