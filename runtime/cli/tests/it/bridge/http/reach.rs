//! Clients and servers that a bridge reaches over HTTP, and what it hands on.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use mcp_revisions::sansio::client::OutgoingRequest;
use mcp_revisions_core::{Lifecycle, Revision};
use serde_json::json;

use crate::bridge::talk::{Held, bridge_to};
use crate::bridge::talk::{PATIENCE, bridge, value};
#[cfg(unix)]
use crate::mcp_rev;

use super::{
    LISTENING, Program, bridged, call, exchange, initialize, listening, listening_with, port_of,
    post, post_with, serving,
};

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
    let child = mcp_rev("bridge --log off --header")
        .args(["X-Tenant: ours", &url])
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
#[cfg(unix)]
#[test]
fn a_bridge_that_listens_may_be_killed() {
    let clients = [
        (Revision::V2024_11_05, 3),
        (Revision::V2025_11_25, 9),
        (Revision::LATEST, 17),
    ];
    thread::scope(|scope| {
        for (client, milliseconds) in clients {
            scope.spawn(move || killed(client, Duration::from_millis(milliseconds)));
        }
    });
}

#[cfg(unix)]
fn killed(client: Revision, after: Duration) {
    let held = Held::new(&format!("killed-{client}"));
    let own = ["--held", &held.path];
    let (mut listener, port) = port_of(bridge_to(&LISTENING, Revision::V2025_06_18, &own));
    let url = format!("http://127.0.0.1:{port}/mcp");
    let mut talk = bridged(client, &url, &["--log", "off"]);
    talk.adds();
    let asked = ["ask", "progress", "sample"].map(|tool| talk.tool(tool));
    talk.sends();
    thread::sleep(after);
    listener.kill().unwrap();
    assert_eq!(talk.answers(&asked).len(), asked.len(), "{client}");
    held.leaves_nobody(&mut listener);
    let (code, said) = talk.ends();
    assert_eq!(code, Some(0), "{client}: {said}");
}

#[test]
fn many_clients_come_over_http() {
    let (_child, port) = listening(Revision::V2025_06_18);
    let per_request = Revision::LATEST;
    assert_eq!(per_request.lifecycle(), Lifecycle::PerRequest);
    let clients: Vec<_> = (0..8)
        .map(|number| {
            thread::spawn(move || {
                let call = json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
                    "name": "add",
                    "arguments": { "a": number, "b": 1 },
                    "_meta": { "io.modelcontextprotocol/protocolVersion": per_request.protocol_version(), "io.modelcontextprotocol/clientCapabilities": {} }
                }});
                (number, post(port, per_request, &call))
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
    // A page of this machine may send, and reads nothing unless it is named, too.
    let page = asked("127.0.0.1", "Origin: http://localhost:3\r\n");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let page = page.to_lowercase();
    assert!(!page.contains("access-control-allow-origin"), "{page}");
}

/// A listener serves one path: the one that it is given, else `/mcp`.
#[test]
fn a_listener_serves_the_path_that_it_is_given() {
    for (given, served, other) in [
        ("/foo", "/foo", "/mcp"),
        ("/foo/bar", "/foo/bar", "/foo"),
        ("/", "/mcp", "/"),
        ("", "/mcp", "/nope"),
    ] {
        let listen = format!("http://127.0.0.1:0{given}");
        let (_child, port) = port_of(bridge(&["--listen", &listen], Revision::V2025_06_18));
        let opens = |path: &str| {
            let body = initialize().to_string();
            exchange(port, &format!("POST {path}"), "", &body)
        };
        // Before the server is started, and after that.
        for _ in 0..2 {
            let refused = opens(other);
            assert!(refused.starts_with("HTTP/1.1 404"), "{given}: {refused}");
            let opened = opens(served);
            assert!(opened.starts_with("HTTP/1.1 200"), "{given}: {opened}");
        }
    }
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
    let child = mcp_rev("bridge")
        .args(LISTENING)
        .args(["--record", record.to_str().unwrap(), &url])
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

/// A load balancer has time to notice before calls are refused.
#[cfg(unix)]
#[test]
fn calls_are_served_while_readiness_says_that_the_bridge_is_to_end() {
    let revision = Revision::LATEST;
    let (mut child, port) = listening_with(&["--lame-duck", "3"], revision);
    let ready = || exchange(port, "GET /readyz", "", "");
    assert!(ready().starts_with("HTTP/1.1 200"));
    let process = child.id().to_string();
    let ended = Command::new("kill").args(["-TERM", &process]).status();
    assert!(ended.unwrap().success());
    let deadline = Instant::now() + PATIENCE;
    while ready().starts_with("HTTP/1.1 200") {
        assert!(Instant::now() < deadline, "readiness stays");
    }
    let answer = post(port, revision, &call("one", "add"));
    assert!(answer.contains("\"text\":\"3\""), "{answer}");
    assert!(child.wait().unwrap().success());
}
