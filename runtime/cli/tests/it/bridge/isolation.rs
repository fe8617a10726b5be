//! Clients of the per-request lifecycle that must not share a server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::Instant;

use mcp_revisions_core::Revision;
use serde_json::Value;

use crate::bridge::http::{LISTENING, call, port_of};
use crate::bridge::talk::{PATIENCE, bridge_to};

/// A connection that is kept.
struct Connection(BufReader<TcpStream>, u16);

impl Connection {
    fn to(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        Self(BufReader::new(stream), port)
    }

    /// Sends a call, and returns the text of its result.
    fn call(&mut self, body: &Value) -> String {
        let body = body.to_string();
        write!(
            self.0.get_mut(),
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
            MCP-Protocol-Version: {}\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\nContent-Length: {}\r\n\r\n{body}",
            self.1,
            Revision::LATEST.protocol_version(),
            body.len()
        )
        .unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "it hangs up");
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        self.0.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        answer["result"]["content"][0]["text"].to_string()
    }
}

#[test]
fn isolated_connections_of_one_client_have_a_server_each_which_ends_with_its_connection() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (isolates, expected, ended) in [(&[][..], 1, 0), (&["--isolate"][..], 2, 2)] {
        let file = folder.join(format!("isolated-{expected}"));
        let _ = std::fs::remove_file(&file);
        let own = ["--started", file.to_str().unwrap()];
        let options = [&LISTENING[..], &["--log", "debug"], isolates].concat();
        let (mut bridge, port) = port_of(bridge_to(&options, Revision::V2025_06_18, &own));
        let log = BufReader::new(bridge.stderr.take().unwrap());
        let (told, tells) = std::sync::mpsc::channel();
        thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                let _ = told.send(line);
            }
        });
        let mut two = [Connection::to(port), Connection::to(port)];
        for _ in 0..2 {
            for one in &mut two {
                assert_eq!(one.call(&call("one", "add")), r#""3""#);
            }
        }
        let started = std::fs::read_to_string(&file).unwrap();
        assert_eq!(started.lines().count(), expected, "{isolates:?}");
        drop(two);
        let deadline = Instant::now() + PATIENCE;
        let is_end = |line: &String| line.contains("a client that is gone is ended");
        for _ in 0..ended {
            while !is_end(&tells.recv_timeout(deadline - Instant::now()).unwrap()) {}
        }
    }
}
